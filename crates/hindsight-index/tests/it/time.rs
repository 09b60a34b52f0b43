//! Memories by time: the newest, and what stands next to one in its session.

use hindsight_core::{Filter, Kind, SourceKind, Timestamp};
use hindsight_index::{NamespaceIndex, Neighbours};

use crate::support::*;

const MINUTE_MS: i64 = 60_000;

fn at(number: u128, minutes: i64, session: Option<&str>) -> hindsight_core::Record {
    let mut record = fact(number, "turn");
    record.memory.occurred_at = Timestamp::from_ms(NOON + minutes * MINUTE_MS);
    record.memory.session_id = session.map(str::to_owned);
    record
}

#[test]
fn neighbours_share_the_session_and_are_near() {
    let mut index = NamespaceIndex::default();
    let turns =
        [(1, -58, "a"), (2, -1, "a"), (3, 0, "a"), (4, 0, "b"), (5, 3, "a"), (6, 3, "a"), (7, 20, "a")];
    for (number, minutes, session) in turns {
        index.apply(&at(number, minutes, Some(session))).unwrap();
    }
    index.apply(&at(8, 0, None)).unwrap();
    let shelf = index.active();
    let of = |number: u128, minutes: i64| {
        let Neighbours { before, after } =
            shelf.neighbours(shelf.ordinal(id(number)).unwrap(), minutes * MINUTE_MS);
        let number =
            |ordinal: Option<hindsight_index::Ordinal>| ordinal.map(|ordinal| shelf.id(ordinal).as_u128());
        (number(before), number(after))
    };
    assert_eq!(of(3, 5), (Some(2), Some(5)));
    assert_eq!(of(5, 5), (Some(3), Some(6)), "of the same minute the lower id comes first");
    assert_eq!(of(2, 56), (None, Some(3)));
    assert_eq!(of(2, 57), (Some(1), Some(3)), "the limit itself is near enough");
    assert_eq!(of(4, 60), (None, None));
    assert_eq!(of(8, 60), (None, None), "without a session nobody is next");
}

#[test]
fn a_long_session_has_the_same_neighbours() {
    let mut index = NamespaceIndex::default();
    for number in 0..1_000 {
        let minutes = i64::try_from(number).unwrap() * 2;
        index.apply(&at(number + 1, minutes, Some(if number % 3 == 0 { "short" } else { "long" }))).unwrap();
    }
    let shelf = index.active();
    for number in [2, 500, 998] {
        let beside = shelf.neighbours(shelf.ordinal(id(number)).unwrap(), 5 * MINUTE_MS);
        let number_of = |ordinal: Option<hindsight_index::Ordinal>| ordinal.map(|o| shelf.id(o).as_u128());
        let session = |number: &u128| (number - 1).is_multiple_of(3);
        let near = |other: &u128| (1..=1_000).contains(other) && session(other) == session(&number);
        let before = [number - 1, number.saturating_sub(2)].into_iter().find(near);
        let after = [number + 1, number + 2].into_iter().find(near);
        assert_eq!((number_of(beside.before), number_of(beside.after)), (before, after), "{number}");
    }
}

#[test]
fn the_newest_come_first() {
    let mut index = NamespaceIndex::default();
    for (number, minutes) in [(1, 5), (2, 90), (3, 5), (4, -3), (5, 7)] {
        index.apply(&at(number, minutes, None)).unwrap();
    }
    let shelf = index.active();
    let newest =
        |k| shelf.newest(&shelf.all(), k).into_iter().map(|o| shelf.id(o).as_u128()).collect::<Vec<_>>();
    assert_eq!(newest(4), [2, 5, 3, 1]);
    assert_eq!(newest(0), Vec::<u128>::new());
    let early = shelf.occurred_between(None, Some(Timestamp::from_ms(NOON + 6 * MINUTE_MS)));
    assert_eq!(shelf.newest(&early, 9).len(), 3);
}

/// Enough memories that a narrowed range is taken from the buckets, and few enough of one kind that it is not: the borders
/// are in or out alike on every way.
#[test]
fn a_range_holds_its_first_moment_and_not_its_last() {
    let mut index = NamespaceIndex::default();
    let mut records = Vec::new();
    for number in 0..1_500_i64 {
        let mut record = at(u128::from(number.unsigned_abs()), number * 7, None);
        record.memory.kind = if number % 10 == 0 { Kind::Preference } else { Kind::Fact };
        index.apply(&record).unwrap();
        records.push(record);
    }
    let moment = |minutes: i64| Some(Timestamp::from_ms(NOON + minutes * MINUTE_MS));
    let kinds = [Vec::new(), vec![Kind::Fact], vec![Kind::Preference]];
    for (from, to) in
        [(0, 7), (70, 140), (0, 70), (63, 5_040), (-100, 8_400), (60, 120), (720, 2_160), (69, 71)]
    {
        for kinds in &kinds {
            for source_kinds in [Vec::new(), vec![SourceKind::UserInput]] {
                let filter = Filter {
                    kinds: kinds.clone(),
                    source_kinds,
                    from: moment(from),
                    to: moment(to),
                    ..Filter::default()
                };
                let now = Timestamp::from_ms(NOON);
                let expected = records.iter().filter(|record| filter.matches(&record.memory, now)).count();
                let found = index.active().select(&filter, now);
                assert_eq!(found.len(), expected, "{from} to {to}, {kinds:?}");
                let ids = found.iter().map(|ordinal| index.active().id(ordinal).as_u128());
                assert!(
                    ids.into_iter()
                        .all(|number| filter.matches(&records[usize::try_from(number).unwrap()].memory, now))
                );
            }
        }
    }
}
