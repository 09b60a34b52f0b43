//! The whole engine on a simulated disk, against a model in memory (A1, A2, A4, A13).
//!
//! **A run** (`sim`, `step`, `choose`, `send`, `call`) follows from its seed: clients of several namespaces write, say again what was
//! said, contradict it, change, forget, restore, judge, take back, send again and read, the clock jumps, commits come when
//! they come, the process ends and starts again. Before each request the **model** (`model`, `space`, `known`) says what it will do; every
//! answer is held against that (`answer`, `expect`).
//!
//! **The disk** (`disk`) counts the calls. Before any of them it can say what a power cut would leave; each such image
//! is opened (`crash`) and must be a beginning of what was sent, all of what was acknowledged in it. Or a call fails:
//! then nothing may be acknowledged that isn't durable, nor shown.
//!
//! **Others** (`crowd`) fill the disk up and make room again: what is new is refused then, and only that.
//! **The directory** (`directory`) has a twin in memory, which no crash touches: so after one it is of another moment than the
//! disk. What is read by its help is held against the model like everything else.
//!
//! **Planted bugs** (`sabotage`) sit between engine and disk; each must be found.
//!
//! Every failure names the seed and the crash point, and how to repeat it: `HINDSIGHT_SIM_SEED` and
//! `HINDSIGHT_SIM_POINT` narrow the tests below to one run and one call. `HINDSIGHT_SIM_SCALE` multiplies the amounts;
//! `cargo xtask soak` sets it to what a release needs.

mod answer;
mod call;
mod checked;
mod choose;
mod config;
mod crash;
mod crowd;
mod directory;
mod disk;
mod erasure;
mod expect;
mod known;
mod life;
mod model;
mod planted;
mod poison;
pub(crate) mod random;
mod request;
mod sabotage;
mod send;
mod settle;
mod sim;
mod space;
mod step;

use hindsight_storage::testing::{FaultKind, MemIo};

use checked::Checked;
use config::Config;
use crash::Recovery;
use disk::{Plan, Points, outcome_seed};
use expect::Outcome;
use random::Random;
use sim::Sim;

const EIO: i32 = 5;
const ENOSPC: i32 = 28;
const EDQUOT: i32 = 122;

/// A number from the environment.
fn setting(name: &str) -> Option<u64> {
    std::env::var(name)
        .ok()
        .map(|value| value.parse().unwrap_or_else(|_| panic!("{name}={value}: expected a number")))
}

fn scale() -> u64 {
    setting("HINDSIGHT_SIM_SCALE").unwrap_or(1)
}

/// So many seeds from `first` on, times the scale; or the one that is wanted.
fn seeds(first: u64, count: u64) -> std::ops::Range<u64> {
    match setting("HINDSIGHT_SIM_SEED") {
        Some(seed) => seed..seed + 1,
        None => first..first + count * scale(),
    }
}

fn run(config: Config) -> Sim {
    Sim::run(config).unwrap_or_else(|wrong| panic!("{wrong}"))
}

/// Runs the seeds with crash points, and says what was looked at.
fn with_crashes(seeds: std::ops::Range<u64>, steps: usize, points: Points) -> Checked {
    let points = setting("HINDSIGHT_SIM_POINT").map_or(points, Points::One);
    let mut all = Checked::default();
    for seed in seeds {
        all.add(run(Config::new(seed, steps, Plan::Shots(points))).checked);
    }
    println!("{all:?}");
    all
}

/// Whether this is a whole test and not one point of it.
fn is_whole() -> bool {
    setting("HINDSIGHT_SIM_SEED").is_none() && setting("HINDSIGHT_SIM_POINT").is_none()
}

#[test]
fn a1_power_cuts_at_every_call() {
    let all = with_crashes(seeds(0, 2), STEPS, Points::Every);
    if is_whole() {
        assert!(
            all.points > 400
                && all.unacknowledged > 20
                && all.shortened > 20
                && all.early > 5
                && all.segments > 1
                && all.checkpoints > 3
                && all.intact > 0
                && all.rebuilt > 5
                && all.cold_reads > 100,
            "{all:?}"
        );
    }
}

#[test]
fn a1_power_cuts_at_random_calls() {
    let all = with_crashes(seeds(1_000, 18), STEPS, Points::Some(50));
    if is_whole() {
        assert!(
            all.points > 400
                && all.unacknowledged > 10
                && all.shortened > 20
                && all.segments > 1
                && all.checkpoints > 5
                && all.intact > 0
                && all.rebuilt > 5
                && all.archived > 0
                && all.tombstoned > 0
                && all.cold_reads > 100,
            "{all:?}"
        );
    }
}

/// As the matrix has it.
const STEPS: usize = 200;

/// A shot must be what a real power cut leaves, with the engine running into the dead disk.
#[test]
fn a_shot_is_what_a_power_cut_leaves() {
    let mut compared = 0;
    for seed in 2_000..2_006 {
        let calls = Sim::run(Config::new(seed, 30, Plan::Nothing)).unwrap().io.calls();
        let call = Random::new(seed).below(calls);
        let mut shot = Sim::new(Config::new(seed, 30, Plan::Shots(Points::One(call))), MemIo::new(seed));
        let shots = shot.shots_only();
        let cut = run(Config::new(seed, 30, Plan::PowerCut(call)));
        for (outcome, image) in (0..).zip(&shots.iter().find(|shot| shot.call == call).unwrap().images) {
            let real = cut.io.disk().after_crash(outcome_seed(seed, call, outcome));
            assert_eq!(real.files(), image.files(), "seed {seed}, call {call}, outcome {outcome}");
            compared += 1;
        }
    }
    assert_eq!(compared, 24);
}

