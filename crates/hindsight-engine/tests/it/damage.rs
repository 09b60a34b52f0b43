//! A3 and D4: damage at rest. Whole data directories are damaged in every way that disks and people damage them, opened
//! by the engine, and, where they are refused, repaired.
//!
//! A directory (`place`) is made by a workload whose every step is written down (`truth`), and it stays as a kill or a
//! clean stop leaves it. Then one thing is damaged (`harm`): a bit, a length, a range, a file. What the engine makes of
//! it has to be one of four things: everything is there; a commit is torn of which nobody was told that it was durable;
//! it is refused, and nothing was changed; or, where the newest segment is replaced by an older version of it, the state of
//! that moment. What a repair makes of a refused one opens,
//! verifies, shows nothing that never was, and has everything but what its report names as lost.
//!
//! `HINDSIGHT_DAMAGE_SCALE` multiplies the amounts: `cargo xtask prove` sets what the test matrix asks of each build,
//! `cargo xtask soak` what it asks of a release. `HINDSIGHT_DAMAGE_CASE` repeats one image.

mod harm;
mod judge;
mod place;
mod truth;

use std::collections::BTreeMap;

use harm::Harm;
use judge::Verdict;
use place::Place;

/// Does one harm, which the seed chooses.
type DoHarm = fn(&Place, u64) -> Harm;

/// Bit flips, truncations, ranges, files that are deleted, doubled, swapped or another database's, and files as they were
/// some time before: in all as many times the scale.
const AMOUNTS: [(DoHarm, u64); 5] =
    [(Harm::flip, 250), (Harm::truncation, 50), (Harm::range, 25), (Harm::file, 13), (Harm::older, 5)];

fn setting(name: &str) -> Option<u64> {
    std::env::var(name)
        .ok()
        .map(|value| value.parse().unwrap_or_else(|_| panic!("{name}={value}: expected a number")))
}

#[test]
fn a3_no_damage_at_rest_is_silent_and_d4_a_repair_keeps_all_it_does_not_name() {
    let scale = setting("HINDSIGHT_DAMAGE_SCALE").unwrap_or(1);
    let only = setting("HINDSIGHT_DAMAGE_CASE");
    let places = Place::all();
    let mut verdicts: BTreeMap<Verdict, u64> = BTreeMap::new();
    let mut repaired = judge::Repaired::default();
    let mut case = 0;
    for (make, count) in AMOUNTS {
        for _ in 0..count * scale {
            case += 1;
            if only.is_some_and(|only| only != case) {
                continue;
            }
            let place = &places[usize::try_from(case).unwrap() % places.len()];
            let harm = make(place, case);
            let damaged = harm.done_to(place);
            let told = format!("HINDSIGHT_DAMAGE_CASE={case}: {harm:?} of {}", place.name);
            let verdict =
                judge::open(place, &harm, &damaged).unwrap_or_else(|wrong| panic!("{told}: {wrong}"));
            if verdict == Verdict::Refused {
                let report =
                    judge::repair(place, &harm, &damaged).unwrap_or_else(|wrong| panic!("{told}: {wrong}"));
                repaired.add(&report);
            }
            *verdicts.entry(verdict).or_default() += 1;
        }
    }
    println!("{case} images: {verdicts:?}; {repaired:?}");
    if only.is_none() {
        // Guards against a test that sees nothing. Torn commits are rare and have a test of their own.
        assert!(
            verdicts[&Verdict::Intact] > case / 8 && verdicts[&Verdict::Refused] > case / 4,
            "{verdicts:?}"
        );
        assert!(repaired.lossless > 0 && repaired.lossy > 0, "{repaired:?}");
    }
}

#[test]
fn d4_a_cut_goes_back_to_the_state_before_a_position() {
    for place in Place::all() {
        let (first, last) = (place.truth.first_cut, place.truth.last() + 1);
        for at in (first..last).step_by(9).chain([last]) {
            judge::cut(&place, at).unwrap_or_else(|wrong| panic!("{} at {at}: {wrong}", place.name));
        }
    }
}

#[test]
fn a3_a_commit_that_nobody_was_told_of_is_given_up_and_nothing_else() {
    let place = Place::all().pop().unwrap();
    let last = place.segments().pop().unwrap();
    let bytes = place.disk.read_file(&last).unwrap();
    let end = bytes.iter().rposition(|byte| *byte != 0).unwrap() as u64;
    for back in (0..400).step_by(37) {
        let harm = Harm::Flip { path: last.clone(), bit: (end - back) * 8 + back % 8 };
        let damaged = harm.done_to(&place);
        assert_eq!(judge::open(&place, &harm, &damaged), Ok(Verdict::Torn), "{harm:?}");
    }
}

#[test]
fn d4_a_deleted_last_segment_is_noticed() {
    for place in Place::all() {
        let segments = place.segments();
        let harm = Harm::Delete(segments.last().unwrap().clone());
        let damaged = harm.done_to(&place);
        assert_eq!(judge::open(&place, &harm, &damaged), Ok(Verdict::Refused), "{}", place.name);
    }
}
