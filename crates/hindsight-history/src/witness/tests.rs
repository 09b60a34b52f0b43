use super::*;

fn event(begin: u64, end: u64, lsn: u64, seen: Seen) -> Event {
    Event { begin, end, space: 1, lsn, seen }
}

fn wrote(value: u64, version: u64) -> Seen {
    Seen::Wrote { key: 3, value, version }
}

fn read(value: u64, version: u64) -> Seen {
    Seen::Read { key: 3, value, version }
}

fn found(history: &[Event]) -> String {
    check(history, 5).unwrap_err()
}

#[test]
fn a_history_that_agrees_with_its_positions_is_counted() {
    let history = [
        event(1, 2, 1, wrote(10, 1)),
        event(3, 8, 2, wrote(20, 2)),
        event(4, 5, 1, read(10, 1)),
        event(4, 6, 2, read(20, 2)),
        event(5, 9, 4, Seen::WroteBatch { batch: 1 }),
        event(6, 7, 2, Seen::Listed { batch: 1, count: 0 }),
        event(10, 11, 4, Seen::Listed { batch: 1, count: 5 }),
    ];
    assert_eq!(check(&history, 5), Ok(Checked { writes: 3, reads: 2, whole: 1, absent: 1 }));
}

#[test]
fn a_read_behind_what_was_answered_before_it_is_found() {
    let history = [event(1, 2, 1, wrote(10, 1)), event(3, 4, 2, wrote(20, 2)), event(5, 6, 1, read(10, 1))];
    assert!(found(&history).contains("does not come behind"));
    // Two reads are in order, too.
    let history = [
        event(1, 2, 1, wrote(10, 1)),
        event(3, 9, 2, wrote(20, 2)),
        event(4, 5, 2, read(20, 2)),
        event(6, 7, 1, read(10, 1)),
    ];
    assert!(found(&history).contains("does not come behind"));
}

#[test]
fn a_change_before_one_that_was_answered_is_found() {
    let history = [event(1, 2, 2, wrote(10, 1)), event(3, 4, 1, Seen::WroteBatch { batch: 1 })];
    assert!(found(&history).contains("does not come behind"));
}

#[test]
fn one_position_for_two_changes_is_found() {
    let history = [event(1, 4, 1, wrote(10, 1)), event(2, 3, 1, Seen::WroteBatch { batch: 1 })];
    assert!(found(&history).contains("one position"));
}

#[test]
fn a_change_that_overwrote_another_unseen_is_found() {
    let history = [event(1, 4, 1, wrote(10, 1)), event(2, 3, 2, wrote(20, 1))];
    assert!(found(&history).contains("the change before it made version 1"));
}

#[test]
fn a_read_that_is_not_what_its_position_says_is_found() {
    let history = [event(1, 2, 1, wrote(10, 1)), event(3, 8, 2, wrote(20, 2)), event(4, 5, 1, read(20, 2))];
    assert!(found(&history).contains("there the memory has"));
    let history = [event(1, 2, 1, wrote(10, 1)), event(3, 8, 2, wrote(20, 2)), event(4, 5, 2, read(10, 1))];
    assert!(found(&history).contains("there the memory has"));
}

#[test]
fn a_part_of_a_batch_is_found_and_so_is_a_batch_too_early_or_too_late() {
    let batch = event(1, 9, 2, Seen::WroteBatch { batch: 1 });
    for (lsn, count) in [(2, 3), (1, 3), (1, 5), (2, 0)] {
        let history = [batch, event(3, 4, lsn, Seen::Listed { batch: 1, count })];
        assert!(found(&history).contains("there the batch has"), "{lsn} {count}");
    }
}
