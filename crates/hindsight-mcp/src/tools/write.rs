//! `memory_write`.

use hindsight_core::draft::SourceDraft;
use hindsight_core::{Claim, Draft, Entity, Invalid, Kind, SourceKind};
use rmcp::model::Tool;
use serde_json::json;

use super::adds;
use crate::arguments::Arguments;
use crate::render::{self, Reply};
use crate::schema::Schema;
use crate::{Store, Stored, Trouble};

const WHAT: &str = "Store one memory for later conversations: a fact, a preference, or a procedure (how a kind of task is \
    done). Use it after a decision, a correction, or when the user says what they like, own or need. One statement a \
    call, in a sentence that makes sense on its own. Never passwords or keys; not what only this conversation needs. \
    Give subject, attribute and value when it states a property. Example: {\"text\": \"Mei is allergic to \
    peanuts\", \"kind\": \"preference\", \"subject\": \"Mei\", \"attribute\": \"allergic to\", \"value\": \"peanuts\"}.";

/// Episodes have `memory_record`; rules come from episodes.
const KINDS: [&str; 3] = ["fact", "preference", "procedure"];
const SOURCES: [&str; 4] = ["user_input", "agent", "tool", "external"];

pub(super) fn tool() -> Tool {
    let schema = Schema::default()
        .text("text", "The memory, one statement")
        .require("text")
        .word("kind", &KINDS, "default fact")
        .texts("tags", "")
        .texts("entities", "Names of whom and what it is about")
        .text("subject", "Whom or what it states something about")
        .text("attribute", "Which property")
        .text("value", "The property's value")
        .flag("single_valued", "The property has one value at a time: a newer one replaces it")
        .text("task_type", "For a procedure: the kind of task")
        .text("occurred_at", "When it happened (RFC 3339 or date)")
        .text("valid_to", "Until when it is true")
        .number("importance", "0-1; computed when left out")
        .word("source", &SOURCES, "Who said it; default agent");
    Tool::new("memory_write", WHAT, schema.build()).with_annotations(adds("Store a memory"))
}

pub(super) async fn call<S: Store>(store: &S, arguments: Arguments) -> Result<Reply, Trouble> {
    let draft = read(arguments)?;
    Ok(said(&store.write(draft).await?))
}

fn read(mut arguments: Arguments) -> Result<Draft, Invalid> {
    let content = arguments.needed("text", "say in a sentence what to remember")?;
    let kind = arguments.parsed::<Kind>("kind")?;
    if kind.is_some_and(|kind| !KINDS.contains(&kind.as_str())) {
        let problem = "is none that can be written here: expected fact, preference or procedure; a finished task is \
                       stored with memory_record";
        return Err(Invalid::one("kind", problem));
    }
    let name = |name| Entity { name, kind: String::new() };
    let entities = arguments.texts("entities")?.into_iter().map(name).collect();
    let claims = claim(&mut arguments)?.into_iter().collect();
    let source = arguments.parsed::<SourceKind>("source")?;
    let draft = Draft {
        kind,
        content,
        tags: arguments.texts("tags")?,
        entities,
        claims,
        task_type: arguments.text("task_type")?,
        occurred_at: arguments.parsed("occurred_at")?,
        valid_to: arguments.parsed("valid_to")?,
        importance: importance(&mut arguments)?,
        source: source.map(|kind| SourceDraft { kind: Some(kind), ..SourceDraft::default() }),
        ..Draft::default()
    };
    arguments.finish()?;
    Ok(draft)
}

/// Subject, attribute and value: all or none.
fn claim(arguments: &mut Arguments) -> Result<Option<Claim>, Invalid> {
    let subject = arguments.text("subject")?;
    let attribute = arguments.text("attribute")?;
    let value = arguments.text("value")?;
    let single_valued = arguments.flag("single_valued")?;
    match (subject, attribute, value) {
        (Some(subject), Some(attribute), Some(value)) => {
            Ok(Some(Claim { subject, attribute, value, single_valued }))
        }
        (None, None, None) if single_valued => {
            Err(Invalid::one("single_valued", "belongs to a statement: give subject, attribute and value"))
        }
        (None, None, None) => Ok(None),
        (None, ..) => Err(Invalid::one("subject", "is missing: attribute and value need one")),
        (_, None, _) => Err(Invalid::one("attribute", "is missing: subject and value need one")),
        (.., None) => Err(Invalid::one("value", "is missing: subject and attribute need one")),
    }
}

/// A number from 0 to 1, in the width that memories have.
#[expect(clippy::cast_possible_truncation, reason = "the nearest f32 is what is meant")]
pub(super) fn importance(arguments: &mut Arguments) -> Result<Option<f32>, Invalid> {
    Ok(arguments.number("importance")?.map(|number| number as f32))
}

/// What became of it, so that a model can put it right by itself.
pub(super) fn said(stored: &Stored) -> Reply {
    let Stored { outcome, memory, neighbors } = stored;
    let said = if memory.summary.is_empty() { &memory.content } else { &memory.summary };
    let mut text = format!("{outcome} [{}] {}: {}", memory.id, memory.kind, render::one_line(said));
    for neighbor in neighbors {
        let (old, new) = (render::one_line(&neighbor.old), render::one_line(&neighbor.new));
        text.push_str(&format!("\n{} with [{}]: {old} / {new}", neighbor.relation, neighbor.id));
    }
    if !neighbors.is_empty() && outcome == "created" {
        text.push_str("\nBoth are kept. Ask which is right, then correct the other with memory_update or memory_forget.");
    }
    let neighbors: Vec<_> = neighbors.iter().map(|neighbor| neighbor.id).collect();
    let structured =
        json!({"outcome": outcome, "id": memory.id, "version": memory.version, "contradicts": neighbors});
    Reply { text, structured }
}
