use std::{fs, os::unix::fs::PermissionsExt};

use hindsight_storage::{StorageError, StorageErrorKind};

use crate::{batch, open, snapshot};

#[test]
fn a_new_directory_is_its_owner_s_only() {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("a/b/data");
    let (storage, ..) = open(&dir).unwrap();
    storage.append(&batch(1)).unwrap();
    storage.close().unwrap();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&dir), mode(&dir.join("log"))), (0o700, 0o700));
    for file in ["FORMAT", "LOCK", "log/00000000000000000001.log"] {
        assert_eq!(mode(&dir.join(file)), 0o600, "{file}");
    }
    let format = fs::read_to_string(dir.join("FORMAT")).unwrap();
    assert!(format.contains("\"format\": 1") && format.contains("\"created_by\": \"hindsight "), "{format}");
}

#[test]
fn a_second_open_is_refused_and_names_the_first() {
    let dir = tempfile::tempdir().unwrap();
    let (storage, ..) = open(dir.path()).unwrap();
    let before = snapshot(dir.path());
    let error = open(dir.path()).map(|_| ()).unwrap_err();
    let pid = std::process::id();
    assert!(
        matches!(&error, StorageError::Locked { holder: Some(holder), .. } if holder.pid == pid),
        "{error:?}"
    );
    assert!(error.to_string().contains(&format!("process {pid}")), "{error}");
    assert_eq!(error.kind(), StorageErrorKind::Refused);
    assert_eq!(snapshot(dir.path()), before);
    drop(storage);
    open(dir.path()).unwrap();
}

#[test]
fn a_newer_format_is_refused_and_not_a_byte_is_touched() {
    let dir = tempfile::tempdir().unwrap();
    drop(open(dir.path()).unwrap());
    let newer =
        r#"{"format": 9, "min_reader": 7, "created_by": "hindsight 9.0.0", "store_id": "00000000000000ff"}"#;
    fs::write(dir.path().join("FORMAT"), newer).unwrap();
    fs::remove_file(dir.path().join("LOCK")).unwrap();
    let before = snapshot(dir.path());
    let error = open(dir.path()).map(|_| ()).unwrap_err();
    assert!(matches!(error, StorageError::FormatTooNew { found: 7, supported: 1, .. }), "{error:?}");
    assert_eq!(error.kind(), StorageErrorKind::Refused);
    assert_eq!(snapshot(dir.path()), before);
}

#[test]
fn a_damaged_format_file_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    drop(open(dir.path()).unwrap());
    fs::write(dir.path().join("FORMAT"), "{\"format\": 1").unwrap();
    let error = open(dir.path()).map(|_| ()).unwrap_err();
    assert!(matches!(error, StorageError::BadFormatFile { .. }), "{error:?}");
    assert_eq!(error.kind(), StorageErrorKind::Corrupt);
}

#[test]
fn a_directory_of_something_else_is_refused_and_untouched() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("letter.txt"), "dear").unwrap();
    let before = snapshot(dir.path());
    let error = open(dir.path()).map(|_| ()).unwrap_err();
    assert!(matches!(error, StorageError::Foreign { .. }), "{error:?}");
    assert!(error.to_string().contains("not a HindsightDB data directory"), "{error}");
    assert_eq!((error.kind(), snapshot(dir.path())), (StorageErrorKind::Refused, before));
}

#[test]
fn what_is_no_directory_or_can_not_be_made_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "x").unwrap();
    for path in [file.clone(), file.join("below")] {
        let error = open(&path).map(|_| ()).unwrap_err();
        assert!(matches!(error, StorageError::NotADirectory { .. }), "{error:?}");
        assert_eq!(error.kind(), StorageErrorKind::NotWritable);
    }
    let error = open(std::path::Path::new("/proc/no-such-folder/data")).map(|_| ()).unwrap_err();
    assert_eq!(error.kind(), StorageErrorKind::NotWritable, "{error:?}");
}

#[test]
fn an_interrupted_beginning_is_begun_again() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("LOCK"), "").unwrap();
    fs::write(dir.path().join("FORMAT.tmp"), "{\"form").unwrap();
    let (storage, ..) = open(dir.path()).unwrap();
    storage.append(&batch(1)).unwrap();
    storage.close().unwrap();
    drop(storage);
    assert_eq!(open(dir.path()).unwrap().2.len(), 1);
}

#[test]
fn junk_names_do_not_stop_the_start() {
    let dir = tempfile::tempdir().unwrap();
    let (storage, ..) = open(dir.path()).unwrap();
    storage.append(&batch(1)).unwrap();
    storage.close().unwrap();
    drop(storage);
    for number in 0..200 {
        fs::write(dir.path().join(format!(".atomicwrite{number}")), "junk").unwrap();
        fs::write(dir.path().join(format!("log/{number}.log")), "junk").unwrap();
    }
    fs::create_dir(dir.path().join("log/folder")).unwrap();
    let (_, recovered, batches) = open(dir.path()).unwrap();
    assert_eq!((batches.len(), recovered.ignored), (1, 201));
    assert!(dir.path().join("log/7.log").exists() && dir.path().join(".atomicwrite7").exists());
}
