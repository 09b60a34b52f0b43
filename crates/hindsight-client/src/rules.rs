//! What calls on rules and summaries give back.

use hindsight_core::consolidate::RuleEvent;
use hindsight_core::{Invalid, LeftOut, Lsn, Memory, MemoryId, RuleChange};
use hindsight_proto::{call, v1, words};
use serde::Serialize;

use crate::reply::{listed, memory, outcome};
use crate::{Updated, Written};

/// What a consolidation came to.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Consolidated {
    /// The rules that it made or changed (or would), at most 1,000 of them.
    pub rules: Vec<ConsolidatedRule>,
    /// Cases that got a rule.
    pub created: u64,
    /// Rules that have a new version.
    pub revised: u64,
    /// Cases whose rule was replaced by another.
    pub replaced: u64,
    /// Episodes that were read.
    pub episodes: u64,
    /// Cases that they tell of: a type of task that went wrong for one cause.
    pub cases: u64,
    /// The request id was seen before: nothing was done again.
    pub replayed: bool,
    /// The log position that holds it.
    pub revision: Lsn,
}

/// What a consolidation did to one rule.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ConsolidatedRule {
    /// What it did.
    pub change: RuleChange,
    /// The rule after it.
    pub rule: Memory,
    /// How often an episode agreed.
    pub agreeing: u32,
    /// How often one spoke of it.
    pub episodes: u32,
    /// The rules that it took the place of.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replaces: Vec<MemoryId>,
}

/// A page of rules.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RulePage {
    /// The rules, in the order of their ids.
    pub rules: Vec<Memory>,
    /// What the next page is asked for with; none after the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_page_token: Option<String>,
    /// The log position that the answer reflects.
    pub revision: Lsn,
}

/// Something that happened to a rule.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RuleHappening {
    /// The rule.
    pub rule_id: MemoryId,
    /// What happened, and what the rule was after it.
    #[serde(flatten)]
    pub event: RuleEvent,
}

/// What became of a rule.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RuleHistory {
    /// What happened, the oldest first.
    pub events: Vec<RuleHappening>,
    /// The rule, those that it replaced and those that replaced it.
    pub rules: Vec<Memory>,
    /// The log position that the answer reflects.
    pub revision: Lsn,
}

/// What became of the memories of an entity.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Summarized {
    /// The summary, or what it would be.
    pub summary: Memory,
    /// Its parts, which are history now, the oldest first.
    pub parts: Vec<MemoryId>,
    /// What is about the entity too, and no part of it, with the reason.
    pub left_out: Vec<(MemoryId, LeftOut)>,
    /// The request id was seen before: nothing was done again.
    pub replayed: bool,
    /// The log position that holds it.
    pub revision: Lsn,
}

fn ids(field: &str, wire: &[String]) -> Result<Vec<MemoryId>, Invalid> {
    let ids = wire.iter().map(|id| call::memory_id(id));
    ids.collect::<Result<_, Invalid>>().map_err(|invalid| invalid.under(&format!("{field}.")))
}

impl Consolidated {
    pub(crate) fn from_wire(wire: v1::ConsolidateResponse) -> Result<Consolidated, Invalid> {
        let rules = wire.rules.into_iter().map(|rule| {
            Ok(ConsolidatedRule {
                change: words::required("change", rule.change)?,
                rule: memory(rule.rule)?,
                agreeing: rule.agreeing,
                episodes: rule.episodes,
                replaces: ids("replaces", &rule.replaces)?,
            })
        });
        Ok(Consolidated {
            rules: rules.collect::<Result<_, Invalid>>()?,
            created: wire.created,
            revised: wire.revised,
            replaced: wire.replaced,
            episodes: wire.episodes,
            cases: wire.cases,
            replayed: wire.replayed,
            revision: Lsn(wire.revision),
        })
    }
}

impl RulePage {
    pub(crate) fn from_wire(wire: v1::ListRulesResponse) -> Result<RulePage, Invalid> {
        Ok(RulePage {
            rules: listed("rules", wire.rules)?,
            next_page_token: Some(wire.next_page_token).filter(|token| !token.is_empty()),
            revision: Lsn(wire.revision),
        })
    }
}

impl RuleHistory {
    pub(crate) fn from_wire(wire: v1::GetRuleHistoryResponse) -> Result<RuleHistory, Invalid> {
        let event = |event: &v1::RuleEvent| {
            call::event_from_wire(event).map(|(rule_id, event)| RuleHappening { rule_id, event })
        };
        Ok(RuleHistory {
            events: wire.events.iter().map(event).collect::<Result<_, Invalid>>()?,
            rules: listed("rules", wire.rules)?,
            revision: Lsn(wire.revision),
        })
    }
}

impl Summarized {
    pub(crate) fn from_wire(wire: v1::SummarizeResponse) -> Result<Summarized, Invalid> {
        let left_out = wire
            .left_out
            .iter()
            .map(|one| Ok((call::memory_id(&one.id)?, words::required("left_out.reason", one.reason)?)));
        Ok(Summarized {
            summary: memory(wire.summary)?,
            parts: ids("parts", &wire.parts)?,
            left_out: left_out.collect::<Result<_, Invalid>>()?,
            replayed: wire.replayed,
            revision: Lsn(wire.revision),
        })
    }
}

impl Written {
    pub(crate) fn of_proposal(wire: v1::ProposeRuleResponse) -> Result<Written, Invalid> {
        Ok(Written {
            outcome: outcome(wire.outcome),
            memory: memory(wire.rule)?,
            neighbors: listed("neighbors", wire.neighbors)?,
            replayed: wire.replayed,
            revision: Lsn(wire.revision),
        })
    }
}

impl Updated {
    pub(crate) fn of_rule(wire: v1::UpdateRuleResponse) -> Result<Updated, Invalid> {
        Ok(Updated { memory: memory(wire.rule)?, replayed: wire.replayed, revision: Lsn(wire.revision) })
    }
}
