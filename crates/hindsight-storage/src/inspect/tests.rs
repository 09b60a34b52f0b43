//! Dumps of small files, down to the byte where that is the same in every run.

use std::path::Path;

use super::*;
use crate::testing::{
    MemIo,
    stores::{DIR, checkpoint, commit, disk, open},
};

fn database() -> MemIo {
    let io = disk(1);
    let (mut engine, storage, _) = open(&io).unwrap();
    commit(&mut engine, &storage, 6).unwrap();
    checkpoint(&mut engine, &storage).unwrap();
    let mut backup = Vec::new();
    storage.backup(&mut backup).unwrap();
    io.put_file(Path::new("/backup"), &backup);
    storage.close().unwrap();
    io
}

fn lines(io: &MemIo, path: &Path, with_content: bool) -> Vec<InspectLine> {
    let mut lines = Vec::new();
    inspect(io, path, with_content, &mut |line| {
        lines.push(line);
        ControlFlow::Continue(())
    })
    .unwrap();
    lines
}

/// What of the lines does not depend on random numbers, the clock or the version of the program.
fn stable(lines: &[InspectLine]) -> String {
    let mut text = String::new();
    for line in lines {
        let InspectLine { offset, kind, bytes, lsn, is_sound, namespace, ids, .. } = line;
        let lsn = lsn.map_or_else(|| "-".to_owned(), |lsn| lsn.to_string());
        let namespace = namespace.as_deref().unwrap_or("-");
        let sound = if *is_sound { "ok" } else { "BAD" };
        text.push_str(&format!("{offset} {kind} {bytes} lsn {lsn} {sound} {namespace} {}\n", ids.len()));
    }
    text
}

fn log() -> std::path::PathBuf {
    Path::new(DIR).join("log/00000000000000000001.log")
}

#[test]
fn golden_dumps() {
    let io = database();
    let mut text = String::new();
    for path in [
        log(),
        Path::new(DIR).join("ns/00000001/records-00000001.rec"),
        Path::new(DIR).join("MANIFEST-00000001"),
        "/backup".into(),
    ] {
        text.push_str(&format!(
            "{}\n{}\n",
            path.file_name().unwrap().to_string_lossy(),
            stable(&lines(&io, &path, false))
        ));
    }
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/inspect.txt");
    let expected = std::fs::read_to_string(&golden).unwrap();
    assert_eq!(text, expected, "{text}");
}

#[test]
fn content_is_shown_on_request_only() {
    let io = database();
    for path in [log(), Path::new(DIR).join("ns/00000001/records-00000001.rec"), "/backup".into()] {
        let without = serde_json::to_string(&lines(&io, &path, false)).unwrap();
        assert!(!without.contains("记忆") && !without.contains("request 1"), "{path:?}: {without}");
    }
    for path in [log(), Path::new(DIR).join("ns/00000001/records-00000001.rec")] {
        let with = serde_json::to_string(&lines(&io, &path, true)).unwrap();
        assert!(with.contains("记忆") && with.contains("\"vector_dimensions\":[3]"), "{path:?}: {with}");
    }
}

#[test]
fn it_goes_on_behind_damage_and_never_panics() {
    let io = database();
    let mut seed = 5_u64;
    for path in [
        log(),
        Path::new(DIR).join("ns/00000001/records-00000001.rec"),
        Path::new(DIR).join("MANIFEST-00000001"),
        "/backup".into(),
    ] {
        let bytes = io.read_file(&path).unwrap();
        let whole = lines(&io, &path, false);
        // The header is needed to read the rest; behind it one flipped bit costs the entry that it is in.
        let from = usize::try_from(whole[1].offset).unwrap();
        let written = bytes.iter().rposition(|byte| *byte != 0).unwrap() + 1;
        for _ in 0..60 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let bit = from * 8 + (seed >> 13) as usize % ((written - from) * 8);
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            io.put_file(Path::new("/damaged"), &damaged);
            let found = lines(&io, Path::new("/damaged"), false);
            let bad = found.iter().filter(|line| !line.is_sound).count();
            assert!(bad == 1, "{path:?}, bit {bit}: {bad} bad lines in {found:#?}");
            for line in whole
                .iter()
                .filter(|line| line.kind != "edit" && line.offset + line.bytes <= (bit / 8) as u64)
            {
                assert!(found.contains(line), "{path:?}, bit {bit}: {line:?} is not in {found:#?}");
            }
        }
    }
    // A frame behind a damaged one is found again.
    let whole = lines(&io, &log(), false);
    let mut damaged = io.read_file(&log()).unwrap();
    damaged[usize::try_from(whole[2].offset).unwrap()] ^= 1;
    io.put_file(Path::new("/damaged"), &damaged);
    let found = lines(&io, Path::new("/damaged"), false);
    assert_eq!((found[2].kind, found[2].is_sound), ("damaged", false));
    assert_eq!((found[3].offset, found[3].lsn), (whole[3].offset, whole[3].lsn));
}

#[test]
fn what_is_no_file_of_a_database_is_refused() {
    let io = database();
    let mut nothing = |_| ControlFlow::Continue(());
    let format = inspect(&io, &Path::new(DIR).join("FORMAT"), false, &mut nothing);
    assert!(matches!(format, Err(InspectError::Unknown { .. })));
    assert!(matches!(inspect(&io, Path::new("/nowhere"), false, &mut nothing), Err(InspectError::Io(_))));
    for bytes in [&b"HSsegmnt"[..], b"HSrecord", b"HSmanfst", b"HSbackup"] {
        io.put_file(Path::new("/short"), bytes);
        let lines = lines(&io, Path::new("/short"), false);
        assert!(lines.len() <= 2 && !lines[0].is_sound, "{lines:?}");
    }
}
