//! How far the log is durable and which segment is its last, noted in a file of its own, so that a log whose end is gone
//! gives itself away. The bytes are described in `docs/disk-format.md`, section "DURABLE".
//!
//! A frame tells how far the log was durable before it, but nothing behind the last frames tells of them: when they are
//! zeroed or cut off, or the whole last segment is deleted, the log looks like a shorter one. So the newest durable LSN is
//! noted with each marker, and now and then during long writing, without a sync; and a new segment is noted, with a sync,
//! before it takes its first batch.
//!
//! A note is true when it is written, so it may become durable at any time, or never. Two slots, each a sector of its
//! own, take turns: tearing one leaves the other. Nothing depends on the file: it is made anew where it is missing.

use std::path::{Path, PathBuf};

use hindsight_core::Lsn;

use crate::segment::LSN_MAX;
use crate::{
    error::{At, IoFailure},
    io::{Io, IoFile, OpenMode, read_full_at, uninterrupted, write_all_at},
    reader::is_zero,
};

/// The file's name, in the folder of the log.
pub(crate) const DURABLE_FILE: &str = "DURABLE";
const SLOT_BYTES: usize = 512;
const NOTE_BYTES: usize = 32;
const MAGIC: [u8; 4] = *b"HSdu";

/// What is noted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Note {
    /// The first LSN of the newest segment, which is durable under its name.
    pub(crate) last_segment: Lsn,
    /// Batches up to this one are durable.
    pub(crate) synced_lsn: Lsn,
}

impl Note {
    /// What the file in `dir` says; all zero where it says nothing of this database.
    pub(crate) fn read<I: Io>(io: &I, dir: &Path, store_id: u64) -> Result<Note, IoFailure> {
        let path = dir.join(DURABLE_FILE);
        match io.open(&path, OpenMode::Read) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Note::default()),
            result => Ok(read_slots(&result.at("open", &path)?, store_id).at("read", &path)?.0),
        }
    }

    /// Whether a slot of the file holds neither a note nor nothing: the power failed while it was written, or it is
    /// damaged.
    pub(crate) fn is_torn<I: Io>(io: &I, dir: &Path, store_id: u64) -> Result<bool, IoFailure> {
        let path = dir.join(DURABLE_FILE);
        let file = io.open(&path, OpenMode::Read).at("open", &path)?;
        let mut bytes = [0; 2 * SLOT_BYTES];
        let read = read_full_at(&file, 0, &mut bytes).at("read", &path)?;
        let is_slot = |slot: &[u8]| {
            let (note, rest) = slot.split_at_checked(NOTE_BYTES).unwrap_or_default();
            is_zero(rest) && (is_zero(note) || Note::decode(store_id, note).is_some())
        };
        Ok(read < bytes.len() || !bytes.chunks(SLOT_BYTES).all(is_slot))
    }

    fn encode(self, store_id: u64) -> [u8; NOTE_BYTES] {
        let mut bytes = [0; NOTE_BYTES];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[8..16].copy_from_slice(&store_id.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.last_segment.0.to_le_bytes());
        bytes[24..].copy_from_slice(&self.synced_lsn.0.to_le_bytes());
        let crc = note_crc(&bytes);
        bytes[4..8].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// None for bytes that are no note of this database.
    fn decode(store_id: u64, bytes: &[u8]) -> Option<Note> {
        let bytes = bytes.first_chunk::<NOTE_BYTES>()?;
        let number = |at: usize| bytes.get(at..at + 8)?.first_chunk().copied().map(u64::from_le_bytes);
        let crc = bytes.get(4..8)?.first_chunk().copied().map(u32::from_le_bytes)?;
        let is_one = bytes[..4] == MAGIC && crc == note_crc(bytes) && number(8)? == store_id;
        let (last_segment, synced_lsn) = (Lsn(number(16)?), Lsn(number(24)?));
        let is_one = is_one && last_segment.0.max(synced_lsn.0) <= LSN_MAX;
        is_one.then_some(Note { last_segment, synced_lsn })
    }
}

/// The open file.
#[derive(Debug)]
pub(crate) struct DurableFile<F> {
    file: F,
    path: PathBuf,
    store_id: u64,
    newest: Note,
    /// The slot that the next note goes to: never that of the newest.
    next: usize,
}

impl<F: IoFile> DurableFile<F> {
    /// Opens the file, making it when it is missing, and notes durably which segment is the last.
    pub(crate) fn open<I: Io<File = F>>(
        io: &I,
        dir: &Path,
        store_id: u64,
        note: Note,
    ) -> Result<DurableFile<F>, IoFailure> {
        let path = dir.join(DURABLE_FILE);
        let file = io.open(&path, OpenMode::CreateOrOpen).at("open", &path)?;
        let is_new = file.len().at("read", &path)? < 2 * SLOT_BYTES as u64;
        if is_new {
            // Its length once and for all: a note never needs room.
            write_all_at(&file, 0, &[0; 2 * SLOT_BYTES]).at("write", &path)?;
        }
        let (newest, next) = read_slots(&file, store_id).at("read", &path)?;
        let mut durable = DurableFile { file, path, store_id, newest, next };
        // A start that has nothing to mend writes nothing; how far the log is durable its frames say, too.
        if newest.last_segment != note.last_segment {
            durable.write(note)?;
            uninterrupted(|| durable.file.sync_all()).at("sync", &durable.path)?;
        }
        if is_new {
            uninterrupted(|| io.sync_dir(dir)).at("sync", dir)?;
        }
        Ok(durable)
    }

