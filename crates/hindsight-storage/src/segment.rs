//! One file of the log: its name, its header, how it comes into being.
//! The bytes are described in `docs/disk-format.md`, section "Log segment".

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

use hindsight_core::Lsn;

use crate::{
    error::{At, IoFailure, is_shortage},
    io::{Io, IoFile, OpenMode, fill_with_zeros, read_full_at, uninterrupted, write_all_at},
    options::LogOptions,
};

/// No log gets so far; what a file names beyond it is damage. So the next position can always be named, too.
pub(crate) const LSN_MAX: u64 = u64::MAX / 2;

/// Where the first frame begins. The header has a page of its own, so that no later write touches it.
pub const FRAMES_START: u64 = 4096;
/// The unit a disk writes whole or not at all. Each commit begins on such a border, so that tearing a new commit
/// can't harm an older one.
pub const SECTOR_BYTES: u64 = 512;
/// Bytes of the header that carry fields; the rest of its page is zero.
pub const SEGMENT_HEADER_BYTES: usize = 56;
/// The version of segments that this code writes, and the newest that it reads.
pub const SEGMENT_VERSION: u32 = 1;

const MAGIC: [u8; 8] = *b"HSsegmnt";
const SUFFIX: &str = ".log";
/// Ends the name of a file that is not finished yet.
pub const TMP_SUFFIX: &str = ".tmp";
const LSN_DIGITS: usize = 20;

/// Where a log ends: behind which byte of its last segment, and after which frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LogEnd {
    /// Where the last frame ends, in bytes from the start of the segment.
    pub offset: u64,
    /// The header checksum of that frame.
    pub crc: u32,
}

/// What stands at the beginning of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentHeader {
    /// Which database it belongs to.
    pub store_id: u64,
    /// Goes into the checksum of every frame header of this segment.
    pub salt: u64,
    /// The first batch of the segment; also its file name.
    pub first_lsn: Lsn,
    /// Where the segment before it ends; zeros in the first. What lies there behind its end is a torn commit.
    pub prev: LogEnd,
}

/// Why a file is not the segment that belongs at its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SegmentFault {
    /// The header is zero or the file ends inside it.
    #[error("the header is missing")]
    NoHeader,
    /// The magic number or the checksum is wrong.
    #[error("the header is damaged")]
    BadHeader,
    /// Written by a newer version.
    #[error("version {found}: at most {SEGMENT_VERSION} can be read")]
    Version {
        /// The version that stands in the header.
        found: u32,
    },
    /// The header belongs under another file name.
    #[error("the header says that it begins with lsn {found}")]
    Name {
        /// The number that stands in the header.
        found: Lsn,
    },
    /// A segment of another database.
    #[error("it belongs to database {found:016x}, not to {expected:016x}")]
    OtherStore {
        /// This database.
        expected: u64,
        /// The one that stands in the header.
        found: u64,
    },
    /// The segment does not continue the one before it.
    #[error("the segment before it ends so that lsn {expected} must follow")]
    Gap {
        /// The number that has to follow.
        expected: Lsn,
    },
    /// The segment before it ends elsewhere, or with another frame, than this one says.
    #[error("it follows another segment than the one before it")]
    Chain,
}

impl SegmentHeader {
    /// The bytes of the header.
    #[must_use]
    pub fn encode(&self) -> [u8; SEGMENT_HEADER_BYTES] {
        let mut bytes = [0; SEGMENT_HEADER_BYTES];
        let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
        put(0, &MAGIC);
        put(8, &SEGMENT_VERSION.to_le_bytes());
        put(16, &self.store_id.to_le_bytes());
        put(24, &self.salt.to_le_bytes());
        put(32, &self.first_lsn.0.to_le_bytes());
        put(40, &self.prev.offset.to_le_bytes());
        put(48, &self.prev.crc.to_le_bytes());
        let crc = header_crc(&bytes);
        bytes[12..16].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// Reads a header.
    ///
    /// # Errors
    /// [`SegmentFault::NoHeader`], [`SegmentFault::BadHeader`] or [`SegmentFault::Version`].
    pub fn decode(bytes: &[u8]) -> Result<SegmentHeader, SegmentFault> {
        let head = bytes.first_chunk::<SEGMENT_HEADER_BYTES>().ok_or(SegmentFault::NoHeader)?;
        if *head == [0; SEGMENT_HEADER_BYTES] {
            return Err(SegmentFault::NoHeader);
        }
        if head[..8] != MAGIC || u32::from_le_bytes(field(head, 12)) != header_crc(head) {
            return Err(SegmentFault::BadHeader);
        }
        match u32::from_le_bytes(field(head, 8)) {
            SEGMENT_VERSION => {}
            found => return Err(SegmentFault::Version { found }),
        }
        let first_lsn = Lsn(u64::from_le_bytes(field(head, 32)));
        if first_lsn.0 > LSN_MAX {
            return Err(SegmentFault::BadHeader);
        }
        Ok(SegmentHeader {
            store_id: u64::from_le_bytes(field(head, 16)),
            salt: u64::from_le_bytes(field(head, 24)),
            first_lsn,
            prev: LogEnd {
                offset: u64::from_le_bytes(field(head, 40)),
                crc: u32::from_le_bytes(field(head, 48)),
            },
        })
    }
}

fn header_crc(bytes: &[u8; SEGMENT_HEADER_BYTES]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&bytes[..12]);
    hasher.update(&bytes[16..]);
    hasher.finalize()
}

