//! Memories on a screen: many as rows, one in full.

use comfy_table::{Cell, Color};
use hindsight_core::{Memory, State, Timestamp};

use crate::screen::{Paint, age_text, flat, one_line, safe, status_cell, text_of};

/// What a row shows of a memory's text: its short form if it has one.
pub(crate) fn headline(memory: &Memory) -> String {
    let text = if memory.summary.is_empty() { &memory.content } else { &memory.summary };
    match &memory.uri {
        Some(uri) if text.is_empty() => flat(uri),
        _ => flat(text),
    }
}

/// The kind, and the state where it is not the usual one.
pub(crate) fn kind_cell(memory: &Memory) -> Cell {
    match memory.state {
        State::Active => Cell::new(memory.kind),
        state => Cell::new(format!("{} ({state})", memory.kind)).fg(Color::DarkGrey),
    }
}

/// Many memories, a row each.
pub(crate) fn rows(memories: &[Memory], now: Timestamp, paint: Paint, width: u16) -> String {
    let mut table = paint.table(width, &["age", "kind", "status", "text", "id"]);
    for memory in memories {
        table.add_row(one_line(vec![
            Cell::new(age_text(memory.occurred_at.days_until(now))),
            kind_cell(memory),
            status_cell(memory.status),
            Cell::new(headline(memory)),
            Cell::new(memory.id).fg(Color::DarkGrey),
        ]));
    }
    keep_words(&mut table, &[0, 1, 2, 4]);
    text_of(&mut table)
}

/// Gives some columns the width of their content, so that only the text gives way.
pub(crate) fn keep_words(table: &mut comfy_table::Table, columns: &[usize]) {
    for index in columns {
        if let Some(column) = table.column_mut(*index) {
            column.set_constraint(comfy_table::ColumnConstraint::ContentWidth);
        }
    }
}

/// One memory in full: every field that it has, then its text.
pub(crate) fn detail(memory: &Memory, paint: Paint, width: u16) -> String {
    let mut table = paint.table(width, &[]);
    for (name, value) in fields(memory) {
        table.add_row(vec![Cell::new(name).fg(Color::DarkGrey), Cell::new(safe(&value))]);
    }
    keep_words(&mut table, &[0]);
    let mut text = format!("{}\n{}", paint.bold(&memory.id.to_string()), text_of(&mut table));
    if let Some(episode) = &memory.episode {
        for (index, action) in episode.actions.iter().enumerate() {
            text.push_str(&format!("\n {}. {}", index + 1, safe(&action_text(action))));
        }
    }
    if !memory.content.is_empty() {
        text.push_str(&format!("\n\n{}", safe(&memory.content)));
    }
    text
}

fn action_text(action: &hindsight_core::Action) -> String {
    let mut text = action.tool.clone();
    if !action.params.is_empty() {
        text.push_str(&format!(" {}", serde_json::Value::Object(action.params.clone())));
    }
    for part in [&action.result, &action.error_code, &action.error_message].into_iter().flatten() {
        text.push_str(&format!(" → {}", flat(part)));
    }
    text
}

fn fields(memory: &Memory) -> Vec<(&'static str, String)> {
    let mut fields = vec![
        ("namespace", memory.namespace.to_string()),
        ("kind", format!("{}, {}", memory.kind, memory.state)),
    ];
    let mut add = |name, value: Option<String>| fields.extend(value.map(|value| (name, value)));
    let listed = |words: &[String]| (!words.is_empty()).then(|| words.join(", "));
    add("status", memory.status.map(|status| status.to_string()));
    add("task_type", memory.task_type.clone());
    add("summary", (!memory.summary.is_empty()).then(|| memory.summary.clone()));
    let names: Vec<String> = memory.entities.iter().map(|entity| entity.name.clone()).collect();
    add("entities", listed(&names));
    let claims: Vec<String> = memory
        .claims
        .iter()
        .map(|claim| format!("{} / {} / {}", claim.subject, claim.attribute, claim.value))
        .collect();
    add("claims", listed(&claims));
    add("tags", listed(&memory.tags));
    add("keywords", listed(&memory.keywords));
    add("uri", memory.uri.clone());
    let speaker = memory.source.speaker.as_ref().map(|speaker| format!(", {speaker}"));
    add("source", Some(format!("{}{}", memory.source.kind, speaker.unwrap_or_default())));
    add("session", memory.session_id.clone());
    add("agent", memory.agent_id.as_ref().map(|agent| format!("{agent} ({})", memory.scope)));
    add("importance", Some(format!("{:.2}", memory.importance)));
    add("confidence", Some(format!("{:.2}", memory.confidence)));
    add("occurred_at", Some(memory.occurred_at.to_string()));
    add("created_at", Some(memory.created_at.to_string()));
    for (name, time) in
        [("valid_from", memory.valid_from), ("valid_to", memory.valid_to), ("expires_at", memory.expires_at)]
    {
        add(name, time.map(|time| time.to_string()));
    }
    add("version", Some(memory.version.to_string()));
    let metadata = || serde_json::Value::Object(memory.metadata.clone()).to_string();
    add("metadata", (!memory.metadata.is_empty()).then(metadata));
    add("superseded_by", memory.superseded_by.map(|id| id.to_string()));
    if let Some(episode) = memory.episode.as_deref() {
        add("root_cause", episode.root_cause.clone());
        add("resolution", episode.resolution.clone());
        add("transient", episode.transient.then(|| "yes".to_owned()));
    }
    if let Some(rule) = memory.rule.as_deref() {
        add("rule", Some(format!("{} ({}): {}", rule.polarity, rule.rule_state, rule.advice)));
    }
    fields
}