#[test]
fn the_same_seed_gives_the_same_run() {
    for seed in 3_000..3_000 + 4 * scale() {
        let trace = || {
            let sim = run(Config::new(seed, 80, Plan::Nothing));
            (sim.io.calls(), sim.checked, sim.io.disk().files())
        };
        assert!(trace() == trace(), "seed {seed}");
    }
}

/// A12, L4: the power fails at every call of a purge. Afterwards all of it is purged or nothing; what is purged is erased
/// without anybody asking for it, and no byte of it is left, whatever the power cut did to the disk.
#[test]
fn a12_power_cuts_at_every_call_of_a_purge() {
    let points = setting("HINDSIGHT_SIM_POINT").map_or(Points::Every, Points::One);
    let mut all = Checked::default();
    for seed in seeds(6_000, 3) {
        let checked = erasure::run_of_a_purge(seed, Plan::Shots(points), None);
        all.add(checked.unwrap_or_else(|wrong| panic!("{wrong}\n  repeat with HINDSIGHT_SIM_SEED={seed}")));
    }
    println!("{all:?}");
    assert!(!is_whole() || (all.points > 200 && all.resumed > 100 && all.erased >= 2), "{all:?}");
}

/// Each call of a purge fails once: the purge is carried out later.
#[test]
fn a12_every_call_of_a_purge_fails_in_turn() {
    for kind in [FaultKind::Errno(EIO), FaultKind::Errno(ENOSPC)] {
        for at in 0.. {
            match erasure::run_of_a_failing_purge(6_100, at, kind) {
                Ok(true) => {}
                Ok(false) => break,
                Err(wrong) => panic!("{wrong}\n  {kind:?} at call {at} of a purge"),
            }
        }
    }
}

/// A2: recovery is cut short at each of its calls, the next one too, and the one after it; then it may end. Nothing of
/// that may be seen afterwards.
#[test]
fn a2_recovery_is_cut_short_three_times() {
    let mut chains = 0;
    for seed in seeds(4_000, 4) {
        chains += a2_chains(seed)
            .unwrap_or_else(|wrong| panic!("{wrong}\n  repeat with HINDSIGHT_SIM_SEED={seed}"));
    }
    println!("{chains} chains");
    assert!(!is_whole() || chains > 100, "{chains}");
}

fn a2_chains(seed: u64) -> Outcome<u64> {
    let calls = run(Config::new(seed, 60, Plan::Nothing)).io.calls();
    let mut random = Random::at(seed, 5);
    let cut = random.below(calls);
    let sim = run(Config::new(seed, 60, Plan::PowerCut(cut)));
    let image = sim.io.disk().after_crash(outcome_seed(seed, cut, 0));
    let undisturbed = Recovery::of(&sim, &image)?;
    for first in 0.. {
        let cuts = [first, random.below(undisturbed.calls), random.below(undisturbed.calls)];
        let Some(recovery) = Recovery::after_cuts(&sim, &image, &cuts)? else { return Ok(first) };
        if recovery.picture != undisturbed.picture {
            return Err(format!(
                "after a power cut at call {cut}, recovery cut at {cuts:?} shows another picture"
            ));
        }
        if recovery.lengths != undisturbed.lengths {
            let (found, expected) = (recovery.lengths, undisturbed.lengths);
            return Err(format!(
                "after a power cut at call {cut}, recovery cut at {cuts:?} leaves {found:?}, expected {expected:?}"
            ));
        }
    }
    Ok(0)
}

/// A4: each call fails in turn, until none is left.
#[test]
fn a4_every_call_fails_in_turn() {
    let kinds = [
        (FaultKind::Errno(EIO), true),
        (FaultKind::Errno(EIO), false),
        (FaultKind::Errno(ENOSPC), true),
        (FaultKind::Errno(ENOSPC), false),
        (FaultKind::Errno(EDQUOT), false),
        (FaultKind::Interrupted, false),
        (FaultKind::ShortWrite, true),
        (FaultKind::ShortWrite, false),
    ];
    let (mut runs, mut all) = (0, Checked::default());
    for seed in seeds(5_000, 1) {
        for (kind, is_sticky) in kinds {
            for at in 0.. {
                let sim = Sim::run(Config::new(seed, 25, Plan::Fault { at, kind, is_sticky }));
                let sim = sim
                    .unwrap_or_else(|wrong| panic!("{wrong}\n  {kind:?} at call {at}, sticky {is_sticky}"));
                all.add(sim.checked);
                runs += 1;
                if sim.io.calls() <= at {
                    break;
                }
            }
        }
    }
    println!("{runs} runs, {all:?}");
    assert!(
        !is_whole() || (runs > 400 && all.poisoned > 50 && all.refused_reads > 20 && all.checkpoints > 100),
        "{runs} runs, {all:?}"
    );
    assert!(!is_whole() || (all.without_room > 20 && all.recovered > 20), "{all:?}");
}

/// A7 and D6: without room what is new is refused, forgets are taken, nothing that was acknowledged is lost, and writes
/// go on by themselves; with power cuts at any time.
#[test]
fn a7_the_disk_fills_up_and_has_room_again() {
    let mut all = Checked::default();
    for seed in seeds(6_000, 20) {
        let plan = Plan::Shots(setting("HINDSIGHT_SIM_POINT").map_or(Points::Some(25), Points::One));
        all.add(run(Config::crowded(seed, STEPS, plan)).checked);
    }
    println!("{all:?}");
    assert!(
        !is_whole()
            || (all.without_room > 100
                && all.urgent > 30
                && all.recovered > 30
                && all.points > 100
                && all.poisoned == 0),
        "{all:?}"
    );
}
