//! `stats`: what a namespace holds.

use comfy_table::{Cell, CellAlignment, Color};
use hindsight_client::NamespaceStats;

use crate::connection::Connection;
use crate::failure::Failure;
use crate::output::Out;
use crate::screen::{Paint, grouped, text_of};

/// Counts and prints.
pub(crate) async fn run(connection: &Connection, out: &mut Out) -> Result<(), Failure> {
    let stats = connection.memories()?.stats().await?;
    out.single(&stats, |paint, width| table(&stats, *paint, width))
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
    row("distinct terms", number(stats.terms));
    for (name, time) in [("oldest", stats.oldest_at), ("newest", stats.newest_at)] {
        if let Some(time) = time {
            row(name, Cell::new(time));
        }
    }
    row("revision", number(stats.revision.0));
    text_of(&table)
}
