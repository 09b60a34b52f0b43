//! `rules`, `consolidate`, `summarize`: what episodes taught, and many memories as one.

use clap::{Args, Subcommand};
use comfy_table::Cell;
use hindsight_client::{
    Condition, ConsolidateOptions, Consolidated, RuleHappening, RulePatch, RuleProposal, RuleQuery,
    SummarizeOptions,
};
use hindsight_core::{Kind, Memory, MemoryId, Polarity, RuleState, Timestamp};

use crate::connection::Connection;
use crate::failure::Failure;
use crate::flags::{print_stored, print_written};
use crate::output::{Out, tell};
use crate::screen::{Paint, counted, flat, one_line, text_of};
use crate::view::memory::{detail, keep_words};

/// What to do with rules.
#[derive(Debug, Args)]
pub(crate) struct RulesArgs {
    #[command(subcommand)]
    pub(crate) action: RulesAction,
}

/// What to do with rules.
#[derive(Debug, Subcommand)]
pub(crate) enum RulesAction {
    /// List rules
    List(RuleListArgs),
    /// Show one rule
    Show(RuleArgs),
    /// Store a rule to be observed
    Propose(Box<ProposeArgs>),
    /// Let a rule be recalled
    Activate(RuleChangeArgs),
    /// Withdraw a rule: it is not recalled any more
    Deprecate(RuleChangeArgs),
    /// Put a rule back under observation
    Observe(RuleChangeArgs),
    /// Show what became of a rule
    History(RuleArgs),
}

/// Which rules.
#[derive(Debug, Args)]
pub(crate) struct RuleListArgs {
    /// In this state: observing, active, deprecated; may be repeated
    #[arg(long = "state", alias = "status", value_name = "STATE")]
    states: Vec<RuleState>,
    /// For this type of task; may be repeated
    #[arg(long = "task-type", value_name = "TYPE")]
    task_types: Vec<String>,
    /// Most rules
    #[arg(long, value_name = "NUMBER", default_value_t = 50)]
    limit: usize,
    /// The agent that asks; it sees its own rules beside the shared ones
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
}

/// Which rule.
#[derive(Debug, Args)]
pub(crate) struct RuleArgs {
    /// The rule
    #[arg(value_name = "ID")]
    id: MemoryId,
    /// The agent that asks; it sees its own rules beside the shared ones
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
}

/// Which rule, and until when.
#[derive(Debug, Args)]
pub(crate) struct RuleChangeArgs {
    /// The rule
    #[arg(value_name = "ID")]
    id: MemoryId,
    /// The version that you have seen; another one is left alone
    #[arg(long, value_name = "NUMBER")]
    version: Option<u64>,
    /// Until when it is valid
    #[arg(long, value_name = "TIME", conflicts_with = "for_ever")]
    valid_to: Option<Timestamp>,
    /// It stays valid
    #[arg(long)]
    for_ever: bool,
}

/// The rule.
#[derive(Debug, Args)]
pub(crate) struct ProposeArgs {
    /// What to do, or with --avoid what to leave
    #[arg(value_name = "ADVICE")]
    advice: String,
    /// For this type of task
    #[arg(long, value_name = "TYPE")]
    task_type: Option<String>,
    /// For failures of this cause
    #[arg(long, value_name = "CAUSE")]
    root_cause: Option<String>,
    /// For this error code
    #[arg(long, value_name = "CODE")]
    error_code: Option<String>,
    /// For this tool
    #[arg(long, value_name = "TOOL")]
    tool: Option<String>,
    /// The advice says what to leave
    #[arg(long)]
    avoid: bool,
    /// Until when it is valid
    #[arg(long, value_name = "TIME")]
    valid_to: Option<Timestamp>,
    /// A label; may be repeated
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Check and answer, but store nothing
    #[arg(long)]
    validate_only: bool,
}

/// How episodes become rules.
#[derive(Debug, Args)]
pub(crate) struct ConsolidateArgs {
    /// Only show what would come
    #[arg(long)]
    dry_run: bool,
    /// Least episodes that agree, 2 or more [default: the server's]
    #[arg(long, value_name = "NUMBER")]
    min_episodes: Option<u32>,
    /// Least confidence of a new rule, 0 to 1 [default: the server's]
    #[arg(long, value_name = "SHARE")]
    min_confidence: Option<f64>,
}

/// What to merge.
#[derive(Debug, Args)]
pub(crate) struct SummarizeArgs {
    /// Whom or what the summary is about, as the memories name it
    #[arg(long, value_name = "NAME")]
    entity: String,
    /// Memories of this kind: fact, preference, episode; may be repeated [default: fact, preference]
    #[arg(long = "kind", value_name = "KIND")]
    kinds: Vec<Kind>,
    /// The agent whose own memories are meant [default: the shared ones]
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// Only show what would come
    #[arg(long)]
    dry_run: bool,
}

/// Runs what stands behind `rules`.
pub(crate) async fn run(connection: &Connection, args: RulesArgs, out: &mut Out) -> Result<(), Failure> {
    match args.action {
        RulesAction::List(args) => list(connection, args, out).await,
        RulesAction::Show(args) => {
            let rule = connection.memories()?.rule(args.id, args.agent.as_deref()).await?;
            out.single(&rule, |paint, width| detail(&rule, *paint, width))
        }
        RulesAction::Propose(args) => propose(connection, *args, out).await,
        RulesAction::Activate(args) => change(connection, args, RuleState::Active, out).await,
        RulesAction::Deprecate(args) => change(connection, args, RuleState::Deprecated, out).await,
        RulesAction::Observe(args) => change(connection, args, RuleState::Observing, out).await,
        RulesAction::History(args) => {
            let history = connection.memories()?.rule_history(args.id, args.agent.as_deref()).await?;
            out.single(&history, |_, _| history.events.iter().map(event_line).collect::<Vec<_>>().join("\n"))
        }
    }
}

