//! Each planted bug is killed (A13).

use hindsight_storage::testing::FaultKind;

use super::disk::{Plan, Points};
use super::random::Random;
use super::sabotage::Sabotage;
use super::sim::{Config, Sim};

/// The most seeds that may be needed.
const SEEDS: u64 = 300;
const EIO: i32 = 5;
/// What a bug that loses something makes a run say.
const LOST: &[&str] = &["were acknowledged", "does not open", "an honest disk", "had failed"];

/// Runs seeds until one of them finds the bug; its complaint has to be one of those.
fn kill(sabotage: Sabotage, says: &[&str], plan: impl Fn(u64) -> Plan) {
    for seed in 0..SEEDS {
        let config = Config { sabotage: Some(sabotage), ..Config::new(seed, 40, plan(seed)) };
        if let Err(wrong) = Sim::run(config) {
            assert!(
                says.iter().any(|says| wrong.contains(says)),
                "{sabotage:?} is found for another reason: {wrong}"
            );
            println!("{sabotage:?} is killed by seed {seed}: {wrong}");
            return;
        }
    }
    panic!("{sabotage:?} survives {SEEDS} seeds");
}

fn power_cuts(_seed: u64) -> Plan {
    Plan::Shots(Points::Some(100))
}

/// One call fails once; which one depends on the seed.
fn one_failure(kind: FaultKind) -> impl Fn(u64) -> Plan {
    move |seed| Plan::Fault { at: 20 + Random::new(seed).below(60), kind, is_sticky: false }
}

#[test]
fn planted_bug_skip_data_sync_is_killed() {
    kill(Sabotage::SkipDataSync, LOST, power_cuts);
}

#[test]
fn planted_bug_skip_file_sync_is_killed() {
    kill(Sabotage::SkipFileSync, LOST, power_cuts);
}

#[test]
fn planted_bug_skip_dir_sync_is_killed() {
    kill(Sabotage::SkipDirSync, LOST, power_cuts);
}

#[test]
fn planted_bug_acknowledge_before_sync_is_killed() {
    kill(Sabotage::AcknowledgeBeforeSync, LOST, power_cuts);
}

#[test]
fn planted_bug_ignore_failed_sync_is_killed() {
    kill(Sabotage::IgnoreFailedSync, LOST, one_failure(FaultKind::Errno(EIO)));
}

#[test]
fn planted_bug_retry_failed_sync_is_killed() {
    kill(Sabotage::RetryFailedSync, LOST, one_failure(FaultKind::Errno(EIO)));
}

#[test]
fn planted_bug_believe_short_write_is_killed() {
    kill(Sabotage::BelieveShortWrite, LOST, one_failure(FaultKind::ShortWrite));
}

#[test]
fn planted_bug_keep_cache_is_killed() {
    kill(Sabotage::KeepCache, &["after a restart on the same machine"], one_failure(FaultKind::Errno(EIO)));
}

#[test]
fn planted_bug_skip_manifest_sync_is_killed() {
    kill(Sabotage::SkipManifestSync, LOST, power_cuts);
}

#[test]
fn planted_bug_keep_segments_is_killed() {
    kill(Sabotage::KeepSegments, &["left the segment"], |_| Plan::Nothing);
}
