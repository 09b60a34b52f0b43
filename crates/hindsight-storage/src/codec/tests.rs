use hindsight_core::{
    Action, Change, Claim, Embedding, Entity, Episode, Kind, Memory, MemoryId, NamedVector, Polarity, Purge,
    PurgeRequestHash, Purged, Record, RequestKey, Rule, RuleState, Scope, Source, SourceKind, State, Status,
    Timestamp, Usage, VectorRole, change::Standing, memory::Condition,
};
use proptest::prelude::*;

use super::*;
use crate::{
    directory::Stamp,
    manifest::StoredModel,
    records::{Digest, NamespaceId, StoredFile},
    snapshot::StoredSnapshot,
};

fn words(count: usize) -> Vec<String> {
    (0..count).map(|at| format!("word 词 {at}")).collect()
}

fn at(ms: i64) -> Timestamp {
    Timestamp::from_ms(ms)
}

/// A memory in which no field has its default, so that a field that is forgotten is noticed.
fn full_memory() -> Memory {
    let object = |json: serde_json::Value| json.as_object().unwrap().clone();
    Memory {
        id: MemoryId::from_u128(0x0190_0000_0000_0000_0000_0000_0000_0001),
        namespace: "ops".parse().unwrap(),
        kind: Kind::Episode,
        content: "Restart of WES-5.4.5 failed: 权限不足".to_owned(),
        summary: "restart failed".to_owned(),
        keywords: words(2),
        content_type: "text/markdown".to_owned(),
        uri: Some("file:///a.png".to_owned()),
        task_type: Some("deploy".to_owned()),
        status: Some(Status::Failure),
        entities: vec![Entity { name: "WES".to_owned(), kind: "tool".to_owned() }],
        claims: vec![Claim {
            subject: "user".to_owned(),
            attribute: "allergic to".to_owned(),
            value: "花生".to_owned(),
            single_valued: true,
        }],
        tags: words(3),
        metadata: object(
            serde_json::json!({"n": 0.1, "deep": {"list": [1, null, "三"]}, "big": 9_007_199_254_740_993_u64}),
        ),
        episode: Some(Box::new(full_episode())),
        rule: Some(Box::new(Rule {
            polarity: Polarity::Avoid,
            advice: "ask first".to_owned(),
            condition: Condition {
                task_type: Some("deploy".to_owned()),
                root_cause: Some("permission".to_owned()),
                error_code: Some("403".to_owned()),
                tool: Some("kubectl".to_owned()),
            },
            rule_state: RuleState::Deprecated,
            support: 5,
        })),
        source: Source {
            kind: SourceKind::UserInput,
            speaker: Some("Ann".to_owned()),
            conversation_id: Some("c1".to_owned()),
            turns: words(2),
        },
        session_id: Some("s1".to_owned()),
        agent_id: Some("a1".to_owned()),
        scope: Scope::Agent,
        importance: 0.8,
        confidence: 0.3,
        occurred_at: at(1),
        created_at: at(2),
        updated_at: at(3),
        valid_from: Some(at(-4)),
        valid_to: Some(at(5)),
        expires_at: Some(at(6)),
        superseded_by: Some(MemoryId::from_u128(u128::MAX)),
        derived_from: vec![MemoryId::from_u128(7), MemoryId::from_u128(8)],
        state: State::Quarantined,
        forgotten_from: None,
        usage: Usage {
            access_count: 1,
            last_accessed_at: Some(at(9)),
            used_count: 2,
            last_used_at: Some(at(10)),
            success_after_use: 3,
            failure_after_use: 4,
            verified_count: 5,
        },
        version: 11,
        embedding_model: Some("static-1".to_owned()),
    }
}

