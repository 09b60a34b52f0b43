//! `stats`: what a namespace holds.

use std::collections::BTreeMap;

use comfy_table::{Cell, CellAlignment, Color};
use hindsight_client::NamespaceStats;
use serde::Serialize;

use crate::connection::Connection;
use crate::failure::Failure;
use crate::output::Out;
use crate::screen::{Paint, grouped, text_of};

/// The counts as a program wants them: by name.
#[derive(Debug, Serialize)]
struct Counts<'a> {
    by_kind: BTreeMap<&'a str, u64>,
    by_status: BTreeMap<&'a str, u64>,
    by_state: BTreeMap<&'a str, u64>,
    #[serde(flatten)]
    rest: serde_json::Value,
}

/// Counts and prints.
pub(crate) async fn run(connection: &Connection, out: &mut Out) -> Result<(), Failure> {
    let stats = connection.memories()?.stats().await?;
    let counts = counts(&stats)?;
    out.single(&counts, |paint, width| table(&stats, *paint, width))
}

fn counts(stats: &NamespaceStats) -> Result<Counts<'_>, Failure> {
    fn by_name(counts: &[(String, u64)]) -> BTreeMap<&str, u64> {
        counts.iter().map(|(name, count)| (name.as_str(), *count)).collect()
    }
    let mut rest = serde_json::to_value(stats).map_err(std::io::Error::from)?;
    if let Some(fields) = rest.as_object_mut() {
        fields.retain(|name, _| !name.starts_with("by_"));
    }
    Ok(Counts {
        by_kind: by_name(&stats.by_kind),
        by_status: by_name(&stats.by_status),
        by_state: by_name(&stats.by_state),
        rest,
    })
}

fn table(stats: &NamespaceStats, paint: Paint, width: u16) -> String {
    let mut table = paint.table(width, &[]);
    let mut row = |name: &str, value: Cell| {
        table.add_row(vec![Cell::new(name).fg(Color::DarkGrey), value]);
    };
    let number = |count: u64| Cell::new(grouped(count)).set_alignment(CellAlignment::Right);
    row("namespace", Cell::new(&stats.namespace));
    for (title, counts) in
        [("kind", &stats.by_kind), ("status", &stats.by_status), ("state", &stats.by_state)]
    {
        for (name, count) in counts.iter().filter(|(_, count)| *count > 0) {
            row(&format!("{title} {name}"), number(*count));
        }
    }
    row("with vectors", number(stats.embedded));
    if let Some(model) = &stats.embedding_model {
        row("embedding model", Cell::new(format!("{} ({} numbers)", model.name, model.dimension)));
    }
    if let Some(graph) = &stats.vector_graph {
        row("vector graph", number(graph.covered));
        row("  of them gone", number(graph.dead));
        row("  newer, scanned beside it", number(graph.newer));
        if let Some(recall) = graph.recall {
            row("  recall", Cell::new(format!("{recall:.3} in {} answers", graph.sampled)));
        }
    }
    row("distinct terms", number(stats.terms));
    for (name, time) in [("oldest", stats.oldest_at), ("newest", stats.newest_at)] {
        if let Some(time) = time {
            row(name, Cell::new(time));
        }
    }
    row("revision", number(stats.revision.0));
    text_of(&mut table)
}
