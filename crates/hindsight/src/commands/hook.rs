//! `hook recall` and `hook retain`: for agents that forget to call tools. Their program calls these when something is asked
//! and when something was answered.

use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use hindsight_client::{BatchOptions, WriteEntry};
use hindsight_core::draft::SourceDraft;
use hindsight_core::limits::{CONTENT_CHARS_MAX, QUERY_CHARS_MAX};
use hindsight_core::time::Span;
use hindsight_core::{Draft, Kind, MemoryId, SourceKind, Status, Timestamp};
use serde_json::json;

use crate::clock;
use crate::connection::Connection;
use crate::failure::Failure;
use crate::hook::input::Input;
use crate::hook::transcript::Exchange;
use crate::output::{Out, tell};
use crate::profile::Globals;

/// How long a recall may hold up the prompt that it is for.
const RECALL_WAIT: Duration = Duration::from_secs(2);
/// How long keeping what was said may take.
const RETAIN_WAIT: Duration = Duration::from_secs(5);
/// Characters that are kept of a question; an answer may have the rest of a memory.
const PROMPT_CHARS_MAX: usize = 8_000;
/// Characters of a summary, which is the beginning of the question.
const SUMMARY_CHARS: usize = 200;
/// What such episodes are about.
const TASK_TYPE: &str = "conversation";

/// Which hook.
#[derive(Debug, Args)]
pub(crate) struct HookArgs {
    #[command(subcommand)]
    action: HookAction,
}

/// The two hooks.
#[derive(Debug, Subcommand)]
enum HookAction {
    /// Print what is known about what the user asks, for the agent's program to put before the agent
    Recall(RecallHook),
    /// Keep what was asked and answered, as episodes
    Retain(RetainHook),
}

#[derive(Debug, Args)]
struct RecallHook {
    /// What the program expects: claude-code, plain
    #[arg(long, value_enum, value_name = "NAME", default_value = "claude-code", hide_possible_values = true)]
    format: Answer,
    /// Most memories
    #[arg(long, value_name = "NUMBER", default_value_t = 5)]
    limit: usize,
    /// Most tokens of all that is printed
    #[arg(long, value_name = "NUMBER", default_value_t = 800)]
    token_budget: usize,
    /// Least similarity, 0 to 1
    #[arg(long, value_name = "NUMBER")]
    min_score: Option<f64>,
}

#[derive(Debug, Args)]
struct RetainHook {
    /// What happened, as JSON, for programs that hand it over as an argument [default: standard input]
    #[arg(value_name = "JSON")]
    input: Option<String>,
}

/// How a recall is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Answer {
    /// The JSON that Claude Code reads.
    ClaudeCode,
    /// The block of memories by itself.
    Plain,
}

/// Carries the hook out. Whatever goes wrong is said on standard error, and the agent goes on.
pub(crate) fn run(
    args: &HookArgs,
    globals: impl FnOnce() -> Result<Globals, Failure>,
) -> Result<(), Failure> {
    if let Err(trouble) = carried_out(args, globals) {
        tell(&format!("hindsight: memory was left out: {trouble}"));
    }
    Ok(())
}

fn carried_out(args: &HookArgs, globals: impl FnOnce() -> Result<Globals, Failure>) -> Result<(), String> {
    let said = |failure: Failure| failure.to_string();
    let mut globals = globals().map_err(said)?;
    let wait = match args.action {
        HookAction::Recall(_) => RECALL_WAIT,
        HookAction::Retain(_) => RETAIN_WAIT,
    };
    let most = Span::from_ms(i64::try_from(wait.as_millis()).unwrap_or(i64::MAX));
    globals.timeout = globals.timeout.min(most);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let outcome = runtime.block_on(async {
        // The whole of it, whatever the single calls do.
        tokio::time::timeout(wait, async {
            match &args.action {
                HookAction::Recall(args) => recall(args, globals).await,
                HookAction::Retain(args) => retain(args, globals).await,
            }
        })
        .await
        .unwrap_or_else(|_| Err(format!("no answer within {} s", wait.as_secs())))
    });
    // A thread may still wait for input that does not come; it ends with the process.
    runtime.shutdown_background();
    outcome
}