fn full_episode() -> Episode {
    Episode {
        started_at: Some(at(20)),
        ended_at: Some(at(21)),
        actions: vec![Action {
            step: 1,
            tool: "kubectl".to_owned(),
            params: serde_json::json!({"verb": "restart"}).as_object().unwrap().clone(),
            result: Some("refused".to_owned()),
            error_code: Some("403".to_owned()),
            error_message: Some("forbidden".to_owned()),
            called_at: Some(at(22)),
        }],
        root_cause: Some("permission".to_owned()),
        resolution: Some("asked the owner".to_owned()),
        transient: true,
    }
}

fn full_batch() -> Batch {
    let vector = |role, values: &[f32]| NamedVector { role, embedding: Embedding::new(values).unwrap() };
    let vectors = vec![vector(VectorRole::Content, &[0.6, -0.8]), vector(VectorRole::Keywords, &[1e-3, 2.0])];
    Batch {
        namespace: "ops".parse().unwrap(),
        at: at(1_700_000_000_000),
        request: Some(RequestKey { id: "req-1".to_owned(), digest: 1 << 100 }),
        changes: vec![
            Change::Put(Box::new(Record { memory: full_memory(), vectors })),
            Change::SetState { id: MemoryId::from_u128(9), state: State::Forgotten, version: 3, at: at(12) },
        ],
    }
}

fn small_batch() -> Batch {
    Batch {
        namespace: "a".parse().unwrap(),
        at: at(1),
        request: None,
        changes: vec![Change::SetState {
            id: MemoryId::from_u128(9),
            state: State::Forgotten,
            version: 3,
            at: at(12),
        }],
    }
}

/// What changes a memory without a word of it.
fn standing_batch() -> Batch {
    let memory = full_memory();
    let standing = Standing {
        superseded_by: Some(MemoryId::from_u128(11)),
        valid_to: Some(at(77)),
        ..Standing::of(&memory)
    };
    let (id, standing) = (memory.id, Box::new(standing));
    Batch {
        changes: vec![
            Change::Stand { id, standing, version: 4, at: at(13) },
            Change::Access { id, count: 3, at: at(14) },
        ],
        ..small_batch()
    }
}

#[test]
fn every_field_comes_back() {
    let nothing = Batch { changes: Vec::new(), ..small_batch() };
    for batch in [full_batch(), small_batch(), standing_batch(), nothing] {
        assert_eq!(decode_batch(&encode_batch(&batch).unwrap()).unwrap(), batch);
    }
}

#[test]
fn absent_fields_come_back_absent() {
    let memory = Memory {
        content: String::new(),
        metadata: serde_json::Map::new(),
        episode: Some(Box::default()),
        rule: None,
        status: None,
        usage: Usage::default(),
        valid_from: None,
        ..full_memory()
    };
    let batch = Batch {
        changes: vec![Change::Put(Box::new(Record { memory, vectors: Vec::new() }))],
        ..full_batch()
    };
    assert_eq!(decode_batch(&encode_batch(&batch).unwrap()).unwrap(), batch);
}

/// Bytes that a release has written. They are never edited: another shape is a new schema version with a fixture of
/// its own, and this one must still be read.
#[test]
fn schema_1_is_read_and_written_as_it_was() {
    for (batch, hex) in [
        (small_batch(), include_str!("../../tests/golden/batch_small_v1.hex")),
        (full_batch(), include_str!("../../tests/golden/batch_full_v1.hex")),
    ] {
        let bytes = encode_batch(&batch).unwrap();
        let found = bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        assert_eq!(found, hex.split_whitespace().collect::<String>());
    }
}

fn drop_batch() -> Batch {
    Batch { changes: vec![Change::DropNamespace], ..full_batch() }
}

fn purge_batch() -> Batch {
    let purge = |target, request| Purge { key: [7; 32], target, memories: 2, request, values: Vec::new() };
    let request = PurgeRequestHash { id: 3, digest: 1 << 90 };
    let memories = purge(Purged::Memories(vec![5, 1 << 120]), Some(request));
    let whole = purge(Purged::Namespace(9), None);
    let changes = vec![Change::Purge(Box::new(memories)), Change::Purge(Box::new(whole))];
    Batch { request: None, changes, ..full_batch() }
}

