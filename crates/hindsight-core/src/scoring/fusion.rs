//! Bringing channels together: one scale first, then a weighted sum or reciprocal ranks (R5).

/// Brings raw scores to 0–1 over all candidates: `(x − min) / (max − min)`. A single candidate, or all equal, gives 1.
/// A candidate that the channel does not know (`None`) gets 0 and does not move the scale's ends unless nobody is known.
#[must_use]
pub fn min_max(raw: &[Option<f64>]) -> Vec<f64> {
    over_at_least(raw, 0.0)
}

/// As [`min_max`], but the scale is at least a third of the highest score: `1 − (max − x) / max(max − min, max / 3)`. For questions
/// that name a time: among texts that are alike a hair's breadth must not weigh as much as the day that was asked for.
#[must_use]
pub fn min_max_beside_time(raw: &[Option<f64>]) -> Vec<f64> {
    over_at_least(raw, 1.0 / 3.0)
}

fn over_at_least(raw: &[Option<f64>], least_share: f64) -> Vec<f64> {
    let known = raw.iter().flatten();
    let (low, high) =
        known.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(*x), high.max(*x)));
    let spread = (high - low).max(least_share * high);
    let scale = |x: f64| {
        let from_below = spread - (high - x);
        if high > low { (from_below / spread).clamp(0.0, 1.0) } else { 1.0 }
    };
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
    fn r3_beside_a_named_time_small_differences_stay_small() {
        assert_eq!(min_max_beside_time(&[Some(3.0), Some(2.5), None]), [1.0, 0.5, 0.0]);
        // Where they differ much it is the same scale.
        let raw = [Some(4.0), Some(2.0), Some(0.0)];
        assert_eq!(min_max_beside_time(&raw), min_max(&raw));
        assert_eq!(min_max_beside_time(&[Some(-0.2), Some(-0.4)]), [1.0, 0.0]);
        assert_eq!(min_max_beside_time(&[Some(0.3)]), [1.0]);
    }

    #[test]
    fn ranks_count_from_one() {
        assert!((reciprocal_rank(10.0, 1) - 1.0 / 11.0).abs() < 1e-12);
    }
}
