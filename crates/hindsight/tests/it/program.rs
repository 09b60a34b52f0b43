//! Runs the binary and serves a temporary directory with it.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// What a run of the program left behind.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    pub(crate) fn of(output: Output) -> Ran {
        Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Asserts that it went well.
    #[track_caller]
    pub(crate) fn ok(self) -> Ran {
        assert_eq!(self.code, 0, "{self:#?}");
        self
    }

    /// Asserts its exit code and that standard error holds each of `words`; no data may have been printed.
    #[track_caller]
    pub(crate) fn refused(self, code: i32, words: &[&str]) -> Ran {
        assert_eq!(self.code, code, "{self:#?}");
        for word in words {
            assert!(self.stderr.contains(word), "{word:?} is not in {self:#?}");
        }
        assert_eq!(self.stdout, "", "{self:#?}");
        self
    }

    /// Standard output as one JSON document.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in {self:#?}"))
    }

    /// Standard output as a JSON document a line.
    #[track_caller]
    pub(crate) fn lines(&self) -> Vec<Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// The program, untouched by the environment of the test.
pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hindsight"));
    for name in ["HINDSIGHT_SERVER", "HINDSIGHT_NAMESPACE", "HINDSIGHT_TIME_ZONE", "NO_COLOR", "COLUMNS"] {
        command.env_remove(name);
    }
    // No file of whoever runs the tests is read.
    command.env("XDG_CONFIG_HOME", "/nonexistent").env_remove("HINDSIGHT_PROFILE");
    for name in ["HINDSIGHT_TOKEN", "HINDSIGHT_TOKEN_FILE", "HINDSIGHT_TLS_CA", "HINDSIGHT_TLS_DOMAIN"] {
        command.env_remove(name);
    }
    command.env("TZ", "UTC").stdin(Stdio::null());
    command
}

/// Runs the program without a server.
pub(crate) fn run(args: &[&str]) -> Ran {
    Ran::of(program().args(args).output().unwrap())
}

/// A server in a process of its own, on free loopback ports.
pub(crate) struct Served {
    child: Child,
    pub(crate) data: PathBuf,
    pub(crate) grpc: String,
    pub(crate) http: String,
    pub(crate) ready: Value,
    pub(crate) log: PathBuf,
    // Holds the files until the test ends.
    folder: Option<TempDir>,
}

impl Served {
    /// Serves a new directory.
    pub(crate) fn start() -> Served {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        Served::start_on(&data, Some(folder))
    }

    /// Serves `data`; the other files of the server go beside it.
    pub(crate) fn start_on(data: &Path, folder: Option<TempDir>) -> Served {
        let beside = data.parent().unwrap();
        let (ready_file, log) = (beside.join("ready.json"), beside.join("server.log"));
        let _ = std::fs::remove_file(&ready_file);
        let mut child = program()
            .args([
                "serve",
                "--log-format",
                "text",
                "--listen",
                "127.0.0.1:0",
                "--http",
                "127.0.0.1:0",
                "--data",
            ])
            .arg(data)
            .arg("--ready-file")
            .arg(&ready_file)
            .stderr(std::fs::File::create(&log).unwrap())
            .spawn()
            .unwrap();
        let ready: Value = loop {
            if let Ok(json) = std::fs::read(&ready_file) {
                break serde_json::from_slice(&json).unwrap();
            }
            if let Some(status) = child.try_wait().unwrap() {
                panic!("the server ended with {status}: {}", std::fs::read_to_string(&log).unwrap());
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let address = |name: &str| ready[name].as_str().unwrap().to_owned();
        let (grpc, http) = (format!("http://{}", address("grpc")), format!("http://{}", address("http")));
        Served { child, data: data.to_owned(), grpc, http, ready, log, folder }
    }

    /// The program, told where this server is, with `-n test`.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = program();
        command.env("HINDSIGHT_SERVER", &self.grpc).env("HINDSIGHT_NAMESPACE", "test").args(args);
        command
    }

    /// Runs the program against this server.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        Ran::of(self.command(args).output().unwrap())
    }

    /// Runs the program with `input` as its standard input.
    pub(crate) fn run_with(&self, input: &[u8], args: &[&str]) -> Ran {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A program that refuses its arguments closes its input early; the assertions come later.
        let _ = child.stdin.take().unwrap().write_all(input);
        Ran::of(child.wait_with_output().unwrap())
    }

    /// The id of a memory with this text, stored with these flags.
    pub(crate) fn write(&self, text: &str, flags: &[&str]) -> String {
        let args = [&["write", text, "-o", "json"], flags].concat();
        self.run(&args).ok().json()["memory"]["id"].as_str().unwrap().to_owned()
    }

    /// How many memories the namespace holds, without the forgotten ones; none when it does not exist.
    pub(crate) fn count(&self, namespace: &str) -> u64 {
        let ran = self.run(&["namespaces", "-o", "json"]).ok();
        let found = ran.json().as_array().unwrap().iter().find(|item| item["name"] == namespace).cloned();
        found.map_or(0, |item| item["memories"].as_u64().unwrap())
    }

    /// Kills it as a power cut would, and gives its directory back.
    pub(crate) fn kill(mut self) -> (PathBuf, Option<TempDir>) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        (self.data.clone(), self.folder.take())
    }

    /// Asks it to end with a signal, and waits until it has.
    pub(crate) fn signal(mut self, name: &str) -> (ExitStatus, String, Option<TempDir>) {
        signal(self.child.id(), name);
        let status = self.child.wait().unwrap();
        (status, std::fs::read_to_string(&self.log).unwrap(), self.folder.take())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a signal to a process.
pub(crate) fn signal(pid: u32, name: &str) {
    let status = Command::new("kill").arg(format!("-{name}")).arg(pid.to_string()).status().unwrap();
    assert!(status.success());
}

/// Every file below a folder with a hash of its bytes and the time of its last change, to see that nothing was touched.
pub(crate) fn contents(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let changed = path.metadata().unwrap().modified().unwrap();
        if path.is_dir() {
            found.extend(contents(&path));
            found.push((path, format!("{changed:?}")));
        } else {
            let hash = blake3::hash(&std::fs::read(&path).unwrap()).to_hex();
            found.push((path, format!("{changed:?} {hash}")));
        }
    }
    found.sort();
    found
}

/// Waits until `done` says so. A test that hangs is ended by its runner, not by a clock here.
pub(crate) fn wait_until(mut done: impl FnMut() -> bool) {
    let started = Instant::now();
    while !done() {
        // Slow down after the first second, so that a long wait does not take the processor from what is waited for.
        let pause = if started.elapsed() < Duration::from_secs(1) { 2 } else { 50 };
        std::thread::sleep(Duration::from_millis(pause));
    }
}
