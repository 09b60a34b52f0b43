//! What is said, in a form by which it is known again: so that what was forgotten does not come back (L4).

use super::claims;
use crate::{Kind, Memory, Scope};

/// Longer texts are known by their letters and digits alone: reading their words costs more than it finds.
const READ_BYTES_MAX: usize = 400;

/// Something that a memory says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value {
    /// Whether it is a claim; otherwise the text.
    pub is_claim: bool,
    /// One form for all that say this. Not meant to be read, nor to be kept: callers make hashes of it.
    pub key: String,
}

/// What a memory says: its text, and each of its claims.
///
/// The text of an episode counts with the time at which it happened, for the same can happen again.
#[must_use]
pub fn values(memory: &Memory) -> Vec<Value> {
    of_scope(memory, memory.scope)
}

/// What a new memory must not say once it was forgotten: its values, and where only one agent may see it, the same as said
/// to all. What an agent had for itself is nothing to the others.
#[must_use]
pub fn values_sought(memory: &Memory) -> Vec<Value> {
    let mut sought = of_scope(memory, memory.scope);
    if memory.scope != Scope::Shared {
        sought.extend(of_scope(memory, Scope::Shared));
    }
    sought
}

fn of_scope(memory: &Memory, scope: Scope) -> Vec<Value> {
    let agent = memory.agent_id.as_deref().filter(|_| scope == Scope::Agent).unwrap_or_default();
    let value = |is_claim: bool, parts: &[&str]| {
        let mut key = format!("{scope}\0{agent}\0{is_claim}");
        for part in parts {
            key.push('\0');
            key.push_str(part);
        }
        Value { is_claim, key }
    };
    let mut values = Vec::new();
    let text = wording(&memory.content);
    let uri = memory.uri.as_deref().unwrap_or_default();
    if !text.is_empty() || !uri.is_empty() {
        let when = match memory.kind {
            Kind::Episode => memory.occurred_at.as_ms().to_string(),
            _ => String::new(),
        };
        values.push(value(false, &[&text, uri, &when]));
    }
    let stated = claims::stated(memory);
    values.extend(stated.iter().map(|one| value(true, &[&one.subject, &one.attribute, &one.value])));
    values
}

fn wording(text: &str) -> String {
    if text.len() <= READ_BYTES_MAX {
        return super::wording(text);
    }
    text.chars().filter(|one| one.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draft::Moment;
    use crate::{Claim, Draft, MemoryId, Timestamp};

    fn memory(draft: Draft) -> Memory {
        let moment = Moment {
            namespace: "ops".parse().unwrap(),
            id: MemoryId::from_u128(1),
            now: Timestamp::from_ms(1_700_000_000_000),
            embedding_model: None,
        };
        draft.check().unwrap().into_memory(moment)
    }

    fn fact(content: &str) -> Draft {
        Draft { content: content.into(), ..Draft::default() }
    }

    fn meets(old: &Memory, new: &Memory) -> bool {
        let held = values(old);
        values_sought(new).iter().any(|value| held.contains(value))
    }

    #[test]
    fn l4_a_value_is_known_in_another_spelling_and_no_other_value_is() {
        let old = memory(fact("The user lives in Lyon."));
        for (text, is_same) in [
            ("the user lives in Lyon", true),
            ("The  User lives in LYON!", true),
            ("The user lives in Nice.", false),
            ("The user does not live in Lyon.", false),
        ] {
            assert_eq!(meets(&old, &memory(fact(text))), is_same, "{text}");
        }
        let old = memory(fact("他的门牌号是12"));
        assert!(
            meets(&old, &memory(fact("他的门牌号是１２。"))) && !meets(&old, &memory(fact("他的门牌号是13")))
        );
        let long = "word ".repeat(200);
        assert!(meets(&memory(fact(&long)), &memory(fact(long.trim_end()))));
    }

    #[test]
    fn l4_a_claim_is_known_in_whatever_text() {
        let claim = |value: &str| Claim {
            subject: "user".into(),
            attribute: "allergic_to".into(),
            value: value.into(),
            single_valued: false,
        };
        let old = memory(Draft { claims: vec![claim("peanuts")], ..fact("No peanuts for the user") });
        let again = memory(Draft { claims: vec![claim("Peanuts")], ..fact("Watch out at lunch") });
        let other = memory(Draft { claims: vec![claim("milk")], ..fact("Watch out at lunch") });
        assert!(meets(&old, &again) && !meets(&old, &other));
    }

    #[test]
    fn l4_the_same_can_happen_again_and_what_one_agent_forgot_is_its_own() {
        let at = |ms| Some(Timestamp::from_ms(ms));
        let episode =
            |ms| memory(Draft { kind: Some(Kind::Episode), occurred_at: at(ms), ..fact("Deployed") });
        assert!(meets(&episode(5), &episode(5)) && !meets(&episode(5), &episode(6)));
        let of = |agent: Option<&str>| {
            let scope = agent.map(|_| Scope::Agent);
            memory(Draft { scope, agent_id: agent.map(str::to_owned), ..fact("The plan is secret") })
        };
        assert!(meets(&of(None), &of(Some("a"))) && meets(&of(Some("a")), &of(Some("a"))));
        assert!(!meets(&of(Some("a")), &of(Some("b"))) && !meets(&of(Some("a")), &of(None)));
    }
}
