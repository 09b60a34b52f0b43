//! An index as bytes: what comes back answers as what went in, and bytes that are no index are an error (D7, A3).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use hindsight_core::likeness::marks;
use hindsight_core::{Claim, Entity, MemoryId, Record, State, Timestamp};
use hindsight_index::{NamespaceIndex, SNAPSHOT_VERSION, Shelf, Shelves, SnapshotError};
use proptest::prelude::*;

use crate::contract::{Step, filters, history, ids, named, ranked, replay};
use crate::support::*;

/// The index of these bytes, with the vectors of these records.
fn back(bytes: &[u8], held: &BTreeMap<MemoryId, Record>) -> Result<NamespaceIndex, SnapshotError> {
    let mut index = NamespaceIndex::from_bytes(bytes)?;
    held.values().try_for_each(|record| index.take_vectors(record))?;
    Ok(index)
}

fn counts(shelf: &Shelf) -> [usize; 8] {
    let stats = shelf.stats();
    let lexical = stats.lexical;
    let sums = [lexical.docs as u64, lexical.postings, lexical.length_sum];
    let sums = sums.map(|sum| usize::try_from(sum).unwrap());
    [stats.memories, stats.vectors, stats.values, stats.names, stats.claims, sums[0], sums[1], sums[2]]
}

fn same_answers(one: &NamespaceIndex, other: &NamespaceIndex, query: &Record, now: Timestamp, k: usize) {
    let text = "the payments of Caroline, 花生 E1042 退款";
    for (a, b) in [(one.active(), other.active()), (one.inactive(), other.inactive())] {
        assert_eq!(counts(a), counts(b));
        let words = (one.keyword_query(text, Shelves::Both), other.keyword_query(text, Shelves::Both));
        assert_eq!(words.0, words.1);
        assert_eq!(
            ranked(a, &a.keyword_top(&a.all(), &words.0, k)),
            ranked(b, &b.keyword_top(&b.all(), &words.1, k))
        );
        if let Some(vector) = query.vectors.first() {
            let near = [one, other].map(|index| index.vector_query(&vector.embedding).unwrap());
            assert_eq!(
                ranked(a, &a.vector_top(&a.all(), &near[0], k)),
                ranked(b, &b.vector_top(&b.all(), &near[1], k))
            );
        }
        for id in ids(a, &a.all()) {
            let at = (a.ordinal(id).unwrap(), b.ordinal(id).unwrap());
            assert_eq!(a.hot(at.0), b.hot(at.1));
            let sides = (a.neighbours(at.0, 3_600_000), b.neighbours(at.1, 3_600_000));
            assert_eq!(sides.0.before.map(|at| a.id(at)), sides.1.before.map(|at| b.id(at)));
            assert_eq!(sides.0.after.map(|at| a.id(at)), sides.1.after.map(|at| b.id(at)));
        }
    }
    let filter = hindsight_core::Filter::default();
    for text in ["does Caroline like cats?", "花生和Bart", "\"permission_denied\" or E1042, Bart"] {
        assert_eq!(named(one, text, &filter, now, k), named(other, text, &filter, now, k));
    }
    let marks = marks(&query.memory);
    // Their order is that of slots, and free slots may be given out in another order.
    let sorted = |mut ids: Vec<MemoryId>| {
        ids.sort();
        ids
    };
    assert_eq!(sorted(one.same(&marks, 64)), sorted(other.same(&marks, 64)));
    assert_eq!(sorted(one.met(&marks, 64)), sorted(other.met(&marks, 64)));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn d7_what_comes_back_answers_and_goes_on_as_what_went_in(
        before in history(), after in history(), filter in filters(), query in records(), now in times(), k in 1_usize..8,
    ) {
        let (mut index, mut held) = replay(before);
        let bytes = index.to_bytes();
        let mut loaded = back(&bytes, &held).unwrap();
        prop_assert_eq!(&loaded.to_bytes(), &bytes, "the same index gives the same bytes");
        same_answers(&index, &loaded, &query, now, k);
        // What changes later is brought to both alike.
        for step in after {
            match step {
                Step::Apply(record) => {
                    index.apply(&record).unwrap();
                    loaded.apply(&record).unwrap();
                    held.remove(&record.memory.id);
                    if record.memory.state != State::Forgotten {
                        held.insert(record.memory.id, *record);
                    }
                }
                Step::Remove(number) => {
                    prop_assert_eq!(index.remove(id(number)), loaded.remove(id(number)));
                    held.remove(&id(number));
                }
            }
        }
        same_answers(&index, &loaded, &query, now, k);
        for shelf in [index.active(), index.inactive()].into_iter().zip([loaded.active(), loaded.inactive()]) {
            prop_assert_eq!(ids(shelf.0, &shelf.0.select(&filter, now)), ids(shelf.1, &shelf.1.select(&filter, now)));
        }
        back(&loaded.to_bytes(), &held).unwrap();
    }

    #[test]
    fn a3_no_bytes_make_it_panic(before in history(), after in history(), at in any::<prop::sample::Index>(), cut in any::<bool>(), bits in 1_u8..) {
        let (index, _) = replay(before);
        let mut bytes = index.to_bytes();
        let at = at.index(bytes.len());
        if cut {
            bytes.truncate(at);
        } else {
            bytes[at] ^= bits;
        }
        let Ok(mut loaded) = NamespaceIndex::from_bytes(&bytes) else { return Ok(()) };
        prop_assert!(!cut, "nothing can be cut off");
        // A change that no structure forbids: whoever goes on with it gets answers of some kind.
        for step in after {
            match step {
                Step::Apply(record) => drop(loaded.apply(&record)),
                Step::Remove(number) => drop(loaded.remove(id(number))),
            }
        }
        let words = loaded.keyword_query("the payments of Caroline, 花生", Shelves::Both);
        let shelf = loaded.active();
        shelf.keyword_top(&shelf.all(), &words, 5);
        named(&loaded, "does Caroline like cats?", &hindsight_core::Filter::default(), Timestamp::from_ms(NOON), 5);
    }
}

