//! What can be set about the log. The defaults are right for a server; tests take small sizes.

/// Sizes and times of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogOptions {
    /// Bytes after which a segment is full. Default 64 MiB.
    pub segment_bytes: u64,
    /// How far ahead a segment is filled with zeros, in bytes, so that a sync does not have to journal a change
    /// of the file's length. Default 4 MiB.
    pub preallocate_bytes: u64,
    /// Bytes that may wait for the next commit; past it appending waits. Default 64 MiB.
    pub pending_bytes_max: usize,
    /// Batches that may wait for the next commit; past it appending waits. Default 10,000.
    pub pending_frames_max: usize,
    /// How long after the last commit the log says by itself how far it is durable, in milliseconds. Default 50.
    pub witness_after_ms: u64,
    /// How long a batch that nobody waits for may wait for its commit to begin, in milliseconds. Default 25.
    pub relaxed_ms: u64,
}

impl Default for LogOptions {
    fn default() -> Self {
        LogOptions {
            segment_bytes: 64 << 20,
            preallocate_bytes: 4 << 20,
            pending_bytes_max: 64 << 20,
            pending_frames_max: 10_000,
            witness_after_ms: 50,
            relaxed_ms: 25,
        }
    }
}
