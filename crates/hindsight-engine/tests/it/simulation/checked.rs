//! What a run looked at.

/// What was looked at, so that a test can tell a run that proves something from an empty one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Checked {
    pub(super) points: u64,
    pub(super) images: u64,
    /// Images with a batch that was not acknowledged.
    pub(super) unacknowledged: u64,
    /// Images without a batch that was sent.
    pub(super) shortened: u64,
    pub(super) answers: u64,
    pub(super) poisoned: u64,
    pub(super) refused_reads: u64,
    pub(super) segments: usize,
    pub(super) checkpoints: u64,
    /// Record files that a checkpoint replaced.
    pub(super) rewritten: usize,
    /// Requests that a full disk refused, and forgets that it did not.
    pub(super) without_room: u64,
    pub(super) urgent: u64,
    /// How often writes were taken again.
    pub(super) recovered: u64,
    /// Directories that fitted what the disk holds, and those that were made anew.
    pub(super) intact: u64,
    pub(super) rebuilt: u64,
    /// Memories that were read without loading their namespace.
    pub(super) cold_reads: u64,
    /// Receipts of purges.
    pub(super) erased: u64,
    /// Purges of what was forgotten too long ago.
    pub(super) expired: u64,
    /// Memories that the job archived.
    pub(super) archived: u64,
    /// Requests that were refused for what they say was forgotten.
    pub(super) tombstoned: u64,
    /// Images after which a purge was carried out to its end.
    pub(super) resumed: u64,
    /// Answers that were shown before they were durable, as their namespace's durability allows.
    pub(super) early: u64,
}

impl Checked {
    pub(super) fn add(&mut self, other: Checked) {
        self.points += other.points;
        self.images += other.images;
        self.unacknowledged += other.unacknowledged;
        self.shortened += other.shortened;
        self.answers += other.answers;
        self.poisoned += other.poisoned;
        self.refused_reads += other.refused_reads;
        self.checkpoints += other.checkpoints;
        self.rewritten += other.rewritten;
        self.without_room += other.without_room;
        self.urgent += other.urgent;
        self.recovered += other.recovered;
        self.intact += other.intact;
        self.rebuilt += other.rebuilt;
        self.cold_reads += other.cold_reads;
        self.erased += other.erased;
        self.expired += other.expired;
        self.resumed += other.resumed;
        self.archived += other.archived;
        self.tombstoned += other.tombstoned;
        self.early += other.early;
        self.segments = self.segments.max(other.segments);
    }
}
