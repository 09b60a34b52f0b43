use super::*;
use crate::{
    StorageErrorKind, codec,
    io::IoFile as _,
    testing::{
        MemIo,
        stores::{append, checkpoint, commit, disk, open},
    },
};

const ALL: ReadMost = ReadMost { batches: usize::MAX, bytes: usize::MAX };

/// The numbers of what is read.
fn read(storage: &Storage<MemIo>, cursor: &mut LogCursor, most: ReadMost) -> Result<Vec<u64>, TailError> {
    let mut seen = Vec::new();
    storage.read_log(cursor, most, &mut |lsn, payload| {
        let batch = codec::decode_batch(payload).unwrap();
        assert_eq!(batch.at.as_ms(), 1_000 + lsn.0 as i64, "the batch is that of its number");
        assert_eq!(codec::batch_namespace(payload).unwrap(), batch.namespace);
        seen.push(lsn.0);
    })?;
    Ok(seen)
}

#[test]
fn l9_only_what_is_durable_is_read_once_and_in_order() {
    let io = disk(1);
    let (mut engine, storage, _) = open(&io).unwrap();
    let mut cursor = LogCursor::after(Lsn(0));
    assert_eq!(read(&storage, &mut cursor, ALL).unwrap(), [0; 0]);
    commit(&mut engine, &storage, 3).unwrap();
    append(&mut engine, &storage).unwrap();
    assert_eq!(read(&storage, &mut cursor, ALL).unwrap(), [1, 2, 3]);
    assert_eq!(read(&storage, &mut cursor, ALL).unwrap(), [0; 0]);
    storage.commit_step().unwrap();
    storage.log().witness_step().unwrap();
    assert_eq!(read(&storage, &mut cursor, ALL).unwrap(), [4]);
    commit(&mut engine, &storage, 2).unwrap();
    assert_eq!(read(&storage, &mut cursor, ALL).unwrap(), [5, 6]);
    assert_eq!(read(&storage, &mut LogCursor::after(Lsn(4)), ALL).unwrap(), [5, 6]);
    assert_eq!(cursor.last(), Lsn(6));
}

#[test]
fn l9_reads_go_over_segments_and_a_restart_in_bounded_steps() {
    let io = disk(2);
    let (mut engine, storage, _) = open(&io).unwrap();
    (0..40).for_each(|_| commit(&mut engine, &storage, 3).unwrap());
    assert!(storage.log_segments().unwrap().len() > 3);
    let mut cursor = LogCursor::after(Lsn(0));
    let mut seen = read(&storage, &mut cursor, ReadMost { batches: 7, bytes: usize::MAX }).unwrap();
    assert_eq!(seen, [1, 2, 3, 4, 5, 6, 7]);
    loop {
        let more = read(&storage, &mut cursor, ReadMost { batches: 100, bytes: 1 }).unwrap();
        assert!(more.len() <= 1, "one batch is given whatever its length, and no second one");
        if more.is_empty() {
            break;
        }
        seen.extend(more);
    }
    assert_eq!(seen, (1..=120).collect::<Vec<_>>());
    drop(storage);
    let (mut engine, storage, _) = open(&io).unwrap();
    commit(&mut engine, &storage, 5).unwrap();
    assert_eq!(storage.log_begins_after().unwrap(), Lsn(0));
    assert_eq!(
        read(&storage, &mut LogCursor::after(Lsn(118)), ALL).unwrap(),
        (119..=125).collect::<Vec<_>>()
    );
}

#[test]
fn l9_what_a_checkpoint_gave_up_is_told_and_never_passed_over() {
    let io = disk(3);
    let (mut engine, storage, _) = open(&io).unwrap();
    (0..40).for_each(|_| commit(&mut engine, &storage, 3).unwrap());
    let (mut behind, mut ahead) = (LogCursor::after(Lsn(0)), LogCursor::after(Lsn(0)));
    read(&storage, &mut behind, ReadMost { batches: 5, bytes: usize::MAX }).unwrap();
    read(&storage, &mut ahead, ALL).unwrap();
    assert!(checkpoint(&mut engine, &storage).unwrap().segments_removed > 2);
    let oldest = storage.log_begins_after().unwrap();
    assert!(oldest > Lsn(5));
    commit(&mut engine, &storage, 2).unwrap();
    for _ in 0..2 {
        let error = read(&storage, &mut behind, ALL).unwrap_err();
        assert!(matches!(error, TailError::GivenUp { oldest: told } if told == oldest), "{error}");
        assert_eq!(behind.last(), Lsn(5));
    }
    assert_eq!(read(&storage, &mut ahead, ALL).unwrap(), [121, 122]);
    let rest = read(&storage, &mut LogCursor::after(oldest), ALL).unwrap();
    assert_eq!(rest, (oldest.0 + 1..=122).collect::<Vec<_>>());
}

#[test]
fn l9_damage_is_told_with_its_place_behind_what_is_whole() {
    let io = disk(4);
    let (mut engine, storage, _) = open(&io).unwrap();
    commit(&mut engine, &storage, 1).unwrap();
    let whole = LogCursor::after(Lsn(0));
    let mut cursor = whole.clone();
    read(&storage, &mut cursor, ALL).unwrap();
    commit(&mut engine, &storage, 4).unwrap();
    let path = storage.log_segments().unwrap()[0].1.clone();
    let file = io.open(&path, OpenMode::ReadWrite).unwrap();
    let place = cursor.place.unwrap().end.offset.next_multiple_of(512) + 60;
    file.pwrite(place, b"damaged").unwrap();
    let error = read(&storage, &mut cursor, ALL).unwrap_err();
    assert!(
        matches!(&error, TailError::Storage(error) if error.kind() == StorageErrorKind::Corrupt),
        "{error}"
    );
    assert_eq!(cursor.last(), Lsn(1));
    let mut again = whole;
    assert!(read(&storage, &mut again, ALL).is_err());
    assert_eq!(again.last(), Lsn(1));
}
