//! Bringing channels together: one scale first, then a weighted sum or reciprocal ranks (R5).

/// Brings raw scores to 0–1 over all candidates: `(x − min) / (max − min)`. A single candidate, or all equal, gives 1.
/// A candidate that the channel does not know (`None`) gets 0 and does not move the scale's ends unless nobody is known.
#[must_use]
pub fn min_max(raw: &[Option<f64>]) -> Vec<f64> {
    let known = raw.iter().flatten();
    let (low, high) =
        known.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(*x), high.max(*x)));
    let scale = |x: f64| if high > low { (x - low) / (high - low) } else { 1.0 };
    raw.iter().map(|x| x.map_or(0.0, scale)).collect()
}

/// Reciprocal rank: `1 / (k + rank)`, with ranks from 1.
#[must_use]
pub fn reciprocal_rank(k: f64, rank: u32) -> f64 {
    1.0 / (k + f64::from(rank))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_scale() {
        assert_eq!(
            min_max(&[Some(0.8), Some(0.7), None, Some(0.9)])
                .iter()
                .map(|x| (x * 100.0).round())
                .collect::<Vec<_>>(),
            [50.0, 0.0, 0.0, 100.0]
        );
        assert_eq!(min_max(&[Some(0.3)]), [1.0]);
        assert_eq!(min_max(&[Some(0.3), Some(0.3)]), [1.0, 1.0]);
        assert_eq!(min_max(&[None, None]), [0.0, 0.0]);
    }

    #[test]
    fn ranks_count_from_one() {
        assert!((reciprocal_rank(10.0, 1) - 1.0 / 11.0).abs() < 1e-12);
    }
}
