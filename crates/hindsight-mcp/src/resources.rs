//! Resources: an overview of the namespace, its active rules, and each memory by id.

use std::fmt::Write as _;

use hindsight_core::{MemoryId, Namespace, RuleState};
use rmcp::ErrorData;
use rmcp::model::{Resource, ResourceContents, ResourceTemplate};

use crate::{Store, Trouble};

/// Most rules of the resource: it may stand in a prompt that is kept.
const RULES_MAX: usize = 20;

fn overview_uri(namespace: &Namespace) -> String {
    format!("memory://{namespace}/overview")
}

fn rules_uri(namespace: &Namespace) -> String {
    format!("memory://{namespace}/rules")
}

pub(crate) fn all(namespace: &Namespace) -> Vec<Resource> {
    vec![
        Resource::new(overview_uri(namespace), "overview")
            .with_description("How many memories there are, by kind".to_owned())
            .with_mime_type("text/plain".to_owned()),
        Resource::new(rules_uri(namespace), "rules")
            .with_description("The active rules: what to do and what to leave".to_owned())
            .with_mime_type("text/plain".to_owned()),
    ]
}

pub(crate) fn templates(namespace: &Namespace) -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new(format!("memory://{namespace}/memories/{{id}}"), "memory")
            .with_description("One memory with all its fields".to_owned())
            .with_mime_type("application/json".to_owned()),
    ]
}

/// # Errors
/// When nothing is at `uri`, another namespace's resources among it, or the database refuses.
pub(crate) async fn read<S: Store>(store: &S, uri: &str) -> Result<ResourceContents, ErrorData> {
    let failed = |trouble: Trouble| ErrorData::resource_not_found(trouble.to_string(), None);
    if uri == overview_uri(store.namespace()) {
        let text = overview(store).await.map_err(failed)?;
        return Ok(ResourceContents::text(text, uri));
    }
    if uri == rules_uri(store.namespace()) {
        let rules = store.rules(RuleState::Active, None, RULES_MAX).await.map_err(failed)?;
        return Ok(ResourceContents::text(crate::tools::rules::fenced(store.namespace(), &rules), uri));
    }
    let id = uri.strip_prefix(&format!("memory://{}/memories/", store.namespace()));
    let Some(id) = id.and_then(|id| id.parse::<MemoryId>().ok()) else {
        let problem = format!(
            "nothing is at {uri:?}: there are {}, {} and memory://{}/memories/<id>",
            overview_uri(store.namespace()),
            rules_uri(store.namespace()),
            store.namespace()
        );
        return Err(ErrorData::resource_not_found(problem, None));
    };
    let memory = store.get(id).await.map_err(failed)?;
    let json = serde_json::to_string_pretty(&memory).unwrap_or_default();
    Ok(ResourceContents::TextResourceContents {
        uri: uri.to_owned(),
        mime_type: Some("application/json".to_owned()),
        text: json,
        meta: None,
    })
}

/// What the namespace holds, in words.
///
/// # Errors
/// What the database answers.
pub(crate) async fn overview<S: Store>(store: &S) -> Result<String, Trouble> {
    let kinds = store.kinds().await?;
    let all: u64 = kinds.iter().map(|(_, count)| count).sum();
    let mut text = format!("Namespace {} holds {all} memories", store.namespace());
    let mut before = ": ";
    for (kind, count) in kinds.iter().filter(|(_, count)| *count > 0) {
        let _ = write!(text, "{before}{count} of kind {kind}");
        before = ", ";
    }
    text.push('.');
    Ok(text)
}
