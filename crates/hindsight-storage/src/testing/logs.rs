//! What the tests of log and recovery share: small logs whose content can be told from the number of the batch.

use std::{path::Path, sync::Arc};

use hindsight_core::Lsn;

use super::MemIo;
use crate::{Floor, IoFailure, Log, LogOptions, Recovered, StorageError, io::Io, segment::segment_path};

pub(crate) const DIR: &str = "/data/log";
pub(crate) const STORE_ID: u64 = 77;

/// Segments of 16 KiB.
pub(crate) fn small() -> LogOptions {
    LogOptions { segment_bytes: 16 << 10, preallocate_bytes: 4 << 10, ..LogOptions::default() }
}

/// A disk with an empty log folder.
pub(crate) fn disk(seed: u64) -> MemIo {
    let io = MemIo::new(seed);
    io.create_dir_all(Path::new(DIR)).unwrap();
    io
}

/// The payload of a batch: 1 to 900 bytes that no other batch has.
pub(crate) fn payload(lsn: u64) -> Vec<u8> {
    let len = (lsn * 37 % 900) as usize;
    let mut bytes = format!("batch {lsn} 第{lsn}批 ").into_bytes();
    while bytes.len() < len {
        bytes.extend_from_slice(
            &lsn.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(bytes.len() as u64).to_le_bytes(),
        );
    }
    bytes
}

/// An open log, what recovery found, and every payload in it.
pub(crate) type Opened = (Log<MemIo>, Recovered, Vec<Vec<u8>>);

/// Opens the log and returns every payload it holds, having checked that the numbers are 1, 2, 3…
pub(crate) fn open_with(io: &MemIo, options: LogOptions) -> Result<Opened, StorageError> {
    let mut payloads = Vec::new();
    let (log, recovered) = Log::open(
        Arc::new(io.clone()),
        Path::new(DIR),
        STORE_ID,
        options,
        Floor::default(),
        &mut |lsn, bytes| {
            payloads.push(bytes.to_vec());
            assert_eq!(lsn.0, payloads.len() as u64);
            Ok(())
        },
    )?;
    assert_eq!(recovered.last_lsn.0, payloads.len() as u64);
    Ok((log, recovered, payloads))
}

/// As [`open_with`], checking that every batch is the one that was appended. Returns how many there are.
pub(crate) fn open(io: &MemIo) -> Result<(Log<MemIo>, Recovered, u64), StorageError> {
    let (log, recovered, payloads) = open_with(io, small())?;
    for (at, bytes) in payloads.iter().enumerate() {
        assert_eq!(*bytes, payload(at as u64 + 1), "batch {}", at + 1);
    }
    Ok((log, recovered, payloads.len() as u64))
}

/// Appends the next `count` batches and commits them together.
pub(crate) fn commit(log: &Log<MemIo>, count: u64) -> Result<(), StorageError> {
    for _ in 0..count {
        append(log)?;
    }
    log.commit_step().map(|_| ())
}

/// Appends the next batch, with the payload that belongs to its number.
pub(crate) fn append(log: &Log<MemIo>) -> Result<Lsn, StorageError> {
    let next = log.next_lsn();
    let lsn = log.append(&payload(next.0))?;
    assert_eq!(lsn, next);
    Ok(lsn)
}

/// Where a segment lies.
pub(crate) fn segment(first_lsn: u64) -> std::path::PathBuf {
    segment_path(Path::new(DIR), Lsn(first_lsn))
}

/// Every segment with its content, in order.
pub(crate) fn segments(io: &MemIo) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let mut files = io.files();
    files.retain(|(path, _)| path.extension().is_some_and(|extension| extension == "log"));
    files
}

/// The error number at the bottom of a failure.
pub(crate) fn errno(failure: &IoFailure) -> Option<i32> {
    failure.source.raw_os_error()
}
