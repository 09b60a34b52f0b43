//! Files of a database, made up or damaged: whatever stands in them, a start, a check and a repair end in an answer.
//!
//! Checksums would stop a fuzzer at the door, so most inputs are sealed first: every checksum that stands where one
//! belongs is made right, and what is behind it is read.

use std::path::Path;
use std::sync::Arc;

use hindsight_core::Lsn;
use hindsight_storage::io::Io;
use hindsight_storage::repair::{RepairMode, repair};
use hindsight_storage::testing::MemIo;
use hindsight_storage::verify::verify;
use hindsight_storage::{
    LogOptions, Storage, StorageOptions, backup, decode_edits, decode_record, encode_edits, encode_record,
};

use crate::memory::bounded;
use crate::seal;

const DIR: &str = "/data";
const FORMAT: &str = r#"{"format":1,"min_reader":1,"created_by":"fuzz","store_id":"1111222233334444"}"#;

/// The payload of a record that decodes is written in one form. A record file of any content is read or refused.
pub fn record_codec(data: &[u8]) {
    if let Ok(record) = bounded(data.len(), || decode_record(data)) {
        let (mut bytes, mut again) = (Vec::new(), Vec::new());
        encode_record(&record, &mut bytes).expect("a record that was read can be written");
        let read = decode_record(&bytes).expect("a record that was written can be read");
        // Compared as bytes: a NaN is not equal to itself.
        encode_record(&read, &mut again).expect("a record that was read can be written");
        assert_eq!(again, bytes, "{record:?}");
    }
    let mut file = data.to_vec();
    seal::record_file(&mut file);
    look(&[("ns/00000001/records-00000001.rec", &file)]);
}

/// The edits of a batch of the manifest that decode are written in one form. A manifest of any content is read or refused.
pub fn manifest(data: &[u8]) {
    if let Ok(edits) = bounded(data.len(), || decode_edits(data)) {
        let bytes = encode_edits(&edits).expect("edits that were read can be written");
        assert_eq!(decode_edits(&bytes).expect("edits that were written can be read"), edits);
    }
    let mut file = data.to_vec();
    seal::manifest(&mut file);
    look(&[("MANIFEST-00000001", &file)]);
}

/// A log of any content is replayed in order, or refused.
pub fn wal_recover(data: &[u8]) {
    let mut file = data.to_vec();
    let first = seal::segment(&mut file);
    look(&[(&format!("log/{first:020}.log"), &file)]);
}

/// A backup of any content is refused, or what is made of it opens and is sound.
pub fn backup_restore(data: &[u8]) {
    let mut sealed = data.to_vec();
    seal::backup(&mut sealed);
    for bytes in [data, &sealed] {
        let Ok(report) = bounded(bytes.len(), || backup::verify(bytes)) else { continue };
        let io = Arc::new(disk());
        let restored =
            backup::restore(&io, bytes, Path::new("/restored")).expect("a sound backup can be restored");
        assert_eq!(restored, report);
    }
}

fn disk() -> MemIo {
    let io = MemIo::new(1);
    io.create_dir_all(Path::new("/")).expect("the disk is new");
    io
}

/// Opens, checks and repairs a directory that has these files.
fn look(files: &[(&str, &[u8])]) {
    let io = disk();
    io.put_file(&Path::new(DIR).join("FORMAT"), FORMAT.as_bytes());
    files.iter().for_each(|(name, bytes)| io.put_file(&Path::new(DIR).join(name), bytes));
    let size = files.iter().map(|(_, bytes)| bytes.len()).sum();
    let copy = io.after_kill();
    let is_sound =
        bounded(size, || verify(&io, Path::new(DIR), &mut |_| {})).is_ok_and(|report| report.is_sound());
    let kept = bounded(size, || repair(&Arc::new(io.clone()), Path::new(DIR), RepairMode::Salvage, None));
    let log = LogOptions { preallocate_bytes: 0, ..LogOptions::default() };
    let options = StorageOptions { log, reserve_bytes: 0, ..StorageOptions::default() };
    let mut last = None::<Lsn>;
    let opened = bounded(size, || {
        let opening = Storage::open(copy, Path::new(DIR), options)?;
        opening.replay(&mut |lsn, _| {
            assert!(last.is_none_or(|last| lsn.0 == last.0 + 1), "{lsn} after {last:?}");
            last = Some(lsn);
            Ok(())
        })
    });
    // What verify calls sound opens; what opens is at least not called damaged by its log alone.
    if let (true, Err(error)) = (is_sound, &opened) {
        panic!("verify calls it sound, and it does not open: {error:?}; a repair says {kept:?}");
    }
}
