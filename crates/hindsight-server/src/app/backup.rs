//! A backup on its way to one caller: made on a thread of its own, at the pace at which it is taken.

use std::{
    io::{self, Write},
    sync::Arc,
    time::Duration,
};

use hindsight_storage::BackupReport;
use tokio::{
    runtime::Handle,
    sync::{Semaphore, mpsc},
    time::timeout,
};

use super::{App, AppError};
use crate::server::now;

/// Bytes of one message.
const CHUNK_BYTES: usize = 256 << 10;
/// Messages that wait to be sent; the thread waits when there are more.
const CHUNKS_MAX: usize = 4;
/// How long a caller may take none. It holds what checkpoints would remove.
const STALL: Duration = Duration::from_secs(60);

/// Lets one backup be taken at a time.
pub(super) struct Backups(Arc<Semaphore>);

impl Default for Backups {
    fn default() -> Self {
        Backups(Arc::new(Semaphore::new(1)))
    }
}

/// A part of a backup.
#[derive(Debug)]
pub(crate) enum BackupPart {
    /// The next bytes.
    Bytes(Vec<u8>),
    /// The end of a backup that is whole.
    Done(BackupReport),
}

/// The parts of a backup, as they come. A last part that is not [`BackupPart::Done`] is a failure.
pub(crate) type BackupParts = mpsc::Receiver<Result<BackupPart, AppError>>;

impl App {
    /// Begins a backup. It ends when its receiver is dropped.
    ///
    /// # Errors
    /// [`AppError::BackupRuns`] while another is being taken.
    pub(crate) fn backup(&self) -> Result<BackupParts, AppError> {
        let pass = Arc::clone(&self.backups.0).try_acquire_owned().map_err(|_| AppError::BackupRuns)?;
        let (sender, receiver) = mpsc::channel(CHUNKS_MAX);
        let (worker, metrics) = (Arc::clone(&self.worker), Arc::clone(&self.metrics));
        let mut out = Chunks { handle: Handle::current(), sender, buffer: Vec::with_capacity(CHUNK_BYTES) };
        tokio::task::spawn_blocking(move || {
            let _pass = pass;
            let last = match worker.engine.backup(&mut out) {
                Ok(report) => {
                    tracing::info!(lsn = %report.lsn, bytes = report.bytes, "a backup was taken");
                    metrics.memories.backed_up(now().as_ms(), report.bytes);
                    Ok(BackupPart::Done(report))
                }
                Err(error) => Err(error.into()),
            };
            if let Err(error) = out.send(last) {
                tracing::warn!(%error, "whoever took a backup has gone away");
            }
        });
        Ok(receiver)
    }
}

/// Gathers bytes into messages.
struct Chunks {
    handle: Handle,
    sender: mpsc::Sender<Result<BackupPart, AppError>>,
    buffer: Vec<u8>,
}

impl Chunks {
    fn send(&self, part: Result<BackupPart, AppError>) -> io::Result<()> {
        match self.handle.block_on(timeout(STALL, self.sender.send(part))) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(io::ErrorKind::BrokenPipe.into()),
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        }
    }
}

impl Write for Chunks {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = CHUNK_BYTES - self.buffer.len();
        let taken = bytes.get(..room.min(bytes.len())).unwrap_or_default();
        self.buffer.extend_from_slice(taken);
        if self.buffer.len() == CHUNK_BYTES {
            self.flush()?;
        }
        Ok(taken.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let full = std::mem::replace(&mut self.buffer, Vec::with_capacity(CHUNK_BYTES));
        self.send(Ok(BackupPart::Bytes(full)))
    }
}
