//! From the text of a step to a call: `recall "what does the user want" kind=preference now=+30d as r1`.
//!
//! Fields have the names of the JSON front. Times may be given from the beginning of the scene (`-7d`, `+3h`), memories
//! and recalls by the names that the scene gave them.

use std::collections::BTreeMap;

use hindsight_core::Timestamp;
use hindsight_core::time::Span;
use serde_json::{Map, Value, json};

/// When every scene begins: a Sunday, so that "last week" and "in March" mean something.
pub(crate) const BEGINNING: &str = "2026-03-01T09:00:00Z";

/// The calls that scenes make. `Clock`, `Restart` and `Elsewhere` are the runner's own.
pub(crate) const VERBS: [&str; 27] = [
    "write",
    "record",
    "batch",
    "recall",
    "explain",
    "set",
    "get",
    "list",
    "update",
    "forget",
    "restore",
    "feedback",
    "history",
    "rollback",
    "purge",
    "drop",
    "job",
    "open",
    "append",
    "turns",
    "close",
    "consolidate",
    "summarize",
    "watch",
    "clock",
    "restart",
    "in",
];

/// Fields that hold a time.
const TIMES: [&str; 11] = [
    "occurred_at",
    "now",
    "valid_from",
    "valid_to",
    "expires_at",
    "from",
    "to",
    "started_at",
    "ended_at",
    "as_of",
    "known_at",
];

/// Fields that hold ids, and so may hold names.
const IDS: [&str; 6] = ["id", "used", "ignored", "wrong", "outdated", "recall_id"];

/// A step that was read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    pub(crate) verb: String,
    /// The fields of the call, as the JSON front has them, without the namespace.
    pub(crate) fields: Map<String, Value>,
    /// The names that the memories, or the recall, of its answer get.
    pub(crate) names: Vec<String>,
    /// Which fields of the memories of its answer are shown.
    pub(crate) show: Vec<String>,
    /// Whether a recall counts, so that feedback can be given on it.
    pub(crate) learns: bool,
    /// Whether a recall must change nothing at all, not even a count.
    pub(crate) only_looks: bool,
}

/// What names stand for, and back.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    ids: BTreeMap<String, String>,
}

impl Names {
    /// Gives an id a name, unless it has one.
    pub(crate) fn give(&mut self, name: &str, id: &str) {
        if !self.ids.values().any(|known| known == id) {
            let old = self.ids.insert(name.to_owned(), id.to_owned());
            assert_eq!(old, None, "the name {name} is taken");
        }
    }

    pub(crate) fn id(&self, name: &str) -> String {
        self.ids.get(name).cloned().unwrap_or_else(|| panic!("nothing is named {name}"))
    }

    pub(crate) fn is_name(&self, word: &str) -> bool {
        self.ids.contains_key(word)
    }

    /// The name of an id; a memory that the scene never named is a stranger.
    pub(crate) fn of(&self, id: &str) -> String {
        let named = self.ids.iter().find(|(_, known)| *known == id);
        named.map_or_else(|| "a stranger".to_owned(), |(name, _)| name.clone())
    }

    /// A text with ids replaced by names.
    pub(crate) fn over(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (name, id) in &self.ids {
            text = text.replace(id.as_str(), name);
        }
        text
    }
}

/// A moment that is given from the beginning of a scene, such as `+30d`.
pub(crate) fn moment(word: &str) -> Timestamp {
    let beginning: Timestamp = BEGINNING.parse().unwrap();
    let ms = |span: &str| span.parse::<Span>().unwrap_or_else(|_| panic!("{word} is no time")).as_ms();
    match (word.strip_prefix('+'), word.strip_prefix('-')) {
        (Some(span), _) => beginning.plus_ms(ms(span)),
        (_, Some(span)) => beginning.plus_ms(-ms(span)),
        _ => word.parse().unwrap_or_else(|_| panic!("{word} is no time")),
    }
}

impl Call {
    /// Reads a step.
    pub(crate) fn parse(text: &str, names: &Names) -> Call {
        let mut words = tokens(text).into_iter();
        let verb = words.next().unwrap_or_default();
        assert!(VERBS.contains(&verb.as_str()), "{verb:?} is no step: there are {VERBS:?}");
        let mut call = Call {
            verb,
            fields: Map::new(),
            names: Vec::new(),
            show: Vec::new(),
            learns: false,
            only_looks: false,
        };
        let mut bare = Vec::new();
        let mut naming = false;
        for word in words {
            match word.as_str() {
                "as" => naming = true,
                word if naming => {
                    naming = false;
                    call.names.extend(word.split(',').filter(|name| !name.is_empty()).map(str::to_owned));
                }
                "learn" => call.learns = true,
                "observe" => call.only_looks = true,
                word if word.starts_with(['"', '{']) => {
                    bare.push(serde_json::from_str(word).unwrap_or_else(|bad| panic!("{word}: {bad}")));
                }
                word => match word.split_once('=') {
                    Some((key, value)) => call.field(key, value, names),
                    None => bare.push(Value::String(names_or(word, names))),
                },
            }
        }
        call.unnamed(bare);
        call
    }

