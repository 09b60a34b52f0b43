//! The components of vectors, read from record files when someone asks for them, so that they need not be in memory.
//!
//! A record file is never changed in place, and was checked as a whole when its records were loaded, or written by this
//! process. So a vector needs no checksum on disk of its own: one is computed when it is put away, stays in memory, and is
//! held against the bytes at every reading. A reading that fails is no answer: it is remembered for the namespace
//! ([`Vectors::lost`]), and whoever answers for it looks there before the answer leaves.
//!
//! When a file is replaced, each of its vectors is moved to the new file before the old one is removed
//! ([`put_away`], called after the manifest names the new one); a reader in between opens the old one, which is still there.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt,
    path::{Path, PathBuf},
    sync::{
        Arc, Weak,
        atomic::{AtomicUsize, Ordering},
    },
};

use hindsight_core::{Record, VectorSource};
use parking_lot::Mutex;

use super::{
    NamespaceId,
    layout::{ENTRY_HEADER_BYTES, RecordFault},
    place::record_path,
};
use crate::{
    codec::VECTOR_HEAD_BYTES,
    error::{At, IoFailure, StorageError},
    io::{Io, OpenMode, read_full_at},
};

/// How many files are kept open for vectors.
const OPEN_FILES_MAX: usize = 256;

/// What all files of vectors of a data directory share.
pub(super) struct Vectors<I: Io> {
    io: Arc<I>,
    ns: PathBuf,
    /// Files that are open, the first opened first.
    opened: Mutex<VecDeque<Weak<VectorFile<I>>>>,
    /// How many namespaces have lost any: asked after every answer.
    losses: AtomicUsize,
    /// The first loss of each namespace.
    lost: Mutex<BTreeMap<NamespaceId, Loss>>,
}

#[derive(Debug, Clone)]
enum Loss {
    Damaged { path: PathBuf, offset: u64, fault: Damage },
    Unread(IoFailure),
}

#[derive(Debug, Clone, Copy)]
enum Damage {
    CutOff,
    Crc { computed: u32, found: u32 },
}

impl<I: Io> Vectors<I> {
    pub(super) fn new(io: Arc<I>, ns: &Path) -> Vectors<I> {
        let (opened, lost) = (Mutex::default(), Mutex::default());
        Vectors { io, ns: ns.to_owned(), opened, losses: AtomicUsize::new(0), lost }
    }

    /// A file of which the vectors of records are to be read.
    pub(super) fn file(self: &Arc<Self>, id: NamespaceId, number: u32) -> Arc<VectorFile<I>> {
        let path = record_path(&self.ns, id, number);
        Arc::new_cyclic(|me| VectorFile {
            me: Weak::clone(me),
            shared: Arc::clone(self),
            id,
            path,
            open: Mutex::default(),
            failed: Mutex::default(),
        })
    }

    /// Why answers that were made of a namespace's vectors are worth nothing, if they are.
    pub(super) fn lost(&self, id: NamespaceId) -> Option<StorageError> {
        if !self.has_losses() {
            return None;
        }
        Some(match self.lost.lock().get(&id).cloned()? {
            Loss::Unread(failure) => failure.into(),
            Loss::Damaged { path, offset, fault } => {
                let fault = match fault {
                    Damage::CutOff => RecordFault::CutOff,
                    Damage::Crc { computed, found } => RecordFault::Crc { computed, found },
                };
                StorageError::CorruptRecords { path, offset, fault }
            }
        })
    }

    pub(super) fn has_losses(&self) -> bool {
        self.losses.load(Ordering::Acquire) > 0
    }

    /// The files of a namespace were read and found whole.
    pub(super) fn found_whole(&self, id: NamespaceId) {
        if self.has_losses() && self.lost.lock().remove(&id).is_some() {
            self.losses.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

impl<I: Io> fmt::Debug for Vectors<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vectors").field("ns", &self.ns).finish_non_exhaustive()
    }
}

/// A record file of which vectors are read.
pub(crate) struct VectorFile<I: Io> {
    me: Weak<VectorFile<I>>,
    shared: Arc<Vectors<I>>,
    id: NamespaceId,
    path: PathBuf,
    open: Mutex<Option<Arc<I::File>>>,
    /// Why the last reading failed that did.
    failed: Mutex<Option<Loss>>,
}

impl<I: Io> fmt::Debug for VectorFile<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VectorFile").field("path", &self.path).finish_non_exhaustive()
    }
}

impl<I: Io> VectorFile<I> {
    fn handle(&self) -> Result<Arc<I::File>, IoFailure> {
        if let Some(file) = &*self.open.lock() {
            return Ok(Arc::clone(file));
        }
        let file = Arc::new(self.shared.io.open(&self.path, OpenMode::Read).at("open", &self.path)?);
        *self.open.lock() = Some(Arc::clone(&file));
        let mut opened = self.shared.opened.lock();
        opened.retain(|file| file.strong_count() > 0);
        opened.push_back(Weak::clone(&self.me));
        let oldest = if opened.len() > OPEN_FILES_MAX { opened.pop_front() } else { None };
        drop(opened);
        if let Some(oldest) = oldest.and_then(|oldest| oldest.upgrade()) {
            *oldest.open.lock() = None;
        }
        Ok(file)
    }

