//! How good a ranking is: hit@k, recall@k, nDCG@k (Järvelin and Kekäläinen 2002), with binary relevance.

/// What counts as found: facts, each said in one or several memories.
pub type Facts<'a> = Vec<Vec<&'a str>>;

/// Whether any memory that answers stands among the first `k`: 1 or 0.
#[must_use]
pub fn hit(ranking: &[&str], facts: &Facts<'_>, k: usize) -> f64 {
    f64::from(u8::from(ranking.iter().take(k).any(|id| facts.iter().any(|fact| fact.contains(id)))))
}

/// The share of facts of which a memory stands among the first `k`.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "counts are small")]
pub fn recall(ranking: &[&str], facts: &Facts<'_>, k: usize) -> f64 {
    let top = &ranking[..k.min(ranking.len())];
    let found = facts.iter().filter(|fact| fact.iter().any(|id| top.contains(id))).count();
    found as f64 / facts.len().max(1) as f64
}

/// Discounted gain over the first `k`, as a share of the best possible. A fact counts once, where it is first said.
#[must_use]
pub fn ndcg(ranking: &[&str], facts: &Facts<'_>, k: usize) -> f64 {
    let discount = |rank: usize| 1.0 / f64::from(u32::try_from(rank + 2).unwrap_or(u32::MAX)).log2();
    let mut seen = vec![false; facts.len()];
    let mut gained = 0.0;
    for (rank, id) in ranking.iter().take(k).enumerate() {
        let fresh = facts
            .iter()
            .enumerate()
            .find(|(index, fact)| fact.contains(id) && seen.get(*index) == Some(&false));
        if let Some((index, _)) = fresh {
            seen[index] = true;
            gained += discount(rank);
        }
    }
    let best: f64 = (0..facts.len().min(k)).map(discount).sum();
    if best > 0.0 { gained / best } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_worked_out_by_hand() {
        let facts = vec![vec!["a", "b"], vec!["c"]];
        let ranking = ["x", "b", "a", "y"];
        assert_eq!((hit(&ranking, &facts, 1), hit(&ranking, &facts, 2)), (0.0, 1.0));
        assert_eq!(recall(&ranking, &facts, 10), 0.5);
        let expected = (1.0 / 3f64.log2()) / (1.0 + 1.0 / 3f64.log2());
        assert!((ndcg(&ranking, &facts, 10) - expected).abs() < 1e-12);
        assert!((ndcg(&["c", "a"], &facts, 10) - 1.0).abs() < 1e-12);
        assert_eq!(ndcg(&[], &facts, 10), 0.0);
    }
}