    /// Puts what has no name of its own where the verb means it.
    fn unnamed(&mut self, bare: Vec<Value>) {
        let field = match self.verb.as_str() {
            "open" | "append" | "turns" | "close" => return self.of_session(bare),
            "write" => "content",
            "record" => "summary",
            "recall" => "query",
            "get" | "history" | "rollback" => "id",
            "feedback" => "recall_id",
            "clock" | "in" => "at",
            "job" => "job",
            "summarize" => "entity",
            "explain" => {
                let mut bare = bare.into_iter();
                self.fields.extend(bare.next().map(|id| ("id".to_owned(), id)));
                self.fields.extend(bare.next().map(|text| ("query".to_owned(), text)));
                return;
            }
            "update" => {
                let mut bare = bare.into_iter();
                self.fields.extend(bare.next().map(|id| ("id".to_owned(), id)));
                self.fields.extend(bare.next().map(|text| ("content".to_owned(), text)));
                return;
            }
            "batch" => {
                let item = |value| match value {
                    Value::String(text) => json!({"content": text}),
                    object => object,
                };
                self.fields.insert("items".to_owned(), bare.into_iter().map(item).collect());
                return;
            }
            "forget" | "restore" | "purge" => {
                if !bare.is_empty() {
                    self.fields.insert("ids".to_owned(), Value::Array(bare));
                }
                return;
            }
            _ => "",
        };
        assert!(bare.len() <= 1, "{}: too many words without a name: {bare:?}", self.verb);
        for value in bare {
            self.fields.insert(field.to_owned(), value);
        }
    }

    /// A step on a session: its id, then the text of a turn. What else is said when it is closed is the report of the task.
    fn of_session(&mut self, bare: Vec<Value>) {
        let mut bare = bare.into_iter();
        if self.verb == "append" {
            let mut turn = Map::from_iter(bare.next_back().map(|text| ("content".to_owned(), text)));
            turn.insert("role".to_owned(), self.fields.remove("role").unwrap_or_else(|| json!("user")));
            self.fields.insert("turns".to_owned(), json!([turn]));
        }
        if self.verb == "close" && !self.fields.is_empty() {
            let record = std::mem::take(&mut self.fields);
            self.fields.insert("record".to_owned(), Value::Object(record));
        }
        self.fields.extend(bare.next().map(|id| ("session_id".to_owned(), id)));
    }

    fn field(&mut self, key: &str, word: &str, names: &Names) {
        let value = match word.chars().next() {
            Some('"' | '{' | '[') => {
                serde_json::from_str(word).unwrap_or_else(|bad| panic!("{key}={word}: {bad}"))
            }
            _ if TIMES.contains(&key) => json!(moment(word)),
            _ if IDS.contains(&key) => Value::String(names_or(word, names)),
            _ => serde_json::from_str(word).unwrap_or_else(|_| Value::String(word.to_owned())),
        };
        let text = || value.as_str().unwrap_or_else(|| panic!("{key} is no text")).to_owned();
        let (list, item) = match key {
            "show" => return self.show.extend(text().split(',').map(str::to_owned)),
            "claim" => ("claims", claim(&text(), false)),
            "single" => ("claims", claim(&text(), true)),
            "entity" if !matches!(self.verb.as_str(), "recall" | "summarize") => {
                ("entities", json!({"name": text()}))
            }
            "tag" => ("tags", value),
            "keyword" => ("keywords", value),
            "policy" => ("policy", value),
            "action" => ("actions", value),
            "source" if self.verb != "recall" => {
                self.fields.insert("source".to_owned(), json!({"kind": text()}));
                return;
            }
            "used" | "ignored" | "wrong" | "outdated" => (key, value),
            _ => {
                self.fields.insert(key.to_owned(), value);
                return;
            }
        };
        let entry = self.fields.entry(list).or_insert_with(|| json!([]));
        entry.as_array_mut().unwrap().push(item);
    }
}

fn names_or(word: &str, names: &Names) -> String {
    if names.is_name(word) { names.id(word) } else { word.to_owned() }
}

fn claim(text: &str, single_valued: bool) -> Value {
    let parts: Vec<&str> = text.splitn(3, '/').collect();
    let [subject, attribute, value] = parts[..] else { panic!("{text} is no subject/attribute/value") };
    let mut claim = json!({"subject": subject, "attribute": attribute, "value": value});
    if single_valued {
        claim["single_valued"] = json!(true);
    }
    claim
}

/// Splits at spaces outside quotes, braces and brackets.
fn tokens(text: &str) -> Vec<String> {
    let (mut found, mut word, mut depth, mut quoted, mut escaped) =
        (Vec::new(), String::new(), 0_u32, false, false);
    for c in text.chars() {
        if c == ' ' && depth == 0 && !quoted {
            if !word.is_empty() {
                found.push(std::mem::take(&mut word));
            }
            continue;
        }
        word.push(c);
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '{' | '[' if !quoted => depth += 1,
            '}' | ']' if !quoted => depth -= 1,
            _ => {}
        }
    }
    assert!(depth == 0 && !quoted, "not closed: {text}");
    if !word.is_empty() {
        found.push(word);
    }
    found
}

#[test]
fn a_step_is_read() {
    let mut names = Names::default();
    names.give("fat", "mem_1");
    let text =
        r#"write "I want \"it\"" kind=preference single="user/goal/gain muscle" occurred_at=-1d as muscle"#;
    let call = Call::parse(text, &names);
    assert_eq!((call.verb.as_str(), call.names), ("write", vec!["muscle".to_owned()]));
    let claim =
        json!({"subject": "user", "attribute": "goal", "value": "gain muscle", "single_valued": true});
    assert_eq!(
        Value::Object(call.fields),
        json!({"content": "I want \"it\"", "kind": "preference", "claims": [claim],
            "occurred_at": "2026-02-28T09:00:00Z"})
    );
    let call = Call::parse("forget fat", &names);
    assert_eq!(Value::Object(call.fields), json!({"ids": ["mem_1"]}));
    let call =
        Call::parse(r#"recall "x" filter={"any":[{"tag":"a b"}]} learn show=state,version as r"#, &names);
    assert!(call.learns && call.show == ["state", "version"]);
    assert_eq!(call.fields["filter"], json!({"any": [{"tag": "a b"}]}));
}
