//! Backup, restore, verify and inspect, as an operator runs them.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::program::{Served, contents, program, run};

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn names_in(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn fill(served: &Served, count: usize) {
    let lines: String = (0..count)
        .map(|index| {
            format!("{}\n", json!({"content": format!("note {index} 第{index}条 {}", "more ".repeat(40))}))
        })
        .collect();
    served.run_with(lines.as_bytes(), &["import", "-"]).ok();
}

fn export(served: &Served) -> String {
    served.run(&["export"]).ok().stdout
}

#[test]
fn a_backup_is_taken_checked_and_restored() {
    let served = Served::start();
    fill(&served, 300);
    let folder = tempfile::tempdir().unwrap();
    let (file, target) = (folder.path().join("monday.backup"), folder.path().join("data"));
    let created = served.run(&["backup", "create", "--out", text(&file), "-o", "json"]).ok().json();
    let bytes = std::fs::read(&file).unwrap();
    assert_eq!(created["bytes"], bytes.len());
    assert_eq!(created["blake3"], blake3::hash(&bytes).to_hex().to_string());
    assert_eq!(names_in(folder.path()), ["monday.backup"]);
    let exported = export(&served);
    served.write("after the backup", &[]);

    let verified = run(&["backup", "verify", text(&file), "-o", "json"]).ok().json();
    assert_eq!((&verified["revision"], &verified["entries"]), (&created["revision"], &created["entries"]));
    let restored = run(&["backup", "restore", text(&file), "--into", text(&target), "-o", "json"]).ok();
    assert_eq!(restored.json()["revision"], created["revision"]);
    assert!(restored.stderr.contains("hindsight serve --data"), "{restored:?}");
    run(&["verify", "--data", text(&target), "-o", "jsonl"]).ok();
    let again = Served::start_on(&target, None);
    assert_eq!(export(&again), exported);
    again.write("it goes on", &[]);
    assert_eq!(again.count("test"), 301);
}

#[test]
fn d10_a_damaged_backup_is_refused_and_leaves_nothing() {
    let served = Served::start();
    fill(&served, 20);
    let folder = tempfile::tempdir().unwrap();
    let (file, target) = (folder.path().join("b"), folder.path().join("data"));
    served.run(&["backup", "create", "--out", text(&file)]).ok();
    let whole = std::fs::read(&file).unwrap();
    let restore = || run(&["backup", "restore", text(&file), "--into", text(&target)]);
    let verify = || run(&["backup", "verify", text(&file)]);
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 8;
    for damaged in [&flipped[..], &whole[..whole.len() - 1], &whole[..200]] {
        std::fs::write(&file, damaged).unwrap();
        restore().refused(65, &["damaged at byte", "b"]);
        verify().refused(8, &["not sound"]);
        assert_eq!(names_in(folder.path()), ["b"]);
    }
    std::fs::write(&file, "something else").unwrap();
    restore().refused(78, &["not a backup"]);
    verify().refused(8, &["not a backup"]);
    let newer = {
        let mut newer = whole.clone();
        newer[8] = 9;
        let crc = crc32(&[&newer[..12], &newer[16..56]].concat());
        newer[12..16].copy_from_slice(&crc.to_le_bytes());
        newer
    };
    std::fs::write(&file, newer).unwrap();
    restore().refused(78, &["version 9", "newer"]);
    std::fs::write(&file, &whole).unwrap();
    std::fs::create_dir(&target).unwrap();
    std::fs::write(target.join("photo.jpg"), "x").unwrap();
    restore().refused(78, &["not empty"]);
    assert_eq!(
        (names_in(folder.path()), names_in(&target)),
        (vec!["b".to_owned(), "data".to_owned()], vec!["photo.jpg".to_owned()])
    );
    run(&["backup", "verify", text(&folder.path().join("nowhere"))]).refused(1, &["can't read", "nowhere"]);
}

/// The CRC-32 of zip, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0_u32, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 & 0_u32.wrapping_sub(crc & 1)))
    })
}

