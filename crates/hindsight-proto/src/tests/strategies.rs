//! Random values of core, as a caller could write them: what the wire can say, in English and Chinese.

use hindsight_core::draft::{EpisodeDraft, RecordDraft, RuleDraft, SourceDraft};
use hindsight_core::hit::NamedWindow;
use hindsight_core::memory::Condition;
use hindsight_core::time::Span;
use hindsight_core::*;
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value};

mod question;

pub(super) use question::{explanation, filter, recall, recalled};

/// A text that is not empty.
pub(super) fn text() -> BoxedStrategy<String> {
    prop_oneof!["[a-zA-Z0-9 _.-]{1,12}", "[忆记部署失败令牌]{1,6}", "\\PC{1,8}"].boxed()
}

fn texts() -> BoxedStrategy<Vec<String>> {
    vec(text(), 0..3).boxed()
}

pub(super) fn time() -> BoxedStrategy<Timestamp> {
    (Timestamp::MIN.as_ms()..=Timestamp::MAX.as_ms()).prop_map(Timestamp::from_ms).boxed()
}

fn share() -> BoxedStrategy<f32> {
    (0.0_f32..=1.0).boxed()
}

fn number() -> BoxedStrategy<f64> {
    (-1e6..1e6).boxed()
}

fn word<W: Copy + std::fmt::Debug + 'static>(all: &'static [W]) -> BoxedStrategy<W> {
    select(all).boxed()
}

fn id() -> BoxedStrategy<MemoryId> {
    any::<u128>().prop_map(MemoryId::from_u128).boxed()
}

pub(super) fn namespace() -> BoxedStrategy<Namespace> {
    "[a-z0-9][a-z0-9._-]{0,20}".prop_map(|name| name.parse().unwrap()).boxed()
}

/// A JSON object of whole numbers of 53 bits, fractions, texts, lists and objects.
pub(super) fn object() -> BoxedStrategy<Map<String, Value>> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-(1_i64 << 53)..=1 << 53).prop_map(Value::from),
        any::<i32>().prop_map(|n| Value::from(f64::from(n) + 0.5)),
        text().prop_map(Value::from),
    ];
    let value = leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::from),
            vec((text(), inner), 0..3).prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    });
    vec((text(), value), 0..3).prop_map(|fields| fields.into_iter().collect()).boxed()
}

fn entities() -> BoxedStrategy<Vec<Entity>> {
    vec(
        (text(), prop_oneof![Just(String::new()), text()]).prop_map(|(name, kind)| Entity { name, kind }),
        0..3,
    )
    .boxed()
}

fn claims() -> BoxedStrategy<Vec<Claim>> {
    let claim = (text(), text(), text(), any::<bool>());
    vec(
        claim.prop_map(|(subject, attribute, value, single_valued)| Claim {
            subject,
            attribute,
            value,
            single_valued,
        }),
        0..3,
    )
    .boxed()
}

fn actions() -> BoxedStrategy<Vec<Action>> {
    let action = (any::<u32>(), text(), object(), of(text()), of(text()), of(text()), of(time())).prop_map(
        |(step, tool, params, result, error_code, error_message, called_at)| Action {
            step,
            tool,
            params,
            result,
            error_code,
            error_message,
            called_at,
        },
    );
    vec(action, 0..3).boxed()
}

fn episode() -> BoxedStrategy<EpisodeDraft> {
    (of(time()), of(time()), actions(), of(text()), of(text()), of(any::<bool>()))
        .prop_map(|(started_at, ended_at, actions, root_cause, resolution, transient)| EpisodeDraft {
            started_at,
            ended_at,
            actions,
            root_cause,
            resolution,
            transient,
        })
        .boxed()
}

