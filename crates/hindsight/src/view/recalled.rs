//! The answer of a recall on a screen.

use comfy_table::{Cell, CellAlignment, Color};
use hindsight_core::{Explanation, Hit, Recalled};

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
        let stands = match hit.collapsed.len() {
            0 => String::new(),
            _ => format!("\n     stands for {}", ids(&hit.collapsed)),
        };
        let changed = if hit.changed_since { "\n     changed since that time" } else { "" };
        let more = paint.dim(&format!("{likeness}{stands}{changed}"));
        blocks.push(format!("{}\n{detail}\n{more}", text_of(&mut table)));
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

fn ids(ids: &[hindsight_core::MemoryId]) -> String {
    ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// What became of one memory: the reason, its numbers, and how the answer was found.
pub(crate) fn why(explanation: &Explanation, paint: Paint, width: u16) -> String {
    let reason = explanation.reason.as_str().replace('_', " ");
    let mut blocks =
        vec![format!("{} {}: {}", explanation.id, paint.bold(&reason), flat(&explanation.detail))];
    if let Some(other) = explanation.other {
        blocks.push(format!("see {other}"));
    }
    if let Some(breakdown) = &explanation.breakdown {
        let likeness = format!("     similarity {:.4}", explanation.similarity.unwrap_or(0.0));
        blocks.push(format!(
            "{}\n{}",
            super::breakdown::in_full(breakdown, paint, width),
            paint.dim(&likeness)
        ));
    }
    blocks.push(format!("{}\n{}", paint.bold("plan"), safe(explanation.plan.trim_end())));
    blocks.join("\n\n")
}