/// Drops, purges, standings and counts came with schema 2; nothing else is written in it.
#[test]
fn schema_2_is_read_and_written_as_it_was() {
    for (batch, hex) in [
        (drop_batch(), include_str!("../../tests/golden/batch_drop_v2.hex")),
        (purge_batch(), include_str!("../../tests/golden/batch_purge_v2.hex")),
    ] {
        let bytes = encode_batch(&batch).unwrap();
        let found = bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        assert_eq!(found, hex.split_whitespace().collect::<String>());
        assert_eq!(decode_batch(&bytes).unwrap(), batch);
    }
}

/// A purge that knows again what was said.
fn valued_purge_batch() -> Batch {
    let purge = Purge {
        key: [7; 32],
        target: Purged::Memories(vec![5, 1 << 120]),
        memories: 2,
        request: None,
        values: vec![8, 1 << 100],
    };
    Batch { request: None, changes: vec![Change::Purge(Box::new(purge))], ..full_batch() }
}

#[test]
fn l4_a_purge_that_knows_values_again_came_with_schema_3() {
    let batch = valued_purge_batch();
    let bytes = encode_batch(&batch).unwrap();
    let found = bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let hex = include_str!("../../tests/golden/batch_purge_v3.hex");
    assert_eq!(found, hex.split_whitespace().collect::<String>());
    assert_eq!(decode_batch(&bytes).unwrap(), batch);
}

#[test]
fn another_version_and_other_lengths_are_refused() {
    let good = encode_batch(&full_batch()).unwrap();
    let with_version = |version: u16| [&version.to_le_bytes(), &good[2..]].concat();
    let newer = decode_batch(&with_version(SCHEMA_VERSION + 1)).unwrap_err();
    let is_told = matches!(newer, CodecError::Newer { newest: SCHEMA_VERSION, .. });
    assert!(newer.is_newer() && is_told, "{newer}");
    assert!(matches!(decode_batch(&with_version(0)), Err(CodecError::NoVersion)));
    assert!(matches!(decode_batch(&[1]), Err(CodecError::NoVersion)));
    assert!(matches!(
        decode_batch(&[good.as_slice(), &[0]].concat()),
        Err(CodecError::Trailing { bytes: 1 })
    ));
    for len in 2..good.len() {
        assert!(matches!(decode_batch(&good[..len]), Err(CodecError::Shape(_))), "cut at {len}");
    }
}

#[test]
fn values_that_the_core_refuses_are_named() {
    let mut bytes = encode_batch(&small_batch()).unwrap();
    // The namespace is the first field: a length of eight bytes, then its letters.
    bytes[10] = b'/';
    assert!(matches!(decode_batch(&bytes), Err(CodecError::Field { field: "namespace", .. })));
}

/// A length prefix may stand at any offset; one that claims the whole memory must not get it.
#[test]
fn hostile_lengths_end_in_an_error() {
    let good = encode_batch(&full_batch()).unwrap();
    for at in 2..good.len() - 8 {
        for length in [u64::MAX, 1 << 40, 1 << 24] {
            let mut bad = good.clone();
            bad[at..at + 8].copy_from_slice(&length.to_le_bytes());
            if let Ok(batch) = decode_batch(&bad) {
                assert_eq!(batch.changes.len(), 2, "a field that is no length may have any value");
            }
        }
    }
}

/// The largest ratio of memory to bytes that an honest batch can have must stay inside the decoder's limit.
#[test]
fn many_empty_parts_are_decoded() {
    let episode = Episode { actions: vec![Action::default(); 20_000], ..Episode::default() };
    let memory =
        Memory { episode: Some(Box::new(episode)), keywords: vec![String::new(); 50_000], ..full_memory() };
    let batch = Batch {
        changes: vec![Change::Put(Box::new(Record { memory, vectors: Vec::new() }))],
        ..full_batch()
    };
    assert_eq!(decode_batch(&encode_batch(&batch).unwrap()).unwrap(), batch);
}

