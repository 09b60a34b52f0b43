//! BM25 (Robertson and Zaragoza 2009): the formula, apart from where its statistics come from.

/// Saturation of term frequency.
pub const K1: f64 = 1.2;
/// How far a long text is held against its terms.
pub const B: f64 = 0.75;

/// Rarity of a term that `df` of `docs` texts hold: `ln(1 + (docs − df + 0.5) / (df + 0.5))`, never negative.
#[must_use]
pub fn idf(df: u32, docs: u32) -> f64 {
    let (df, docs) = (f64::from(df.min(docs)), f64::from(docs));
    (1.0 + (docs - df + 0.5) / (df + 0.5)).ln()
}

/// What one term adds to a text's score: `idf · tf · (k1 + 1) / (tf + k1 · (1 − b + b · len / mean_len))`.
#[must_use]
pub fn term_score(idf: f64, tf: u32, len: u32, mean_len: f64) -> f64 {
    let tf = f64::from(tf);
    let share = if mean_len > 0.0 { f64::from(len) / mean_len } else { 1.0 };
    idf * tf * (K1 + 1.0) / (tf + K1 * (1.0 - B + B * share))
}

/// The most that terms of these rarities can score together: the limit for ever more occurrences in ever shorter texts.
#[must_use]
pub fn upper_bound(idf_sum: f64) -> f64 {
    idf_sum * (K1 + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_worked_out_by_hand() {
        // 10 texts, 2 hold the term: ln(1 + 8.5/2.5); tf 3 in a text of mean length: 3·2.2/(3+1.2).
        let idf = idf(2, 10);
        assert!((idf - 4.4_f64.ln()).abs() < 1e-12);
        assert!((term_score(idf, 3, 40, 40.0) - 4.4_f64.ln() * 6.6 / 4.2).abs() < 1e-12);
        assert!(term_score(idf, 3, 80, 40.0) < term_score(idf, 3, 40, 40.0));
        assert!(term_score(idf, 1_000_000, 1, 40.0) < upper_bound(idf));
    }

    #[test]
    fn a_term_in_every_text_is_worth_little_but_not_less_than_nothing() {
        assert!(idf(10, 10) > 0.0 && idf(10, 10) < 0.1);
        assert!(idf(12, 10) > 0.0);
    }
}