/// Passes one connection on to `server`, and breaks it off after `bytes` bytes of answers.
fn cutter(server: &str, bytes: usize) -> String {
    let server = server.strip_prefix("http://").unwrap().to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let left = Arc::new(AtomicUsize::new(bytes));
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let (mut client, mut server) = (client.unwrap(), TcpStream::connect(&server).unwrap());
            let (mut up_from, mut up_to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            std::thread::spawn(move || {
                let _ = std::io::copy(&mut up_from, &mut up_to);
                let _ = up_to.shutdown(Shutdown::Write);
            });
            let left = Arc::clone(&left);
            std::thread::spawn(move || {
                let mut buffer = [0; 4096];
                while let Ok(read @ 1..) = server.read(&mut buffer) {
                    let allowed = read.min(left.load(Ordering::SeqCst));
                    left.fetch_sub(allowed, Ordering::SeqCst);
                    if client.write_all(&buffer[..allowed]).is_err() || allowed < read {
                        break;
                    }
                }
                let _ = client.shutdown(Shutdown::Both);
                let _ = server.shutdown(Shutdown::Both);
            });
        }
    });
    format!("http://{address}")
}

#[test]
fn b1_a_backup_that_breaks_off_leaves_no_file() {
    let served = Served::start();
    fill(&served, 1_000);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("b");
    served.run(&["backup", "create", "--out", text(&file)]).ok();
    let bytes = usize::try_from(std::fs::metadata(&file).unwrap().len()).unwrap();
    std::fs::remove_file(&file).unwrap();
    for part in [1, 4, 7] {
        let cut = cutter(&served.grpc, bytes * part / 8);
        let broken = run(&["backup", "create", "--out", text(&file), "--server", &cut]);
        broken.refused(6, &["unavailable"]);
        assert_eq!(names_in(folder.path()), [""; 0], "part {part}");
    }
    // The client itself is killed: half a backup has another name.
    let cut = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", cut.local_addr().unwrap());
    let mut child = program()
        .args(["backup", "create", "--out", text(&file), "--server", &address])
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let (_silent, _) = cut.accept().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!file.exists());
    // What is there already stays until another one is whole.
    std::fs::write(&file, "the one of last week").unwrap();
    let cut = cutter(&served.grpc, bytes / 2);
    run(&["backup", "create", "--out", text(&file), "--server", &cut]).refused(6, &["unavailable"]);
    assert_eq!(std::fs::read(&file).unwrap(), b"the one of last week");
    served.run(&["backup", "create", "--out", text(&file)]).ok();
    run(&["backup", "verify", text(&file)]).ok();
    served
        .run(&["backup", "create", "--out", text(&folder.path().join("nowhere/b"))])
        .refused(1, &["can't write"]);
}

#[test]
fn verify_finds_what_is_wrong_and_changes_nothing() {
    let served = Served::start();
    fill(&served, 50);
    let data = served.data.clone();
    run(&["verify", "--data", text(&data)]).refused(78, &["in use"]);
    let (_, _, folder) = served.signal("TERM");
    let verify = || run(&["verify", "--data", text(&data), "-o", "jsonl"]);
    let before = contents(&data);
    let lines = verify().ok().lines();
    assert_eq!(contents(&data), before, "verify changed something");
    assert!(lines.iter().any(|line| line["path"] == "ns/00000001/records-00000001.rec"), "{lines:?}");
    let summary = &lines.last().unwrap()["summary"];
    assert_eq!(
        (&summary["wrong"], &summary["memories"], &summary["namespaces"]),
        (&json!(0), &json!(50), &json!(1))
    );

    let records = data.join("ns/00000001/records-00000001.rec");
    let whole = std::fs::read(&records).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    std::fs::write(&records, flipped).unwrap();
    let found = verify();
    assert_eq!(found.code, 8, "{found:?}");
    let wrong: Vec<Value> = found.lines().into_iter().filter(|line| line["state"] == "wrong").collect();
    assert_eq!(wrong.len(), 1);
    assert_eq!(wrong[0]["path"], "ns/00000001/records-00000001.rec");
    assert!(
        found.stderr.contains("1 file is damaged") && found.stderr.contains("backup restore"),
        "{found:?}"
    );
    let table = run(&["verify", "--data", text(&data), "-o", "table"]);
    assert!(
        table.code == 8 && table.stdout.contains("WRONG     ns/00000001/records-00000001.rec"),
        "{table:?}"
    );
    std::fs::remove_file(&records).unwrap();
    assert_eq!(verify().code, 8);
    std::fs::write(&records, whole).unwrap();
    verify().ok();
    drop(folder);
}

