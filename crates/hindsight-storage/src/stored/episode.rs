//! What an episode and a rule carry, on disk.

use bincode::{Decode, Encode};
use hindsight_core::{Action, Episode, Rule, Timestamp, memory::Condition};

use super::{
    parts::{json_from_text, json_to_text, time_if},
    words::Word,
};
use crate::codec::CodecError;

#[derive(Debug, Encode, Decode)]
pub(super) struct StoredEpisode {
    started_at_ms: Option<i64>,
    ended_at_ms: Option<i64>,
    actions: Vec<StoredAction>,
    root_cause: Option<String>,
    resolution: Option<String>,
    transient: bool,
}

#[derive(Debug, Encode, Decode)]
struct StoredAction {
    step: u32,
    tool: String,
    params_json: String,
    result: Option<String>,
    error_code: Option<String>,
    error_message: Option<String>,
    called_at_ms: Option<i64>,
}

#[derive(Debug, Encode, Decode)]
pub(super) struct StoredRule {
    polarity: u8,
    advice: String,
    condition: StoredCondition,
    rule_state: u8,
    support: u32,
}

#[derive(Debug, Encode, Decode)]
struct StoredCondition {
    task_type: Option<String>,
    root_cause: Option<String>,
    error_code: Option<String>,
    tool: Option<String>,
}

impl TryFrom<Episode> for StoredEpisode {
    type Error = CodecError;

    fn try_from(episode: Episode) -> Result<Self, CodecError> {
        let Episode { started_at, ended_at, actions, root_cause, resolution, transient } = episode;
        Ok(StoredEpisode {
            started_at_ms: started_at.map(Timestamp::as_ms),
            ended_at_ms: ended_at.map(Timestamp::as_ms),
            actions: actions.into_iter().map(StoredAction::try_from).collect::<Result<_, _>>()?,
            root_cause,
            resolution,
            transient,
        })
    }
}

impl TryFrom<StoredEpisode> for Episode {
    type Error = CodecError;

    fn try_from(stored: StoredEpisode) -> Result<Self, CodecError> {
        let StoredEpisode { started_at_ms, ended_at_ms, actions, root_cause, resolution, transient } = stored;
        Ok(Episode {
            started_at: time_if("started_at", started_at_ms)?,
            ended_at: time_if("ended_at", ended_at_ms)?,
            actions: actions.into_iter().map(Action::try_from).collect::<Result<_, _>>()?,
            root_cause,
            resolution,
            transient,
        })
    }
}

impl TryFrom<Action> for StoredAction {
    type Error = CodecError;

    fn try_from(action: Action) -> Result<Self, CodecError> {
        let Action { step, tool, params, result, error_code, error_message, called_at } = action;
        let params_json = json_to_text("episode.actions.params", &params)?;
        let called_at_ms = called_at.map(Timestamp::as_ms);
        Ok(StoredAction { step, tool, params_json, result, error_code, error_message, called_at_ms })
    }
}

impl TryFrom<StoredAction> for Action {
    type Error = CodecError;

    fn try_from(stored: StoredAction) -> Result<Self, CodecError> {
        let StoredAction { step, tool, params_json, result, error_code, error_message, called_at_ms } =
            stored;
        let params = json_from_text("episode.actions.params", &params_json)?;
        let called_at = time_if("actions.called_at", called_at_ms)?;
        Ok(Action { step, tool, params, result, error_code, error_message, called_at })
    }
}

impl From<Rule> for StoredRule {
    fn from(rule: Rule) -> Self {
        let Rule { polarity, advice, condition, rule_state, support } = rule;
        let Condition { task_type, root_cause, error_code, tool } = condition;
        let condition = StoredCondition { task_type, root_cause, error_code, tool };
        StoredRule { polarity: polarity.code(), advice, condition, rule_state: rule_state.code(), support }
    }
}

impl TryFrom<StoredRule> for Rule {
    type Error = CodecError;

    fn try_from(stored: StoredRule) -> Result<Self, CodecError> {
        let StoredRule { polarity, advice, condition, rule_state, support } = stored;
        let StoredCondition { task_type, root_cause, error_code, tool } = condition;
        Ok(Rule {
            polarity: Word::from_code("rule.polarity", polarity)?,
            advice,
            condition: Condition { task_type, root_cause, error_code, tool },
            rule_state: Word::from_code("rule.rule_state", rule_state)?,
            support,
        })
    }
}
