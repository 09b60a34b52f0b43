//! Eight-bit copies of vectors, and how far a score made from them may be off.
//!
//! A row `x` is kept as `scale · x̂` with x̂ in −127…127 and the length of what rounding took, `|x − scale·x̂|`. A query
//! `q` is kept in sixteen bits the same way. For unit vectors the true score then differs from the quick one by at most
//!
//! ```text
//! |x·q − x̃·q̃| ≤ |x − x̃|·|q| + |x̃|·|q − q̃| ≤ lost(x) + (1 + lost(x))·lost(q)
//! ```
//!
//! so a scan in eight bits knows for certain which rows it may leave out.

/// The scale and the loss of a row's eight-bit copy.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RowScale {
    /// What one level is worth.
    pub(crate) scale: f32,
    /// The length of the difference between the row and its copy.
    pub(crate) lost: f32,
}

/// Largest level of a row's copy.
const ROW_LEVEL_MAX: f32 = 127.0;

/// Writes the eight-bit copy of `row` to `copy`, which has the same length.
pub(crate) fn quantise_row(row: &[f32], copy: &mut [i8]) -> RowScale {
    let largest = row.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
    if largest == 0.0 {
        copy.fill(0);
        return RowScale::default();
    }
    let scale = largest / ROW_LEVEL_MAX;
    // Eight side by side, for one sum alone would wait for itself at each step.
    let mut lost = [0.0_f64; 8];
    let (rows, levels) = (row.chunks_exact(8), copy.chunks_exact_mut(8));
    let mut rest = [(0.0, 0_i8); 8];
    rest.iter_mut().zip(rows.remainder()).for_each(|(place, value)| place.0 = *value);
    for (values, levels) in rows.zip(levels) {
        for ((sum, value), level) in lost.iter_mut().zip(values).zip(levels) {
            *level = quantise(*value, scale, sum);
        }
    }
    for (sum, (value, level)) in lost.iter_mut().zip(&mut rest) {
        *level = quantise(*value, scale, sum);
    }
    copy.chunks_exact_mut(8).into_remainder().iter_mut().zip(rest).for_each(|(level, rest)| *level = rest.1);
    RowScale { scale, lost: round_up(lost.iter().sum::<f64>().sqrt()) }
}

/// The level of a value; the square of what that takes from it is added to `lost`.
fn quantise(value: f32, scale: f32, lost: &mut f64) -> i8 {
    /// A number of this size has no room for fractions, and the whole number that is added to it stands in its lowest bits.
    const NO_FRACTIONS: f32 = 12_582_912.0;
    let shifted = (value / scale).clamp(-ROW_LEVEL_MAX, ROW_LEVEL_MAX) + NO_FRACTIONS;
    *lost += f64::from(value - (shifted - NO_FRACTIONS) * scale).powi(2);
    let [lowest, ..] = shifted.to_bits().to_le_bytes();
    lowest.cast_signed()
}

/// A query in sixteen bits.
#[derive(Debug, Clone)]
pub(crate) struct QuantisedQuery {
    /// The levels of its components.
    pub(crate) levels: Vec<i16>,
    /// What one level is worth.
    pub(crate) scale: f32,
    /// The length of the difference between the query and its copy.
    lost: f32,
}

impl QuantisedQuery {
    /// The sixteen-bit copy of a unit vector.
    pub(crate) fn new(query: &[f32]) -> Self {
        // The sum of `query.len()` products of at most 127 · level_max must fit an i32.
        let dimension = i32::try_from(query.len().max(1)).unwrap_or(i32::MAX);
        #[expect(clippy::cast_precision_loss, reason = "at most 32,767")]
        let level_max = (i32::MAX / 127 / dimension).clamp(1, i32::from(i16::MAX)) as f32;
        let largest = query.iter().fold(f32::MIN_POSITIVE, |largest, value| largest.max(value.abs()));
        let scale = largest / level_max;
        let mut lost = 0.0_f64;
        let mut levels = Vec::with_capacity(query.len());
        for value in query {
            let rounded = (value / scale).round().clamp(-level_max, level_max);
            #[expect(clippy::cast_possible_truncation, reason = "a whole number within ±level_max")]
            levels.push(rounded as i16);
            lost += f64::from(value - rounded * scale).powi(2);
        }
        QuantisedQuery { levels, scale, lost: round_up(lost.sqrt()) }
    }

    /// A row's copy as a query, to look for the row itself.
    pub(crate) fn of_row(levels: &[i8], scale: RowScale) -> Self {
        let levels = levels.iter().map(|level| i16::from(*level)).collect();
        QuantisedQuery { levels, scale: scale.scale, lost: scale.lost }
    }

    /// By how much a quick score of a row with this loss may differ from the true one.
    pub(crate) fn error(&self, row_lost: f32) -> f32 {
        // Besides quantisation: the f32 sums themselves, whose rounding stays far below this for 4,096 components.
        const ROUNDING: f32 = 1e-4;
        row_lost + (1.0 + row_lost) * self.lost + ROUNDING
    }
}

/// A loss as an f32 that is not smaller than the f64.
fn round_up(lost: f64) -> f32 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "at most a little over 1; rounded up on the next line"
    )]
    let near = lost as f32;
    near * 1.000_001
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::kernel::{dot, dot_quantised};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_stated_error_is_never_exceeded(
            a in proptest::collection::vec(-1.0_f32..1.0, 1..300),
            b in proptest::collection::vec(-1.0_f32..1.0, 300),
        ) {
            let unit = |values: &[f32]| hindsight_core::Embedding::new(values).ok();
            let Some((row, query)) = unit(&a).zip(unit(&b[..a.len()])) else { return Ok(()) };
            let mut copy = vec![0_i8; a.len()];
            let scale = quantise_row(row.as_slice(), &mut copy);
            let quick = QuantisedQuery::new(query.as_slice());
            #[expect(clippy::cast_precision_loss)]
            let approximate = dot_quantised(&copy, &quick.levels) as f32 * scale.scale * quick.scale;
            let exact = dot(row.as_slice(), query.as_slice());
            prop_assert!((approximate - exact).abs() <= quick.error(scale.lost), "{} vs {}", approximate, exact);
            prop_assert!(quick.error(scale.lost) < 0.1);
        }
    }

    #[test]
    fn the_largest_sum_fits() {
        let same = vec![1.0 / 64.0; 4_096];
        let query = QuantisedQuery::new(&same);
        let mut copy = vec![0_i8; 4_096];
        let scale = quantise_row(&same, &mut copy);
        assert!(copy.iter().all(|level| *level == 127));
        #[expect(clippy::cast_precision_loss)]
        let score = dot_quantised(&copy, &query.levels) as f32 * scale.scale * query.scale;
        assert!((score - 1.0).abs() < 1e-4, "{score}");
    }
}