/// A few memories with something of everything.
fn sample() -> (NamespaceIndex, BTreeMap<MemoryId, Record>) {
    let mut peanuts = fact(1, "Caroline is allergic to peanuts");
    peanuts.vectors = vec![vector(&[1.0, 0.0]), vector(&[0.6, 0.8])];
    peanuts.memory.tags = vec!["健康".to_owned()];
    peanuts.memory.claims = vec![Claim {
        subject: "Caroline".to_owned(),
        attribute: "allergic_to".to_owned(),
        value: "peanuts".to_owned(),
        single_valued: false,
    }];
    let mut old = fact(2, "Bart likes 花生");
    old.memory.state = State::Archived;
    old.memory.entities = vec![Entity { name: "Bart".to_owned(), kind: String::new() }];
    old.memory.session_id = Some("s1".to_owned());
    old.memory.valid_to = Some(Timestamp::from_ms(NOON + 1));
    let many = (10..60).map(|number| fact(number, "thanks"));
    let mut index = NamespaceIndex::default();
    let held: BTreeMap<MemoryId, Record> =
        [peanuts, old].into_iter().chain(many).map(|record| (record.memory.id, record)).collect();
    held.values().for_each(|record| index.apply(record).unwrap());
    (index, held)
}

#[test]
fn a3_what_is_no_index_or_another_one_is_refused() {
    let (index, held) = sample();
    let bytes = index.to_bytes();
    assert!(back(&bytes, &held).is_ok());
    let mut newer = bytes.clone();
    newer[0] += 1;
    let found = SNAPSHOT_VERSION + 1;
    assert_eq!(NamespaceIndex::from_bytes(&newer).unwrap_err(), SnapshotError::Version { found });
    for end in 0..bytes.len() {
        assert!(NamespaceIndex::from_bytes(&bytes[..end]).is_err(), "{end}");
    }
    let longer = [&bytes[..], &[0]].concat();
    assert!(NamespaceIndex::from_bytes(&longer).is_err());
    let change = |number: u128, change: &dyn Fn(&mut Record)| {
        let mut held = held.clone();
        change(held.get_mut(&id(number)).unwrap());
        back(&bytes, &held)
    };
    let is_misfit = |result| matches!(result, Err(SnapshotError::Misfit { .. }));
    assert!(is_misfit(change(1, &|record| record.memory.state = State::Archived)));
    assert!(is_misfit(change(2, &|record| record.memory.state = State::Forgotten)));
    assert!(is_misfit(change(2, &|record| record.memory.id = id(99))));
    assert!(is_misfit(change(1, &|record| record.vectors.truncate(1))));
    assert!(is_misfit(change(1, &|record| record.vectors[1] = vector(&[1.0, 0.0, 0.0]))));
}

/// `UPDATE_GOLDEN=1` writes the file anew, which is right only together with a new version.
#[test]
fn the_form_on_disk_does_not_change_unnoticed() {
    let (index, held) = sample();
    let mut hex = String::new();
    for line in index.to_bytes().chunks(16) {
        line.iter().for_each(|byte| write!(hex, "{byte:02x} ").unwrap());
        hex.truncate(hex.trim_end().len());
        hex.push('\n');
    }
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden/snapshot_v1.hex");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &hex).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap();
    assert_eq!(hex, golden, "another form is another version");
    let bytes: Vec<u8> =
        golden.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect();
    back(&bytes, &held).unwrap();
}
