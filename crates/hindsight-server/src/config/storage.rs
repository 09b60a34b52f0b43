//! `[storage]`: how the log, the space on the disk and memory are dealt with.

use hindsight_engine::SnapshotRule;
use hindsight_storage::{LogOptions, StorageOptions};
use serde::{Deserialize, Serialize};

/// `[storage]`: sizes in bytes. The defaults are right for a server on a disk of its own; what changes holds from the next
/// start on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Storage {
    /// `segment_bytes`: a file of the log that is so long is followed by the next. Default 67108864 (64 MiB).
    pub segment_bytes: u64,
    /// `preallocate_bytes`: how far ahead a file of the log is filled, so that a sync costs less and a full disk is
    /// noticed before anything is promised; never beyond its end. Default 4194304 (4 MiB).
    pub preallocate_bytes: u64,
    /// `checkpoint_bytes`: a checkpoint is taken when the log has grown by so much. A longer log makes starts slower.
    /// Default 67108864 (64 MiB).
    pub checkpoint_bytes: u64,
    /// `reserve_bytes`: kept back on the disk for forgets and checkpoints when it is full; at most a sixteenth of the
    /// disk. 0 keeps nothing back. Default 67108864 (64 MiB).
    pub reserve_bytes: u64,
    /// `pending_bytes`: writes that wait for the next sync, in bytes; past it writing waits. Default 67108864 (64 MiB).
    pub pending_bytes: usize,
    /// `pending_batches`: writes that wait for the next sync; past it writing waits. Default 10000.
    pub pending_batches: usize,
    /// `memory_bytes`: what namespaces in memory may take, in bytes, estimated; those that were touched longest ago go back
    /// to their files first, and are loaded at the next touch. 0 is any number. Default 4294967296 (4 GiB).
    pub memory_bytes: u64,
    /// `snapshot_memories`: a namespace of so many memories keeps a snapshot of its index, so that it is loaded faster; 0 is
    /// none. Default 1000.
    pub snapshot_memories: usize,
}

impl Default for Storage {
    fn default() -> Self {
        let StorageOptions { log, checkpoint_bytes, reserve_bytes, .. } = StorageOptions::default();
        Storage {
            segment_bytes: log.segment_bytes,
            preallocate_bytes: log.preallocate_bytes,
            checkpoint_bytes,
            reserve_bytes,
            pending_bytes: log.pending_bytes_max,
            pending_batches: log.pending_frames_max,
            memory_bytes: 4 << 30,
            snapshot_memories: SnapshotRule::default().memories,
        }
    }
}

impl Storage {
    /// What the storage is opened with.
    pub(crate) fn options(&self) -> StorageOptions {
        let log = LogOptions {
            segment_bytes: self.segment_bytes,
            preallocate_bytes: self.preallocate_bytes.min(self.segment_bytes),
            pending_bytes_max: self.pending_bytes,
            pending_frames_max: self.pending_batches,
            ..LogOptions::default()
        };
        StorageOptions {
            log,
            checkpoint_bytes: self.checkpoint_bytes,
            reserve_bytes: self.reserve_bytes,
            ..StorageOptions::default()
        }
    }

    /// What namespaces in memory may take.
    pub(crate) fn memory_budget(&self) -> Option<u64> {
        (self.memory_bytes > 0).then_some(self.memory_bytes)
    }

    /// Which namespaces have a snapshot.
    pub(crate) fn snapshots(&self) -> SnapshotRule {
        let memories = if self.snapshot_memories == 0 { usize::MAX } else { self.snapshot_memories };
        SnapshotRule { memories, ..SnapshotRule::default() }
    }

    /// Keys with their values, least and most.
    pub(super) fn ranges(&self) -> [(&'static str, u64, u64, u64); 8] {
        let wide = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        [
            ("storage.segment_bytes", self.segment_bytes, 1 << 20, 1 << 30),
            ("storage.preallocate_bytes", self.preallocate_bytes, 64 << 10, 64 << 20),
            ("storage.checkpoint_bytes", self.checkpoint_bytes, 1 << 20, 16 << 30),
            ("storage.reserve_bytes", self.reserve_bytes, 0, 16 << 30),
            ("storage.pending_bytes", wide(self.pending_bytes), 1 << 20, 1 << 30),
            ("storage.memory_bytes", self.memory_bytes, 0, 1 << 44),
            ("storage.snapshot_memories", wide(self.snapshot_memories), 0, 1 << 26),
            ("storage.pending_batches", wide(self.pending_batches), 1, 1_000_000),
        ]
    }
}
