//! Planted bugs (A13), as far as they can be made between the engine and the disk. A test that lets one live proves
//! nothing, so each of them has a test that must kill it.

/// A bug.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sabotage {
    /// The log is written and not synced.
    SkipDataSync,
    /// A new file gets its name before its bytes are durable.
    SkipFileSync,
    /// New names are not made durable.
    SkipDirSync,
    /// The manifest is written and not synced, and what it replaces is deleted.
    SkipManifestSync,
    /// The log is never cut short.
    KeepSegments,
    /// A record file that was replaced is not removed, and nobody is told.
    KeepRecordFiles,
    /// What is written is acknowledged at once and synced with the next write.
    AcknowledgeBeforeSync,
    /// A failed sync is taken for a good one.
    IgnoreFailedSync,
    /// A failed sync is tried again, and the kernel, which has marked the lost pages clean, says Ok.
    RetryFailedSync,
    /// A write that wrote a part is taken for a whole one.
    BelieveShortWrite,
    /// After a restart the page cache is believed, in which the lost pages still are.
    KeepCache,
}