fn edits() -> Vec<Edit> {
    let id = NamespaceId(7);
    let digest = Digest::from_u128(u128::MAX - 5);
    let file = StoredFile { bytes: 1, blake3: [2; 32], records: 3, requests: 4, digest };
    vec![
        Edit::AddNamespace { id, name: "ops".parse().unwrap(), next_file: 3 },
        Edit::DropNamespace { id },
        Edit::AddFile { namespace: id, number: 3, file },
        Edit::RemoveFile { namespace: id, number: 4 },
        Edit::SetNamespace { id, applied: Lsn(9), last_at: Some(at(-5)), live: 6, forgotten: 2, digest },
        Edit::Checkpoint { lsn: Lsn(10), durable: Lsn(11) },
        Edit::SetModel { id, model: StoredModel { name: "模型".to_owned(), dimension: 256 } },
    ]
}

#[test]
fn a_time_outside_the_years_is_refused_by_its_field_and_not_moved() {
    let batch = full_batch();
    let bytes = encode_batch(&batch).unwrap();
    // The time of the batch stands behind its namespace.
    let at = 2 + 8 + batch.namespace.as_str().len();
    assert_eq!(bytes[at..at + 8], batch.at.as_ms().to_le_bytes());
    for ms in [i64::MAX, i64::MIN, Timestamp::MAX.as_ms() + 1, Timestamp::MIN.as_ms() - 1] {
        let mut bytes = bytes.clone();
        bytes[at..at + 8].copy_from_slice(&ms.to_le_bytes());
        let error = decode_batch(&bytes).unwrap_err();
        assert!(matches!(error, CodecError::Time { field: "at", found_ms } if found_ms == ms), "{error}");
    }
}

#[test]
fn records_requests_and_edits_come_back() {
    let Change::Put(record) = full_batch().changes.remove(0) else { panic!("the first change is a record") };
    let mut bytes = Vec::new();
    encode_record(&record, &mut bytes).unwrap();
    assert_eq!(decode_record(&bytes).unwrap(), *record);
    let key = RequestKey { id: "r1".to_owned(), digest: u128::MAX };
    let request = SeenRequest { key, ids: vec![MemoryId::from_u128(u128::MAX)], lsn: Lsn(5) };
    let mut bytes = Vec::new();
    encode_request(&request, &mut bytes).unwrap();
    assert_eq!(decode_request(&bytes, Lsn(5)).unwrap(), request);
    assert_eq!(decode_edits(&encode_edits(&edits()).unwrap()).unwrap(), edits());
}

/// Whoever does not know the stamp of the directory refuses the batch as newer and does not take it for damage; a batch
/// without one is as it always was.
#[test]
fn a_batch_of_edits_with_a_stamp_has_a_schema_of_its_own() {
    let stamp = Stamp { lsn: Lsn(10), records: 11, digest: u128::MAX - 12 };
    let with_stamp = [edits(), vec![Edit::Directory { stamp }]].concat();
    let bytes = encode_edits(&with_stamp).unwrap();
    let is_old = |edit: &Edit| !matches!(edit, Edit::SetModel { .. });
    let old: Vec<Edit> = edits().into_iter().filter(is_old).collect();
    assert_eq!((&bytes[..2], &encode_edits(&old).unwrap()[..2]), (&[2, 0][..], &[1, 0][..]));
    assert_eq!(decode_edits(&bytes).unwrap(), with_stamp);
    // The edit itself: its code, then lsn, records, digest.
    let hex: String = bytes[bytes.len() - 36..].iter().map(|byte| format!("{byte:02x}")).collect();
    let golden = include_str!("../../tests/golden/edit_directory_v2.hex");
    assert_eq!(hex, golden.split_whitespace().collect::<String>());
    let newer = decode_edits(&[&(SCHEMA_VERSION + 1).to_le_bytes(), &bytes[2..]].concat()).unwrap_err();
    assert!(matches!(newer, CodecError::Newer { newest: SCHEMA_VERSION, .. }), "{newer}");
}