#[test]
fn verify_of_what_is_no_database_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    run(&["verify", "--data", text(folder.path())]).refused(78, &["not a HindsightDB data directory"]);
    run(&["verify", "--data", text(&folder.path().join("nowhere"))]).refused(74, &["nowhere"]);
    assert_eq!(names_in(folder.path()), [""; 0]);
}

#[test]
fn inspect_shows_a_file_and_content_on_request_only() {
    let served = Served::start();
    let id = served.write("the deploy key lies in the vault", &[]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("b");
    served.run(&["backup", "create", "--out", text(&file)]).ok();
    let (_, _, kept) = served.signal("TERM");
    let data = kept.as_ref().unwrap().path().join("data");
    let log = data.join("log/00000000000000000001.log");
    let plain = run(&["inspect", text(&log)]).ok();
    let lines = plain.lines();
    assert_eq!((&lines[0]["kind"], &lines[1]["kind"]), (&json!("segment"), &json!("batch")));
    assert_eq!(
        (&lines[1]["lsn"], &lines[1]["ids"][0], &lines[1]["namespace"]),
        (&json!(1), &json!(id), &json!("test"))
    );
    assert_eq!(lines.last().unwrap()["kind"], "clean shutdown");
    assert!(!plain.stdout.contains("vault"));
    assert!(run(&["inspect", text(&log), "--content"]).ok().stdout.contains("vault"));
    for (path, kind) in [
        (data.join("ns/00000001/records-00000001.rec"), "record file"),
        (data.join("MANIFEST-00000001"), "manifest"),
        (file, "backup"),
    ] {
        let table = run(&["inspect", text(&path), "-o", "table"]).ok().stdout;
        assert!(table.contains(kind) && table.contains("ok") && !table.contains("vault"), "{table}");
    }
    run(&["inspect", text(&data.join("FORMAT"))]).refused(2, &["FORMAT", "first bytes"]);
}

#[test]
fn d4_a_damaged_start_names_the_repair_and_what_it_makes_is_served() {
    let folder = tempfile::tempdir().unwrap();
    let (data, new) = (folder.path().join("data"), folder.path().join("new"));
    let served = Served::start_on(&data, None);
    fill(&served, 20);
    // What comes after a batch says that the batch was durable: from then on it can't have been torn.
    served.write("and one more", &[]);
    served.kill();
    let log = data.join("log");
    let segment = log.join(names_in(&log).into_iter().find(|name| name.ends_with(".log")).unwrap());
    let mut bytes = std::fs::read(&segment).unwrap();
    let at = bytes.windows(7).position(|window| window == b"note 3 ").unwrap();
    bytes[at] ^= 1;
    std::fs::write(&segment, &bytes).unwrap();

    let refused = run(&["serve", "--data", text(&data), "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0"]);
    assert_eq!(refused.code, 65, "{refused:?}");
    assert!(refused.stderr.contains(&format!("hindsight repair --data {}", text(&data))), "{refused:?}");
    let before = std::fs::read(&segment).unwrap();
    let shown = run(&["repair", "--data", text(&data), "-o", "json"]).ok();
    assert!(shown.json()["into"].is_null() && shown.stderr.contains("--into"), "{shown:?}");
    assert!(!shown.json()["lost_lsns"].as_array().unwrap().is_empty(), "{shown:?}");
    // Neither without a place, nor without being told to.
    assert_eq!(run(&["repair", "--data", text(&data), "--yes"]).code, 2);
    assert_eq!(run(&["repair", "--data", text(&data), "--into", text(&new)]).code, 2);
    assert!(!new.exists(), "{:?}", names_in(folder.path()));

    let made = run(&["repair", "--data", text(&data), "--into", text(&new), "--yes", "-o", "table"]).ok();
    assert!(made.stdout.contains("LOST lsn"), "{made:?}");
    assert_eq!(std::fs::read(&segment).unwrap(), before, "the damaged directory stays as it is");
    let report = std::fs::read_to_string(new.join("REPAIR.txt")).unwrap();
    assert!(report.contains("LOST lsn") && new.join("REPAIR.json").is_file(), "{report}");
    run(&["verify", "--data", text(&new)]).ok();
    let again = Served::start_on(&new, None);
    again.write("it goes on", &[]);
    assert_eq!(run(&["repair", "--data", text(&new)]).code, 78, "a server has it open");
}
