//! The server in a process of its own: started, waited for, and ended in every way.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use hindsight_client::{Client, ClientBuilder};
use rustix::process::{Pid, Signal, kill_process};
use serde::Deserialize;

/// How long a server may take until it listens. Generous: a debugger of system calls slows it down.
const READY_MAX: Duration = Duration::from_secs(180);
/// How often it is looked for.
const POLL: Duration = Duration::from_millis(1);
/// How much of its log an error shows, in bytes.
const LOG_SHOWN_BYTES: usize = 2_000;

/// How a server is started.
#[derive(Debug, Clone)]
pub struct Launch<'a> {
    /// Its program.
    pub program: &'a Path,
    /// Its data directory.
    pub data: &'a Path,
    /// A folder for its log and the file that tells its ports.
    pub beside: &'a Path,
    /// A program that runs it, with arguments; empty for none.
    pub under: Vec<OsString>,
}

/// What a started server says of itself.
#[derive(Debug, Deserialize)]
pub struct Ready {
    /// Where gRPC is served.
    pub grpc: String,
    /// Where HTTP is served.
    pub http: String,
    /// Its process, also when another program runs it.
    pub pid: i32,
}

/// A process that does not listen yet.
#[derive(Debug)]
pub struct Starting {
    child: Option<Child>,
    ready_file: PathBuf,
    log: PathBuf,
    began: Instant,
}

/// A server that listens. It is killed when this value goes.
#[derive(Debug)]
pub struct Served {
    child: Child,
    /// What it says of itself.
    pub ready: Ready,
    /// From its start until it listened.
    pub took: Duration,
    log: PathBuf,
    has_ended: bool,
}

/// How a start came out.
#[derive(Debug)]
pub enum Start {
    /// It listens.
    Served(Served),
    /// It refused, with its last words.
    Ended(ExitStatus, String),
}

impl Launch<'_> {
    /// Starts the process.
    ///
    /// # Errors
    /// When it can't be started.
    pub fn spawn(&self) -> anyhow::Result<Starting> {
        let ready_file = self.beside.join("ready.json");
        let log = self.beside.join("server.log");
        // The file of a server before would be taken for this one's.
        match std::fs::remove_file(&ready_file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        let began = Instant::now();
        let mut words = self.under.iter().cloned().chain([self.program.as_os_str().to_owned()]);
        let program = words.next().unwrap_or_default();
        let child = Command::new(&program)
            .args(words)
            .arg("serve")
            .arg("--data")
            .arg(self.data)
            .args(["--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--ready-file"])
            .arg(&ready_file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(&log)?)
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        Ok(Starting { child: Some(child), ready_file, log, began })
    }

    /// Starts it and waits until it listens.
    ///
    /// # Errors
    /// When it does not.
    pub fn start(&self) -> anyhow::Result<Served> {
        match self.spawn()?.wait()? {
            Start::Served(served) => Ok(served),
            Start::Ended(status, log) => bail!("the server did not start ({status}): {log}"),
        }
    }
}

impl Starting {
    /// Waits until it listens or ends.
    ///
    /// # Errors
    /// When it does neither in time.
    pub fn wait(mut self) -> anyhow::Result<Start> {
        loop {
            // Looked at first: a server may write its file and be killed at once.
            let ended = self.child.as_mut().map(Child::try_wait).transpose()?.flatten();
            if let Some(status) = ended {
                return Ok(Start::Ended(status, last_words(&self.log)));
            }
            match std::fs::read(&self.ready_file) {
                Ok(json) => {
                    let ready = serde_json::from_slice(&json).context("the server's ready file")?;
                    let took = self.began.elapsed();
                    let child = self.child.take().context("a server that was given away already")?;
                    let log = self.log.clone();
                    return Ok(Start::Served(Served { child, ready, took, log, has_ended: false }));
                }
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
                Err(_) => {}
            }
            if self.began.elapsed() > READY_MAX {
                bail!("the server neither listens nor ends: {}", last_words(&self.log));
            }
            std::thread::sleep(POLL);
        }
    }

    /// Kills it after a while, wherever it is by then.
    ///
    /// # Errors
    /// When the system does not let it be killed.
    pub fn kill_after(self, pause: Duration) -> anyhow::Result<()> {
        std::thread::sleep(pause);
        drop(self);
        Ok(())
    }

