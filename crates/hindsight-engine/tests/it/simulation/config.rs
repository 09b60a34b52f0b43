//! What makes a run.

use hindsight_engine::Options;
use hindsight_storage::{LogOptions, StorageOptions};

use super::disk::Plan;
use super::random::Random;
use super::sabotage::Sabotage;

/// What makes a run.
#[derive(Debug, Clone)]
pub(super) struct Config {
    pub(super) seed: u64,
    pub(super) steps: usize,
    pub(super) options: Options,
    pub(super) plan: Plan,
    pub(super) sabotage: Option<Sabotage>,
    /// Whether others fill the disk up now and then; see [`super::crowd`].
    pub(super) is_crowded: bool,
    /// Whether every image is searched for what was purged, not only one of several.
    pub(super) looks_for_traces: bool,
}

impl Config {
    /// A run of so many steps; the sizes of the log follow from the seed, small enough that segments end often.
    pub(super) fn new(seed: u64, steps: usize, plan: Plan) -> Config {
        let mut random = Random::at(seed, 3);
        let log = LogOptions {
            segment_bytes: random.pick(&[8 << 10, 12 << 10, 32 << 10]),
            preallocate_bytes: random.pick(&[0, 1 << 10, 4 << 10]),
            pending_frames_max: random.pick(&[3, 10_000]),
            ..LogOptions::default()
        };
        let storage = StorageOptions { log, reserve_bytes: 8 << 10, ..StorageOptions::default() };
        let options = Options { storage, ..Options::default() };
        Config { seed, steps, options, plan, sabotage: None, is_crowded: false, looks_for_traces: false }
    }
}
