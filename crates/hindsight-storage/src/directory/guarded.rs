//! sled behind a guard: the one file that names it.
//!
//! sled answers damaged files with errors or panics, and after a panic its buffers may be half written and its locks
//! held. So every call is caught, after the first failure none is made any more, and a tree that failed is never
//! closed: closing waits for buffers that nobody will finish. What it leaks then is its small cache and one open file.

use std::{
    any::Any,
    ops::ControlFlow,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

use super::{error::DirectoryError, folder, quiet};

#[cfg(panic = "abort")]
compile_error!("the directory catches the panics of sled: build with panic = \"unwind\"");

/// Longest part of a panic's message that is kept, in characters.
const MESSAGE_CHARS_MAX: usize = 400;

/// A sled tree that fails once at most.
pub(super) struct Guarded {
    path: PathBuf,
    /// Some until it is dropped.
    db: Option<sled::Db>,
    is_broken: AtomicBool,
}

/// Is shown key and value, and says whether to go on.
pub(super) type Visit<'a> = dyn FnMut(&[u8], &[u8]) -> Result<ControlFlow<()>, DirectoryError> + 'a;

/// Changes that sled makes together.
#[derive(Default)]
pub(super) struct Writes(sled::Batch);

impl Writes {
    pub(super) fn put(&mut self, key: &[u8], value: &[u8]) {
        self.0.insert(key, value);
    }

    pub(super) fn remove(&mut self, key: &[u8]) {
        self.0.remove(key);
    }
}

impl Guarded {
    /// Opens the files of a folder, or makes them.
    pub(super) fn open(path: &Path, cache_bytes: u64) -> Result<Guarded, DirectoryError> {
        let db = caught("open", path, || {
            sled::Config::new()
                .path(path)
                .mode(sled::Mode::LowSpace)
                .cache_capacity(cache_bytes)
                .use_compression(false)
                // Only a call of ours writes: a thread that flushes by itself would panic where nobody catches it.
                .flush_every_ms(None)
                .open()
        })?;
        Ok(Guarded { path: path.to_owned(), db: Some(db), is_broken: AtomicBool::new(false) })
    }

    pub(super) fn get(&self, key: &[u8]) -> Result<Option<impl AsRef<[u8]> + use<>>, DirectoryError> {
        self.run("read", |db| db.get(key))
    }

    /// The last key from `from` up to `to`, `to` included, with its value.
    pub(super) fn last(&self, from: &[u8], to: &[u8]) -> Result<Option<(Vec<u8>, Vec<u8>)>, DirectoryError> {
        let found = self.run("read", |db| db.range(from..=to).next_back().transpose())?;
        Ok(found.map(|(key, value)| (key.to_vec(), value.to_vec())))
    }

    /// Visits keys from `from` to before `to` in order, until told to stop.
    pub(super) fn range(&self, from: &[u8], to: &[u8], visit: &mut Visit<'_>) -> Result<(), DirectoryError> {
        let visited = self.run("scan", |db| {
            for entry in db.range(from..to) {
                let (key, value) = entry?;
                match visit(&key, &value) {
                    Ok(ControlFlow::Continue(())) => {}
                    stopped => return Ok(stopped.map(|_| ())),
                }
            }
            Ok(Ok(()))
        })?;
        if visited.is_err() {
            self.give_up();
        }
        visited
    }

    /// Makes changes, together. They are durable after [`Guarded::flush`] and a sync of the folder.
    pub(super) fn write(&self, writes: Writes) -> Result<(), DirectoryError> {
        self.run("write", |db| db.apply_batch(writes.0))
    }

    /// Hands everything to the system.
    pub(super) fn flush(&self) -> Result<(), DirectoryError> {
        self.run("flush", |db| db.flush().map(|_| ()))
    }

    /// Makes no call any more.
    pub(super) fn give_up(&self) {
        self.is_broken.store(true, Ordering::Release);
    }

    fn run<T>(
        &self,
        op: &'static str,
        call: impl FnOnce(&sled::Db) -> sled::Result<T>,
    ) -> Result<T, DirectoryError> {
        let db = match &self.db {
            Some(db) if !self.is_broken.load(Ordering::Acquire) => db,
            _ => return Err(DirectoryError::Broken { path: self.path.clone() }),
        };
        let result = caught(op, &self.path, || call(db));
        if result.is_err() {
            self.give_up();
        }
        result
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        let Some(db) = self.db.take() else { return };
        if self.is_broken.load(Ordering::Acquire) {
            std::mem::forget(db);
            return;
        }
        let close = || {
            drop(db);
            Ok(())
        };
        let closed = caught("close", &self.path, close)
            .and_then(|()| folder::wait_until_unlocked(&self.path).map_err(DirectoryError::Io));
        if let Err(error) = closed {
            // Everything that was acknowledged is durable, and the next open holds the rest against the manifest.
            tracing::warn!(error = &error as &dyn std::error::Error, "the directory was not closed in order");
        }
    }
}

/// Makes a call and turns a panic into an error.
fn caught<T>(
    op: &'static str,
    path: &Path,
    call: impl FnOnce() -> sled::Result<T>,
) -> Result<T, DirectoryError> {
    // Nothing that a panic leaves half done is looked at again: the tree is given up, and what a visitor of ours has
    // gathered until then is thrown away with the error.
    match quiet::during(|| catch_unwind(AssertUnwindSafe(call))) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(source)) => {
            Err(DirectoryError::Failed { op, path: path.to_owned(), source: Box::new(source) })
        }
        Err(panic) => {
            Err(DirectoryError::Panicked { op, path: path.to_owned(), message: message_of(panic.as_ref()) })
        }
    }
}

/// What a panic says, shortened.
pub(super) fn message_of(panic: &(dyn Any + Send)) -> String {
    let text = match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => text,
        (None, Some(text)) => text.as_str(),
        (None, None) => "a panic without a text",
    };
    text.chars().take(MESSAGE_CHARS_MAX).collect()
}
