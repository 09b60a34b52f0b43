//! Rules: listing, proposing and changing them, and what became of them.

use hindsight_core::consolidate::{RuleEvent, RulePatch};
use hindsight_core::draft::{RuleProposal, SourceDraft};
use hindsight_core::{Invalid, MemoryId, Namespace, Patch, RuleState};

use crate::gather::Gather;
use crate::{patch, text, time, v1, words};

/// The fields that an update of a rule can name.
const FIELDS: [&str; 3] = ["rule_state", "valid_from", "valid_to"];

/// A request for a page of rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListRulesCall {
    /// Where they are.
    pub namespace: Namespace,
    /// In one of these states; none means in any.
    pub rule_states: Vec<RuleState>,
    /// For one of these types of task; none means for any.
    pub task_types: Vec<String>,
    /// Most rules of the page.
    pub page_size: usize,
    /// What the page before gave; empty for the first.
    pub page_token: String,
    /// The agent that asks.
    pub agent_id: Option<String>,
}

impl ListRulesCall {
    /// Reads a request.
    ///
    /// # Errors
    /// Every field that can't be read.
    pub fn from_wire(wire: v1::ListRulesRequest) -> Result<ListRulesCall, Invalid> {
        let mut gather = Gather::default();
        let namespace = gather.keep_some(super::namespace(&wire.namespace));
        let rule_states = gather.keep(words::list("rule_states", &wire.rule_states));
        let page_size = gather.keep(super::page_size(wire.page_size));
        let (task_types, page_token) = (wire.task_types, wire.page_token);
        let agent_id = text::optional(wire.agent_id);
        super::finish(gather, namespace, |namespace| ListRulesCall {
            namespace,
            rule_states,
            task_types,
            page_size,
            page_token,
            agent_id,
        })
    }

    /// The request for the wire.
    #[must_use]
    pub fn into_wire(self) -> v1::ListRulesRequest {
        v1::ListRulesRequest {
            namespace: self.namespace.to_string(),
            rule_states: words::numbers(&self.rule_states),
            task_types: self.task_types,
            page_size: i32::try_from(self.page_size).unwrap_or(i32::MAX),
            page_token: self.page_token,
            agent_id: text::or_empty(self.agent_id),
        }
    }
}

/// A request for one rule, or for what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleCall {
    /// Where it is.
    pub namespace: Namespace,
    /// Which.
    pub id: MemoryId,
    /// The agent that asks.
    pub agent_id: Option<String>,
}

impl RuleCall {
    /// Reads a request for a rule.
    ///
    /// # Errors
    /// Every field that can't be read.
    pub fn from_get(wire: v1::GetRuleRequest) -> Result<RuleCall, Invalid> {
        let v1::GetRuleRequest { namespace, id, agent_id } = wire;
        let mut gather = Gather::default();
        let namespace = gather.keep_some(super::namespace(&namespace));
        let id = gather.keep_some(super::memory_id(&id));
        let agent_id = text::optional(agent_id);
        super::finish(gather, namespace.zip(id), |(namespace, id)| RuleCall { namespace, id, agent_id })
    }

    /// Reads a request for what became of a rule.
    ///
    /// # Errors
    /// Every field that can't be read.
    pub fn from_history(wire: v1::GetRuleHistoryRequest) -> Result<RuleCall, Invalid> {
        let v1::GetRuleHistoryRequest { namespace, id, agent_id } = wire;
        RuleCall::from_get(v1::GetRuleRequest { namespace, id, agent_id })
    }

    /// The request for the rule, for the wire.
    #[must_use]
    pub fn into_get(self) -> v1::GetRuleRequest {
        let RuleCall { namespace, id, agent_id } = self;
        let agent_id = text::or_empty(agent_id);
        v1::GetRuleRequest { namespace: namespace.to_string(), id: id.to_string(), agent_id }
    }

    /// The request for what became of it, for the wire.
    #[must_use]
    pub fn into_history(self) -> v1::GetRuleHistoryRequest {
        let v1::GetRuleRequest { namespace, id, agent_id } = self.into_get();
        v1::GetRuleHistoryRequest { namespace, id, agent_id }
    }
}

/// A rule that somebody proposes.
#[derive(Debug, Clone, PartialEq)]
pub struct ProposeRuleCall {
    /// Where it is to be.
    pub namespace: Namespace,
    /// What is proposed.
    pub proposal: RuleProposal,
    /// Check and answer, but store nothing.
    pub validate_only: bool,
    /// The caller's own id of the request.
    pub request_id: Option<String>,
}

impl ProposeRuleCall {
    /// Reads a request.
    ///
    /// # Errors
    /// Every field that can't be read.
    pub fn from_wire(wire: v1::ProposeRuleRequest) -> Result<ProposeRuleCall, Invalid> {
        let mut gather = Gather::default();
        let namespace = gather.keep_some(super::namespace(&wire.namespace));
        let source = wire.source.map(SourceDraft::try_from).transpose();
        let proposal = RuleProposal {
            condition: wire.condition.map(Into::into).unwrap_or_default(),
            advice: wire.advice,
            polarity: gather.keep(words::optional("polarity", wire.polarity)),
            content: wire.content,
            tags: wire.tags,
            derived_from: wire.derived_from,
            valid_from: gather.keep(time::optional("valid_from", wire.valid_from.as_ref())),
            valid_to: gather.keep(time::optional("valid_to", wire.valid_to.as_ref())),
            source: gather.keep(source.map_err(|invalid| invalid.under("source."))),
            agent_id: text::optional(wire.agent_id),
            scope: gather.keep(words::optional("scope", wire.scope)),
            confidence: wire.confidence,
        };
        let request_id = gather.keep(super::request_id(wire.request_id));
        let validate_only = wire.validate_only;
        super::finish(gather, namespace, |namespace| ProposeRuleCall {
            namespace,
            proposal,
            validate_only,
            request_id,
        })
    }

