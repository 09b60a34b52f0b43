//! `sessions`: working memory, which the server keeps while it runs.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use comfy_table::{Cell, CellAlignment};
use hindsight_client::SessionHandle;
use hindsight_core::draft::RecordDraft;
use hindsight_core::time::Span;
use hindsight_core::{Scope, Session, SessionDraft, SessionId, Status, Turn, TurnDraft};

use crate::connection::Connection;
use crate::document;
use crate::failure::Failure;
use crate::output::{Out, tell};
use crate::screen::{counted, flat, grouped, text_of};

/// What to do with sessions.
#[derive(Debug, Args)]
pub(crate) struct SessionsArgs {
    #[command(subcommand)]
    action: SessionsAction,
}

/// What to do.
#[derive(Debug, Subcommand)]
enum SessionsAction {
    /// Name the open sessions
    List(ListArgs),
    /// Open a session; prints its id
    Open(OpenArgs),
    /// Show a session and its turns
    Show(ShowArgs),
    /// Append a turn, or the turns of a file
    Append(AppendArgs),
    /// End a session; with a task type it becomes an episode
    Close(Box<CloseArgs>),
}

/// Whose.
#[derive(Debug, Args)]
struct ListArgs {
    /// The agent that asks; it sees its own sessions beside the shared ones
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
}

/// How it shall be.
#[derive(Debug, Args)]
struct OpenArgs {
    /// Your own id [default: one that the server chooses]
    #[arg(value_name = "ID")]
    id: Option<SessionId>,
    /// The agent that opens it
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// Only that agent may see it
    #[arg(long, requires = "agent")]
    private: bool,
    /// How many turns it keeps; the oldest fall out [default: 200]
    #[arg(long, value_name = "N")]
    max_turns: Option<usize>,
    /// How many bytes its turns have; the oldest fall out [default: 262144]
    #[arg(long, value_name = "N")]
    max_bytes: Option<usize>,
    /// After which time without a call it ends [default: 1h]
    #[arg(long, value_name = "SPAN")]
    idle: Option<Span>,
}

/// Which, and who asks.
#[derive(Debug, Args)]
struct WhichArgs {
    /// The session
    #[arg(value_name = "ID")]
    id: SessionId,
    /// The agent that asks; needed where the session is that agent's alone
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
}

/// Which, and how much of it.
#[derive(Debug, Args)]
struct ShowArgs {
    #[command(flatten)]
    which: WhichArgs,
    /// Only the newest N turns
    #[arg(long, value_name = "N")]
    last: Option<usize>,
}

/// What to append.
#[derive(Debug, Args)]
struct AppendArgs {
    #[command(flatten)]
    which: WhichArgs,
    /// What was said
    #[arg(value_name = "TEXT", required_unless_present_any = ["json", "tool"])]
    text: Option<String>,
    /// Who spoke: user, assistant, system, tool
    #[arg(long, value_name = "ROLE", default_value = "user")]
    role: String,
    /// The tool that was called, or that answers
    #[arg(long, value_name = "TOOL")]
    tool: Option<String>,
    /// Turns as JSON, {"turns": [{"role", "content", "tool", "at"}]}, from a file or - for standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["text", "tool"])]
    json: Option<PathBuf>,
}

/// What it was for.
#[derive(Debug, Args)]
struct CloseArgs {
    #[command(flatten)]
    which: WhichArgs,
    /// The kind of task it was for, such as order_processing
    #[arg(long, value_name = "TYPE")]
    task_type: Option<String>,
    /// How the task ended: success, failure, partial
    #[arg(long, value_name = "STATUS")]
    status: Option<Status>,
    /// What the task was, in a sentence
    #[arg(long, value_name = "TEXT")]
    summary: Option<String>,
    /// Why it failed
    #[arg(long, value_name = "TEXT")]
    root_cause: Option<String>,
    /// What helped
    #[arg(long, value_name = "TEXT")]
    resolution: Option<String>,
    /// A free label of the episode; may be repeated
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// The whole report as JSON, as `record` takes it; flags win over its fields
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// The turns of a document.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Turns {
    turns: Vec<TurnDraft>,
}

/// Does it.
pub(crate) async fn run(connection: &Connection, args: SessionsArgs, out: &mut Out) -> Result<(), Failure> {
    match args.action {
        SessionsAction::List(args) => list(connection, &args, out).await,
        SessionsAction::Open(args) => open(connection, args, out).await,
        SessionsAction::Show(args) => show(connection, args, out).await,
        SessionsAction::Append(args) => append(connection, args, out).await,
        SessionsAction::Close(args) => close(connection, *args, out).await,
    }
}