    fn try_read(&self, offset: u64, dimension: usize, check: u32) -> Result<Vec<f32>, Loss> {
        let damaged = |fault| Loss::Damaged { path: self.path.clone(), offset, fault };
        let file = self.handle().map_err(Loss::Unread)?;
        let mut bytes = vec![0; dimension * 4];
        let read = read_full_at(&*file, offset, &mut bytes).at("read", &self.path).map_err(Loss::Unread)?;
        if read < bytes.len() {
            return Err(damaged(Damage::CutOff));
        }
        let computed = crc32fast::hash(&bytes);
        if computed != check {
            return Err(damaged(Damage::Crc { computed, found: check }));
        }
        let (components, _) = bytes.as_chunks::<4>();
        Ok(components.iter().map(|component| f32::from_le_bytes(*component)).collect())
    }
}

impl<I: Io> VectorSource for VectorFile<I> {
    fn read(&self, offset: u64, dimension: usize, check: u32) -> Option<Vec<f32>> {
        match self.try_read(offset, dimension, check) {
            Ok(components) => Some(components),
            Err(loss) => {
                *self.failed.lock() = Some(loss);
                None
            }
        }
    }

    fn lost(&self, _: u64) {
        let Some(loss) = self.failed.lock().clone() else { return };
        let mut lost = self.shared.lost.lock();
        if let std::collections::btree_map::Entry::Vacant(vacant) = lost.entry(self.id) {
            vacant.insert(loss);
            self.shared.losses.fetch_add(1, Ordering::AcqRel);
        }
    }
}

/// The checksums of a record's vectors, to be handed to [`put_away`].
pub(crate) fn checks(record: &Record) -> Vec<u32> {
    let mut bytes = Vec::new();
    let check = |components: &[f32]| {
        bytes.clear();
        bytes.extend(components.iter().flat_map(|component| component.to_le_bytes()));
        crc32fast::hash(&bytes)
    };
    let vectors = record.vectors.iter();
    vectors
        .map(|vector| vector.embedding.components())
        .map({
            let mut check = check;
            move |components| check(&components)
        })
        .collect()
}

/// From here on the vectors of a record lie in `file`, where its entry ends at `end`: the components of the last of its
/// vectors are the last bytes of the entry.
pub(crate) fn put_away<I: Io>(file: &Arc<VectorFile<I>>, record: &Record, end: u64, checks: &[u32]) {
    let mut end = end;
    for (vector, check) in record.vectors.iter().zip(checks).rev() {
        let offset = end.saturating_sub(vector.embedding.dimension() as u64 * 4);
        vector.embedding.put_away(Arc::clone(file) as Arc<dyn VectorSource>, offset, *check);
        end = offset.saturating_sub(VECTOR_HEAD_BYTES);
    }
}

/// Where an entry ends that begins at `offset`.
pub(super) fn end_of(offset: u64, payload: &[u8]) -> u64 {
    offset + (ENTRY_HEADER_BYTES + payload.len()) as u64
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use hindsight_core::{Embedding, Lsn, NamedVector, VectorRole};

    use super::*;
    use crate::{
        io::IoFile,
        records::{RecordFileHeader, RecordWriter},
        testing::{MemIo, stores::record},
    };

    #[test]
    fn each_of_several_vectors_is_read_from_its_place_and_damage_is_remembered() {
        let (io, ns, id) = (Arc::new(MemIo::new(1)), Path::new("/data/ns"), NamespaceId(3));
        let path = record_path(ns, id, 7);
        io.create_dir_all(path.parent().unwrap()).unwrap();
        let header = RecordFileHeader { store_id: 1, salt: 2, namespace: id, number: 7 };
        let mut writer = RecordWriter::create(&*io, &path, &header).unwrap();
        let mut one = record(&"ops".parse().unwrap(), 1, 1);
        let vector = |role, values: &[f32]| NamedVector { role, embedding: Embedding::new(values).unwrap() };
        one.vectors = vec![
            vector(VectorRole::Content, &[0.6, 0.8, 0.0]),
            vector(VectorRole::Summary, &[0.0, 0.0, 1.0]),
            vector(VectorRole::Keywords, &[1.0, 0.0, 0.0]),
        ];
        let before: Vec<Vec<f32>> =
            one.vectors.iter().map(|one| one.embedding.components().to_vec()).collect();
        let (_, end) = writer.record(Lsn(5), &one).unwrap();
        writer.record(Lsn(6), &record(&"ops".parse().unwrap(), 2, 1)).unwrap();
        writer.finish().unwrap();
        let vectors = Arc::new(Vectors::new(Arc::clone(&io), ns));
        put_away(&vectors.file(id, 7), &one, end, &checks(&one));
        let read = || -> Vec<Vec<f32>> {
            one.vectors.iter().map(|one| one.embedding.components().to_vec()).collect()
        };
        assert!(one.vectors.iter().all(|one| !one.embedding.is_here()));
        assert_eq!(read(), before);
        assert!(vectors.lost(id).is_none());
        // In the file that is open already, as a disk rots.
        let file = io.open(&path, OpenMode::ReadWrite).unwrap();
        file.pwrite(end - 1, &[0xff]).unwrap();
        assert_eq!(read(), [before[0].clone(), before[1].clone(), Vec::new()], "the last is damaged");
        let fault = vectors.lost(id);
        assert!(
            matches!(&fault, Some(StorageError::CorruptRecords { offset, fault: RecordFault::Crc { .. }, .. }) if *offset == end - 12),
            "{fault:?}"
        );
        assert!(vectors.lost(NamespaceId(4)).is_none());
        vectors.found_whole(id);
        assert!(vectors.lost(id).is_none());
    }
}
