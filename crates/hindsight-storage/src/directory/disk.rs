//! The directory on sled.

use std::{
    collections::BTreeMap,
    iter::Peekable,
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use hindsight_core::{Lsn, MemoryId};
use parking_lot::Mutex;

use super::{
    Directory, PAGE_ENTRIES_MAX,
    batch::DirectoryBatch,
    blocks::{self, Rows},
    error::{DirectoryError, SourceError},
    folder,
    guarded::{Guarded, Writes},
    jobs::{self, JOBS_MAX, Job, JobSum},
    place::{self, MemoryKey},
    stamp::Stamp,
};
use crate::records::{NamespaceId, RecordPosition};

const STAMP_KEY: &[u8] = b"s";
const JOB_SUM_KEY: &[u8] = b"k";
/// sled divides the cache into 256 parts and panics when one would be empty.
const CACHE_BYTES_MIN: u64 = 64 << 10;

/// What can be set about the directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DirectoryOptions {
    /// Memory for pages that were read, in bytes. Default 8 MiB; less than 64 KiB is taken as that.
    pub cache_bytes: u64,
}

impl Default for DirectoryOptions {
    fn default() -> Self {
        DirectoryOptions { cache_bytes: 8 << 20 }
    }
}

/// The directory on sled. See [`super::open_or_rebuild`] for how one is opened.
pub struct SledDirectory {
    path: PathBuf,
    tree: Guarded,
    /// Taken by who writes: a stamp is read, changed and written back.
    writing: Mutex<()>,
}

impl std::fmt::Debug for SledDirectory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SledDirectory").field("path", &self.path).finish_non_exhaustive()
    }
}

impl SledDirectory {
    /// Opens a folder, or makes it, and believes what is in it: see [`SledDirectory::check`].
    ///
    /// # Errors
    /// [`DirectoryError::Failed`], [`DirectoryError::Panicked`], [`DirectoryError::Io`].
    pub fn open(path: &Path, options: DirectoryOptions) -> Result<SledDirectory, DirectoryError> {
        folder::create(path)?;
        let tree = Guarded::open(path, options.cache_bytes.max(CACHE_BYTES_MIN))?;
        Ok(SledDirectory { path: path.to_owned(), tree, writing: Mutex::new(()) })
    }

