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

pub(super) fn filter() -> BoxedStrategy<Filter> {
    let words = (
        vec(word(Kind::ALL), 0..3),
        vec(word(Layer::ALL), 0..3),
        vec(word(Status::ALL), 0..3),
        vec(word(State::ALL), 0..3),
        vec(word(SourceKind::ALL), 0..3),
    );
    let lists = [texts(), texts(), texts(), texts(), texts(), texts(), texts(), texts()];
    let rest =
        (of(time()), of(time()), of(1..i64::from(i32::MAX)), of(share()), of(share()), of(any::<bool>()));
    let leaf = (words, lists, rest).prop_map(|(words, lists, rest)| {
        let [task_types, tags, entities, tools, error_codes, root_causes, sessions, agents] = lists;
        Filter {
            kinds: words.0,
            layers: words.1,
            statuses: words.2,
            states: words.3,
            source_kinds: words.4,
            task_types,
            tags,
            entities,
            tools,
            error_codes,
            root_causes,
            sessions,
            agents,
            from: rest.0,
            to: rest.1,
            last: rest.2.map(Span::from_ms),
            min_importance: rest.3,
            min_confidence: rest.4,
            transient: rest.5,
            ..Filter::default()
        }
    });
    let leaf = leaf.boxed();
    leaf.clone()
        .prop_recursive(3, 8, 2, move |inner| {
            (leaf.clone(), vec(inner.clone(), 0..2), vec(inner.clone(), 0..2), vec(inner, 0..2))
                .prop_map(|(leaf, all, any, not)| Filter { all, any, not, ..leaf })
        })
        .boxed()
}

pub(super) fn recall() -> BoxedStrategy<Recall> {
    let decay = prop_oneof![
        number().prop_map(Decay::HalfLifeDays),
        number().prop_map(Decay::FactorPerDay),
        Just(Decay::Off)
    ];
    let how = (
        word(&[Mode::Hybrid, Mode::Vector, Mode::Keyword]),
        word(&[Fusion::Weighted, Fusion::Rrf]),
        (number(), number(), number(), number(), number()),
        of(decay),
    );
    let limits = (1..1_000_usize, of(1..1_000_000_usize), of(number()));
    let who = (of(text()), of(text()), of(time()), any::<[bool; 6]>());
    let as_of = (time(), word(Axis::ALL)).prop_map(|(at, axis)| AsOf { at, axis });
    let more = (of(as_of), of(number()), vec(word(Prohibition::ALL), 0..3));
    (text(), filter(), how, limits, who, more)
        .prop_map(|(query, filter, how, limits, who, more)| Recall {
            query,
            vector: None,
            embedding_model: None,
            mode: how.0,
            filter,
            include_archived: who.3[0],
            include_history: who.3[1],
            as_of: more.0,
            diversity: more.1,
            keep_alike: who.3[4],
            policy: more.2,
            as_text: who.3[5],
            top_k: limits.0,
            token_budget: limits.1,
            min_score: limits.2,
            weights: Weights {
                vector: how.2.0,
                keyword: how.2.1,
                window: how.2.2,
                entity: how.2.3,
                neighbour: how.2.4,
            },
            fusion: how.1,
            decay: how.3,
            agent_id: who.0,
            time_zone: who.1,
            now: who.2,
            explain: who.3[2],
            exact: who.3[3],
            observe: !who.3[2],
        })
        .boxed()
}

pub(super) fn recalled() -> BoxedStrategy<Recalled> {
    let part = (text(), number(), number(), number())
        .prop_map(|(name, raw, normalized, weight)| Part::new(&name, raw, normalized, weight));
    let factors = [number(), number(), number(), number(), number(), number(), number()];
    let hit = (memory(), vec(part, 0..3), factors, [texts(), texts()]).prop_map(
        |(memory, parts, n, [matched_terms, path])| Hit {
            verified_count: u32::try_from(path.len()).unwrap(),
            collapsed: vec![memory.id; matched_terms.len()],
            changed_since: parts.len() == 1,
            memory,
            score: n[0],
            similarity: n[1],
            age_days: n[2],
            breakdown: Breakdown {
                parts,
                confidence: n[3],
                source_weight: n[4],
                transient: n[5],
                unused: n[6],
                score: n[0],
                matched_terms,
                path,
            },
        },
    );
    let window = (text(), time(), time()).prop_map(|(words, from, to)| NamedWindow { words, from, to });
    (vec(hit, 0..3), any::<[u64; 3]>(), of(window), of(text()))
        .prop_map(|(hits, n, window, plan)| Recalled {
            hits,
            recall_id: (n[0] % 2 == 1).then(|| RecallId::new(Timestamp::from_ms(7), u128::from(n[0]))),
            revision: Lsn(n[0]),
            allowed: n[1],
            omitted: n[2],
            held_back: Prohibition::ALL
                .iter()
                .copied()
                .zip(n)
                .take(usize::try_from(n[1] % 3).unwrap())
                .collect(),
            text: plan.clone(),
            text_tokens: plan.as_ref().map(|_| n[0]),
            window,
            plan,
        })
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

pub(super) fn explanation() -> BoxedStrategy<Explanation> {
    let numbers = (of(any::<u32>()), of(number()), any::<[u64; 2]>());
    (memory(), word(Reason::ALL), text(), any::<bool>(), numbers, recalled())
        .prop_map(|(memory, reason, detail, has_other, (rank, similarity, n), recalled)| Explanation {
            id: memory.id,
            reason,
            detail,
            other: has_other.then_some(memory.id),
            rank,
            similarity,
            breakdown: recalled.hits.into_iter().next().map(|hit| hit.breakdown),
            allowed: n[0],
            revision: Lsn(n[1]),
            plan: recalled.plan.unwrap_or_default(),
        })
        .boxed()
}
