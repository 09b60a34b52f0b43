//! The exact scan over the rows that a selection allows.

use hindsight_core::Embedding;

use super::kernel::{dot, dot_quantised};
use super::quantised::QuantisedQuery;
use super::rows::Rows;
use crate::top::{Ties, TopK};
use crate::{Ordinal, Scored, Selection};

/// Up to this many memories the rows are read in full at once: beyond it, eight bits and a second look at the twenty to
/// forty rows that remain cost less.
const FULL_SCAN_MAX: usize = 256;

/// A query vector in the forms that the scan compares with.
#[derive(Debug, Clone)]
pub struct VectorQuery {
    full: Box<[f32]>,
    quick: QuantisedQuery,
}

impl VectorQuery {
    pub(crate) fn new(embedding: &Embedding) -> Self {
        let full: Box<[f32]> = embedding.components().iter().copied().collect();
        VectorQuery { quick: QuantisedQuery::new(&full), full }
    }

    /// Its copy that eight-bit rows are compared with.
    pub(crate) fn quick(&self) -> &QuantisedQuery {
        &self.quick
    }
}

/// The cosine of the best of a memory's vectors.
pub(crate) fn score(rows: &Rows, ordinal: Ordinal, query: &VectorQuery) -> Option<f32> {
    rows.of(ordinal).filter_map(|row| Some(dot(&rows.full(row)?.get()?, &query.full))).max_by(f32::total_cmp)
}

/// The best `k` memories of the selection, best first.
pub(crate) fn top(
    rows: &Rows,
    selection: &Selection,
    query: &VectorQuery,
    k: usize,
    ties: Ties<'_>,
) -> Vec<Scored> {
    if rows.dimension() != Some(query.full.len()) || k == 0 {
        return Vec::new();
    }
    let mut best = TopK::new(k, ties);
    if selection.len() <= FULL_SCAN_MAX {
        for ordinal in selection.iter() {
            if let Some(score) = score(rows, ordinal, query) {
                best.push(ordinal, score);
            }
        }
    } else {
        for ordinal in candidates(rows, selection, query, k) {
            if let Some(score) = score(rows, ordinal, query) {
                best.push(ordinal, score);
            }
        }
    }
    best.finish()
}

/// Every memory whose true score may be among the best `k`, found from the eight-bit rows.
///
/// The k-th best of all lower bounds is a score that `k` memories are certain to reach. Whoever's upper bound lies below
/// it is out; the bound only rises during the scan, so the list is thinned once more at the end.
fn candidates(rows: &Rows, selection: &Selection, query: &VectorQuery, k: usize) -> Vec<Ordinal> {
    let any_order = |_: Ordinal| 0;
    let mut certain = TopK::new(k, &any_order);
    let mut open: Vec<(Ordinal, f32)> = Vec::new();
    for ordinal in selection.iter() {
        let Some((lower, upper)) = bounds(rows, ordinal, query) else { continue };
        if upper >= certain.threshold() {
            open.push((ordinal, upper));
            certain.push(ordinal, lower);
        }
    }
    let reached = certain.threshold();
    open.retain(|(_, upper)| *upper >= reached);
    open.into_iter().map(|(ordinal, _)| ordinal).collect()
}

/// Between which scores the best of a memory's vectors lies.
fn bounds(rows: &Rows, ordinal: Ordinal, query: &VectorQuery) -> Option<(f32, f32)> {
    let mut found: Option<(f32, f32)> = None;
    for row in rows.of(ordinal) {
        let (levels, scale) = rows.quick(row);
        #[expect(clippy::cast_precision_loss, reason = "the rounding is part of the stated error")]
        let quick = dot_quantised(levels, &query.quick.levels) as f32 * (scale.scale * query.quick.scale);
        let error = query.quick.error(scale.lost);
        let (lower, upper) = found.unwrap_or((f32::NEG_INFINITY, f32::NEG_INFINITY));
        found = Some((lower.max(quick - error), upper.max(quick + error)));
    }
    found
}