async fn recall(args: &RecallHook, globals: Globals) -> Result<(), String> {
    let input = Input::take(None)?;
    let Some(prompt) = input.prompt() else { return Ok(()) };
    let mut out = Out::new(&globals);
    let connection = Connection::new(globals).map_err(|failure| failure.to_string())?;
    let memories = connection.memories().map_err(|failure| failure.to_string())?;
    let query: String = prompt.chars().take(QUERY_CHARS_MAX).collect();
    let mut question = memories.recall(query).top_k(args.limit).token_budget(args.token_budget).as_text();
    if let Some(least) = args.min_score {
        question = question.min_score(least);
    }
    let recalled = match question.send().await {
        // A namespace begins with its first memory.
        Err(error) if error.reason() == "NAMESPACE_NOT_FOUND" => return Ok(()),
        recalled => recalled.map_err(|error| error.to_string())?,
    };
    let Some(text) = recalled.text.filter(|_| !recalled.hits.is_empty()) else { return Ok(()) };
    let printed = match args.format {
        Answer::Plain => out.line(&text),
        Answer::ClaudeCode => {
            let event = input.event().unwrap_or("UserPromptSubmit");
            out.jsonl(&json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}))
        }
    };
    printed.and_then(|()| out.flush()).map_err(|failure| failure.to_string())
}

async fn retain(args: &RetainHook, globals: Globals) -> Result<(), String> {
    let input = Input::take(args.input.as_deref())?;
    let session = input.session().map(str::to_owned);
    let exchanges = input.exchanges()?;
    if exchanges.is_empty() {
        return Ok(());
    }
    let connection = Connection::new(globals).map_err(|failure| failure.to_string())?;
    let memories = connection.memories().map_err(|failure| failure.to_string())?;
    let entry =
        |exchange: &Exchange| WriteEntry { draft: draft(exchange, session.as_deref()), vectors: None };
    let entries = exchanges.iter().map(entry).collect();
    let written =
        memories.batch_write(entries, BatchOptions::default()).await.map_err(|error| error.to_string())?;
    // What is there already was kept by an earlier call of this hook.
    let refused = written.results.iter().filter_map(|result| result.as_ref().err());
    match refused.filter(|error| error.reason != "MEMORY_EXISTS").map(ToString::to_string).next() {
        Some(first) => Err(first),
        None => Ok(()),
    }
}

/// The episode that an exchange is. How it ended is not known: `partial`.
fn draft(exchange: &Exchange, session: Option<&str>) -> Draft {
    let Exchange { key, prompt, answer, at } = exchange;
    let asked: String = prompt.chars().take(PROMPT_CHARS_MAX).collect();
    let head = format!("Asked: {asked}\nAnswered: ");
    let left = CONTENT_CHARS_MAX.saturating_sub(head.chars().count());
    let answered: String = answer.chars().take(left).collect();
    Draft {
        id: Some(id(exchange, session, key).to_string()),
        kind: Some(Kind::Episode),
        content: head + &answered,
        summary: prompt.chars().take(SUMMARY_CHARS).collect(),
        task_type: Some(TASK_TYPE.to_owned()),
        status: Some(Status::Partial),
        session_id: session.map(str::to_owned),
        occurred_at: *at,
        source: Some(SourceDraft {
            kind: Some(SourceKind::Agent),
            conversation_id: session.map(str::to_owned),
            ..SourceDraft::default()
        }),
        ..Draft::default()
    }
}

/// The same exchange has the same id each time that a hook tells of it.
fn id(exchange: &Exchange, session: Option<&str>, key: &str) -> MemoryId {
    let mut hasher = blake3::Hasher::new_derive_key("hindsight hook 1: id of an exchange");
    hasher.update(session.unwrap_or_default().as_bytes()).update(b"\0");
    if key.is_empty() {
        hasher.update(exchange.prompt.as_bytes()).update(b"\0").update(exchange.answer.as_bytes());
    } else {
        hasher.update(key.as_bytes());
    }
    let mut random = [0_u8; 16];
    hasher.finalize_xof().fill(&mut random);
    // Without a time of its own or a key, what was said again later is another exchange.
    let at: Timestamp = match (exchange.at, key) {
        (Some(at), _) => at,
        (None, "") => clock::now(),
        (None, _) => Timestamp::from_ms(0),
    };
    MemoryId::new(at, u128::from_le_bytes(random))
}
