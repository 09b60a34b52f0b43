//! The answer of a recall on a screen.

use comfy_table::{Cell, CellAlignment, Color};
use hindsight_core::{Hit, Recalled};

use super::memory::{headline, keep_words, kind_cell};
use crate::screen::{Paint, age_text, flat, one_line, safe, status_cell, text_of};

/// The hits, a row each, best first.
pub(crate) fn rows(hits: &[Hit], paint: Paint, width: u16) -> String {
    let mut table = paint.table(width, &["#", "score", "age", "kind", "status", "text", "id"]);
    for (index, hit) in hits.iter().enumerate() {
        table.add_row(row(index + 1, hit));
    }
    keep_words(&mut table, &[0, 1, 2, 3, 4, 6]);
    text_of(&mut table)
}

fn row(rank: usize, hit: &Hit) -> comfy_table::Row {
    one_line(vec![
        Cell::new(rank).set_alignment(CellAlignment::Right),
        Cell::new(format!("{:.3}", hit.score)),
        Cell::new(age_text(hit.age_days)),
        kind_cell(&hit.memory),
        status_cell(hit.memory.status),
        Cell::new(headline(&hit.memory)),
        Cell::new(hit.memory.id).fg(Color::DarkGrey),
    ])
}

/// The hits, each with every number of its score, and how the answer was found.
pub(crate) fn explained(recalled: &Recalled, paint: Paint, width: u16) -> String {
    let mut blocks = Vec::new();
    for (index, hit) in recalled.hits.iter().enumerate() {
        let mut table = paint.table(width, &[]);
        table.add_row(row(index + 1, hit));
        keep_words(&mut table, &[0, 1, 2, 3, 4, 6]);
        let detail = super::breakdown::in_full(&hit.breakdown, paint, width);
        let likeness = format!("     similarity {:.4}, age {:.2} days", hit.similarity, hit.age_days);
        blocks.push(format!("{}\n{detail}\n{}", text_of(&mut table), paint.dim(&likeness)));
    }
    if let Some(window) = &recalled.window {
        blocks.push(format!("\"{}\" means {} to {}", flat(&window.words), window.from, window.to));
    }
    let counts = format!(
        "{} allowed by the filter, {} left out, at revision {}",
        recalled.allowed, recalled.omitted, recalled.revision.0
    );
    blocks.push(counts);
    if let Some(plan) = &recalled.plan {
        blocks.push(format!("{}\n{}", paint.bold("plan"), safe(plan.trim_end())));
    }
    blocks.join("\n\n")
}
