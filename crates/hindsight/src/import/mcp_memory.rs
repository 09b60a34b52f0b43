//! The file of the reference MCP memory server: a graph, one entity or relation a line.
//!
//! | line | becomes |
//! |---|---|
//! | `{"type":"entity","name","entityType","observations":[…]}` | a fact for each observation, about the entity; without any, one that says what it is |
//! | `{"type":"relation","from","to","relationType"}` | a fact about both, with the claim that it states |

use hindsight_core::draft::SourceDraft;
use hindsight_core::{Claim, Draft, Entity, Invalid, Kind, SourceKind};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::entry::{Defaults, Entry, take_namespace};
use super::generic::derived_id;
use crate::document;

/// A line of the file. Further fields of a later version are passed over by the server that wrote it, and here.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Node {
    Entity {
        name: String,
        #[serde(rename = "entityType", default)]
        kind: String,
        #[serde(default)]
        observations: Vec<String>,
    },
    Relation {
        from: String,
        to: String,
        #[serde(rename = "relationType")]
        relation: String,
    },
}

/// Whether a line is one of this file.
pub(super) fn is_one(line: &Map<String, Value>) -> bool {
    let has = |key| line.contains_key(key);
    match line.get("type").and_then(Value::as_str) {
        Some("entity") => has("name") && has("observations"),
        Some("relation") => has("from") && has("to") && has("relationType"),
        _ => false,
    }
}

/// The memories that a line stands for.
///
/// # Errors
/// The field that is missing or has the wrong shape.
pub(super) fn entries(mut line: Map<String, Value>, defaults: &Defaults) -> Result<Vec<Entry>, Invalid> {
    let namespace = take_namespace(&mut line, defaults)?;
    let home = namespace.to_string();
    let drafts = match document::typed(line)? {
        Node::Entity { name, kind, observations } => {
            let entity = Entity { name: name.clone(), kind: kind.clone() };
            let mut texts: Vec<String> =
                observations.iter().map(|observation| about(&name, observation)).collect();
            if texts.is_empty() {
                let kind = if kind.is_empty() { "entity" } else { kind.as_str() };
                texts.push(format!("{} is of the type {}.", plain(&name), plain(kind)));
            }
            let draft = |text: String| draft(&home, text, vec![entity.clone()], Vec::new());
            texts.into_iter().map(draft).collect()
        }
        Node::Relation { from, to, relation } => {
            let text = format!("{} {} {}.", plain(&from), plain(&relation), plain(&to));
            let named = |name: &String| Entity { name: name.clone(), kind: String::new() };
            let entities = vec![named(&from), named(&to)];
            let claim = Claim { subject: from, attribute: relation, value: to, single_valued: false };
            vec![draft(&home, text, entities, vec![claim])]
        }
    };
    let entry = |draft| Entry { namespace: namespace.clone(), draft, vectors: None };
    Ok(drafts.into_iter().map(entry).collect())
}

/// An observation makes sense beside its entity; a memory stands by itself, and so names it.
fn about(name: &str, observation: &str) -> String {
    let text = observation.trim();
    let is_named = [name.to_owned(), plain(name)].iter().any(|name| text.contains(name.as_str()));
    if is_named { text.to_owned() } else { format!("{}: {text}", plain(name)) }
}

/// Names of that server are written as in programs: `John_Smith`, `works_at`.
fn plain(name: &str) -> String {
    name.replace('_', " ")
}

fn draft(home: &str, content: String, entities: Vec<Entity>, claims: Vec<Claim>) -> Draft {
    // The file has no ids: the same text of the same file is the same memory.
    let id = derived_id(home, &format!("mcp-memory {content}"), None).to_string();
    // An agent wrote it, through its tools.
    let source = SourceDraft { kind: Some(SourceKind::Agent), ..SourceDraft::default() };
    Draft {
        id: Some(id),
        kind: Some(Kind::Fact),
        content,
        entities,
        claims,
        source: Some(source),
        ..Draft::default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(line: Value) -> Result<Vec<Draft>, Invalid> {
        let Value::Object(line) = line else { panic!("a line is an object") };
        let defaults = Defaults { namespace: Some("a".parse().unwrap()), ..Defaults::default() };
        assert!(is_one(&line) || line.contains_key("broken"));
        Ok(entries(line, &defaults)?.into_iter().map(|entry| entry.draft).collect())
    }

    #[test]
    fn each_observation_is_a_fact_that_names_its_entity() {
        let drafts = read(json!({"type": "entity", "name": "John_Smith", "entityType": "person",
            "observations": ["Speaks fluent Spanish", "John_Smith likes tea", "会说西班牙语"]}))
        .unwrap();
        let texts: Vec<_> = drafts.iter().map(|draft| draft.content.as_str()).collect();
        assert_eq!(
            texts,
            ["John Smith: Speaks fluent Spanish", "John_Smith likes tea", "John Smith: 会说西班牙语"]
        );
        assert_eq!(drafts[0].entities[0].kind, "person");
        assert_ne!(drafts[0].id, drafts[2].id);
        assert!(drafts.into_iter().all(|draft| draft.check().is_ok()));
        let bare =
            read(json!({"type": "entity", "name": "Acme", "entityType": "company", "observations": []}));
        assert_eq!(bare.unwrap()[0].content, "Acme is of the type company.");
    }

    #[test]
    fn a_relation_is_a_claim_about_both() {
        let draft =
            read(json!({"type": "relation", "from": "John_Smith", "to": "Acme", "relationType": "works_at"}));
        let draft = draft.unwrap().remove(0);
        assert_eq!(draft.content, "John Smith works at Acme.");
        assert_eq!((draft.entities.len(), draft.claims[0].attribute.as_str()), (2, "works_at"));
        assert!(draft.check().is_ok());
        let refused = read(json!({"type": "relation", "from": "a", "broken": 1})).unwrap_err();
        assert!(refused.to_string().contains("to"), "{refused}");
    }
}
