//! Reads the newest manifest and judges its end. Writes nothing.

use std::path::{Path, PathBuf};

use hindsight_core::Lsn;

use super::{
    Arc, Edit, Manifest, ManifestFault, ManifestState, RwLock,
    layout::{HEADER_BYTES, ManifestHeader, manifest_path, parse_manifest_name},
};
use crate::{
    codec,
    error::{At, StorageError},
    frame::{FrameFault, FrameHeader, FrameKind},
    io::{Io, IoFile, OpenMode, read_full_at, uninterrupted},
    reader::{FrameReader, Step},
    recovery::witness,
    segment::{FRAMES_START, LogEnd},
};

/// What has been read of a manifest.
struct Reading {
    path: PathBuf,
    header: ManifestHeader,
    state: ManifestState,
    /// Where the last frame ends.
    end: LogEnd,
    /// The number of the last batch.
    last: u64,
    /// The newest batch that is known to have been durable.
    durable: u64,
    /// Where the image ends.
    image_end: u64,
}

impl<I: Io> Manifest<I> {
    /// Opens the newest manifest of a data directory and puts into `state` what it says; `None` when there is none.
    ///
    /// # Errors
    /// [`StorageError::CorruptManifest`], and calls of the system that failed.
    pub(crate) fn open(
        io: &Arc<I>,
        dir: &Path,
        store_id: u64,
        state: &Arc<RwLock<ManifestState>>,
    ) -> Result<Option<Manifest<I>>, StorageError> {
        let names = io.list(dir).at("list", dir)?;
        let Some(number) = names.iter().filter_map(|name| parse_manifest_name(name)).max() else {
            return Ok(None);
        };
        let path = manifest_path(dir, number);
        let file = io.open(&path, OpenMode::ReadWrite).at("open", &path)?;
        // As for the last segment of the log: believe only the disk.
        uninterrupted(|| file.sync_data()).at("sync", &path)?;
        file.drop_cache().at("read", &path)?;
        let mut reading = Reading::begin(&file, path, store_id, number)?;
        let is_torn = reading.run(&file)?;
        *state.write() = reading.state;
        Ok(Some(Manifest {
            io: Arc::clone(io),
            dir: dir.to_owned(),
            store_id,
            state: Arc::clone(state),
            file,
            path: reading.path,
            header: reading.header,
            end: reading.end,
            last: reading.last,
            image_end: reading.image_end,
            rewrite_bytes_min: 0,
            is_torn,
        }))
    }
}

/// What a manifest says, read by who changes nothing.
pub(crate) struct Examined {
    pub(crate) header: ManifestHeader,
    pub(crate) state: ManifestState,
    /// How many batches it has.
    pub(crate) batches: u64,
    /// Whether its end is torn: a batch that never became durable.
    pub(crate) is_torn: bool,
}

/// Reads a manifest as [`Manifest::open`] does. `store_id`: which database it should belong to, where that is known.
pub(crate) fn examine<I: Io>(
    io: &I,
    path: &Path,
    store_id: Option<u64>,
    number: u32,
) -> Result<Examined, StorageError> {
    let file = io.open(path, OpenMode::Read).at("open", path)?;
    let store_id = match store_id {
        Some(store_id) => store_id,
        None => {
            let mut head = [0; HEADER_BYTES];
            read_full_at(&file, 0, &mut head).at("read", path)?;
            ManifestHeader::decode(&head).map_or(0, |header| header.store_id)
        }
    };
    let mut reading = Reading::begin(&file, path.to_owned(), store_id, number)?;
    let is_torn = reading.run(&file)?;
    let Reading { header, state, last, .. } = reading;
    Ok(Examined { header, state, batches: (last + 1).saturating_sub(header.first), is_torn })
}

