//! How much memory a call takes at most.

use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// What reading may take besides what depends on the input, in bytes.
const SPARE_BYTES: usize = 1 << 20;
/// Bytes that a byte of input may cost.
const FACTOR: usize = 64;

/// Calls `read`, which must not take more memory than in proportion to `input_bytes`. Nothing else may run meanwhile.
pub(crate) fn bounded<T>(input_bytes: usize, read: impl FnOnce() -> T) -> T {
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let value = read();
    let taken = MEMORY.peak_usage().saturating_sub(before);
    let most = input_bytes * FACTOR + SPARE_BYTES;
    assert!(taken <= most, "{taken} bytes of memory for {input_bytes} bytes of input: at most {most}");
    value
}
