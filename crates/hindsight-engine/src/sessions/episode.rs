//! What a closed session becomes: the report of a finished task, completed by what the session knows.

use hindsight_core::draft::{RecordDraft, SourceDraft};
use hindsight_core::limits::{ACTIONS_MAX, REFERENCES_MAX};
use hindsight_core::{Action, Invalid, Session, Timestamp, Turn};

/// The report with what it leaves open: session, agent, scope, times, the turns it rests on, and the tools that were
/// called. The texts of turns stay out of it: what a session held is gone with it.
///
/// # Errors
/// When it names another session.
pub(super) fn of_session(
    mut record: RecordDraft,
    session: &Session,
    turns: &[Turn],
    now: Timestamp,
) -> Result<RecordDraft, Invalid> {
    let id = session.session_id.as_str();
    if record.session_id.as_deref().is_some_and(|named| named != id) {
        return Err(Invalid::one(
            "session_id",
            format!("is not {id:?}, the session that is closed: leave it out"),
        ));
    }
    record.session_id = Some(id.to_owned());
    if record.agent_id.is_none() {
        record.agent_id.clone_from(&session.settings.agent_id);
        record.scope = record.scope.or(Some(session.settings.scope));
    }
    record.started_at = record.started_at.or(Some(session.opened_at.min(record.ended_at.unwrap_or(now))));
    record.ended_at = record.ended_at.or(Some(now));
    let mut source = record.source.take().unwrap_or_default();
    complete_source(&mut source, id, turns);
    record.source = Some(source);
    if record.actions.is_empty() {
        record.actions = actions(turns);
    }
    Ok(record)
}

fn complete_source(source: &mut SourceDraft, id: &str, turns: &[Turn]) {
    if source.conversation_id.is_none() && source.turns.is_empty() {
        source.conversation_id = Some(id.to_owned());
        let oldest = turns.len().saturating_sub(REFERENCES_MAX);
        source.turns = turns.iter().skip(oldest).map(|turn| turn.number.to_string()).collect();
    }
}

/// The newest calls of tools, in order.
fn actions(turns: &[Turn]) -> Vec<Action> {
    let calls: Vec<&Turn> = turns.iter().filter(|turn| turn.tool.is_some()).collect();
    let oldest = calls.len().saturating_sub(ACTIONS_MAX);
    let calls = calls.into_iter().skip(oldest).zip(1..);
    let action = |(turn, step): (&Turn, u32)| {
        let tool = turn.tool.clone()?;
        Some(Action { step, tool, called_at: Some(turn.at), ..Action::default() })
    };
    calls.filter_map(action).collect()
}
