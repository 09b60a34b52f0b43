//! Adds a batch to the manifest, and writes it anew when it has grown.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use hindsight_core::Lsn;
use parking_lot::RwLock;

use super::{
    AppendError, Edit, Manifest, ManifestState,
    layout::{ManifestHeader, manifest_path},
};
use crate::{
    codec,
    error::{At, IoFailure, StorageError, is_shortage},
    frame::{FrameHeader, FrameKind, PAYLOAD_BYTES_MAX, payload_crc},
    io::{Io, IoFile, OpenMode, uninterrupted, write_all_at},
    segment::{FRAMES_START, LogEnd, TMP_SUFFIX, next_sector},
};

/// Edits of one batch of an image: it has to fit into a frame, and into memory.
const IMAGE_EDITS: usize = 4_096;

impl<I: Io> Manifest<I> {
    /// Makes the first manifest of a data directory, of an empty state.
    ///
    /// # Errors
    /// Calls of the system that failed.
    pub(crate) fn create(
        io: &Arc<I>,
        dir: &Path,
        store_id: u64,
        state: &Arc<RwLock<ManifestState>>,
    ) -> Result<Manifest<I>, StorageError> {
        let image = Image { store_id, number: 1, first: 1, prev_crc: 0 };
        let written = image.write(io.as_ref(), dir, &state.read()).map_err(AppendError::into_storage)?;
        Ok(Manifest {
            io: Arc::clone(io),
            dir: dir.to_owned(),
            store_id,
            state: Arc::clone(state),
            image_end: written.end.offset,
            rewrite_bytes_min: 0,
            file: written.file,
            path: written.path,
            end: written.end,
            last: written.header.image_last,
            header: written.header,
            is_torn: false,
        })
    }

    /// Writes the manifest anew if its end is torn, so that nothing depends on those bytes any more.
    ///
    /// # Errors
    /// Calls of the system that failed.
    pub(crate) fn mend(&mut self) -> Result<(), StorageError> {
        if self.is_torn { self.rewrite().map_err(AppendError::into_storage) } else { Ok(()) }
    }

    /// Makes a batch durable, then lets it be seen. It is there whole or not at all.
    pub(crate) fn append(&mut self, edits: &[Edit]) -> Result<(), AppendError> {
        if self.is_torn {
            self.rewrite()?;
        } else if self.is_rewrite_due() {
            match self.rewrite() {
                // The old one can still be added to.
                Err(AppendError::Shortage(failure)) => {
                    tracing::warn!(error = %failure, source = %failure.source, "no room to write the manifest anew");
                }
                result => result?,
            }
        }
        let payload = codec::encode_edits(edits).map_err(AppendError::Codec)?;
        let change = self.state.read().check(edits).map_err(AppendError::Edit)?;
        let (frame, crc) = self.frame(FrameKind::Batch, Lsn(self.last + 1), Lsn(self.last), &payload)?;
        self.write(&frame, crc)?;
        uninterrupted(|| self.file.sync_data()).at("sync", &self.path).map_err(AppendError::Unknown)?;
        self.last += 1;
        self.state.write().carry_out(change);
        self.witness()
    }

    /// Writes behind a durable batch that it is. Needs no sync: it makes the time short in which damage could be taken
    /// for a torn batch.
    fn witness(&mut self) -> Result<(), AppendError> {
        let last = Lsn(self.last);
        let (frame, crc) = self.frame(FrameKind::Marker, last, last, &[])?;
        match self.write(&frame, crc) {
            // The batch is durable without it; the manifest is written anew before the next one.
            Err(AppendError::Shortage(_)) => Ok(()),
            result => result,
        }
    }

    fn frame(
        &self,
        kind: FrameKind,
        lsn: Lsn,
        synced_lsn: Lsn,
        payload: &[u8],
    ) -> Result<(Vec<u8>, u32), AppendError> {
        encode_frame(self.header.salt, kind, (lsn, synced_lsn), self.end.crc, payload)
    }

    /// Writes a frame on a sector of its own.
    fn write(&mut self, frame: &[u8], crc: u32) -> Result<(), AppendError> {
        let start = next_sector(self.end.offset);
        if let Err(failure) = write_all_at(&self.file, start, frame).at("write", &self.path) {
            // What was written of it ends before the frame does, so it will be taken for torn.
            self.is_torn = true;
            let is_shortage = is_shortage(&failure.source);
            return Err(if is_shortage { AppendError::Shortage } else { AppendError::Unknown }(failure));
        }
        self.end = LogEnd { offset: start + frame.len() as u64, crc };
        Ok(())
    }

    /// Begins the next manifest with an image of the state, and keeps the one before.
    pub(crate) fn rewrite(&mut self) -> Result<(), AppendError> {
        let image = Image {
            store_id: self.store_id,
            number: self.header.number + 1,
            first: self.last + 1,
            prev_crc: self.end.crc,
        };
        let written = image.write(self.io.as_ref(), &self.dir, &self.state.read())?;
        let outdated = self.header.number.checked_sub(1).filter(|number| *number > 0);
        self.image_end = written.end.offset;
        self.last = written.header.image_last;
        self.file = written.file;
        self.path = written.path;
        self.end = written.end;
        self.header = written.header;
        self.is_torn = false;
        if let Some(path) = outdated.map(|number| manifest_path(&self.dir, number))
            && let Err(error) = self.io.unlink(&path)
            && error.kind() != std::io::ErrorKind::NotFound
        {
            // The next start removes it.
            tracing::warn!(path = %path.display(), %error, "an outdated manifest stays");
        }
        Ok(())
    }
}

