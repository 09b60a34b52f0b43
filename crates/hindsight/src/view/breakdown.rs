//! Why a hit has its score: in one line, or as a table.

use comfy_table::{Cell, CellAlignment};
use hindsight_core::Breakdown;

use crate::screen::{Paint, flat, text_of};

/// The whole reckoning in one line: `(vector 0.36 + keyword 0.20 + recency 0.09) × confidence 0.90 = 0.58`.
/// Factors of exactly 1 are left out: they change nothing.
pub(crate) fn in_one_line(breakdown: &Breakdown) -> String {
    let parts: Vec<String> = breakdown
        .parts
        .iter()
        .filter(|part| part.contribution != 0.0)
        .map(|part| format!("{} {:.3}", part.name, part.contribution))
        .collect();
    let mut text = match parts.as_slice() {
        [] => "0".to_owned(),
        [single] => single.clone(),
        several => format!("({})", several.join(" + ")),
    };
    for (name, factor) in factors(breakdown) {
        if (factor - 1.0).abs() > 1e-9 {
            text.push_str(&format!(" × {name} {factor:.2}"));
        }
    }
    text.push_str(&format!(" = {:.3}", breakdown.score));
    text
}

fn factors(breakdown: &Breakdown) -> [(&'static str, f64); 4] {
    [
        ("confidence", breakdown.confidence),
        ("source", breakdown.source_weight),
        ("transient", breakdown.transient),
        ("unused", breakdown.unused),
    ]
}

/// Every number of it: the parts as a table, then the factors, then the words and names that were found.
pub(crate) fn in_full(breakdown: &Breakdown, paint: Paint, width: u16) -> String {
    let mut table = paint.table(width, &["", "signal", "raw", "normalized", "weight", "contribution"]);
    for part in &breakdown.parts {
        let number = |value: f64| Cell::new(format!("{value:.4}")).set_alignment(CellAlignment::Right);
        table.add_row(vec![
            Cell::new("   "),
            Cell::new(&part.name),
            number(part.raw),
            number(part.normalized),
            number(part.weight),
            number(part.contribution),
        ]);
    }
    let base: f64 = breakdown.parts.iter().map(|part| part.contribution).sum();
    let mut text = text_of(&mut table);
    text.push_str(&format!("\n     base {base:.4}"));
    for (name, factor) in factors(breakdown) {
        text.push_str(&format!(" × {name} {factor:.4}"));
    }
    text.push_str(&format!(" = {:.4}", breakdown.score));
    if !breakdown.matched_terms.is_empty() {
        text.push_str(&format!("\n     found: {}", flat(&breakdown.matched_terms.join(", "))));
    }
    if !breakdown.path.is_empty() {
        text.push_str(&format!("\n     named: {}", flat(&breakdown.path.join(", "))));
    }
    text
}

#[cfg(test)]
mod tests {
    use hindsight_core::Part;

    use super::*;

    #[test]
    fn the_line_shows_what_counts_and_leaves_out_what_does_not() {
        let breakdown = Breakdown {
            parts: vec![
                Part::new("vector", 0.7, 0.7, 0.5),
                Part::new("keyword", 0.0, 0.0, 0.2),
                Part::new("recency", 3.0, 0.5, 0.1),
            ],
            confidence: 0.9,
            source_weight: 1.0,
            transient: 0.5,
            unused: 1.0,
            score: 0.18,
            matched_terms: vec!["timeout".to_owned()],
            path: vec!["peanuts → allergic to → user".to_owned()],
        };
        let line = in_one_line(&breakdown);
        assert_eq!(line, "(vector 0.350 + recency 0.050) × confidence 0.90 × transient 0.50 = 0.180");
        let full = in_full(&breakdown, Paint::new(false), 100);
        assert!(full.contains("base 0.4000 × confidence 0.9000 × source 1.0000"), "{full}");
        assert!(full.contains("found: timeout"), "{full}");
        assert!(full.contains("named: peanuts → allergic to → user"), "{full}");
    }
}
