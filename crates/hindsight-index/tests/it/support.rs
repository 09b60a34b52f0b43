//! Memories to test with: plain ones by hand, and random ones from small vocabularies, so that they share values.

use hindsight_core::{
    Action, Claim, Embedding, Entity, Episode, Kind, Memory, MemoryId, NamedVector, Record, Scope, Source,
    SourceKind, State, Status, Timestamp, Usage, VectorRole, time::HOUR_MS,
};
use proptest::prelude::*;

/// A Monday at noon.
pub(crate) const NOON: i64 = 1_790_596_800_000;

pub(crate) fn id(number: u128) -> MemoryId {
    MemoryId::from_u128(number)
}

/// An active fact that says `content`, shared, now.
pub(crate) fn fact(number: u128, content: &str) -> Record {
    let now = Timestamp::from_ms(NOON);
    let memory = Memory {
        id: id(number),
        namespace: "test".parse().unwrap(),
        kind: Kind::Fact,
        content: content.to_owned(),
        summary: String::new(),
        keywords: Vec::new(),
        content_type: "text/plain".to_owned(),
        uri: None,
        task_type: None,
        status: None,
        entities: Vec::new(),
        claims: Vec::new(),
        tags: Vec::new(),
        metadata: serde_json::Map::new(),
        episode: None,
        rule: None,
        source: Source {
            kind: SourceKind::UserInput,
            speaker: None,
            conversation_id: None,
            turns: Vec::new(),
        },
        session_id: None,
        agent_id: None,
        scope: Scope::Shared,
        importance: 0.2,
        confidence: 0.8,
        occurred_at: now,
        created_at: now,
        updated_at: now,
        valid_from: None,
        valid_to: None,
        expires_at: None,
        superseded_by: None,
        derived_from: Vec::new(),
        state: State::Active,
        usage: Usage::default(),
        version: 1,
        embedding_model: None,
    };
    Record { memory, vectors: Vec::new() }
}

pub(crate) fn vector(values: &[f32]) -> NamedVector {
    NamedVector { role: VectorRole::Content, embedding: Embedding::new(values).unwrap() }
}

pub(crate) fn word(of: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::sample::select(of).prop_map(str::to_owned)
}

fn some_words(of: &'static [&'static str]) -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(word(of), 0..3)
}

pub(crate) const TASKS: &[&str] = &["refund", "deploy", "退款"];
pub(crate) const TAGS: &[&str] = &["billing", "ops", "健康", "Billing"];
pub(crate) const NAMES: &[&str] = &["Caroline", "caroline ", "花生", "Bart"];
pub(crate) const TOOLS: &[&str] = &["update_status", "search_flights"];
pub(crate) const CODES: &[&str] = &["permission_denied", "E1042"];
pub(crate) const CAUSES: &[&str] = &["quota", "expired token"];
pub(crate) const SESSIONS: &[&str] = &["s1", "s2"];
pub(crate) const AGENTS: &[&str] = &["planner", "buyer"];
const TEXT: &[&str] = &[
    "the payment failed",
    "refunds fail",
    "我对花生过敏",
    "deploy WES-5.4.5",
    "",
    "Caroline likes cats",
    "猫 and payment",
];

pub(crate) fn times() -> impl Strategy<Value = Timestamp> {
    let offset =
        prop_oneof![Just(0), -2 * HOUR_MS..2 * HOUR_MS, (-60_i64..60).prop_map(|days| days * 24 * HOUR_MS)];
    offset.prop_map(|offset| Timestamp::from_ms(NOON + offset))
}

fn episodes() -> impl Strategy<Value = Option<Box<Episode>>> {
    let action = (word(TOOLS), prop::option::of(word(CODES))).prop_map(|(tool, error_code)| Action {
        tool,
        error_code,
        ..Action::default()
    });
    let episode = (prop::collection::vec(action, 0..3), prop::option::of(word(CAUSES)), any::<bool>())
        .prop_map(|(actions, root_cause, transient)| {
            Box::new(Episode { actions, root_cause, transient, ..Episode::default() })
        });
    prop::option::of(episode)
}

prop_compose! {
    fn words_of_a_memory()(
        text in word(TEXT), task in prop::option::of(word(TASKS)), tags in some_words(TAGS), names in some_words(NAMES),
        session in prop::option::of(word(SESSIONS)), agent in prop::option::of(word(AGENTS)), episode in episodes(),
        alias in prop::option::weighted(0.3, word(NAMES)),
    ) -> Record {
        let mut record = fact(0, &text);
        let memory = &mut record.memory;
        memory.claims = names.iter().map(|name| claim(name)).collect();
        if let (Some(alias), Some(first)) = (alias, memory.claims.first_mut()) {
            (first.attribute, first.value) = ("Alias".to_owned(), alias);
        }
        memory.entities = names.into_iter().map(|name| Entity { name, kind: String::new() }).collect();
        (memory.task_type, memory.tags, memory.episode) = (task, tags, episode);
        (memory.session_id, memory.agent_id) = (session, agent);
        record
    }
}

fn claim(subject: &str) -> Claim {
    Claim {
        subject: subject.to_owned(),
        attribute: "likes".to_owned(),
        value: "cats".to_owned(),
        single_valued: false,
    }
}

fn vectors() -> impl Strategy<Value = Vec<NamedVector>> {
    let vector = prop::collection::vec(-2_i8..=2, 5).prop_filter_map("has a direction", |levels| {
        let values: Vec<f32> = levels.into_iter().map(f32::from).collect();
        Some(NamedVector { role: VectorRole::Content, embedding: Embedding::new(&values).ok()? })
    });
    prop::collection::vec(vector, 0..3)
}

prop_compose! {
    /// A record under one of thirty ids, in any state, with any of the values that filters ask for.
    pub(crate) fn records()(
        record in words_of_a_memory(), number in 0_u128..30, vectors in vectors(),
        kind in prop::sample::select(Kind::ALL), status in prop::option::of(prop::sample::select(Status::ALL)),
        state in prop_oneof![3 => Just(State::Active), 2 => prop::sample::select(State::ALL)],
        source in prop::sample::select(SourceKind::ALL), scope in prop::sample::select(Scope::ALL),
        shares in (0_u8..=4, 0_u8..=4), happened in (times(), times()),
        bounds in (prop::option::of(times()), prop::option::of(times()), prop::option::of(times())),
    ) -> Record {
        let mut record = record;
        let memory = &mut record.memory;
        memory.id = id(number);
        (memory.kind, memory.status, memory.state) = (kind, status, state);
        (memory.source.kind, memory.scope) = (source, scope);
        (memory.importance, memory.confidence) = (f32::from(shares.0) / 4.0, f32::from(shares.1) / 4.0);
        (memory.occurred_at, memory.created_at) = happened;
        (memory.valid_from, memory.valid_to, memory.expires_at) = bounds;
        record.vectors = vectors;
        record
    }
}
