//! What a server lives through as a process: a flood of connections with few descriptors (S1), signals while it works (S10),
//! directories that it can't have (S12).

use std::io::{Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::Value;

use crate::program::{program, run, signal, wait_until};

/// A server under a limit of open files, and where it listens.
fn serve_with_files(folder: &Path, files: u32) -> (Child, Value) {
    let ready = folder.join("ready");
    let serve = format!("ulimit -n {files}; exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command
        .args([
            "-c",
            &serve,
            env!("CARGO_BIN_EXE_hindsight"),
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--http",
            "127.0.0.1:0",
        ])
        .arg("--data")
        .arg(folder.join("data"))
        .arg("--ready-file")
        .arg(&ready)
        .env("HINDSIGHT__TIMEOUTS__FIRST_FRAME_MS", "1500")
        .stderr(std::fs::File::create(folder.join("log")).unwrap());
    let child = command.spawn().unwrap();
    wait_until(|| std::fs::read(&ready).is_ok_and(|text| text.ends_with(b"}") || text.ends_with(b"}\n")));
    let ready = serde_json::from_slice(&std::fs::read(&ready).unwrap()).unwrap();
    (child, ready)
}

/// One write over HTTP on a connection that stays open: the status.
fn write(stream: &mut TcpStream, number: usize) -> u16 {
    let body = format!("{{\"namespace\":\"ops\",\"content\":\"note {number} of a client that behaves\"}}");
    write!(
        stream,
        "POST /memory/write HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let (mut seen, mut part) = (Vec::new(), [0; 4_096]);
    loop {
        let count = stream.read(&mut part).unwrap();
        assert!(count > 0, "closed after {}", String::from_utf8_lossy(&seen));
        seen.extend_from_slice(&part[..count]);
        let text = String::from_utf8_lossy(&seen);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length =
            head.to_lowercase().split("content-length: ").nth(1).unwrap().lines().next().unwrap().to_owned();
        if body.len() >= length.parse().unwrap() {
            return head.split(' ').nth(1).unwrap().parse().unwrap();
        }
    }
}

#[test]
fn s1_connections_without_number_keep_nobody_out_who_is_in_and_leave_files_for_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let (mut child, ready) = serve_with_files(folder.path(), 160);
    let http = ready["http"].as_str().unwrap().to_socket_addrs().unwrap().next().unwrap();
    let mut healthy = TcpStream::connect(http).unwrap();
    assert_eq!(write(&mut healthy, 0), 200);
    let idle: Vec<TcpStream> = (0..400).map(|_| TcpStream::connect(http).unwrap()).collect();
    for number in 1..30 {
        assert_eq!(write(&mut healthy, number), 200);
    }
    // Those who say nothing are sent away, so that a newcomer gets in although none of them leaves.
    let mut newcomer = TcpStream::connect(http).unwrap();
    assert_eq!(write(&mut newcomer, 99), 200);
    drop(idle);
    signal(child.id(), "TERM");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let log = std::fs::read_to_string(folder.path().join("log")).unwrap();
    assert!(log.contains("allows fewer connections than configured"), "{log}");
    assert!(!log.contains("panicked"), "{log}");
}

#[test]
fn s10_a_server_that_is_stopped_while_it_works_loses_nothing_that_it_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let mut kept = 0;
    for round in 0..3 {
        let _ = std::fs::remove_file(folder.path().join("ready"));
        let (mut child, ready) = serve_with_files(folder.path(), 1_024);
        assert_eq!(ready["memories"].as_u64().unwrap(), kept, "round {round}");
        let http = ready["http"].as_str().unwrap().to_owned();
        let (stop, acknowledged) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let writers: Vec<_> = (0..3)
            .map(|writer| {
                let (http, stop, acknowledged) = (http.clone(), Arc::clone(&stop), Arc::clone(&acknowledged));
                std::thread::spawn(move || {
                    for number in 0.. {
                        let body = format!(
                            "{{\"namespace\":\"ops\",\"on_duplicate\":\"allow\",\"content\":\"round {round} writer {writer} note {number}\"}}"
                        );
                        let Ok(mut stream) = TcpStream::connect(&http) else { return };
                        let asked = write!(
                            stream,
                            "POST /memory/write HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
                            body.len()
                        );
                        let mut answer = String::new();
                        if asked.is_ok() && stream.read_to_string(&mut answer).is_ok() && answer.starts_with("HTTP/1.1 200") {
                            acknowledged.fetch_add(1, Ordering::SeqCst);
                        }
                        if stop.load(Ordering::SeqCst) {
                            return;
                        }
                    }
                })
            })
            .collect();
        wait_until(|| acknowledged.load(Ordering::SeqCst) > 8);
        if round == 1 {
            // Held still for a moment, as a machine does that is put aside.
            signal(child.id(), "STOP");
            std::thread::sleep(std::time::Duration::from_millis(300));
            signal(child.id(), "CONT");
        }
        signal(child.id(), "TERM");
        if round == 2 {
            signal(child.id(), "TERM");
        }
        let status = child.wait().unwrap();
        stop.store(true, Ordering::SeqCst);
        for writer in writers {
            writer.join().unwrap();
        }
        assert_eq!(status.code(), Some(0), "{}", std::fs::read_to_string(folder.path().join("log")).unwrap());
        // What was written without an answer that came through may be there too.
        let (mut child, ready) = {
            let _ = std::fs::remove_file(folder.path().join("ready"));
            serve_with_files(folder.path(), 1_024)
        };
        let there = ready["memories"].as_u64().unwrap();
        let told = u64::try_from(acknowledged.load(Ordering::SeqCst)).unwrap();
        assert!(there >= kept + told && there <= kept + told + 3, "{there} after {kept} and {told}");
        let log = std::fs::read_to_string(folder.path().join("log")).unwrap();
        assert!(log.contains("clean stop") && !log.contains("unclean stop"), "{log}");
        kept = there;
        signal(child.id(), "TERM");
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
}

#[test]
fn s12_a_directory_that_can_not_be_had_is_refused_in_one_line_with_its_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let serve = |data: &Path| {
        run(&[
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--http",
            "127.0.0.1:0",
            "--log-level",
            "error",
            "--data",
            data.to_str().unwrap(),
        ])
    };
    let file = folder.path().join("file");
    std::fs::write(&file, "x").unwrap();
    serve(&file).refused(73, &[file.to_str().unwrap()]);
    let foreign = folder.path().join("foreign");
    std::fs::create_dir(&foreign).unwrap();
    std::fs::write(foreign.join("letters.txt"), "mine").unwrap();
    serve(&foreign).refused(78, &["not a HindsightDB data directory"]);
    // Where nothing can be made at all.
    let ran = serve(Path::new("/proc/hindsight"));
    assert!(matches!(ran.code, 73 | 74), "{ran:#?}");
    let lines = ran.stderr.lines().filter(|line| !line.trim().is_empty()).count();
    assert!(lines <= 3, "{ran:#?}");
}

#[test]
fn i8_it_runs_as_nobody_on_a_read_only_root_with_a_signal_and_a_health_check() {
    // As root alone another user can be taken; elsewhere the container's user is whoever runs this.
    let folder = tempfile::tempdir().unwrap();
    let is_root =
        std::fs::metadata("/proc/self").is_ok_and(|meta| std::os::unix::fs::MetadataExt::uid(&meta) == 0);
    let data = folder.path().join("data");
    std::fs::create_dir(&data).unwrap();
    let ready = folder.path().join("ready");
    let mut command = program();
    if is_root {
        std::os::unix::fs::chown(&data, Some(65_532), Some(65_532)).unwrap();
        std::os::unix::fs::chown(folder.path(), Some(65_532), Some(65_532)).unwrap();
        std::os::unix::process::CommandExt::uid(&mut command, 65_532);
        std::os::unix::process::CommandExt::gid(&mut command, 65_532);
    }
    // Nothing is written but below --data: no home, no folder of its own to be in.
    let started = command
        .args(["serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--data", data.to_str().unwrap()])
        .args(["--ready-file", ready.to_str().unwrap()])
        .env_remove("HOME")
        .current_dir("/")
        .stderr(Stdio::null())
        .spawn();
    // The build's folder may be closed to that user: then there is nothing to see here.
    let Ok(mut child) = started else { return };
    wait_until(|| ready.exists() || child.try_wait().unwrap().is_some());
    assert!(child.try_wait().unwrap().is_none(), "it does not start");
    let ready: Value = serde_json::from_slice(&std::fs::read(&ready).unwrap()).unwrap();
    let server = format!("http://{}", ready["grpc"].as_str().unwrap());
    let health =
        || program().env("HINDSIGHT_SERVER", &server).args(["health", "--timeout", "2s"]).output().unwrap();
    assert_eq!(health().status.code(), Some(0));
    signal(child.id(), "TERM");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(health().status.code(), Some(6));
}
