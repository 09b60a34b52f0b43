use super::*;

const FIRST: Held = Held { version: 1, value: 0 };

fn call(begin: u64, end: u64, told: Told) -> Call {
    Call { key: 7, begin, end, told }
}

fn read(begin: u64, end: u64, version: u64, value: u64) -> Call {
    call(begin, end, Told::Read(Held { version, value }))
}

fn changed(begin: u64, end: u64, version: u64, value: u64) -> Call {
    call(begin, end, Told::Changed { expected: None, now: Held { version, value } })
}

fn is_good(history: &[Call]) -> bool {
    check(history, FIRST).is_ok()
}

#[test]
fn answers_in_any_order_that_their_times_allow_are_good() {
    assert!(is_good(&[]));
    assert!(is_good(&[changed(1, 2, 2, 10), read(3, 4, 2, 10)]));
    // A read beside a change may come before or after it.
    assert!(is_good(&[changed(1, 10, 2, 10), read(2, 3, 1, 0), read(4, 5, 2, 10)]));
    // The later of two changes beside each other may come first.
    assert!(is_good(&[changed(1, 10, 3, 10), changed(2, 9, 2, 20), read(11, 12, 3, 10)]));
}

#[test]
fn a_read_that_misses_an_answered_change_is_found() {
    assert!(!is_good(&[changed(1, 2, 2, 10), read(3, 4, 1, 0)]));
}

#[test]
fn two_reads_that_see_a_change_and_then_do_not_are_found() {
    assert!(!is_good(&[changed(1, 10, 2, 10), read(2, 3, 2, 10), read(4, 5, 1, 0)]));
}

#[test]
fn a_lost_change_is_found() {
    // Both were told that they made version 2.
    assert!(!is_good(&[changed(1, 2, 2, 10), changed(3, 4, 2, 20)]));
    assert!(!is_good(&[changed(1, 4, 2, 10), changed(2, 3, 2, 20)]));
}

#[test]
fn a_content_that_nobody_wrote_is_found() {
    assert!(!is_good(&[changed(1, 2, 2, 10), read(3, 4, 2, 11)]));
}

#[test]
fn a_change_at_a_version_is_made_at_that_version_only() {
    let at = |begin, end, expected, version, value| {
        call(begin, end, Told::Changed { expected: Some(expected), now: Held { version, value } })
    };
    let refused = |begin, end, expected| call(begin, end, Told::Refused { expected });
    assert!(is_good(&[at(1, 2, 1, 2, 10), refused(3, 4, 1), at(5, 6, 2, 3, 20)]));
    assert!(!is_good(&[at(1, 2, 2, 2, 10)]));
    assert!(!is_good(&[changed(1, 2, 2, 10), refused(3, 4, 2)]));
    // Refused beside the change that makes it right to refuse.
    assert!(is_good(&[changed(1, 4, 2, 10), refused(2, 3, 1)]));
}

#[test]
fn a_change_without_an_answer_may_come_later_or_never_and_not_twice() {
    let unknown = |begin| call(begin, u64::MAX, Told::Unknown { expected: None, value: 10 });
    assert!(is_good(&[unknown(1), read(2, 3, 1, 0)]));
    assert!(is_good(&[unknown(1), read(2, 3, 1, 0), read(4, 5, 2, 10)]));
    assert!(!is_good(&[unknown(4), read(2, 3, 2, 10)]));
    assert!(!is_good(&[unknown(1), read(2, 3, 2, 10), changed(4, 5, 3, 20), read(6, 7, 4, 10)]));
}

#[test]
fn keys_are_judged_apart_and_the_bad_one_is_named() {
    let other = Call { key: 8, ..read(3, 4, 1, 0) };
    assert!(is_good(&[changed(1, 2, 2, 10), other]));
    let found = check(&[changed(1, 2, 2, 10), other, read(5, 6, 1, 0)], FIRST).unwrap_err();
    assert!(found.contains("key 7"), "{found}");
}

/// A register that many clients use at once, as it should be, and the same with one answer exchanged.
#[test]
fn long_histories_are_judged_and_one_wrong_answer_among_them_is_found() {
    let mut state = 88_172_645_463_325_252_u64;
    let mut random = move |most: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % most
    };
    for round in 0..50 {
        let (mut held, mut history) = (FIRST, Vec::new());
        for at in 0..200_u64 {
            let told = match random(3) {
                0 => Told::Read(held),
                1 => {
                    held = Held { version: held.version + 1, value: at };
                    Told::Changed { expected: None, now: held }
                }
                _ => Told::Refused { expected: held.version + 1 + random(3) },
            };
            // Each takes effect at 10 × at, and is under way for up to 8 others before and after.
            let now = (at + 10) * 10;
            history.push(call(now - random(80), now + 1 + random(80), told));
        }
        assert!(is_good(&history), "round {round}");
        let reads: Vec<usize> =
            (50..history.len()).filter(|at| matches!(history[*at].told, Told::Read(_))).collect();
        let wrong = reads[usize::try_from(random(reads.len() as u64)).unwrap()];
        history[wrong].told = Told::Read(FIRST);
        assert!(!is_good(&history), "round {round}");
    }
}
