//! Keeps copies of torn tails.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

use hindsight_core::Lsn;

use super::TornTail;
use crate::{
    error::{At, IoFailure},
    io::{Io, IoFile, OpenMode, read_full_at, uninterrupted, write_all_at},
};

/// Most bytes of a torn tail that are kept.
const SAVED_BYTES_MAX: u64 = 8 << 20;
/// How many torn tails are kept.
const SAVED_TAILS_MAX: usize = 3;
const PREFIX: &str = "wal-torn-";
const SUFFIX: &str = ".bak";
const LSN_DIGITS: usize = 20;

/// Where the torn tail that begins with `lsn` is kept.
pub(super) fn saved_path(dir: &Path, lsn: Lsn) -> PathBuf {
    dir.join(format!("{PREFIX}{:0LSN_DIGITS$}{SUFFIX}", lsn.0))
}

/// Whether a file name is that of a kept tail.
pub(crate) fn is_saved_tail(name: &OsStr) -> bool {
    let digits =
        name.to_str().and_then(|name| name.strip_prefix(PREFIX)).and_then(|rest| rest.strip_suffix(SUFFIX));
    digits
        .is_some_and(|digits| digits.len() == LSN_DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Copies the torn bytes to a file of their own, for whoever wants to look at them. Drops the oldest copies.
pub(super) fn save_aside<I: Io>(
    io: &I,
    dir: &Path,
    from: &I::File,
    torn: &TornTail,
) -> Result<(), IoFailure> {
    let len = usize::try_from(torn.bytes.min(SAVED_BYTES_MAX)).unwrap_or(0);
    let mut bytes = vec![0; len];
    let read = read_full_at(from, torn.offset, &mut bytes).at("read", &torn.path)?;
    bytes.truncate(read);
    let copy = io.open(&torn.saved_to, OpenMode::CreateEmpty).at("create", &torn.saved_to)?;
    write_all_at(&copy, 0, &bytes).at("write", &torn.saved_to)?;
    uninterrupted(|| copy.sync_all()).at("sync", &torn.saved_to)?;
    let mut saved: Vec<_> =
        io.list(dir).at("list", dir)?.into_iter().filter(|name| is_saved_tail(name)).collect();
    saved.sort_unstable();
    // The copy just made stays, whatever its number: a log that was restored counts from lower ones again.
    saved.retain(|name| torn.saved_to.file_name() != Some(name));
    let surplus = (saved.len() + 1).saturating_sub(SAVED_TAILS_MAX);
    for name in saved.iter().take(surplus) {
        let path = dir.join(name);
        io.unlink(&path).at("remove", &path)?;
    }
    uninterrupted(|| io.sync_dir(dir)).at("sync", dir)
}