async fn list(connection: &Connection, args: &ListArgs, out: &mut Out) -> Result<(), Failure> {
    let sessions = connection.memories()?.sessions(args.agent.as_deref()).await?;
    if sessions.is_empty() {
        tell(&format!("namespace {} has no open session", connection.namespace()?));
    }
    out.list(&sessions, |paint, width| {
        let mut table = paint.table(width, &["session", "turns", "bytes", "agent", "scope", "expires"]);
        for session in &sessions {
            let right = |number: u64| Cell::new(grouped(number)).set_alignment(CellAlignment::Right);
            table.add_row(vec![
                Cell::new(flat(session.session_id.as_str())),
                right(wide(session.turns_held)),
                right(wide(session.bytes)),
                Cell::new(flat(session.settings.agent_id.as_deref().unwrap_or(""))),
                Cell::new(session.settings.scope),
                Cell::new(session.expires_at),
            ]);
        }
        text_of(&mut table)
    })
}

async fn open(connection: &Connection, args: OpenArgs, out: &mut Out) -> Result<(), Failure> {
    let draft = SessionDraft {
        session_id: args.id,
        agent_id: args.agent,
        scope: args.private.then_some(Scope::Agent),
        max_turns: args.max_turns,
        max_bytes: args.max_bytes,
        idle_ttl: args.idle,
    };
    let opened = connection.memories()?.open_session(draft).await?;
    out.single(&opened, |paint, _| {
        let id = paint.bold(&flat(opened.session.session_id.as_str()));
        let verb = if opened.resumed { "was open" } else { "is open" };
        format!("{id} {verb}, until {} if nobody uses it", opened.session.expires_at)
    })
}

async fn show(connection: &Connection, args: ShowArgs, out: &mut Out) -> Result<(), Failure> {
    let found = handle(connection, args.which)?.read(args.last).await?;
    out.single(&found, |_, _| {
        let lines = found.turns.iter().map(line);
        std::iter::once(standing(&found.session)).chain(lines).collect::<Vec<_>>().join("\n")
    })
}

async fn append(connection: &Connection, args: AppendArgs, out: &mut Out) -> Result<(), Failure> {
    let turns = match &args.json {
        Some(path) => {
            let object = document::object(document::read_text(path)?.as_bytes())?;
            document::typed::<Turns>(object)?.turns
        }
        None => {
            let content = args.text.unwrap_or_default();
            vec![TurnDraft { role: args.role, content, tool: args.tool, at: None }]
        }
    };
    let appended = handle(connection, args.which)?.append(turns).await?;
    out.single(&appended, |_, _| standing(&appended.session))
}

async fn close(connection: &Connection, args: CloseArgs, out: &mut Out) -> Result<(), Failure> {
    let mut record: Option<RecordDraft> = match &args.json {
        Some(path) => Some(document::typed(document::object(document::read_text(path)?.as_bytes())?)?),
        None => None,
    };
    let has_flags = args.task_type.is_some()
        || args.status.is_some()
        || args.summary.is_some()
        || args.root_cause.is_some()
        || args.resolution.is_some()
        || !args.tags.is_empty();
    if has_flags {
        let record = record.get_or_insert_with(RecordDraft::default);
        if let Some(task_type) = args.task_type {
            record.task_type = task_type;
        }
        if let Some(summary) = args.summary {
            record.summary = summary;
        }
        record.status = args.status.or(record.status);
        record.root_cause = args.root_cause.or(record.root_cause.take());
        record.resolution = args.resolution.or(record.resolution.take());
        record.tags.extend(args.tags);
    }
    let session = handle(connection, args.which)?;
    let closed = match record {
        Some(record) => session.close_as(record).await?,
        None => session.close().await?,
    };
    out.single(&closed, |paint, _| {
        let id = flat(session.id().as_str());
        match &closed.memory {
            Some(memory) => format!("{id} is closed: {} is its episode", paint.bold(&memory.id.to_string())),
            None => format!("{id} is closed"),
        }
    })
}

fn handle(connection: &Connection, which: WhichArgs) -> Result<SessionHandle, Failure> {
    let session = connection.memories()?.session(which.id);
    Ok(match which.agent {
        Some(agent) => session.agent(agent),
        None => session,
    })
}

fn standing(session: &Session) -> String {
    let held = counted(wide(session.turns_held), "turn", "turns");
    let fallen = session.turns_total.saturating_sub(wide(session.turns_held));
    let fallen = if fallen > 0 { format!(" ({} fell out)", grouped(fallen)) } else { String::new() };
    let id = flat(session.session_id.as_str());
    format!("{id} holds {held}{fallen}, until {} if nobody uses it", session.expires_at)
}

fn line(turn: &Turn) -> String {
    let tool = turn.tool.as_deref().map(|tool| format!(" [{}]", flat(tool))).unwrap_or_default();
    format!("  {} {} {}{tool}: {}", turn.number, turn.at, flat(&turn.role), flat(&turn.content))
}

fn wide(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
