//! The answer to a step as text that every front gives alike: names in place of ids, times from the beginning of the
//! scene, numbers to two places, and no more fields than asked for.

use hindsight_core::Timestamp;
use serde_json::Value;

use crate::call::{BEGINNING, Call, Names};

/// The lines that came of a call. `answer` has the form of the JSON front's reply.
pub(crate) fn outcome(call: &Call, answer: &Value, names: &mut Names) -> Vec<String> {
    match call.verb.as_str() {
        "write" | "record" => written(call, answer, names),
        "batch" => batch(call, answer, names),
        "recall" => recalled(call, answer, names),
        "explain" => vec![format!("{}: {}", text(&answer["reason"]), names.over(text(&answer["detail"])))],
        "set" => vec![format!("set: {}", answer["settings"])],
        "get" | "update" => vec![memory(call, &answer["memory"], names)],
        "list" | "history" => memories(call, &answer["memories"], names),
        "feedback" => judged(call, answer, names),
        "rollback" => rolled_back(call, answer, names),
        "forget" | "restore" | "purge" | "drop" => vec![taken(call, answer)],
        "job" => job(answer),
        "open" if answer["resumed"] == true => vec!["was open".to_owned()],
        "open" => vec!["is open".to_owned()],
        "append" => vec![format!("turns kept: {}", answer["session"]["turns_held"])],
        "turns" => turns(answer),
        "consolidate" => consolidated(call, answer, names),
        "summarize" => summarized(call, answer, names),
        "watch" => fed(answer, names),
        "close" if answer["memory"].is_object() => written(call, answer, names),
        "close" => vec!["is closed".to_owned()],
        verb => panic!("nobody says what came of {verb}"),
    }
}

fn written(call: &Call, answer: &Value, names: &mut Names) -> Vec<String> {
    let stored = &answer["memory"];
    let name = call.names.first().cloned().unwrap_or_else(|| "it".to_owned());
    if !call.names.is_empty() {
        names.give(&name, text(&stored["id"]));
    }
    let again = if answer["replayed"] == true { "again, nothing was done: " } else { "" };
    // A dry run has no id that anybody could name.
    let known = names.of(text(&stored["id"]));
    let known = if known == "a stranger" { name } else { known };
    let shown = shown(call, stored, names);
    let mut lines = vec![format!("{again}{} {known}{shown}", text(&answer["outcome"]))];
    for neighbor in answer["neighbors"].as_array().into_iter().flatten() {
        lines.push(format!(
            "  {} {}: {} / {}",
            text(&neighbor["relation"]).replace('_', " "),
            names.of(text(&neighbor["id"])),
            text(&neighbor["old"]),
            text(&neighbor["new"])
        ));
    }
    lines
}

/// What the feed told, an event a line.
fn fed(answer: &Value, names: &Names) -> Vec<String> {
    let events = answer["events"].as_array().unwrap_or_else(|| panic!("{answer}"));
    if events.is_empty() {
        return vec!["nothing".to_owned()];
    }
    let line = |event: &Value| {
        let change = text(&event["change"]).replace('_', " ");
        let Some(id) = event["id"].as_str() else {
            return format!("{change}: {}", event["count"]);
        };
        let by = event["superseded_by"].as_str().map(|by| format!(" by {}", names.of(by)));
        let says = event["memory"]["content"].as_str().map(|says| format!(" {says:?}"));
        let (by, says) = (by.unwrap_or_default(), says.unwrap_or_default());
        format!(
            "{change} {}{says}: version {}, {}{by}",
            names.of(id),
            event["version"],
            text(&event["state"])
        )
    };
    events.iter().map(line).collect()
}

