use super::*;

fn file(io: &MemIo, name: &str) -> MemFile {
    io.create_dir_all(Path::new("/d")).unwrap();
    io.open(&Path::new("/d").join(name), OpenMode::CreateOrOpen).unwrap()
}

#[test]
fn only_what_was_synced_must_survive() {
    let io = MemIo::new(1);
    let f = file(&io, "a");
    f.pwrite(0, &[1; 600]).unwrap();
    f.sync_data().unwrap();
    io.sync_dir(Path::new("/d")).unwrap();
    f.pwrite(512, &[2; 512]).unwrap();
    let mut seconds = std::collections::BTreeSet::new();
    for seed in 0..100 {
        let content = io.after_crash(seed).read_file(Path::new("/d/a")).unwrap();
        assert_eq!(content[..512], [1; 512], "seed {seed}");
        assert_eq!(content, io.after_crash(seed).read_file(Path::new("/d/a")).unwrap(), "a seed decides");
        seconds.insert(content.get(512..).unwrap_or_default().to_vec());
    }
    assert!(seconds.len() > 10, "old, new, zero, garbage and shorn all occur");
}

#[test]
fn a_name_is_durable_after_the_sync_of_its_folder_only() {
    let io = MemIo::new(1);
    file(&io, "a").sync_all().unwrap();
    assert!((0..50).any(|seed| io.after_crash(seed).read_file(Path::new("/d/a")).is_none()));
    io.sync_dir(Path::new("/d")).unwrap();
    assert!((0..50).all(|seed| io.after_crash(seed).read_file(Path::new("/d/a")).is_some()));
}

#[test]
fn a_failed_sync_marks_pages_clean_and_the_next_one_lies() {
    let io = MemIo::new(1);
    let f = file(&io, "a");
    io.sync_dir(Path::new("/d")).unwrap();
    f.pwrite(0, &[1; 512]).unwrap();
    io.inject(Fault { at_call: io.counts().calls, kind: FaultKind::Errno(5), is_sticky: false });
    assert_eq!(f.sync_data().unwrap_err().raw_os_error(), Some(5));
    f.sync_data().unwrap();
    assert_eq!(io.counts().syncs_after_failure, 1);
    let mut bytes = [9; 512];
    f.pread(0, &mut bytes).unwrap();
    assert_eq!(bytes, [1; 512], "the cache still has it");
    f.drop_cache().unwrap();
    f.pread(0, &mut bytes).unwrap();
    assert_eq!(bytes, [0; 512], "the disk never got it");
}

#[test]
fn a_lock_is_one_handle_s() {
    let io = MemIo::new(1);
    let (a, b) = (file(&io, "a"), file(&io, "a"));
    assert!(a.try_lock().unwrap() && a.try_lock().unwrap());
    assert!(!b.try_lock().unwrap());
    drop(a);
    assert!(b.try_lock().unwrap());
}

#[test]
fn a_folder_s_name_is_durable_after_a_sync_of_its_parent_only() {
    let io = MemIo::new(1);
    file(&io, "a");
    let dir = Path::new("/d/sub");
    io.create_dir(dir).unwrap();
    io.create_dir(dir).unwrap();
    let inner = dir.join("b");
    io.open(&inner, OpenMode::CreateEmpty).unwrap().sync_all().unwrap();
    io.sync_dir(dir).unwrap();
    assert!((0..50).any(|seed| io.after_crash(seed).read_file(&inner).is_none()));
    assert!((0..50).any(|seed| io.after_crash(seed).list(dir).is_err()));
    io.sync_dir(Path::new("/d")).unwrap();
    assert!((0..50).all(|seed| io.after_crash(seed).read_file(&inner).is_some()));
    assert_eq!(io.remove_dir(dir).unwrap_err().kind(), io::ErrorKind::DirectoryNotEmpty);
    io.unlink(&inner).unwrap();
    io.remove_dir(dir).unwrap();
    assert!((0..50).any(|seed| io.after_crash(seed).list(dir).is_ok()));
    io.sync_dir(Path::new("/d")).unwrap();
    assert!((0..50).all(|seed| io.after_crash(seed).list(dir).is_err()));
}

#[test]
fn a_sync_of_the_file_system_covers_everything_or_loses_everything() {
    let io = MemIo::new(1);
    let (a, b) = (file(&io, "a"), file(&io, "b"));
    a.pwrite(0, &[1; 700]).unwrap();
    io.create_dir(Path::new("/d/sub")).unwrap();
    b.sync_fs().unwrap();
    for seed in 0..50 {
        let after = io.after_crash(seed);
        assert_eq!(after.read_file(Path::new("/d/a")), Some(vec![1; 700]));
        assert!(after.list(Path::new("/d/sub")).is_ok());
    }
    a.pwrite(0, &[2; 700]).unwrap();
    io.inject(Fault { at_call: io.counts().calls, kind: FaultKind::Errno(5), is_sticky: false });
    b.sync_fs().unwrap_err();
    a.drop_cache().unwrap();
    assert_eq!(io.read_file(Path::new("/d/a")), Some(vec![1; 700]));
    assert_eq!(io.file_len(Path::new("/d/a")).unwrap(), 700);
}