fn rule() -> BoxedStrategy<RuleDraft> {
    let condition = (of(text()), of(text()), of(text()), of(text())).prop_map(
        |(task_type, root_cause, error_code, tool)| Condition { task_type, root_cause, error_code, tool },
    );
    (of(word(Polarity::ALL)), text(), condition, of(word(RuleState::ALL)), of(1..u32::MAX))
        .prop_map(|(polarity, advice, condition, rule_state, support)| RuleDraft {
            polarity,
            advice,
            condition,
            rule_state,
            support,
        })
        .boxed()
}

fn source() -> BoxedStrategy<SourceDraft> {
    (of(word(SourceKind::ALL)), of(text()), of(text()), texts())
        .prop_map(|(kind, speaker, conversation_id, turns)| SourceDraft {
            kind,
            speaker,
            conversation_id,
            turns,
        })
        .boxed()
}

pub(super) fn draft() -> BoxedStrategy<Draft> {
    let first = (
        of(id()),
        of(word(Kind::ALL)),
        (text(), prop_oneof![Just(String::new()), text()]),
        (texts(), texts(), texts()),
        (of(text()), of(text()), of(text())),
        of(word(Status::ALL)),
        (entities(), claims(), object()),
        (of(episode()), of(rule()), of(source())),
    );
    let second = (
        (of(text()), of(text())),
        of(word(Scope::ALL)),
        (of(share()), of(share())),
        (of(time()), of(time()), of(time()), of(time())),
    );
    (first, second)
        .prop_map(|(first, second)| {
            let (id, kind, (content, summary), lists, (content_type, uri, task_type), status, facts, parts) =
                first;
            let ((session_id, agent_id), scope, (importance, confidence), times) = second;
            Draft {
                id: id.map(|id| id.to_string()),
                kind,
                content,
                summary,
                keywords: lists.0,
                content_type,
                uri,
                task_type,
                status,
                entities: facts.0,
                claims: facts.1,
                tags: lists.1,
                metadata: facts.2,
                episode: parts.0,
                rule: parts.1,
                source: parts.2,
                session_id,
                agent_id,
                scope,
                importance,
                confidence,
                occurred_at: times.0,
                valid_from: times.1,
                valid_to: times.2,
                expires_at: times.3,
                derived_from: lists.2,
            }
        })
        .boxed()
}

pub(super) fn record() -> BoxedStrategy<RecordDraft> {
    (draft(), episode(), text())
        .prop_map(|(draft, episode, task_type)| RecordDraft {
            task_type,
            status: draft.status,
            summary: draft.summary,
            content: draft.content,
            actions: episode.actions,
            root_cause: episode.root_cause,
            resolution: episode.resolution,
            transient: episode.transient,
            started_at: episode.started_at,
            ended_at: episode.ended_at,
            occurred_at: draft.occurred_at,
            entities: draft.entities,
            claims: draft.claims,
            keywords: draft.keywords,
            tags: draft.tags,
            metadata: draft.metadata,
            source: draft.source,
            session_id: draft.session_id,
            agent_id: draft.agent_id,
            scope: draft.scope,
            importance: draft.importance,
            confidence: draft.confidence,
            expires_at: draft.expires_at,
        })
        .boxed()
}

fn usage() -> BoxedStrategy<Usage> {
    (any::<[u32; 5]>(), of(time()), of(time()))
        .prop_map(|(counts, last_accessed_at, last_used_at)| Usage {
            access_count: counts[0],
            last_accessed_at,
            used_count: counts[1],
            last_used_at,
            success_after_use: counts[2],
            failure_after_use: counts[3],
            verified_count: counts[4],
        })
        .boxed()
}

