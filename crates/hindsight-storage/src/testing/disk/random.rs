//! Chance.

/// Repeatable random numbers (SplitMix64).
#[derive(Debug, Clone)]
pub(in crate::testing) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// What goes on where this one is.
    pub(super) fn seed(&self) -> u64 {
        self.0
    }

    pub(in crate::testing) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}
