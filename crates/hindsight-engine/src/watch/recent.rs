//! The newest batches of the log, read and decoded once for all who watch.
//!
//! It is filled by whoever asks for more than is in it, from the log on the disk, so that writers do nothing for it. Whoever
//! is further behind reads the log by itself. With the last watcher it is empty again.

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

use hindsight_core::{Batch, Lsn, Namespace};
use hindsight_storage::io::Io;
use hindsight_storage::{
    LogCursor, ReadMost, Storage, StorageError, TailError, batch_namespace, decode_batch,
};
use parking_lot::Mutex;

use crate::error::EngineError;

/// Bytes of batches that are kept.
const KEPT_BYTES: usize = 4 << 20;
/// How much one read takes from the log.
const READ_MOST: ReadMost = ReadMost { batches: 512, bytes: 512 << 10 };

/// A batch as the log has it.
#[derive(Debug)]
pub(super) struct Logged {
    pub(super) lsn: Lsn,
    pub(super) namespace: Namespace,
    payload: Vec<u8>,
    /// Decoded by the first who looks.
    batch: OnceLock<Batch>,
}

impl Logged {
    fn new(lsn: Lsn, payload: &[u8]) -> Result<Logged, StorageError> {
        let namespace =
            batch_namespace(payload).map_err(|source| StorageError::Undecodable { lsn, source })?;
        Ok(Logged { lsn, namespace, payload: payload.to_vec(), batch: OnceLock::new() })
    }

    pub(super) fn bytes(&self) -> usize {
        self.payload.len()
    }

    /// # Errors
    /// When the bytes are no batch.
    pub(super) fn batch(&self) -> Result<&Batch, StorageError> {
        if let Some(batch) = self.batch.get() {
            return Ok(batch);
        }
        let undecodable = |source| StorageError::Undecodable { lsn: self.lsn, source };
        let batch = decode_batch(&self.payload).map_err(undecodable)?;
        Ok(self.batch.get_or_init(|| batch))
    }
}

/// What is kept; see the module.
#[derive(Debug, Default)]
pub(crate) struct Recent(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    watchers: usize,
    /// Up to where the log was read for it.
    cursor: LogCursor,
    /// Batches without a gap, the last of which is that of the cursor.
    batches: VecDeque<Arc<Logged>>,
    bytes: usize,
}

impl Recent {
    /// One more watches.
    pub(super) fn enter(&self) {
        self.0.lock().watchers += 1;
    }

    /// One less watches.
    pub(super) fn leave(&self) {
        let mut kept = self.0.lock();
        kept.watchers -= 1;
        if kept.watchers == 0 {
            *kept = Kept::default();
        }
    }

    /// The next durable batches after a cursor, which moves behind them.
    ///
    /// # Errors
    /// When the log does not reach back to the cursor, or can't be read.
    pub(super) fn after<I: Io>(
        &self,
        storage: &Storage<Arc<I>>,
        cursor: &mut LogCursor,
    ) -> Result<Vec<Arc<Logged>>, EngineError> {
        let after = cursor.last();
        let mut kept = self.0.lock();
        if kept.cursor.last() < after {
            // Nobody needs what is older: whoever does reads by itself.
            let watchers = kept.watchers;
            *kept = Kept { watchers, cursor: cursor.clone(), ..Kept::default() };
        }
        if kept.cursor.last() == after {
            let more = read(storage, &mut kept.cursor)?;
            kept.add(more);
        }
        if let Some(batches) = kept.after(after) {
            if !batches.is_empty() {
                *cursor = batches.last().map_or_else(LogCursor::default, |last| {
                    if last.lsn == kept.cursor.last() {
                        kept.cursor.clone()
                    } else {
                        LogCursor::after(last.lsn)
                    }
                });
            }
            return Ok(batches);
        }
        drop(kept);
        read(storage, cursor)
    }
}

impl Kept {
    fn add(&mut self, more: Vec<Arc<Logged>>) {
        self.bytes += more.iter().map(|logged| logged.bytes()).sum::<usize>();
        self.batches.extend(more);
        while self.bytes > KEPT_BYTES && self.batches.len() > 1 {
            let Some(oldest) = self.batches.pop_front() else { break };
            self.bytes -= oldest.bytes();
        }
    }

    /// Batches after `after`, as many as one read takes; `None` when the first of them is not kept.
    fn after(&self, after: Lsn) -> Option<Vec<Arc<Logged>>> {
        if self.cursor.last() == after {
            return Some(Vec::new());
        }
        let first = self.batches.front()?.lsn;
        let skipped = usize::try_from((after.0 + 1).checked_sub(first.0)?).ok()?;
        let mut bytes = 0;
        let fits = |logged: &&Arc<Logged>| {
            let fits = bytes < READ_MOST.bytes;
            bytes += logged.bytes();
            fits
        };
        Some(self.batches.iter().skip(skipped).take(READ_MOST.batches).take_while(fits).cloned().collect())
    }
}

/// Reads on from the log.
fn read<I: Io>(storage: &Storage<Arc<I>>, cursor: &mut LogCursor) -> Result<Vec<Arc<Logged>>, EngineError> {
    let after = cursor.last();
    let mut batches = Vec::new();
    let mut bad = None;
    let outcome = storage.read_log(cursor, READ_MOST, &mut |lsn, payload| match Logged::new(lsn, payload) {
        Ok(logged) => batches.push(Arc::new(logged)),
        Err(error) => bad = bad.take().or(Some(error)),
    });
    match (outcome, bad) {
        (Ok(()), None) => Ok(batches),
        (_, Some(error)) | (Err(TailError::Storage(error)), None) => Err(error.into()),
        (Err(TailError::GivenUp { oldest }), None) => Err(EngineError::WatchCompacted { after, oldest }),
    }
}