    /// Throws away what is at `path` and makes a directory with these entries and the stamp of `lsn`. Of two entries
    /// with one key the later wins. A crash on the way leaves a folder without a stamp, which is rebuilt.
    ///
    /// # Errors
    /// [`DirectoryError::Source`] for an entry that can't be had, and as [`SledDirectory::open`].
    pub fn rebuild(
        path: &Path,
        options: DirectoryOptions,
        lsn: Lsn,
        entries: impl IntoIterator<Item = Result<(MemoryId, RecordPosition), SourceError>>,
    ) -> Result<SledDirectory, DirectoryError> {
        folder::remove(path)?;
        let directory = SledDirectory::open(path, options)?;
        let mut stamp = Stamp { lsn, ..Stamp::EMPTY };
        let mut batch = DirectoryBatch::new(lsn);
        for entry in entries {
            batch.puts.push(entry.map_err(DirectoryError::Source)?);
            if batch.puts.len() == PAGE_ENTRIES_MAX {
                let writes = directory.plan(&batch, &mut stamp)?;
                directory.tree.write(writes)?;
                batch.puts.clear();
            }
        }
        let mut writes = directory.plan(&batch, &mut stamp)?;
        writes.put(STAMP_KEY, &stamp.to_bytes());
        directory.commit(writes)?;
        Ok(directory)
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The stamp that the entries themselves add up to; its lsn is that of the stored stamp. Reads all of them.
    pub(super) fn add_up(&self, stored: Stamp) -> Result<Stamp, DirectoryError> {
        let mut sum = Stamp { lsn: stored.lsn, ..Stamp::EMPTY };
        self.tree.range(&[place::TAG], &[place::TAG_END], &mut |key, value| {
            let (_, rows) = self.block(key, value)?;
            rows.into_iter().for_each(|(id, position)| sum.replace(id, None, Some(position)));
            // More than there should be settles it, and ends a damaged tree that leads round in circles.
            Ok(if sum.records > stored.records { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        Ok(sum)
    }

    /// Whether the jobs add up to their stored sum.
    pub(super) fn jobs_add_up(&self) -> Result<bool, DirectoryError> {
        let mut sum = JobSum::default();
        for (key, value) in self.jobs()? {
            sum.replace(&key, None, Some(&value));
        }
        Ok(sum == self.job_sum()?)
    }

    /// The writes of a batch's puts and removes; the stamp takes them in.
    fn plan(&self, batch: &DirectoryBatch, stamp: &mut Stamp) -> Result<Writes, DirectoryError> {
        let mut writes = Writes::default();
        let mut changes = batch.changes().into_iter().peekable();
        while let Some((key, _)) = changes.peek() {
            let place = self.place_of(*key)?;
            place.change(&mut changes, stamp, &mut writes);
        }
        Ok(writes)
    }

    /// The block in which a memory lies, or would, and where the next one begins.
    fn place_of(&self, key: MemoryKey) -> Result<BlockPlace, DirectoryError> {
        let first = self.block_before(key)?;
        // What comes before the first block of its namespace goes into that.
        let (from, first) = match first {
            Some((held, rows)) => (held.successor(), Some((held, rows))),
            None => match self.block_from(key)? {
                Some((held, rows)) => (held.successor(), Some((held, rows))),
                None => (None, None),
            },
        };
        let next = match from.filter(|from| from.namespace == key.namespace) {
            Some(from) => self.block_from(from)?.map(|(next, _)| next),
            None => None,
        };
        let (held, rows) = first.unzip();
        Ok(BlockPlace { namespace: key.namespace, held, rows: rows.unwrap_or_default(), next })
    }

    /// The last block of a memory's namespace that begins at it or before it.
    fn block_before(&self, key: MemoryKey) -> Result<Option<(MemoryKey, Rows)>, DirectoryError> {
        let first = MemoryKey { namespace: key.namespace, id: MemoryId::from_u128(0) };
        let found = self.tree.last(&first.to_bytes(), &key.to_bytes())?;
        found.map(|(key, value)| self.block(&key, &value)).transpose()
    }

    /// The first block of a memory's namespace that begins at it or behind it.
    fn block_from(&self, key: MemoryKey) -> Result<Option<(MemoryKey, Rows)>, DirectoryError> {
        let mut found = None;
        self.tree.range(&key.to_bytes(), &[place::TAG_END], &mut |at, value| {
            found = Some(self.block(at, value)?);
            Ok(ControlFlow::Break(()))
        })?;
        Ok(found.filter(|(at, _)| at.namespace == key.namespace))
    }

    /// Removes the entries of a namespace, a page at a time.
    fn drop_namespace(&self, namespace: NamespaceId, stamp: &mut Stamp) -> Result<(), DirectoryError> {
        let first = MemoryKey { namespace, id: MemoryId::from_u128(0) };
        loop {
            let mut writes = Writes::default();
            let mut dropped = 0;
            self.tree.range(&first.to_bytes(), &[place::TAG_END], &mut |key, value| {
                let (at, rows) = self.block(key, value)?;
                if at.namespace != namespace || dropped >= PAGE_ENTRIES_MAX {
                    return Ok(ControlFlow::Break(()));
                }
                dropped += rows.len();
                rows.into_iter().for_each(|(id, position)| stamp.replace(id, Some(position), None));
                writes.remove(key);
                Ok(ControlFlow::Continue(()))
            })?;
            if dropped == 0 {
                return Ok(());
            }
            writes.put(STAMP_KEY, &stamp.to_bytes());
            self.tree.write(writes)?;
        }
    }

    /// Makes changes durable.
    fn commit(&self, writes: Writes) -> Result<(), DirectoryError> {
        self.tree.write(writes)?;
        self.tree.flush()?;
        // IMPORTANT: sled's flush is no barrier. Without this sync a power cut takes back what was acknowledged.
        folder::sync(&self.path).map_err(|failure| {
            // After a failed sync the cache may show what the disk never got.
            self.tree.give_up();
            DirectoryError::Io(failure)
        })
    }

    fn job_sum(&self) -> Result<JobSum, DirectoryError> {
        match self.tree.get(JOB_SUM_KEY)? {
            None => Ok(JobSum::default()),
            Some(bytes) => {
                JobSum::from_bytes(bytes.as_ref()).ok_or_else(|| self.malformed("job sum", &bytes))
            }
        }
    }

    fn block(&self, key: &[u8], value: &[u8]) -> Result<(MemoryKey, Rows), DirectoryError> {
        let at = MemoryKey::from_bytes(key).ok_or_else(|| self.malformed("key", &key))?;
        let rows = blocks::from_bytes(at, value).ok_or_else(|| self.malformed("block", &value))?;
        Ok((at, rows))
    }

    fn malformed(&self, what: &'static str, found: &impl AsRef<[u8]>) -> DirectoryError {
        self.tree.give_up();
        DirectoryError::Malformed { path: self.path.clone(), what, bytes: found.as_ref().len() }
    }
}

/// What each key holds after a batch, in the order of keys.
type Changes = Peekable<std::collections::btree_map::IntoIter<MemoryKey, Option<RecordPosition>>>;

/// A block, and what belongs into it.
struct BlockPlace {
    namespace: NamespaceId,
    /// The key it is stored under; none where the namespace has no block.
    held: Option<MemoryKey>,
    rows: Rows,
    /// The first key that belongs into the next block.
    next: Option<MemoryKey>,
}

impl BlockPlace {
    /// Makes the changes that belong into this block.
    fn change(self, changes: &mut Changes, stamp: &mut Stamp, writes: &mut Writes) {
        let last = self.rows.last().map(|(id, _)| *id);
        let mut rows: BTreeMap<MemoryId, RecordPosition> = self.rows.into_iter().collect();
        let (mut is_changed, mut is_appended) = (false, true);
        let is_here =
            |key: &MemoryKey| key.namespace == self.namespace && self.next.is_none_or(|next| *key < next);
        while let Some((key, new)) = changes.next_if(|(key, _)| is_here(key)) {
            let old = match new {
                Some(new) => rows.insert(key.id, new),
                None => rows.remove(&key.id),
            };
            stamp.replace(key.id, old, new);
            is_changed |= old != new;
            is_appended &= last.is_none_or(|last| last < key.id);
        }
        if !is_changed {
            return;
        }
        if let Some(held) = self.held {
            writes.remove(&held.to_bytes());
        }
        let rows: Rows = rows.into_iter().collect();
        for block in blocks::parted(&rows, is_appended) {
            if let Some((id, _)) = block.first() {
                let key = MemoryKey { namespace: self.namespace, id: *id };
                writes.put(&key.to_bytes(), &blocks::to_bytes(block));
            }
        }
    }
}

impl Directory for SledDirectory {
    fn get(&self, key: MemoryKey) -> Result<Option<RecordPosition>, DirectoryError> {
        let Some((_, rows)) = self.block_before(key)? else { return Ok(None) };
        let found = rows.binary_search_by_key(&key.id, |(id, _)| *id).ok();
        Ok(found.and_then(|at| rows.get(at)).map(|(_, position)| *position))
    }

    fn page(&self, from: MemoryKey, limit: usize) -> Result<Vec<(MemoryId, RecordPosition)>, DirectoryError> {
        let limit = limit.min(PAGE_ENTRIES_MAX);
        let mut page = Vec::new();
        if limit == 0 {
            return Ok(page);
        }
        let begin = self.block_before(from)?.map_or(from, |(begin, _)| begin);
        self.tree.range(&begin.to_bytes(), &[place::TAG_END], &mut |key, value| {
            let (_, rows) = self.block(key, value)?;
            let wanted = rows.into_iter().filter(|(id, position)| MemoryKey::of(*id, *position) >= from);
            page.extend(wanted.take(limit - page.len()));
            Ok(if page.len() == limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        Ok(page)
    }

    fn stamp(&self) -> Result<Option<Stamp>, DirectoryError> {
        let Some(bytes) = self.tree.get(STAMP_KEY)? else { return Ok(None) };
        Stamp::from_bytes(bytes.as_ref()).map(Some).ok_or_else(|| self.malformed("stamp", &bytes))
    }

    fn apply(&self, batch: &DirectoryBatch) -> Result<Stamp, DirectoryError> {
        batch.check()?;
        let _writing = self.writing.lock();
        let mut stamp = self.stamp()?.unwrap_or(Stamp::EMPTY);
        if batch.lsn < stamp.lsn {
            return Ok(stamp);
        }
        for namespace in batch.dropped() {
            self.drop_namespace(namespace, &mut stamp)?;
        }
        let mut writes = self.plan(batch, &mut stamp)?;
        stamp.lsn = batch.lsn;
        writes.put(STAMP_KEY, &stamp.to_bytes());
        self.commit(writes)?;
        Ok(stamp)
    }

    fn put_job(&self, key: &[u8], value: &[u8]) -> Result<(), DirectoryError> {
        jobs::check(key, value)?;
        let _writing = self.writing.lock();
        let (old, mut sum) = (self.job(key)?, self.job_sum()?);
        if old.is_none() && sum.jobs >= JOBS_MAX as u64 {
            return Err(DirectoryError::TooManyJobs { jobs_max: JOBS_MAX });
        }
        sum.replace(key, old.as_deref(), Some(value));
        let mut writes = Writes::default();
        writes.put(&jobs::stored_key(key), value);
        writes.put(JOB_SUM_KEY, &sum.to_bytes());
        self.commit(writes)
    }

    fn job(&self, key: &[u8]) -> Result<Option<Vec<u8>>, DirectoryError> {
        Ok(self.tree.get(&jobs::stored_key(key))?.map(|value| value.as_ref().to_vec()))
    }

    fn remove_job(&self, key: &[u8]) -> Result<(), DirectoryError> {
        let _writing = self.writing.lock();
        let Some(old) = self.job(key)? else { return Ok(()) };
        let mut sum = self.job_sum()?;
        sum.replace(key, Some(&old), None);
        let mut writes = Writes::default();
        writes.remove(&jobs::stored_key(key));
        writes.put(JOB_SUM_KEY, &sum.to_bytes());
        self.commit(writes)
    }

    fn jobs(&self) -> Result<Vec<Job>, DirectoryError> {
        let mut found = Vec::new();
        self.tree.range(&[jobs::TAG], &[jobs::TAG_END], &mut |key, value| {
            let key = key.get(1..).unwrap_or_default().to_vec();
            found.push((key, value.to_vec()));
            Ok(if found.len() > JOBS_MAX { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        Ok(found)
    }
}