fn batch(call: &Call, answer: &Value, names: &mut Names) -> Vec<String> {
    let results = answer["results"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let mut lines = Vec::new();
    if answer["replayed"] == true {
        lines.push("again, nothing was done:".to_owned());
    }
    for (index, result) in results.iter().enumerate() {
        match result["id"].as_str() {
            Some(id) => {
                if let Some(name) = call.names.get(index) {
                    names.give(name, id);
                }
                lines.push(format!("{}. {} {}", index + 1, text(&result["outcome"]), names.of(id)));
            }
            None => lines.push(format!("{}. refused: {}", index + 1, text(&result["error"]["message"]))),
        }
    }
    lines
}

fn recalled(call: &Call, answer: &Value, names: &mut Names) -> Vec<String> {
    if let (Some(name), Some(id)) = (call.names.first(), answer["recall_id"].as_str()) {
        names.give(name, id);
    }
    if let Some(rendered) = answer["text"].as_str() {
        return rendered.lines().map(|line| names.over(line)).collect();
    }
    let hits = answer["hits"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let mut lines = Vec::new();
    if call.show.iter().any(|field| field == "window") {
        let window = &answer["window"];
        lines.push(match window["words"].as_str() {
            Some(words) => format!("\"{words}\" is {} to {}", text(&window["from"]), text(&window["to"])),
            None => "no words of time".to_owned(),
        });
    }
    for (index, hit) in hits.iter().enumerate() {
        let mut line = format!("{}. {}", index + 1, memory(call, &hit["memory"], names));
        for part in call.show.iter().filter_map(|field| field.strip_prefix("hit.")) {
            line.push_str(&format!(", {part} {}", value(at(hit, part), names)));
        }
        lines.push(line);
    }
    if hits.is_empty() {
        lines.push("nothing".to_owned());
    }
    if call.show.iter().any(|field| field == "held_back") {
        let held = answer["held_back"].as_object().into_iter().flatten();
        lines.extend(held.map(|(policy, count)| format!("held back by {policy}: {count}")));
    }
    lines
}

fn memories(call: &Call, list: &Value, names: &Names) -> Vec<String> {
    let list = list.as_array().unwrap_or_else(|| panic!("no memories: {list}"));
    if list.is_empty() {
        return vec!["nothing".to_owned()];
    }
    let mut lines: Vec<String> = list.iter().map(|one| memory(call, one, names)).collect();
    // Ids of one millisecond have no order of their own, and lists go by ids.
    if call.verb == "list" {
        lines.sort();
    }
    lines
}

fn judged(call: &Call, answer: &Value, names: &Names) -> Vec<String> {
    let mut lines = Vec::new();
    if answer["replayed"] == true {
        lines.push("again, nothing was done:".to_owned());
    }
    lines.push(match answer["memories"].as_array().map_or(0, Vec::len) {
        0 => "nothing changed".to_owned(),
        1 => "1 memory was weighed anew".to_owned(),
        count => format!("{count} memories were weighed anew"),
    });
    if !call.show.is_empty() {
        let list = answer["memories"].as_array().into_iter().flatten();
        lines.extend(list.map(|one| format!("  {}", memory(call, one, names))));
    }
    lines
}

fn rolled_back(call: &Call, answer: &Value, names: &Names) -> Vec<String> {
    let restored = answer["restored"].as_array().into_iter().flatten();
    let mut lines: Vec<String> =
        restored.map(|one| format!("valid again: {}", memory(call, one, names))).collect();
    if answer["invalidated"].is_object() {
        lines.push(format!("history now: {}", memory(call, &answer["invalidated"], names)));
    }
    lines
}

fn taken(call: &Call, answer: &Value) -> String {
    let count = answer["count"].as_u64().unwrap_or_else(|| panic!("{answer}"));
    let noun = if count == 1 { "memory" } else { "memories" };
    let done = match (call.verb.as_str(), call.fields.contains_key("validate_only")) {
        ("forget", true) => "would be forgotten",
        ("forget", false) => "forgotten",
        ("restore", _) => "restored",
        ("purge", true) => "would be purged",
        ("purge", false) => "purged",
        (_, true) => "would be dropped",
        _ => "dropped",
    };
    let again = if answer["replayed"] == true { "again, nothing was done: " } else { "" };
    format!("{again}{count} {noun} {done}")
}

fn turns(answer: &Value) -> Vec<String> {
    let turns = answer["turns"].as_array().unwrap_or_else(|| panic!("{answer}"));
    turns.iter().map(|turn| format!("{}: {}", text(&turn["role"]), text(&turn["content"]))).collect()
}

/// The rules that episodes taught, each with how many of them agree.
fn consolidated(call: &Call, answer: &Value, names: &mut Names) -> Vec<String> {
    let rules = answer["rules"].as_array().unwrap_or_else(|| panic!("{answer}"));
    let mut lines = Vec::new();
    for (index, told) in rules.iter().enumerate() {
        let rule = &told["rule"];
        if let (Some(name), Some(id)) = (call.names.get(index), rule["id"].as_str()) {
            names.give(name, id);
        }
        let word = text(&told["change"]).replace('_', " ");
        let counted = format!("{} of {} agree", told["agreeing"], told["episodes"]);
        lines.push(format!("{word} {}, {counted}", memory(call, rule, names)));
    }
    if rules.is_empty() {
        lines.push("nothing to learn".to_owned());
    }
    lines
}

fn summarized(call: &Call, answer: &Value, names: &mut Names) -> Vec<String> {
    if let (Some(name), Some(id)) = (call.names.first(), answer["summary"]["id"].as_str()) {
        names.give(name, id);
    }
    let mut lines = vec![memory(call, &answer["summary"], names)];
    let said = text(&answer["summary"]["content"]).lines().skip(1);
    lines.extend(said.map(|line| format!("  {}", names.over(line))));
    lines
}

/// What a job did, by the reason.
fn job(answer: &Value) -> Vec<String> {
    let counts = answer["counts"].as_object().into_iter().flatten();
    let mut lines: Vec<String> =
        counts.filter(|(_, count)| *count != 0).map(|(reason, count)| format!("{reason}: {count}")).collect();
    let sentences = ["hints", "errors"].into_iter().filter_map(|list| answer[list].as_array()).flatten();
    lines.extend(sentences.map(|sentence| text(sentence).to_owned()));
    if lines.is_empty() {
        lines.push("nothing to do".to_owned());
    }
    lines
}

/// `fat "I want to lose fat" (superseded by muscle)`, and the fields that are asked for.
fn memory(call: &Call, memory: &Value, names: &Names) -> String {
    let said = match text(&memory["summary"]) {
        "" => text(&memory["content"]).lines().next().unwrap_or_default(),
        summary => summary,
    };
    let mut line = format!("{} \"{said}\"", names.of(text(&memory["id"])));
    match (text(&memory["state"]), memory["superseded_by"].as_str()) {
        ("active", None) => {}
        (state, None) => line.push_str(&format!(" ({state})")),
        (state, Some(by)) => line.push_str(&format!(" ({state} by {})", names.of(by))),
    }
    line + &shown(call, memory, names)
}

/// The fields of a memory that the step asks for; those of the hit around it and of the answer have another prefix.
fn shown(call: &Call, memory: &Value, names: &Names) -> String {
    let fields = call
        .show
        .iter()
        .filter(|field| !field.starts_with("hit.") && !["window", "held_back"].contains(&field.as_str()));
    fields
        .map(|field| {
            let word = field.rsplit('.').next().unwrap_or(field).replace('_', " ");
            format!(", {word} {}", value(at(memory, field), names))
        })
        .collect()
}

/// The value at a path such as `usage.used_count`.
fn at<'a>(object: &'a Value, path: &str) -> &'a Value {
    path.split('.').fold(object, |value, key| &value[key])
}

fn value(value: &Value, names: &Names) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::Number(number) if number.is_f64() => format!("{:.2}", number.as_f64().unwrap_or_default()),
        Value::String(text) => text.parse::<Timestamp>().map_or_else(|_| names.over(text), from_beginning),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| self::value(item, names)).collect();
            format!("[{}]", items.join(", "))
        }
        other => names.over(&other.to_string()),
    }
}

/// A time from the beginning of the scene, to the minute: `+30d`, `-1d 2h`.
fn from_beginning(time: Timestamp) -> String {
    let beginning: Timestamp = BEGINNING.parse().unwrap();
    #[expect(clippy::cast_possible_truncation, reason = "minutes of a story")]
    let minutes = (beginning.days_until(time) * 24.0 * 60.0).round() as i64;
    let (days, hours, rest) = (minutes.abs() / 1440, minutes.abs() / 60 % 24, minutes.abs() % 60);
    let parts = [(days, "d"), (hours, "h"), (rest, "m")];
    let parts: Vec<String> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, unit)| format!("{count}{unit}")).collect();
    match parts.is_empty() {
        true => "at the beginning".to_owned(),
        false => format!("{}{}", if minutes < 0 { "-" } else { "+" }, parts.join(" ")),
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
