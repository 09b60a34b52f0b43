//! Episodes and their actions, stored and as drafts.

use hindsight_core::draft::EpisodeDraft;
use hindsight_core::{Action, Episode, Invalid};

use crate::gather::Gather;
use crate::{struct_json, text, time, v1};

impl From<Episode> for v1::Episode {
    fn from(episode: Episode) -> v1::Episode {
        v1::Episode {
            started_at: episode.started_at.map(time::to_wire),
            ended_at: episode.ended_at.map(time::to_wire),
            actions: actions_to_wire(episode.actions),
            root_cause: text::or_empty(episode.root_cause),
            resolution: text::or_empty(episode.resolution),
            transient: Some(episode.transient),
        }
    }
}

impl TryFrom<v1::Episode> for Episode {
    type Error = Invalid;

    fn try_from(wire: v1::Episode) -> Result<Episode, Invalid> {
        let draft = EpisodeDraft::try_from(wire)?;
        Ok(Episode {
            started_at: draft.started_at,
            ended_at: draft.ended_at,
            actions: draft.actions,
            root_cause: draft.root_cause,
            resolution: draft.resolution,
            transient: draft.transient.unwrap_or(false),
        })
    }
}

impl From<EpisodeDraft> for v1::Episode {
    fn from(draft: EpisodeDraft) -> v1::Episode {
        v1::Episode {
            started_at: draft.started_at.map(time::to_wire),
            ended_at: draft.ended_at.map(time::to_wire),
            actions: actions_to_wire(draft.actions),
            root_cause: text::or_empty(draft.root_cause),
            resolution: text::or_empty(draft.resolution),
            transient: draft.transient,
        }
    }
}

impl TryFrom<v1::Episode> for EpisodeDraft {
    type Error = Invalid;

    fn try_from(wire: v1::Episode) -> Result<EpisodeDraft, Invalid> {
        let mut gather = Gather::default();
        let draft = EpisodeDraft {
            started_at: gather.keep(time::optional("started_at", wire.started_at.as_ref())),
            ended_at: gather.keep(time::optional("ended_at", wire.ended_at.as_ref())),
            actions: gather.keep(actions_from_wire(wire.actions)),
            root_cause: text::optional(wire.root_cause),
            resolution: text::optional(wire.resolution),
            transient: wire.transient,
        };
        gather.finish().map(|()| draft)
    }
}

/// Actions for the wire.
pub(crate) fn actions_to_wire(actions: Vec<Action>) -> Vec<v1::Action> {
    let actions = actions.into_iter();
    actions
        .map(|action| v1::Action {
            step: action.step,
            tool: action.tool,
            params: struct_json::to_wire(action.params),
            result: text::or_empty(action.result),
            error_code: text::or_empty(action.error_code),
            error_message: text::or_empty(action.error_message),
            called_at: action.called_at.map(time::to_wire),
        })
        .collect()
}

/// Actions from the wire; of several bad ones the first is named.
pub(crate) fn actions_from_wire(actions: Vec<v1::Action>) -> Result<Vec<Action>, Invalid> {
    let actions = actions.into_iter().enumerate();
    actions
        .map(|(index, action)| {
            action_from_wire(action).map_err(|invalid| invalid.under(&format!("actions[{index}].")))
        })
        .collect()
}

/// Checks that the parameters of every action keep all their digits on the wire.
pub(crate) fn check_exact(prefix: &str, actions: &[Action]) -> Result<(), Invalid> {
    actions.iter().enumerate().try_for_each(|(index, action)| {
        struct_json::check_exact(&format!("{prefix}actions[{index}].params"), &action.params)
    })
}

fn action_from_wire(wire: v1::Action) -> Result<Action, Invalid> {
    Ok(Action {
        step: wire.step,
        tool: wire.tool,
        params: struct_json::from_wire("params", wire.params)?,
        result: text::optional(wire.result),
        error_code: text::optional(wire.error_code),
        error_message: text::optional(wire.error_message),
        called_at: time::optional("called_at", wire.called_at.as_ref())?,
    })
}
