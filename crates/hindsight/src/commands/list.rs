//! `list`: memories by id, page by page.

use clap::Args;
use hindsight_core::Filter;
use hindsight_core::limits::{PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX};

use crate::clock;
use crate::connection::Connection;
use crate::failure::Failure;
use crate::flags::FilterFlags;
use crate::output::{Format, Out, tell};
use crate::view;

/// Which memories, and how many.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Most memories
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, default_value_t = PAGE_SIZE_DEFAULT, conflicts_with = "all")]
    limit: usize,
    /// All of them
    #[arg(long)]
    all: bool,
    /// The agent that asks; it sees its own memories beside the shared ones
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
    #[command(flatten)]
    filter: FilterFlags,
}

/// Prints page after page, so that a long list needs no memory.
pub(crate) async fn run(connection: &Connection, args: ListArgs, out: &mut Out) -> Result<(), Failure> {
    let memories = connection.memories()?;
    let filter: Filter = args.filter.into_filter()?;
    let mut pages = memories.list(filter);
    if let Some(agent) = args.agent {
        pages = pages.agent(agent);
    }
    let mut left = if args.all { usize::MAX } else { args.limit };
    let mut token = String::new();
    let mut whole = Vec::new();
    let mut printed = 0_usize;
    while left > 0 {
        let size = left.min(PAGE_SIZE_MAX);
        let page = pages.clone().page_size(size).page_token(&token).await?;
        left = left.saturating_sub(page.memories.len());
        printed += page.memories.len();
        // Only one JSON document needs all memories at once.
        if out.list_format() == Format::Json {
            whole.extend(page.memories);
        } else {
            let now = clock::now();
            out.list(&page.memories, |paint, width| view::memory::rows(&page.memories, now, *paint, width))?;
        }
        token = page.next_page_token.unwrap_or_default();
        if token.is_empty() {
            break;
        }
    }
    if out.list_format() == Format::Json {
        out.json(&whole)?;
    }
    if !token.is_empty() {
        tell(&format!("these are the first {printed}; --limit or --all shows more"));
    }
    if printed == 0 && args.limit > 0 {
        connection.say_why_nothing().await?;
    }
    Ok(())
}
