//! The best few of many, in an order that is total.
//!
//! Equal scores are common (the same short text stored twice), and ordinals depend on the history of a shelf. So the
//! tie is broken by the memory's id: the newer one wins, before and after a restart alike.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::Ordinal;

/// A memory and its score in one channel. Higher is better.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scored {
    /// The memory's slot in the shelf that was searched.
    pub ordinal: Ordinal,
    /// The channel's own score: a cosine, or a BM25 sum.
    pub score: f32,
}

/// How ties are broken: of two equal scores the one with the higher number wins.
pub(crate) type Ties<'a> = &'a dyn Fn(Ordinal) -> u128;

#[derive(Debug, Clone, Copy)]
struct Entry {
    score: f32,
    tie: u128,
    ordinal: Ordinal,
}

impl Ord for Entry {
    /// The worst entry is the greatest, so that the heap has it at hand when a better one comes.
    fn cmp(&self, other: &Self) -> Ordering {
        other
            .score
            .total_cmp(&self.score)
            .then(other.tie.cmp(&self.tie))
            .then(self.ordinal.cmp(&other.ordinal))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}

/// Collects the best `k` of what is pushed.
pub(crate) struct TopK<'a> {
    k: usize,
    heap: BinaryHeap<Entry>,
    ties: Ties<'a>,
}

impl<'a> TopK<'a> {
    /// A collector for the best `k`.
    pub(crate) fn new(k: usize, ties: Ties<'a>) -> Self {
        TopK { k, heap: BinaryHeap::with_capacity(k.min(1_024) + 1), ties }
    }

    /// The score that a newcomer must reach: minus infinity until `k` are there, plus infinity when `k` is 0.
    pub(crate) fn threshold(&self) -> f32 {
        if self.k == 0 {
            return f32::INFINITY;
        }
        if self.heap.len() < self.k {
            f32::NEG_INFINITY
        } else {
            self.heap.peek().map_or(f32::NEG_INFINITY, |worst| worst.score)
        }
    }

    /// Offers one. Each ordinal may be offered once.
    pub(crate) fn push(&mut self, ordinal: Ordinal, score: f32) {
        if score < self.threshold() || self.k == 0 {
            return;
        }
        self.heap.push(Entry { score, tie: (self.ties)(ordinal), ordinal });
        if self.heap.len() > self.k {
            self.heap.pop();
        }
    }

    /// The best, best first.
    pub(crate) fn finish(self) -> Vec<Scored> {
        let entries = self.heap.into_sorted_vec();
        entries.into_iter().map(|entry| Scored { ordinal: entry.ordinal, score: entry.score }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_in_a_total_order() {
        let newest_first = |ordinal: Ordinal| u128::from(ordinal.0);
        let mut top = TopK::new(3, &newest_first);
        assert_eq!(top.threshold(), f32::NEG_INFINITY);
        for (slot, score) in [(1, 0.5), (2, 0.9), (3, 0.5), (4, 0.1), (5, 0.5)] {
            top.push(Ordinal(slot), score);
        }
        assert_eq!(top.threshold(), 0.5);
        let found: Vec<_> = top.finish().iter().map(|scored| (scored.ordinal.0, scored.score)).collect();
        assert_eq!(found, [(2, 0.9), (5, 0.5), (3, 0.5)]);
    }

    #[test]
    fn nothing_wanted_nothing_found() {
        let ties = |_: Ordinal| 0;
        let mut top = TopK::new(0, &ties);
        top.push(Ordinal(1), 1.0);
        assert!(top.finish().is_empty());
    }
}
