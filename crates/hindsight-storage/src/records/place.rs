//! Where record files lie, and how they are named.

use std::{
    ffi::OsStr,
    fmt,
    path::{Path, PathBuf},
};

use crate::segment::TMP_SUFFIX;

/// The folder of all namespaces inside the data directory.
pub const NS_DIR: &str = "ns";
const PREFIX: &str = "records-";
const SUFFIX: &str = ".rec";
const DIGITS: usize = 8;

/// The number of a namespace in this data directory, from 1. Never given to another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NamespaceId(pub u32);

impl fmt::Display for NamespaceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The folder of a namespace, in the folder of all of them.
#[must_use]
pub fn namespace_dir(ns: &Path, id: NamespaceId) -> PathBuf {
    ns.join(format!("{:0DIGITS$}", id.0))
}

/// The path of a record file, in the folder of all namespaces.
#[must_use]
pub fn record_path(ns: &Path, id: NamespaceId, number: u32) -> PathBuf {
    namespace_dir(ns, id).join(format!("{PREFIX}{number:0DIGITS$}{SUFFIX}"))
}

/// The namespace that a folder's name stands for.
#[must_use]
pub fn parse_namespace_dir(name: &OsStr) -> Option<NamespaceId> {
    parse_number(name.to_str()?).map(NamespaceId)
}

/// The number that a record file's name stands for.
#[must_use]
pub fn parse_record_file(name: &OsStr) -> Option<u32> {
    parse_number(name.to_str()?.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?)
}

/// Whether a name is that of a record file that was never finished.
pub(crate) fn is_unfinished_record_file(name: &OsStr) -> bool {
    let name = name.to_str().and_then(|name| name.strip_suffix(TMP_SUFFIX));
    name.is_some_and(|name| parse_record_file(OsStr::new(name)).is_some())
}

/// Numbers have leading zeros up to eight digits; larger ones have none.
pub(crate) fn parse_number(digits: &str) -> Option<u32> {
    let number: u32 = digits.parse().ok().filter(|number| *number > 0)?;
    (digits == format!("{number:0DIGITS$}")).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_what_only_looks_like_one() {
        let ns = Path::new("ns");
        assert_eq!(record_path(ns, NamespaceId(7), 42), Path::new("ns/00000007/records-00000042.rec"));
        assert_eq!(parse_namespace_dir(OsStr::new("00000007")), Some(NamespaceId(7)));
        assert_eq!(parse_record_file(OsStr::new("records-00000042.rec")), Some(42));
        let large = record_path(ns, NamespaceId(u32::MAX), u32::MAX);
        assert_eq!(parse_record_file(large.file_name().unwrap()), Some(u32::MAX));
        for junk in
            ["records-42.rec", "records-+0000042.rec", "records-00000000.rec", "records-00000042.rec.tmp", ""]
        {
            assert_eq!(parse_record_file(OsStr::new(junk)), None, "{junk}");
        }
        assert!(is_unfinished_record_file(OsStr::new("records-00000042.rec.tmp")));
        assert!(!is_unfinished_record_file(OsStr::new("notes.tmp")));
    }
}