    /// Asks it to end after a while, wherever it is by then, and waits for that.
    ///
    /// # Errors
    /// When it does not end in time.
    pub fn terminate_after(mut self, pause: Duration, most: Duration) -> anyhow::Result<ExitStatus> {
        std::thread::sleep(pause);
        let mut child = self.child.take().context("a server that was given away already")?;
        send(Pid::from_child(&child), Signal::TERM)?;
        wait_for(&mut child, most)
    }
}

impl Drop for Starting {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Served {
    /// A client that makes each call once.
    ///
    /// # Errors
    /// When the address is none.
    pub fn client(&self) -> anyhow::Result<Client> {
        let client = ClientBuilder::new()
            .attempts(1)
            .timeout(Duration::from_secs(30))
            .message_bytes_max(16 << 20, 64 << 20)
            .connect_lazy(&format!("http://{}", self.ready.grpc))?;
        Ok(client)
    }

    /// Ends it as hard as can be: it learns nothing of it.
    ///
    /// # Errors
    /// When the system does not let it be killed.
    pub fn kill(mut self) -> anyhow::Result<ExitStatus> {
        self.signal(Signal::KILL)?;
        self.wait(READY_MAX)
    }

    /// Sends it a signal.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn signal(&self, signal: Signal) -> anyhow::Result<()> {
        send(Pid::from_raw(self.ready.pid).context("the server names no process")?, signal)
    }

    /// Whether it ended by itself.
    ///
    /// # Errors
    /// When the system does not say.
    pub fn has_ended(&mut self) -> anyhow::Result<bool> {
        self.has_ended |= self.child.try_wait()?.is_some();
        Ok(self.has_ended)
    }

    /// Waits until it ends.
    ///
    /// # Errors
    /// When that takes longer than `most`.
    pub fn wait(&mut self, most: Duration) -> anyhow::Result<ExitStatus> {
        let status = wait_for(&mut self.child, most)?;
        self.has_ended = true;
        Ok(status)
    }

    /// Asks it to stop, waits for that, and requires exit code 0.
    ///
    /// # Errors
    /// When it ends otherwise.
    pub fn stop(mut self) -> anyhow::Result<()> {
        self.signal(Signal::TERM)?;
        let status = self.wait(READY_MAX)?;
        if !status.success() {
            bail!("the server ended with {status}: {}", self.log());
        }
        Ok(())
    }

    /// What it wrote to standard error, the end of it.
    #[must_use]
    pub fn log(&self) -> String {
        last_words(&self.log)
    }

    /// What it says when it is asked whether it is ready: the HTTP status, and the body.
    ///
    /// # Errors
    /// When it does not answer.
    pub fn health(&self) -> anyhow::Result<(u16, String)> {
        let mut stream = TcpStream::connect(&self.ready.http)?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        stream.write_all(b"GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        // "HTTP/1.1 200 OK", headers, an empty line, the body.
        let status = answer.split(' ').nth(1).and_then(|code| code.parse().ok());
        let body = answer.split_once("\r\n\r\n").map(|(_, body)| body.to_owned());
        status.zip(body).with_context(|| format!("{answer:?} is no answer"))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // An error means that it is gone already, which is what is wanted.
        if !self.has_ended {
            let _ = self.signal(Signal::KILL);
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

fn send(pid: Pid, signal: Signal) -> anyhow::Result<()> {
    match kill_process(pid, signal) {
        // Gone already.
        Err(rustix::io::Errno::SRCH) => Ok(()),
        sent => sent.context("cannot send a signal to the server"),
    }
}

fn wait_for(child: &mut Child, most: Duration) -> anyhow::Result<ExitStatus> {
    let began = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if began.elapsed() > most {
            let _ = child.kill();
            child.wait()?;
            bail!("the server did not end within {} ms", most.as_millis());
        }
        std::thread::sleep(POLL);
    }
}

fn last_words(log: &Path) -> String {
    let bytes = std::fs::read(log).unwrap_or_default();
    let tail = bytes.get(bytes.len().saturating_sub(LOG_SHOWN_BYTES)..).unwrap_or_default();
    String::from_utf8_lossy(tail).trim().to_owned()
}