async fn list(connection: &Connection, args: RuleListArgs, out: &mut Out) -> Result<(), Failure> {
    let RuleListArgs { states: rule_states, task_types, limit, agent: agent_id } = args;
    let query = RuleQuery { rule_states, task_types, page_size: limit, agent_id, ..RuleQuery::default() };
    let page = connection.memories()?.rules(query).await?;
    if page.next_page_token.is_some() {
        tell(&format!("the first {}; --limit shows more", page.rules.len()));
    } else if page.rules.is_empty() {
        tell("no rules: `hindsight consolidate` finds what episodes agree on");
    }
    out.list(&page.rules, |paint, width| rows(&page.rules, *paint, width))
}

fn rows(rules: &[Memory], paint: Paint, width: u16) -> String {
    let mut table = paint.table(width, &["state", "sure", "support", "rule", "id"]);
    for memory in rules {
        let Some(rule) = memory.rule.as_deref() else { continue };
        table.add_row(one_line(vec![
            Cell::new(rule.rule_state),
            Cell::new(format!("{:.2}", memory.confidence)),
            Cell::new(rule.support),
            Cell::new(flat(&memory.content)),
            Cell::new(memory.id),
        ]));
    }
    keep_words(&mut table, &[0, 1, 2, 4]);
    text_of(&mut table)
}

async fn propose(connection: &Connection, args: ProposeArgs, out: &mut Out) -> Result<(), Failure> {
    let ProposeArgs { advice, task_type, root_cause, error_code, tool, avoid, valid_to, tags, validate_only } =
        args;
    let proposal = RuleProposal {
        condition: Condition { task_type, root_cause, error_code, tool },
        advice,
        polarity: Some(if avoid { Polarity::Avoid } else { Polarity::Do }),
        valid_to,
        tags,
        ..RuleProposal::default()
    };
    let memories = connection.memories()?;
    let written = if validate_only {
        memories.check_rule(proposal).await?
    } else {
        memories.propose_rule(proposal).await?
    };
    print_written(&written, out)
}

async fn change(
    connection: &Connection,
    args: RuleChangeArgs,
    state: RuleState,
    out: &mut Out,
) -> Result<(), Failure> {
    let RuleChangeArgs { id, version, valid_to, for_ever } = args;
    let valid_to = if for_ever { Some(None) } else { valid_to.map(Some) };
    let patch = RulePatch { rule_state: Some(state), valid_from: None, valid_to };
    let updated = connection.memories()?.update_rule(id, patch, version).await?;
    if out.wanted_format().is_none() {
        tell(&format!("{id} is {state}"));
    }
    print_stored(&updated, &updated.memory, updated.replayed, out)
}

fn event_line(happening: &RuleHappening) -> String {
    let RuleHappening { rule_id, event, .. } = happening;
    format!(
        "{} {rule_id} {}: {} at version {}, confidence {:.2}, support {}",
        event.at, event.what, event.rule_state, event.version, event.confidence, event.support
    )
}

/// Makes rules of what episodes agree on.
pub(crate) async fn consolidate(
    connection: &Connection,
    args: ConsolidateArgs,
    out: &mut Out,
) -> Result<(), Failure> {
    let ConsolidateArgs { dry_run: validate_only, min_episodes, min_confidence } = args;
    let options = ConsolidateOptions { validate_only, min_episodes, min_confidence, request_id: None };
    let done = connection.memories()?.consolidate(options).await?;
    out.single(&done, |_, _| consolidated_text(&done, validate_only))
}

fn consolidated_text(done: &Consolidated, is_dry: bool) -> String {
    let read = format!(
        "{} in {}",
        counted(done.episodes, "episode", "episodes"),
        counted(done.cases, "case", "cases")
    );
    let would = if is_dry { "would be " } else { "" };
    let head = format!(
        "{read}: {} {would}created, {} {would}revised, {} {would}replaced",
        counted(done.created, "rule", "rules"),
        done.revised,
        done.replaced
    );
    let lines = done.rules.iter().map(|found| {
        let state = found.rule.rule.as_deref().map(|rule| rule.rule_state.to_string()).unwrap_or_default();
        format!(
            "  {} {} ({state}, {} of {}, confidence {:.2}): {}",
            found.change,
            found.rule.id,
            found.agreeing,
            found.episodes,
            found.rule.confidence,
            flat(&found.rule.content)
        )
    });
    std::iter::once(head).chain(lines).collect::<Vec<_>>().join("\n")
}

/// Merges what is known of an entity.
pub(crate) async fn summarize(
    connection: &Connection,
    args: SummarizeArgs,
    out: &mut Out,
) -> Result<(), Failure> {
    let SummarizeArgs { entity, kinds, agent: agent_id, dry_run: validate_only } = args;
    let options = SummarizeOptions { kinds, agent_id, validate_only, request_id: None };
    let done = connection.memories()?.summarize(&entity, options).await?;
    out.single(&done, |_, _| {
        let parts = counted(u64::try_from(done.parts.len()).unwrap_or(u64::MAX), "memory", "memories");
        let left = done.left_out.iter().map(|(id, reason)| format!("  left out {id}: {reason}"));
        let head = if validate_only {
            format!("{parts} would become one:\n{}", done.summary.content)
        } else {
            format!(
                "{parts} became {}; `hindsight rollback {}` brings them back",
                done.summary.id, done.summary.id
            )
        };
        std::iter::once(head).chain(left).collect::<Vec<_>>().join("\n")
    })
}
