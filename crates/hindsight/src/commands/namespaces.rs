//! `namespaces`: which there are, and how much each holds; dropping one, and what is set about one.

use clap::{Args, Subcommand};
use comfy_table::{Cell, CellAlignment};

use super::purge::DropArgs;
use super::settings::{SetArgs, ShowArgs};
use crate::connection::Connection;
use crate::failure::Failure;
use crate::output::{Out, tell};
use crate::screen::{grouped, text_of};

/// What to do with them; without an action they are named.
#[derive(Debug, Args)]
pub(crate) struct NamespacesArgs {
    #[command(subcommand)]
    pub(crate) action: Option<NamespacesAction>,
}

/// What to do with one.
#[derive(Debug, Subcommand)]
pub(crate) enum NamespacesAction {
    /// Drop one with everything in it
    Drop(DropArgs),
    /// Show what is set about one
    Show(ShowArgs),
    /// Change what is set about one; one that is not there begins with it
    Set(SetArgs),
}

/// Names them in alphabetical order.
pub(crate) async fn run(connection: &Connection, out: &mut Out) -> Result<(), Failure> {
    let namespaces = connection.client().namespaces().await?;
    if namespaces.is_empty() {
        tell("there is no namespace yet: one begins with the first memory written to it");
    }
    out.list(&namespaces, |paint, width| {
        let mut table = paint.table(width, &["namespace", "memories"]);
        for summary in &namespaces {
            let count = Cell::new(grouped(summary.memories)).set_alignment(CellAlignment::Right);
            table.add_row(vec![Cell::new(&summary.name), count]);
        }
        text_of(&mut table)
    })
}
