//! What an embedder refuses, and what it cuts.

/// Most bytes of a text that are read; the rest has no part in the vector. It bounds the time and memory a hostile
/// text can cost. The built-in model stops at `max_tokens` pieces, which honest text reaches long before.
pub const TEXT_BYTES_MAX: usize = 64 * 1024;

/// Most texts of one call. More are refused: the caller splits them.
pub const BATCH_TEXTS_MAX: usize = 4_096;