#[test]
fn a_batch_of_edits_with_an_index_snapshot_has_a_schema_of_its_own() {
    let snapshot = StoredSnapshot { lsn: Lsn(10), bytes: 11, blake3: [12; 32] };
    let id = NamespaceId(7);
    let edits =
        vec![Edit::SetSnapshot { id, snapshot: None }, Edit::SetSnapshot { id, snapshot: Some(snapshot) }];
    let bytes = encode_edits(&edits).unwrap();
    assert_eq!(decode_edits(&bytes).unwrap(), edits);
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let golden = include_str!("../../tests/golden/edit_snapshot_v4.hex");
    assert_eq!(hex, golden.split_whitespace().collect::<String>());
}

#[test]
fn l3_where_a_forgotten_memory_was_comes_back_and_is_told_in_the_oldest_schema_that_can() {
    let schema_and_back = |state: State, by: Option<u128>| {
        let mut memory = Memory { state, superseded_by: by.map(MemoryId::from_u128), ..full_memory() };
        memory.enter(State::Forgotten);
        let record = Record { memory, vectors: Vec::new() };
        let mut bytes = Vec::new();
        encode_record(&record, &mut bytes).unwrap();
        assert_eq!(decode_record(&bytes).unwrap(), record, "{state}");
        u16::from_le_bytes([bytes[0], bytes[1]])
    };
    // What the other fields tell is written as ever; what they can't tell needs a reader that knows it.
    assert_eq!((schema_and_back(State::Active, None), schema_and_back(State::Superseded, Some(1))), (1, 1));
    assert_eq!((schema_and_back(State::Archived, None), schema_and_back(State::Quarantined, None)), (4, 4));
    assert_eq!((schema_and_back(State::Active, Some(1)), schema_and_back(State::Archived, Some(1))), (4, 4));
}

/// The smallest edits are those whose bytes mean the most memory.
#[test]
fn many_small_edits_are_decoded() {
    for count in [1_000, 8_190, 32_000, 131_000, 200_000] {
        let edits = vec![Edit::DropNamespace { id: NamespaceId(1) }; count];
        assert_eq!(decode_edits(&encode_edits(&edits).unwrap()).unwrap().len(), count);
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = decode_batch(&bytes);
        let bytes = [&1_u16.to_le_bytes(), bytes.as_slice()].concat();
        let _ = decode_batch(&bytes);
        let _ = decode_record(&bytes);
        let _ = decode_request(&bytes, Lsn(1));
        let _ = decode_edits(&bytes);
    }

    #[test]
    fn flipped_bytes_of_edits_never_panic(at in 2_usize..1_000, byte: u8) {
        let mut bytes = encode_edits(&edits()).unwrap();
        let at = at % bytes.len();
        bytes[at] = byte;
        let _ = decode_edits(&bytes);
    }

    #[test]
    fn flipped_bytes_never_panic(at in 2_usize..1_000, byte: u8) {
        let mut bytes = encode_batch(&full_batch()).unwrap();
        let at = at % bytes.len();
        bytes[at] = byte;
        let _ = decode_batch(&bytes);
    }

    #[test]
    fn values_come_back_bit_for_bit(
        content in ".*", number in proptest::num::f64::NORMAL, importance in 0.0_f32..=1.0,
        values in proptest::collection::vec(-1.0_f32..1.0, 1..50), version: u64, id: u128,
    ) {
        let vectors = Embedding::new(&values).map(|embedding| NamedVector { role: VectorRole::Content, embedding });
        let mut memory = Memory { id: MemoryId::from_u128(id), content, importance, version, ..full_memory() };
        memory.metadata.insert("number".to_owned(), number.into());
        let record = Record { memory, vectors: vectors.into_iter().collect() };
        let batch = Batch { changes: vec![Change::Put(Box::new(record))], ..full_batch() };
        prop_assert_eq!(decode_batch(&encode_batch(&batch).unwrap()).unwrap(), batch);
    }
}