fn field<const N: usize>(bytes: &[u8; SEGMENT_HEADER_BYTES], at: usize) -> [u8; N] {
    let mut field = [0; N];
    field.copy_from_slice(&bytes[at..at + N]);
    field
}

/// The path of the segment that begins with `first_lsn`.
#[must_use]
pub fn segment_path(dir: &Path, first_lsn: Lsn) -> PathBuf {
    dir.join(format!("{:0LSN_DIGITS$}{SUFFIX}", first_lsn.0))
}

/// The first LSN that a file name stands for; `None` for a file that is no segment.
#[must_use]
pub fn parse_segment_name(name: &OsStr) -> Option<Lsn> {
    let digits = name.to_str()?.strip_suffix(SUFFIX)?;
    let plain = digits.len() == LSN_DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| digits.parse().ok().filter(|lsn| *lsn <= LSN_MAX).map(Lsn)).flatten()
}

/// Whether a file name is that of a segment that was never finished.
#[must_use]
pub fn is_unfinished_segment(name: &OsStr) -> bool {
    name.to_str()
        .and_then(|name| name.strip_suffix(TMP_SUFFIX))
        .is_some_and(|name| parse_segment_name(OsStr::new(name)).is_some())
}

/// Where the segments of one log lie, and how they are made.
#[derive(Debug, Clone)]
pub(crate) struct LogPlace {
    pub(crate) dir: PathBuf,
    pub(crate) store_id: u64,
    pub(crate) options: LogOptions,
}

/// A segment that was made.
pub(crate) struct Begun<F> {
    pub(crate) segment: Segment<F>,
    /// Why it is shorter than it should be.
    pub(crate) shortage: Option<IoFailure>,
}

/// Why no segment was made.
#[derive(Debug)]
pub(crate) enum BeginError {
    /// The log is as it was.
    Unchanged(IoFailure),
    /// Nobody knows what is durable, or whether the segment has its name.
    Unknown(IoFailure),
}

impl BeginError {
    fn into_failure(self) -> IoFailure {
        let (BeginError::Unchanged(failure) | BeginError::Unknown(failure)) = self;
        failure
    }
}

/// An open segment.
#[derive(Debug)]
pub(crate) struct Segment<F> {
    pub(crate) file: F,
    pub(crate) path: PathBuf,
    pub(crate) header: SegmentHeader,
    /// How far the file reaches, in bytes from its start. What no frame covers is zero.
    pub(crate) allocated: u64,
}

impl LogPlace {
    /// Makes a segment: header and first zeros are durable before it gets its name, and the name before this
    /// returns. So a segment that has its name has its header, whatever happens.
    pub(crate) fn create<I: Io>(
        &self,
        io: &I,
        first_lsn: Lsn,
        prev: LogEnd,
    ) -> Result<Segment<I::File>, IoFailure> {
        self.begin(io, first_lsn, prev, FRAMES_START)
            .map(|begun| begun.segment)
            .map_err(BeginError::into_failure)
    }

    /// As [`LogPlace::create`]. On a disk that has less room than a segment is given ahead, one of at least `least`
    /// bytes is made all the same.
    pub(crate) fn begin<I: Io>(
        &self,
        io: &I,
        first_lsn: Lsn,
        prev: LogEnd,
        least: u64,
    ) -> Result<Begun<I::File>, BeginError> {
        let path = segment_path(&self.dir, first_lsn);
        let mut tmp = path.clone().into_os_string();
        tmp.push(TMP_SUFFIX);
        let tmp = PathBuf::from(tmp);
        let begun = self.prepare(io, path, &tmp, (first_lsn, prev), least).and_then(|begun| {
            self.publish(io, &tmp, &begun.segment)?;
            Ok(begun)
        });
        if matches!(begun, Err(BeginError::Unchanged(_))) {
            // Only to give the space back; recovery would remove it, too.
            let _ = io.unlink(&tmp);
        }
        begun
    }