/// What a damaged manifest says up to its damage; `None` when not even its image is whole.
pub(crate) fn examine_prefix<I: Io>(
    io: &I,
    path: &Path,
    store_id: u64,
    number: u32,
) -> Result<Option<ManifestState>, StorageError> {
    let file = io.open(path, OpenMode::Read).at("open", path)?;
    let Ok(mut reading) = Reading::begin(&file, path.to_owned(), store_id, number) else { return Ok(None) };
    match reading.run(&file) {
        Err(StorageError::Io(failure)) => Err(failure.into()),
        _ => Ok((reading.last >= reading.header.image_last).then_some(reading.state)),
    }
}

impl Reading {
    fn begin<F: IoFile>(
        file: &F,
        path: PathBuf,
        store_id: u64,
        number: u32,
    ) -> Result<Reading, StorageError> {
        let mut head = [0; HEADER_BYTES];
        let read = read_full_at(file, 0, &mut head).at("read", &path)?;
        let header = ManifestHeader::decode(head.get(..read).unwrap_or_default()).and_then(|found| {
            let is_it = found.number == number && found.store_id == store_id;
            if is_it { Ok(found) } else { Err(ManifestFault::Place { found }) }
        });
        let header = match header {
            Ok(header) => header,
            Err(fault) => return Err(StorageError::CorruptManifest { path, offset: 0, fault }),
        };
        Ok(Reading {
            path,
            header,
            state: ManifestState::default(),
            end: LogEnd { offset: FRAMES_START, crc: header.prev_crc },
            last: header.first.saturating_sub(1),
            durable: header.image_last,
            image_end: FRAMES_START,
        })
    }

    /// Reads all batches. Returns whether the end is torn.
    fn run<F: IoFile>(&mut self, file: &F) -> Result<bool, StorageError> {
        let path = self.path.clone();
        let mut reader = FrameReader::new(file, self.header.salt).at("read", &path)?;
        let bad = loop {
            let offset = reader.offset();
            match reader.next().at("read", &path)? {
                Step::Frame(header, crc, payload) => {
                    if let Err(fault) = header.check_place(Lsn(self.last), self.end.crc) {
                        break Some((offset, fault));
                    }
                    self.frame(&header, payload).map_err(|fault| self.corrupt(offset, fault))?;
                    self.end = LogEnd { offset: reader.offset(), crc };
                    if self.last <= self.header.image_last {
                        self.image_end = self.end.offset;
                    }
                }
                Step::Bad(fault) => break Some((reader.offset(), fault)),
                Step::End => {
                    let is_hole = reader.is_written_behind().at("read", &path)?;
                    break is_hole.then(|| (reader.offset(), FrameFault::Hole));
                }
            }
        };
        if let Some((offset, fault)) = bad {
            self.judge(file, offset, fault)?;
        }
        if self.last < self.header.image_last {
            return Err(self.corrupt(self.end.offset, ManifestFault::Image));
        }
        Ok(bad.is_some())
    }

    fn frame(&mut self, header: &FrameHeader, payload: &[u8]) -> Result<(), ManifestFault> {
        self.durable = self.durable.max(header.synced_lsn.0);
        if header.kind == FrameKind::Batch {
            let edits: Vec<Edit> = codec::decode_edits(payload)?;
            let change = self.state.check(&edits)?;
            self.state.carry_out(change);
            self.last = header.lsn.0;
            if self.last == self.header.image_last {
                self.state.next_namespace = self.state.next_namespace.max(self.header.next_namespace);
            }
        }
        Ok(())
    }

    /// Torn or damaged? Torn only if nothing says that the missing batch was durable.
    fn judge<F: IoFile>(&self, file: &F, offset: u64, fault: FrameFault) -> Result<(), StorageError> {
        let scan = witness::scan(file, offset, self.header.salt).at("read", &self.path)?;
        if self.durable.max(scan.synced_lsn.0) > self.last {
            return Err(self.corrupt(offset, fault.into()));
        }
        tracing::warn!(path = %self.path.display(), offset, fault = %fault, "gave up a checkpoint that never became durable");
        Ok(())
    }

    fn corrupt(&self, offset: u64, fault: ManifestFault) -> StorageError {
        StorageError::CorruptManifest { path: self.path.clone(), offset, fault }
    }
}
