//! How a server starts, refuses to start, and stops.

use std::path::Path;

use crate::program::{Served, contents, program, run, signal, wait_until};

fn serve(data: &Path) -> crate::program::Ran {
    run(&["serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--data", data.to_str().unwrap()])
}

#[test]
fn it_says_where_it_listens_and_stops_cleanly() {
    let served = Served::start();
    let id = served.write("kept over a stop", &[]);
    let addresses = [served.grpc.clone(), served.http.clone()];
    let (status, log, folder) = served.signal("TERM");
    assert_eq!(status.code(), Some(0), "{log}");
    let line = log.lines().find(|line| line.contains("listening")).unwrap();
    for address in &addresses {
        assert!(line.contains(address.strip_prefix("http://").unwrap()), "{line}");
    }
    assert!(line.contains("data"), "{line}");

    let folder = folder.unwrap();
    let served = Served::start_on(&folder.path().join("data"), Some(folder));
    served.run(&["get", &id]).ok();
    let line = std::fs::read_to_string(&served.log).unwrap();
    assert!(line.contains("1 memory"), "{line}");
    let (status, log, _) = served.signal("INT");
    assert_eq!(status.code(), Some(0), "{log}");
}

#[test]
fn a_log_of_json_lines_holds_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let ready = folder.path().join("ready.json");
    let log = folder.path().join("log");
    let mut child = program()
        .args(["serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--data", data.to_str().unwrap()])
        .args(["--ready-file", ready.to_str().unwrap()])
        .stderr(std::fs::File::create(&log).unwrap())
        .spawn()
        .unwrap();
    wait_until(|| ready.exists());
    signal(child.id(), "TERM");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let log = std::fs::read_to_string(&log).unwrap();
    let lines: Vec<serde_json::Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let serving = lines.iter().find(|line| line["message"] == "serving").unwrap();
    let grpc = &serde_json::from_slice::<serde_json::Value>(&std::fs::read(&ready).unwrap()).unwrap()["grpc"];
    assert_eq!(serving["grpc"], *grpc);
}

#[test]
fn a_directory_in_use_names_its_holder_and_is_not_touched() {
    let served = Served::start();
    served.write("a", &[]);
    let pid = u32::try_from(served.ready["pid"].as_u64().unwrap()).unwrap();
    // Its holder notes by itself what is durable; held still, every change of a byte is the other's.
    signal(pid, "STOP");
    let before = contents(&served.data);
    let refused = serve(&served.data);
    let after = contents(&served.data);
    signal(pid, "CONT");
    refused.refused(78, &["in use", &pid.to_string()]);
    assert_eq!(after, before);
    served.write("still served", &[]);
}

#[test]
fn a_newer_format_is_refused_and_not_touched() {
    let served = Served::start();
    served.write("a", &[]);
    let (_, _, folder) = served.signal("TERM");
    let folder = folder.unwrap();
    let data = folder.path().join("data");
    let format = data.join("FORMAT");
    let mut newer: serde_json::Value = serde_json::from_slice(&std::fs::read(&format).unwrap()).unwrap();
    newer["format"] = 99.into();
    newer["min_reader"] = 99.into();
    // A file without a checksum is read; this one's would be another.
    newer.as_object_mut().unwrap().remove("crc32");
    std::fs::write(&format, newer.to_string()).unwrap();
    let before = contents(&data);
    serve(&data).refused(78, &["99", "newer"]);
    assert_eq!(contents(&data), before);
}

#[test]
fn a_place_that_can_not_be_a_data_directory_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "a").unwrap();
    serve(&file).refused(73, &["not a directory"]);
    serve(&file.join("below")).refused(73, &["file"]);
    serve(Path::new("/proc/hindsight")).refused(73, &["/proc/hindsight"]);
    let foreign = folder.path().join("foreign");
    std::fs::create_dir(&foreign).unwrap();
    std::fs::write(foreign.join("photo.jpg"), "x").unwrap();
    serve(&foreign).refused(78, &["not a HindsightDB data directory"]);
    assert_eq!(std::fs::read(&file).unwrap(), b"a");
    assert_eq!(contents(&foreign).len(), 1);
}

#[test]
fn a_bad_configuration_is_refused_before_anything_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let config = folder.path().join("hindsight.toml");
    std::fs::write(&config, "listn = \"127.0.0.1:0\"\n").unwrap();
    let (data, config) = (data.to_str().unwrap(), config.to_str().unwrap());
    run(&["serve", "--data", data, "--config", config]).refused(78, &["listn", "did you mean \"listen\"?"]);
    // A schedule that never comes.
    std::fs::write(config, "[jobs]\npurge = \"0 4 30 2 *\"\n").unwrap();
    let never = ["jobs.purge", "it never comes", "30 3 * * *"];
    run(&["serve", "--data", data, "--config", config]).refused(78, &never);
    let open = ["serve", "--data", data, "--listen", "0.0.0.0:7420", "--http", "127.0.0.1:0"];
    run(&open).refused(78, &["listen 0.0.0.0:7420", "hindsight token create", "tls.cert", "--insecure"]);
    assert!(!Path::new(data).exists());
}