    /// Writes a segment under a name that recovery removes.
    fn prepare<I: Io>(
        &self,
        io: &I,
        path: PathBuf,
        tmp: &Path,
        (first_lsn, prev): (Lsn, LogEnd),
        least: u64,
    ) -> Result<Begun<I::File>, BeginError> {
        let failed = BeginError::Unchanged;
        let salt = io.random().at("take random bits for", tmp).map_err(failed)?;
        let header = SegmentHeader { store_id: self.store_id, salt, first_lsn, prev };
        let file = io.open(tmp, OpenMode::CreateEmpty).at("create", tmp).map_err(failed)?;
        write_all_at(&file, 0, &header.encode()).at("write", tmp).map_err(failed)?;
        let mut allocated = SEGMENT_HEADER_BYTES as u64;
        let most = (FRAMES_START + self.options.preallocate_bytes).max(least);
        let shortage = match fill_with_zeros(&file, &mut allocated, most).at("write", tmp) {
            Err(failure) if allocated >= least && is_shortage(&failure.source) => Some(failure),
            result => result.map(|()| None).map_err(failed)?,
        };
        Ok(Begun { segment: Segment { file, path, header, allocated }, shortage })
    }

    /// Gives a segment its name.
    fn publish<I: Io>(&self, io: &I, tmp: &Path, segment: &Segment<I::File>) -> Result<(), BeginError> {
        uninterrupted(|| segment.file.sync_all()).at("sync", tmp).map_err(BeginError::Unknown)?;
        io.rename(tmp, &segment.path).at("rename", tmp).map_err(|failure| {
            // A folder that has no room for another name is as it was.
            let is_shortage = is_shortage(&failure.source);
            if is_shortage { BeginError::Unchanged(failure) } else { BeginError::Unknown(failure) }
        })?;
        // Without this a power cut could take the name, and with it every batch acknowledged from this file.
        uninterrupted(|| io.sync_dir(&self.dir)).at("sync", &self.dir).map_err(BeginError::Unknown)
    }
}

/// Reads the header of an open segment file.
pub(crate) fn read_header<F: IoFile>(file: &F) -> std::io::Result<Result<SegmentHeader, SegmentFault>> {
    let mut bytes = [0; SEGMENT_HEADER_BYTES];
    let read = read_full_at(file, 0, &mut bytes)?;
    Ok(SegmentHeader::decode(bytes.get(..read).unwrap_or_default()))
}

/// The next border at or after `offset` where a commit may begin.
pub(crate) const fn next_sector(offset: u64) -> u64 {
    offset.next_multiple_of(SECTOR_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: SegmentHeader = SegmentHeader {
        store_id: 0x1111_2222_3333_4444,
        salt: 0x0123_4567_89ab_cdef,
        first_lsn: Lsn(7),
        prev: LogEnd { offset: 0x1234, crc: 0xdead_beef },
    };

    #[test]
    fn a3_a_position_that_no_log_reaches_is_damage() {
        for (lsn, is_right) in [(LSN_MAX, true), (LSN_MAX + 1, false), (u64::MAX, false)] {
            let header = SegmentHeader { first_lsn: Lsn(lsn), ..HEADER };
            let found = SegmentHeader::decode(&header.encode());
            assert_eq!(found == Ok(header), is_right, "{found:?}");
            let name = format!("{lsn:0LSN_DIGITS$}{SUFFIX}");
            assert_eq!(parse_segment_name(OsStr::new(&name)) == Some(Lsn(lsn)), is_right, "{name}");
        }
    }

    #[test]
    fn golden_bytes() {
        let hex = HEADER.encode().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let golden = include_str!("../tests/golden/segment.hex").split_whitespace().collect::<String>();
        assert_eq!(hex, golden);
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        assert_eq!(SegmentHeader::decode(&HEADER.encode()), Ok(HEADER));
        for bit in 0..SEGMENT_HEADER_BYTES * 8 {
            let mut bytes = HEADER.encode();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(SegmentHeader::decode(&bytes), Err(SegmentFault::BadHeader), "bit {bit}");
        }
        assert_eq!(SegmentHeader::decode(&HEADER.encode()[..55]), Err(SegmentFault::NoHeader));
        assert_eq!(SegmentHeader::decode(&[0; 4096]), Err(SegmentFault::NoHeader));
    }

    #[test]
    fn names_and_what_only_looks_like_one() {
        let path = segment_path(Path::new("log"), Lsn(42));
        assert_eq!(path, Path::new("log/00000000000000000042.log"));
        assert_eq!(parse_segment_name(path.file_name().unwrap()), Some(Lsn(42)));
        for junk in [
            "42.log",
            "+0000000000000000042.log",
            "99999999999999999999.log",
            "00000000000000000042.log.tmp",
            "a.log",
            "",
        ] {
            assert_eq!(parse_segment_name(OsStr::new(junk)), None, "{junk}");
        }
        assert!(is_unfinished_segment(OsStr::new("00000000000000000042.log.tmp")));
        assert!(!is_unfinished_segment(OsStr::new("notes.tmp")));
    }
}
