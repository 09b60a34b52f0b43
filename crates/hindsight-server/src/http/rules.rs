//! `/memory/rules`, `/memory/consolidate`, `/memory/summarize`.

use axum::extract::{Path, Request, State};
use hindsight_core::consolidate::{RuleEvent, RulePatch};
use hindsight_core::draft::RuleProposal;
use hindsight_core::ids::BadId;
use hindsight_core::{Invalid, Kind, LeftOut, Memory, MemoryId, Neighbor, Outcome, RuleChange, RuleState};
use hindsight_engine::{
    ConsolidateRequest, RuleListRequest, RuleUpdateRequest, SummarizeRequest, WriteOptions,
};
use serde::{Deserialize, Serialize};

use super::{Http, Reply, answer};
use crate::app::page::{self, RuleListing};

/// One value or several.
#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany<T> {
    Many(Vec<T>),
    One(T),
}

impl<T> OneOrMany<T> {
    fn all(given: Option<OneOrMany<T>>) -> Vec<T> {
        match given {
            None => Vec::new(),
            Some(OneOrMany::Many(values)) => values,
            Some(OneOrMany::One(value)) => vec![value],
        }
    }
}

#[derive(Serialize)]
struct RulesReply {
    rules: Vec<Memory>,
    /// Absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_page_token: Option<String>,
    revision: u64,
}

#[derive(Serialize)]
struct RuleReply {
    rule: Memory,
    revision: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    replayed: Option<bool>,
}

#[derive(Serialize)]
struct ProposedReply {
    outcome: Outcome,
    rule: Memory,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    neighbors: Vec<Neighbor>,
    revision: u64,
    replayed: bool,
}

#[derive(Serialize)]
struct EventReply {
    rule_id: MemoryId,
    #[serde(flatten)]
    event: RuleEvent,
}

#[derive(Serialize)]
struct HistoryReply {
    events: Vec<EventReply>,
    rules: Vec<Memory>,
    revision: u64,
}

#[derive(Serialize)]
struct ConsolidatedReply {
    rules: Vec<ConsolidatedRuleReply>,
    created: u64,
    revised: u64,
    replaced: u64,
    episodes: u64,
    cases: u64,
    revision: u64,
    replayed: bool,
}

#[derive(Serialize)]
struct ConsolidatedRuleReply {
    change: RuleChange,
    rule: Memory,
    agreeing: u32,
    episodes: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    replaces: Vec<MemoryId>,
}

#[derive(Serialize)]
struct SummarizedReply {
    summary: Memory,
    parts: Vec<MemoryId>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<LeftOutReply>,
    revision: u64,
    replayed: bool,
}

#[derive(Serialize)]
struct LeftOutReply {
    id: MemoryId,
    reason: LeftOut,
}

fn id_of(text: &str) -> Result<MemoryId, Invalid> {
    text.parse().map_err(|bad: BadId| Invalid::one("id", bad.to_string()))
}

/// Lists rules page by page; `status` means `rule_state`, and `rules` of several states are asked for as a list.
pub(super) async fn list(State(http): State<Http>, request: Request) -> Reply {
    let mut call = http.call(request).await?;
    let namespace = call.namespace()?;
    let fields = &mut call.fields;
    let states: Option<OneOrMany<String>> = match fields.take_either("rule_state", "status")? {
        None => fields.take("rule_states")?,
        some => some,
    };
    let state =
        |word: String| word.parse::<RuleState>().map_err(|bad| Invalid::one("status", bad.to_string()));
    let rule_states = OneOrMany::all(states).into_iter().map(state).collect::<Result<_, Invalid>>()?;
    let task_types = OneOrMany::all(fields.take_either("task_type", "task_types")?);
    let page_size = page::size(fields.take("page_size")?.unwrap_or(0))?;
    let token: String = fields.take("page_token")?.unwrap_or_default();
    let agent_id = fields.take("agent_id")?;
    call.fields.finish()?;
    let mut wish = RuleListRequest { rule_states, task_types, page_size, after: None, agent_id };
    let listing = RuleListing::of(&namespace, &wish);
    wish.after = listing.after(&token)?;
    let page = http.app.rules(namespace, wish).await?;
    let next_page_token = listing.next(&page);
    answer(&RulesReply { rules: page.memories, next_page_token, revision: page.revision.0 })
}