    /// Notes how far the log is durable. Not synced: it becomes durable when the system writes it.
    pub(super) fn note_synced(&mut self, synced_lsn: Lsn) -> Result<(), IoFailure> {
        if synced_lsn <= self.newest.synced_lsn {
            return Ok(());
        }
        self.write(Note { synced_lsn, ..self.newest })
    }

    /// Notes that there is a segment, which is durable under its name. The note is durable after [`DurableFile::sync`].
    pub(super) fn note_segment(&mut self, first_lsn: Lsn) -> Result<(), IoFailure> {
        let synced_lsn = self.newest.synced_lsn.max(Lsn(first_lsn.0 - 1));
        self.write(Note { last_segment: first_lsn, synced_lsn })
    }

    pub(super) fn sync(&self) -> Result<(), IoFailure> {
        uninterrupted(|| self.file.sync_data()).at("sync", &self.path)
    }

    fn write(&mut self, note: Note) -> Result<(), IoFailure> {
        let offset = (self.next * SLOT_BYTES) as u64;
        write_all_at(&self.file, offset, &note.encode(self.store_id)).at("write", &self.path)?;
        (self.newest, self.next) = (note, 1 - self.next.min(1));
        Ok(())
    }
}

/// The newest note of the file, and the other's slot.
fn read_slots<F: IoFile>(file: &F, store_id: u64) -> std::io::Result<(Note, usize)> {
    let (mut newest, mut next) = (Note::default(), 0);
    for slot in 0..2 {
        let mut bytes = [0; NOTE_BYTES];
        let read = read_full_at(file, (slot * SLOT_BYTES) as u64, &mut bytes)?;
        let Some(note) = Note::decode(store_id, bytes.get(..read).unwrap_or_default()) else { continue };
        if (note.last_segment, note.synced_lsn) > (newest.last_segment, newest.synced_lsn) {
            (newest, next) = (note, 1 - slot);
        }
    }
    Ok((newest, next))
}

fn note_crc(bytes: &[u8; NOTE_BYTES]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&bytes[..4]);
    hasher.update(&bytes[8..]);
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::logs::{self, commit, disk, open, segment};
    use crate::{StorageError, StorageErrorKind};

    const STORE_ID: u64 = 0x1111_2222_3333_4444;

    #[test]
    fn golden_bytes_and_every_flipped_bit() {
        let note = Note { last_segment: Lsn(7), synced_lsn: Lsn(9) };
        let bytes = note.encode(STORE_ID);
        let hex = bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let golden = include_str!("../../tests/golden/durable.hex").split_whitespace().collect::<String>();
        assert_eq!(hex, golden);
        assert_eq!(Note::decode(STORE_ID, &bytes), Some(note));
        assert_eq!(Note::decode(STORE_ID + 1, &bytes), None);
        for bit in 0..NOTE_BYTES * 8 {
            let mut flipped = bytes;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Note::decode(STORE_ID, &flipped), None, "bit {bit}");
        }
    }

    #[test]
    fn d4_a_log_whose_end_is_gone_is_refused() {
        let io = disk(1);
        let (log, ..) = open(&io).unwrap();
        (0..40).for_each(|_| commit(&log, 1).unwrap());
        log.witness_step().unwrap();
        let (last, _) =
            io.files().into_iter().rfind(|(path, _)| path.extension().is_some_and(|e| e == "log")).unwrap();
        assert!(last != segment(1));
        let deleted = io.after_kill();
        deleted.unlink(&last).unwrap();
        let error = open(&deleted).unwrap_err();
        assert!(matches!(&error, StorageError::MissingSegment { path, .. } if *path == last), "{error}");
        for keep in [0, 40, 4096, 4200] {
            let zeroed = io.after_kill();
            let mut bytes = zeroed.read_file(&last).unwrap();
            bytes[keep..].fill(0);
            zeroed.put_file(&last, &bytes);
            assert_eq!(open(&zeroed).unwrap_err().kind(), StorageErrorKind::Corrupt, "kept {keep}");
            zeroed.put_file(&last, &bytes[..keep]);
            assert_eq!(open(&zeroed).unwrap_err().kind(), StorageErrorKind::Corrupt, "kept {keep}");
        }
    }

    #[test]
    fn without_the_file_the_log_opens_and_it_is_made_anew() {
        let io = disk(1);
        let (log, ..) = open(&io).unwrap();
        commit(&log, 3).unwrap();
        drop(log);
        let path = Path::new(logs::DIR).join(DURABLE_FILE);
        for harm in [None, Some(vec![]), Some(vec![0xa5; 1024]), Some(vec![0; 300])] {
            let harmed = io.after_kill();
            match harm {
                None => harmed.unlink(&path).unwrap(),
                Some(bytes) => harmed.put_file(&path, &bytes),
            }
            assert_eq!(open(&harmed).unwrap().2, 3);
            let note = Note::read(&harmed, Path::new(logs::DIR), logs::STORE_ID).unwrap();
            assert_eq!(note, Note { last_segment: Lsn(1), synced_lsn: Lsn(3) });
        }
    }
}