    /// The request for the wire.
    #[must_use]
    pub fn into_wire(self) -> v1::ProposeRuleRequest {
        let ProposeRuleCall { namespace, proposal, validate_only, request_id } = self;
        v1::ProposeRuleRequest {
            namespace: namespace.to_string(),
            condition: Some(proposal.condition.into()),
            advice: proposal.advice,
            polarity: words::number(proposal.polarity),
            content: proposal.content,
            tags: proposal.tags,
            derived_from: proposal.derived_from,
            valid_from: proposal.valid_from.map(time::to_wire),
            valid_to: proposal.valid_to.map(time::to_wire),
            source: proposal.source.map(Into::into),
            agent_id: text::or_empty(proposal.agent_id),
            scope: words::number(proposal.scope),
            confidence: proposal.confidence,
            validate_only,
            request_id: text::or_empty(request_id),
        }
    }
}

/// A change to a rule's life.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpdateRuleCall {
    /// Where it is.
    pub namespace: Namespace,
    /// Which.
    pub id: MemoryId,
    /// What changes.
    pub patch: RulePatch,
    /// The version that the caller has seen.
    pub version: Option<u64>,
    /// The caller's own id of the request.
    pub request_id: Option<String>,
}

impl UpdateRuleCall {
    /// Reads a request.
    ///
    /// # Errors
    /// Every field that can't be read, and a mask that names another field.
    pub fn from_wire(wire: v1::UpdateRuleRequest) -> Result<UpdateRuleCall, Invalid> {
        let mut gather = Gather::default();
        let namespace = gather.keep_some(super::namespace(&wire.namespace));
        let id = gather.keep_some(super::memory_id(&wire.id));
        let foreign = wire.update_mask.as_ref().and_then(|mask| {
            mask.paths.iter().find(|path| *path != "*" && !FIELDS.contains(&path.as_str())).cloned()
        });
        let v1::UpdateRuleRequest { rule_state, valid_from, valid_to, update_mask, version, .. } = wire;
        let changed = match foreign {
            Some(path) => Err(Invalid::one(
                "update_mask",
                format!("names {path:?}: expected some of {}", FIELDS.join(", ")),
            )),
            None => {
                let wire = v1::MemoryPatch { rule_state, valid_from, valid_to, ..v1::MemoryPatch::default() };
                patch::from_wire(Some(wire), update_mask)
            }
        };
        let Patch { rule_state, valid_from, valid_to, .. } = gather.keep(changed);
        let patch = RulePatch { rule_state, valid_from, valid_to };
        let request_id = gather.keep(super::request_id(wire.request_id));
        let version = (version != 0).then_some(version);
        super::finish(gather, namespace.zip(id), |(namespace, id)| UpdateRuleCall {
            namespace,
            id,
            patch,
            version,
            request_id,
        })
    }

    /// The request for the wire.
    ///
    /// # Errors
    /// When nothing changes, or version 0 is asked for: no memory has it.
    pub fn into_wire(self) -> Result<v1::UpdateRuleRequest, Invalid> {
        if self.patch.is_empty() {
            // An empty mask would mean "every field that is present" and hide the mistake.
            let right = "changes nothing: name rule_state, valid_from or valid_to";
            return Err(Invalid::one("rule_state", right));
        }
        if self.version == Some(0) {
            return Err(Invalid::one("version", "is 0: versions begin at 1"));
        }
        let RulePatch { rule_state, valid_from, valid_to } = self.patch;
        let (wire, mask) = patch::to_wire(Patch { rule_state, valid_from, valid_to, ..Patch::default() });
        Ok(v1::UpdateRuleRequest {
            namespace: self.namespace.to_string(),
            id: self.id.to_string(),
            rule_state: wire.rule_state,
            valid_from: wire.valid_from,
            valid_to: wire.valid_to,
            update_mask: Some(mask),
            version: self.version.unwrap_or(0),
            request_id: text::or_empty(self.request_id),
        })
    }
}

/// An event for the wire.
#[must_use]
pub fn event_to_wire(rule: MemoryId, event: &RuleEvent) -> v1::RuleEvent {
    v1::RuleEvent {
        rule_id: rule.to_string(),
        at: Some(time::to_wire(event.at)),
        what: words::Word::number(event.what),
        version: event.version,
        rule_state: words::Word::number(event.rule_state),
        confidence: event.confidence,
        support: event.support,
    }
}

/// Reads an event, and which rule it happened to.
///
/// # Errors
/// Every field that can't be read.
pub fn event_from_wire(wire: &v1::RuleEvent) -> Result<(MemoryId, RuleEvent), Invalid> {
    let event = RuleEvent {
        at: time::required("at", wire.at.as_ref())?,
        what: words::required("what", wire.what)?,
        version: wire.version,
        rule_state: words::required("rule_state", wire.rule_state)?,
        confidence: wire.confidence,
        support: wire.support,
    };
    Ok((text::parsed("rule_id", &wire.rule_id)?, event))
}
