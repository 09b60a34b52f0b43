//! Each planted bug is killed (A13), within 300 seeds, and for the reason that it should be.
//!
//! The twelve that the test matrix names: a sync of data is skipped (`skip_data_sync`, and `skip_file_sync` for whole files); an
//! acknowledgement comes before the sync (`acknowledge_before_sync`); a folder is not synced (`skip_dir_sync`); the log is
//! given up before the manifest is durable (`skip_manifest_sync`); a failed sync is ignored (`ignore_failed_sync`) or tried
//! again (`retry_failed_sync`); a batch is applied in parts (`apply_in_two_steps`, in `history`); a torn end is left in place
//! (`go_on_in_torn_segment`); positions come from the clock (`position_from_clock`); a replay counts again (`count_twice`, and
//! `forget_request_ids`); what is derived is believed (`trust_directory`, and `trust_record_files`); a search forgets whose
//! namespace it is in (`recall_elsewhere`). The others are of the same kinds.

use std::path::Path;
use std::sync::Arc;

use hindsight_core::Draft;
use hindsight_engine::{EngineError, EngineOver, Options, WriteItem, WriteOptions};
use hindsight_storage::sabotage::{self, plant};
use hindsight_storage::testing::{FaultKind, MemIo};

use super::config::Config;
use super::disk::{Plan, Points};
use super::expect::every_state;
use super::random::Random;
use super::request::namespace;
use super::sabotage::Sabotage;
use super::sim::Sim;

/// The most seeds that may be needed.
const SEEDS: u64 = 300;
const EIO: i32 = 5;
/// What a bug that loses something makes a run say.
const LOST: &[&str] = &[
    "were acknowledged",
    "does not open",
    "an honest disk",
    "had failed",
    "nothing was changed, restore a backup",
];

/// Runs seeds until one of them finds the bug; its complaint has to be one of those.
fn kill(sabotage: Sabotage, says: &[&str], plan: impl Fn(u64) -> Plan) {
    let config = |seed| Config { sabotage: Some(sabotage), ..Config::new(seed, 40, plan(seed)) };
    find(&format!("{sabotage:?}"), says, |seed| Sim::run(config(seed)).map(|_| ()));
}

/// The same for a bug inside the product. A run has one thread, so the bug acts in all of it.
fn kill_inside(sabotage: sabotage::Sabotage, says: &[&str], plan: impl Fn(u64) -> Plan) {
    let _planted = plant(sabotage);
    find(&format!("{sabotage:?}"), says, |seed| Sim::run(Config::new(seed, 40, plan(seed))).map(|_| ()));
}

fn find(bug: &str, says: &[&str], run: impl Fn(u64) -> Result<(), String>) {
    for seed in 0..SEEDS {
        if let Err(wrong) = run(seed) {
            assert!(
                says.iter().any(|says| wrong.contains(says)),
                "{bug} is found for another reason: {wrong}"
            );
            println!("{bug} is killed by seed {seed}: {wrong}");
            return;
        }
    }
    panic!("{bug} survives {SEEDS} seeds");
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
    kill(Sabotage::KeepSegments, &["left the segment", "an erasure waits for"], |_| Plan::Nothing);
}

#[test]
fn planted_bug_keep_record_files_is_killed() {
    kill(Sabotage::KeepRecordFiles, &["an erasure waits for"], |_| Plan::Nothing);
}

#[test]
fn planted_bug_position_from_clock_is_killed() {
    kill_inside(sabotage::Sabotage::PositionFromClock, &["waits for lsn"], |_| Plan::Nothing);
}

#[test]
fn planted_bug_time_from_clock_is_killed() {
    kill_inside(sabotage::Sabotage::TimeFromClock, &["is not what was written"], |_| Plan::Nothing);
}

#[test]
fn planted_bug_count_twice_is_killed() {
    kill_inside(sabotage::Sabotage::CountTwice, &["is not what was written"], power_cuts);
}

#[test]
fn planted_bug_forget_request_ids_is_killed() {
    kill_inside(
        sabotage::Sabotage::ForgetRequestIds,
        &["expected Replayed", "shows what changed at lsn"],
        power_cuts,
    );
}

#[test]
fn planted_bug_recall_elsewhere_is_killed() {
    kill_inside(sabotage::Sabotage::RecallElsewhere, &["recall finds", "a read of lsn"], |_| Plan::Nothing);
}

/// It was put back from a backup, say, while the record files went on.
#[test]
fn planted_bug_trust_directory_is_killed() {
    kill_inside(sabotage::Sabotage::TrustDirectory, &["is not what was written"], |_| Plan::Nothing);
}

#[test]
fn planted_bug_go_on_in_torn_segment_is_killed() {
    kill_inside(sabotage::Sabotage::GoOnInTornSegment, LOST, power_cuts);
}

/// Files of the same database from before it went another way: it was restored from a backup, say, and one file of the
/// other life was put back. Nothing in the file itself is wrong; only the manifest knows.
#[test]
fn planted_bug_trust_record_files_is_killed() {
    for seed in 0..20 {
        assert_eq!(stale_file(seed), Ok(()), "without a bug, seed {seed}");
    }
    let _planted = plant(sabotage::Sabotage::TrustRecordFiles);
    find("TrustRecordFiles", &["shows what another life wrote"], stale_file);
}

/// Lives twice from one beginning, and puts a record file of the one life into the other.
fn stale_file(seed: u64) -> Result<(), String> {
    let beginning = MemIo::new(seed);
    life(&beginning, "a").map_err(|error| error.to_string())?;
    let [here, there] = ["b", "c"].map(|word| {
        let disk = beginning.after_kill();
        life(&disk, word).map(|()| disk).unwrap()
    });
    let names = |disk: &MemIo| -> Vec<_> {
        let paths = disk.files().into_iter().map(|(path, _)| path);
        paths.filter(|path| path.extension().is_some_and(|end| end == "rec")).collect()
    };
    assert_eq!(names(&here), names(&there));
    let newest = names(&here).pop().unwrap();
    here.put_file(&newest, &there.read_file(&newest).unwrap());
    let opened = EngineOver::open_with(Arc::new(here), Path::new("/data"), Options::default());
    let shown = opened.and_then(|(engine, _)| engine.list(&namespace(0), &every_state())?.wait());
    match shown {
        Err(error) if error.reason() == "CHECKSUM_MISMATCH" => Ok(()),
        Err(error) => Err(error.to_string()),
        Ok(page) if page.memories.iter().any(|memory| memory.content.starts_with('c')) => {
            Err("shows what another life wrote".to_owned())
        }
        Ok(page) => Err(format!("opens, and shows {:?}", page.memories)),
    }
}

/// Opens, writes one memory with a word in it, and closes in order.
fn life(disk: &MemIo, word: &str) -> Result<(), EngineError> {
    let options = Options::default();
    let (engine, _) = EngineOver::open_with(Arc::new(disk.clone()), Path::new("/data"), options)?;
    let draft = Draft { content: word.repeat(20), ..Draft::default() };
    let written = engine.write(&namespace(0), WriteItem::new(draft, None), WriteOptions::default())?;
    engine.commit_step()?;
    written.wait()?;
    engine.close()
}

/// A build of the tests has the bugs, and that can be told from its bytes: so it can be told of a server, too, that it
/// has none (hindsight-faults asks before it breaks one).
#[test]
fn a_program_with_planted_bugs_can_be_told() {
    let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    let mark = sabotage::MARK.as_bytes();
    assert!(program.windows(mark.len()).any(|bytes| bytes == mark));
}