/// Stores a proposed rule. The fields of its condition may stand beside the others.
pub(super) async fn propose(State(http): State<Http>, request: Request) -> Reply {
    let mut call = http.call(request).await?;
    let namespace = call.namespace()?;
    let validate_only = call.fields.take("validate_only")?.unwrap_or(false);
    let request_id = call.request_id()?;
    let flat = (call.fields.take("task_type")?, call.fields.take("root_cause")?);
    let more = (call.fields.take("error_code")?, call.fields.take("tool")?);
    let mut proposal: RuleProposal = call.fields.without_nulls().rest()?;
    let condition = &mut proposal.condition;
    for (field, value) in [
        (&mut condition.task_type, flat.0),
        (&mut condition.root_cause, flat.1),
        (&mut condition.error_code, more.0),
        (&mut condition.tool, more.1),
    ] {
        if value.is_some() {
            *field = value;
        }
    }
    let options = WriteOptions { validate_only, request_id, ..WriteOptions::default() };
    let written = http.app.propose_rule(namespace, proposal, options).await?;
    answer(&ProposedReply {
        outcome: written.outcome,
        rule: written.memory,
        neighbors: written.neighbors,
        revision: written.revision.0,
        replayed: written.replayed,
    })
}

/// Returns one rule.
pub(super) async fn get(State(http): State<Http>, Path(id): Path<String>, request: Request) -> Reply {
    let mut call = http.call(request).await?;
    let (namespace, id) = (call.namespace()?, id_of(&id)?);
    let agent = call.fields.take("agent_id")?;
    call.fields.finish()?;
    let got = http.app.rule(namespace, id, agent).await?;
    answer(&RuleReply { rule: got.memory, revision: got.revision.0, replayed: None })
}

/// Changes a rule's state or validity; a bound that is `null` is taken away.
pub(super) async fn update(State(http): State<Http>, Path(id): Path<String>, request: Request) -> Reply {
    let mut call = http.call(request).await?;
    let (namespace, id) = (call.namespace()?, id_of(&id)?);
    let version = call.version()?;
    let request_id = call.request_id()?;
    let patch: RulePatch = call.fields.rest()?;
    let update = RuleUpdateRequest { id, patch, version, request_id };
    let updated = http.app.update_rule(namespace, update).await?;
    let (revision, replayed) = (updated.revision.0, Some(updated.replayed));
    answer(&RuleReply { rule: updated.memory, revision, replayed })
}

/// What became of a rule.
pub(super) async fn history(State(http): State<Http>, Path(id): Path<String>, request: Request) -> Reply {
    let mut call = http.call(request).await?;
    let (namespace, id) = (call.namespace()?, id_of(&id)?);
    let agent = call.fields.take("agent_id")?;
    call.fields.finish()?;
    let history = http.app.rule_history(namespace, id, agent).await?;
    let events = history.events.into_iter().map(|(rule_id, event)| EventReply { rule_id, event }).collect();
    answer(&HistoryReply { events, rules: history.rules, revision: history.revision.0 })
}

/// Makes rules of what episodes agree on.
pub(super) async fn consolidate(State(http): State<Http>, request: Request) -> Reply {
    let mut call = http.call(request).await?;
    let namespace = call.namespace()?;
    let validate_only = call.fields.take_either("validate_only", "dry_run")?.unwrap_or(false);
    let min_episodes = call.fields.take("min_episodes")?;
    let min_confidence = call.fields.take("min_confidence")?;
    let request_id = call.request_id()?;
    call.fields.finish()?;
    let wish = ConsolidateRequest { min_episodes, min_confidence, validate_only, request_id };
    let done = http.app.consolidate(namespace, wish).await?;
    let rules = done.rules.into_iter().map(|rule| ConsolidatedRuleReply {
        change: rule.change,
        rule: rule.rule,
        agreeing: rule.agreeing,
        episodes: rule.episodes,
        replaces: rule.replaces,
    });
    answer(&ConsolidatedReply {
        rules: rules.collect(),
        created: done.created,
        revised: done.revised,
        replaced: done.replaced,
        episodes: done.episodes,
        cases: done.cases,
        revision: done.revision.0,
        replayed: done.replayed,
    })
}

/// Merges what is known of an entity into one memory.
pub(super) async fn summarize(State(http): State<Http>, request: Request) -> Reply {
    let mut call = http.call(request).await?;
    let namespace = call.namespace()?;
    let entity = call.fields.take("entity")?.unwrap_or_default();
    let kinds: Vec<Kind> = OneOrMany::all(call.fields.take_either("kinds", "kind")?);
    let agent_id = call.fields.take("agent_id")?;
    let validate_only = call.fields.take("validate_only")?.unwrap_or(false);
    let request_id = call.request_id()?;
    call.fields.finish()?;
    let wish = SummarizeRequest { entity, kinds, agent_id, validate_only, request_id };
    let done = http.app.summarize(namespace, wish).await?;
    answer(&SummarizedReply {
        summary: done.summary,
        parts: done.parts,
        left_out: done.left_out.into_iter().map(|(id, reason)| LeftOutReply { id, reason }).collect(),
        revision: done.revision.0,
        replayed: done.replayed,
    })
}