pub(super) fn memory() -> BoxedStrategy<Memory> {
    let set_by_database = (
        id(),
        namespace(),
        (time(), time()),
        of(id()),
        vec(id(), 0..3),
        word(State::ALL),
        (usage(), any::<u64>(), of(text())),
    );
    (draft(), word(Kind::ALL), word(SourceKind::ALL), word(Scope::ALL), set_by_database)
        .prop_map(
            |(
                draft,
                kind,
                source_kind,
                scope,
                (id, namespace, at, superseded_by, derived_from, state, rest),
            )| {
                let source = draft.source.unwrap_or_default();
                Memory {
                    id,
                    namespace,
                    kind,
                    content: draft.content,
                    summary: draft.summary,
                    keywords: draft.keywords,
                    content_type: draft.content_type.unwrap_or_else(|| "text/plain".to_owned()),
                    uri: draft.uri,
                    task_type: draft.task_type,
                    status: draft.status,
                    entities: draft.entities,
                    claims: draft.claims,
                    tags: draft.tags,
                    metadata: draft.metadata,
                    episode: draft.episode.map(|part| {
                        Box::new(Episode {
                            started_at: part.started_at,
                            ended_at: part.ended_at,
                            actions: part.actions,
                            root_cause: part.root_cause,
                            resolution: part.resolution,
                            transient: part.transient.unwrap_or(false),
                        })
                    }),
                    rule: draft.rule.map(|part| {
                        Box::new(Rule {
                            polarity: part.polarity.unwrap_or(Polarity::Avoid),
                            advice: part.advice,
                            condition: part.condition,
                            rule_state: part.rule_state.unwrap_or(RuleState::Deprecated),
                            support: part.support.unwrap_or(0),
                        })
                    }),
                    source: Source {
                        kind: source.kind.unwrap_or(source_kind),
                        speaker: source.speaker,
                        conversation_id: source.conversation_id,
                        turns: source.turns,
                    },
                    session_id: draft.session_id,
                    agent_id: draft.agent_id,
                    scope,
                    importance: draft.importance.unwrap_or(0.25),
                    confidence: draft.confidence.unwrap_or(0.75),
                    occurred_at: draft.occurred_at.unwrap_or(at.0),
                    created_at: at.0,
                    updated_at: at.1,
                    valid_from: draft.valid_from,
                    valid_to: draft.valid_to,
                    expires_at: draft.expires_at,
                    superseded_by,
                    derived_from,
                    state,
                    usage: rest.0,
                    version: rest.1,
                    embedding_model: rest.2,
                }
            },
        )
        .boxed()
}

pub(super) fn patch() -> BoxedStrategy<Patch> {
    let clearable =
        (of(of(text())), of(of(word(Status::ALL))), of(of(time())), of(of(time())), of(of(time())));
    let lists = (of(texts()), of(texts()), of(entities()), of(claims()), of(object()));
    let rest = (
        (of(text()), of(prop_oneof![Just(String::new()), text()])),
        (of(share()), of(share()), of(time())),
        (of(of(text())), of(of(text())), of(any::<bool>()), of(word(RuleState::ALL))),
    );
    (clearable, lists, rest)
        .prop_map(|(clearable, lists, rest)| Patch {
            content: rest.0.0,
            summary: rest.0.1,
            keywords: lists.0,
            tags: lists.1,
            entities: lists.2,
            claims: lists.3,
            metadata: lists.4,
            task_type: clearable.0,
            status: clearable.1,
            importance: rest.1.0,
            confidence: rest.1.1,
            occurred_at: rest.1.2,
            valid_from: clearable.2,
            valid_to: clearable.3,
            expires_at: clearable.4,
            root_cause: rest.2.0,
            resolution: rest.2.1,
            transient: rest.2.2,
            rule_state: rest.2.3,
        })
        .boxed()
}

pub(super) fn vectors() -> BoxedStrategy<Option<RawVectors>> {
    let roles = &[VectorRole::Content, VectorRole::Summary, VectorRole::Keywords];
    let vector = (word(roles), vec(any::<f32>(), 0..4)).prop_map(|(role, values)| RawVector { role, values });
    of((text(), vec(vector, 1..4)).prop_map(|(model, vectors)| RawVectors { model, vectors })).boxed()
}