impl AppendError {
    pub(crate) fn into_storage(self) -> StorageError {
        match self {
            AppendError::Shortage(failure) | AppendError::Unknown(failure) => failure.into(),
            AppendError::Codec(source) => StorageError::Unencodable(source),
            AppendError::Edit(fault) => StorageError::Unfit(fault.into()),
            AppendError::TooLarge { bytes } => {
                StorageError::TooLarge { bytes, bytes_max: PAYLOAD_BYTES_MAX as usize }
            }
        }
    }
}

/// A manifest to be written.
struct Image {
    store_id: u64,
    number: u32,
    first: u64,
    prev_crc: u32,
}

/// A manifest that has its name.
struct Written<F> {
    file: F,
    path: PathBuf,
    header: ManifestHeader,
    end: LogEnd,
}

impl Image {
    /// Makes the file: its content is durable before it gets its name, and the name before this returns.
    fn write<I: Io>(
        &self,
        io: &I,
        dir: &Path,
        state: &ManifestState,
    ) -> Result<Written<I::File>, AppendError> {
        let path = manifest_path(dir, self.number);
        let mut tmp = path.clone().into_os_string();
        tmp.push(TMP_SUFFIX);
        let tmp = PathBuf::from(tmp);
        let prepared = self.prepare(io, &tmp, state);
        let (file, header, end) = prepared.inspect_err(|_| {
            // Only to give the space back; recovery would remove it, too.
            let _ = io.unlink(&tmp);
        })?;
        uninterrupted(|| file.sync_all()).at("sync", &tmp).map_err(AppendError::Unknown)?;
        io.rename(&tmp, &path).at("rename", &tmp).map_err(|failure| {
            if !is_shortage(&failure.source) {
                return AppendError::Unknown(failure);
            }
            // A folder that has no room for another name is as it was.
            let _ = io.unlink(&tmp);
            AppendError::Shortage(failure)
        })?;
        uninterrupted(|| io.sync_dir(dir)).at("sync", dir).map_err(AppendError::Unknown)?;
        Ok(Written { file, path, header, end })
    }

    fn prepare<I: Io>(
        &self,
        io: &I,
        tmp: &Path,
        state: &ManifestState,
    ) -> Result<(I::File, ManifestHeader, LogEnd), AppendError> {
        let failed = |failure: IoFailure| {
            if is_shortage(&failure.source) {
                AppendError::Shortage(failure)
            } else {
                AppendError::Unknown(failure)
            }
        };
        let salt = io.random().at("take random bits for", tmp).map_err(failed)?;
        let file = io.open(tmp, OpenMode::CreateEmpty).at("create", tmp).map_err(failed)?;
        let mut end = LogEnd { offset: FRAMES_START, crc: self.prev_crc };
        let mut last = self.first - 1;
        let mut edits = state.image().peekable();
        while edits.peek().is_some() {
            let batch: Vec<Edit> = edits.by_ref().take(IMAGE_EDITS).collect();
            let payload = codec::encode_edits(&batch).map_err(AppendError::Codec)?;
            let numbers = (Lsn(last + 1), Lsn(self.first - 1));
            let (frame, crc) = encode_frame(salt, FrameKind::Batch, numbers, end.crc, &payload)?;
            let start = next_sector(end.offset);
            write_all_at(&file, start, &frame).at("write", tmp).map_err(failed)?;
            end = LogEnd { offset: start + frame.len() as u64, crc };
            last += 1;
        }
        let header = ManifestHeader {
            store_id: self.store_id,
            salt,
            number: self.number,
            next_namespace: state.next_namespace,
            first: self.first,
            image_last: last,
            prev_crc: self.prev_crc,
        };
        write_all_at(&file, 0, &header.encode()).at("write", tmp).map_err(failed)?;
        Ok((file, header, end))
    }
}

/// The bytes of a frame, and its header's checksum. `numbers`: its own, and that of the newest durable batch.
fn encode_frame(
    salt: u64,
    kind: FrameKind,
    numbers: (Lsn, Lsn),
    prev_crc: u32,
    payload: &[u8],
) -> Result<(Vec<u8>, u32), AppendError> {
    let (lsn, synced_lsn) = numbers;
    let payload_bytes = u32::try_from(payload.len()).ok().filter(|bytes| *bytes <= PAYLOAD_BYTES_MAX);
    let payload_bytes = payload_bytes.ok_or(AppendError::TooLarge { bytes: payload.len() })?;
    let header =
        FrameHeader { kind, lsn, synced_lsn, prev_crc, payload_crc: payload_crc(payload), payload_bytes };
    let (head, crc) = header.encode(salt);
    Ok(([&head, payload].concat(), crc))
}
