//! A server in a process of its own, which can be stopped as hard as a power cut would.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::commands::serve::Ready;
use crate::failure::Failure;

/// How long a server may take until it answers.
const READY_TIMEOUT: Duration = Duration::from_secs(30);
/// How often it is looked for.
const READY_POLL: Duration = Duration::from_millis(5);
/// How many bytes of its log an error shows.
const LOG_BYTES_MAX: usize = 4_000;

/// A running server. It is killed when this value goes, so none is left behind.
#[derive(Debug)]
pub(crate) struct ServerProcess {
    child: Child,
    /// Where it listens, and what it found.
    pub(crate) ready: Ready,
    /// From its start until it listened.
    pub(crate) took: Duration,
}

impl ServerProcess {
    /// Starts `hindsight serve` on `data` with free loopback ports, and waits until it listens. Its log and the file
    /// that tells its ports go to the folder `beside`.
    pub(crate) async fn start(data: &Path, beside: &Path) -> Result<ServerProcess, Failure> {
        let ready_file = beside.join("ready.json");
        let log_file = beside.join("server.log");
        // The file of a server before would be taken for this one's.
        match std::fs::remove_file(&ready_file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        let started = Instant::now();
        let log = File::create(&log_file)?;
        let child = Command::new(std::env::current_exe()?)
            .arg("serve")
            .arg("--data")
            .arg(data)
            .args(["--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--ready-file"])
            .arg(&ready_file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()?;
        let mut starting = Starting { child: Some(child), log_file };
        let ready = starting.wait(&ready_file, started).await?;
        let child = starting.child.take().ok_or(Failure::ServerLost { status: None, log: String::new() })?;
        Ok(ServerProcess { child, ready, took: started.elapsed() })
    }

    /// Stops it as a power cut would: no signal that it could handle, no last write.
    pub(crate) fn kill(mut self) -> Result<(), Failure> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // An error means that it is gone already, which is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A server that does not listen yet; killed when the waiting ends early.
struct Starting {
    child: Option<Child>,
    log_file: PathBuf,
}

impl Starting {
    async fn wait(&mut self, ready_file: &Path, started: Instant) -> Result<Ready, Failure> {
        loop {
            match std::fs::read(ready_file) {
                Ok(json) => return Ok(serde_json::from_slice(&json).map_err(std::io::Error::from)?),
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
                Err(_) => {}
            }
            let ended = self.child.as_mut().map(Child::try_wait).transpose()?.flatten();
            if ended.is_some() || started.elapsed() > READY_TIMEOUT {
                return Err(self.lost(ended));
            }
            tokio::time::sleep(READY_POLL).await;
        }
    }

    fn lost(&self, status: Option<ExitStatus>) -> Failure {
        let log = std::fs::read(&self.log_file).unwrap_or_default();
        let tail = log.get(log.len().saturating_sub(LOG_BYTES_MAX)..).unwrap_or_default();
        Failure::ServerLost { status, log: String::from_utf8_lossy(tail).into_owned() }
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
