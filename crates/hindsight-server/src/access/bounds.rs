//! What a credential sets about what is written and seen with it: the grade (S4) and the agent. The application layer asks here, so
//! no front can forget it.

use hindsight_auth::{Credential, Right};
use hindsight_core::{Draft, Kind, Namespace, RuleState, SourceKind};

use super::call::{Call, Caller};
use crate::app::{AppError, Code, Refusal};

/// The call that is worked on. Outside of one nothing is written or read.
fn current() -> Result<Call, AppError> {
    Call::current().ok_or(AppError::Refused(Box::new(Refusal::internal())))
}

/// Brings a draft within what the caller may say: not surer than the credential, and as its agent.
///
/// # Errors
/// `AGENT_DENIED`.
pub(crate) fn bound_draft(draft: &mut Draft) -> Result<(), AppError> {
    let bounds = Bounds::current()?;
    let decided = draft.rule.as_ref().and_then(|rule| rule.rule_state);
    if decided.is_some_and(|state| state != RuleState::Observing) && !bounds.may_decide_rules() {
        let message = "a rule that is not to be observed needs the right rules, and this token does not have it: propose it";
        return Err(rules_missing(message));
    }
    bounds.bind(draft)
}

/// Whether the caller may bring rules into force, and change those that are there.
///
/// # Errors
/// When there is no call, a fault of this program.
pub(crate) fn may_decide_rules() -> Result<bool, AppError> {
    Ok(Bounds::current()?.may_decide_rules())
}

/// That a call needs the right to decide on rules.
pub(crate) fn rules_missing(message: &str) -> AppError {
    let mut refusal = Refusal::new(Code::Forbidden, "SCOPE_MISSING", message);
    refusal.metadata.insert("needed_right", Right::Rules.to_string());
    AppError::Refused(Box::new(refusal))
}

/// What a caller may say, for a draft that comes into being on another thread.
#[derive(Clone)]
pub(crate) struct Bounds(Call);

impl Bounds {
    /// Those of the call that is worked on.
    ///
    /// # Errors
    /// When there is none, a fault of this program.
    pub(crate) fn current() -> Result<Bounds, AppError> {
        current().map(Bounds)
    }

    /// Whether rules may be brought into force.
    fn may_decide_rules(&self) -> bool {
        match (self.0.caller(), self.0.namespace()) {
            (Caller::Anyone, _) => true,
            (Caller::Holder(holder), Some(namespace)) => holder.may(Right::Rules, namespace),
            (Caller::Holder(_), None) => false,
        }
    }

    /// As [`bound_draft`], but for the state of a rule, which who calls this has decided.
    ///
    /// # Errors
    /// `AGENT_DENIED`.
    pub(crate) fn bind(&self, draft: &mut Draft) -> Result<(), AppError> {
        let Caller::Holder(holder) = self.0.caller() else { return Ok(()) };
        bind(holder, draft)
    }
}

fn bind(holder: &Credential, draft: &mut Draft) -> Result<(), AppError> {
    let source = draft.source.get_or_insert_default();
    let is_episode = draft.kind == Some(Kind::Episode) || draft.episode.is_some();
    let default = if is_episode { SourceKind::AgentVerified } else { SourceKind::Agent };
    source.kind = Some(lower(source.kind.unwrap_or(default), holder.source));
    as_agent_of(holder.agent_id.as_deref(), &mut draft.agent_id)
}

/// Lets the call be that of the credential's agent, if it belongs to one.
///
/// # Errors
/// `AGENT_DENIED` when another is named.
pub(crate) fn as_agent(agent: &mut Option<String>) -> Result<(), AppError> {
    let call = current()?;
    let Caller::Holder(holder) = call.caller() else { return Ok(()) };
    as_agent_of(holder.agent_id.as_deref(), agent)
}

/// Refuses a call that reaches beyond what one agent may know of, where the credential belongs to one. `does` says what such a
/// caller does instead.
///
/// # Errors
/// `AGENT_DENIED`.
pub(crate) fn no_agent(does: &str) -> Result<(), AppError> {
    let mut agent = None;
    as_agent(&mut agent)?;
    let Some(agent) = agent else { return Ok(()) };
    let message = format!("this token belongs to agent {agent:?}, which {does}");
    Err(AppError::Refused(Box::new(Refusal::new(Code::Forbidden, "AGENT_DENIED", message))))
}

fn as_agent_of(own: Option<&str>, agent: &mut Option<String>) -> Result<(), AppError> {
    match (own, agent.as_deref()) {
        (Some(own), Some(named)) if own != named => {
            let message = format!("this token belongs to agent {own:?}, and the request names {named:?}");
            Err(AppError::Refused(Box::new(Refusal::new(Code::Forbidden, "AGENT_DENIED", message))))
        }
        (Some(own), None) => {
            *agent = Some(own.to_owned());
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Whether the caller may know of a namespace.
pub(crate) fn sees(namespace: &Namespace) -> bool {
    match Call::current().as_ref().map(Call::caller) {
        Some(Caller::Anyone) => true,
        Some(Caller::Holder(holder)) => holder.may(Right::Observe, namespace),
        None => false,
    }
}

/// Whether the caller may know of every namespace.
pub(crate) fn sees_all() -> bool {
    match Call::current().as_ref().map(Call::caller) {
        Some(Caller::Anyone) => true,
        Some(Caller::Holder(holder)) => holder.may_everywhere(Right::Observe),
        None => false,
    }
}

/// Notes how many memories the call stored, changed or returned.
pub(crate) fn note(count: usize) {
    if let Some(call) = Call::current() {
        call.add(u64::try_from(count).unwrap_or(u64::MAX));
    }
}

/// The less sure of two grades; the list of grades is in their order.
fn lower(one: SourceKind, other: SourceKind) -> SourceKind {
    let place = |kind: SourceKind| SourceKind::ALL.iter().position(|known| *known == kind);
    if place(one) >= place(other) { one } else { other }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s4_the_grade_is_never_above_the_credential_s() {
        use SourceKind::{Admin, Agent, External, Tool, UserInput};
        assert_eq!(lower(Admin, Agent), Agent);
        assert_eq!(lower(External, Agent), External);
        assert_eq!(lower(Tool, Tool), Tool);
        assert_eq!(lower(UserInput, Admin), UserInput);
    }

    #[test]
    fn s1_an_agent_s_token_names_no_other_agent() {
        let mut agent = None;
        as_agent_of(Some("cook"), &mut agent).unwrap();
        assert_eq!(agent.as_deref(), Some("cook"));
        as_agent_of(Some("cook"), &mut agent).unwrap();
        assert!(as_agent_of(Some("maid"), &mut agent).is_err());
        as_agent_of(None, &mut agent).unwrap();
        assert_eq!(agent.as_deref(), Some("cook"));
    }
}
