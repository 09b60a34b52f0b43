//! What the simulated clients ask for. A request is plain data: it can be sent again word for word, and the model can
//! say what it will do.

use hindsight_core::{
    Claim, Draft, Filter, Kind, MemoryId, Namespace, Patch, RawVector, RawVectors, Recall, Status, Timestamp,
    VectorRole, Verdict,
};
use hindsight_engine::WriteItem;

use super::random::Random;

/// The namespaces of every run. The names sort in this order.
pub(super) const NAMESPACES: [&str; 3] = ["desk", "ops", "research"];
/// The model of every vector.
pub(super) const MODEL: &str = "sim-embed";
/// Memories are tagged in chunks of this many, so that one recall can return a whole chunk.
const CHUNK: u32 = 50;
/// Memories are tagged in groups of this many, for forgetting by filter.
const GROUP: u32 = 3;
const WORDS: [&str; 12] = [
    "timeout", "refund", "库存", "gateway", "retry", "用户", "invoice", "超时", "login", "deploy", "退款",
    "cache",
];

/// The number of a memory, for ever. Its first tag carries it.
pub(super) type Item = u32;

/// One call of the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Call {
    /// One memory; a dry run stores nothing.
    Write {
        item: Item,
        dry: bool,
    },
    /// What `of` said when it was new, said again as memory `item`, which has no id of its own.
    Echo {
        item: Item,
        of: Item,
    },
    /// A memory that gives a property of this number a new value.
    Claim {
        item: Item,
        slot: u32,
    },
    /// What became of memories, and how the task ended.
    Feedback {
        items: Vec<(Item, Verdict)>,
        task: Option<Status>,
    },
    /// Takes back that an item was replaced, or replaced others.
    Rollback {
        item: Item,
    },
    /// How often memories were returned, logged at once. No client asks for it.
    Accesses {
        counts: Vec<(Item, u32, Timestamp)>,
    },
    /// Many memories. A spoiled batch has one more, which is refused.
    Batch {
        items: Vec<Item>,
        all_or_nothing: bool,
        is_spoiled: bool,
    },
    /// `change` decides what is changed.
    Update {
        item: Item,
        change: u32,
        version: Option<u64>,
    },
    Forget {
        items: Vec<Item>,
    },
    /// Every memory of a group.
    ForgetGroup {
        group: u32,
    },
    Restore {
        items: Vec<Item>,
    },
    /// By id.
    Purge {
        items: Vec<Item>,
    },
    /// Every memory of a group.
    PurgeGroup {
        group: u32,
    },
    /// The namespace.
    PurgeAll,
    /// What was forgotten too long ago, by the job.
    Expire,
    /// What is past its time, by the job.
    Archive,
    /// Whether writes are acknowledged before they are durable.
    Settings {
        is_async: bool,
    },
    Drop,
}

impl Call {
    pub(super) fn is_purge(&self) -> bool {
        matches!(self, Call::Purge { .. } | Call::PurgeGroup { .. } | Call::PurgeAll | Call::Expire)
    }

    pub(super) fn is_settings(&self) -> bool {
        matches!(self, Call::Settings { .. })
    }

    /// Whether it brings one of these memories into the database.
    pub(super) fn writes(&self, gone: &[Item]) -> bool {
        match self {
            Call::Write { item, .. } | Call::Claim { item, .. } => gone.contains(item),
            Call::Echo { item, of } => gone.contains(item) || gone.contains(of),
            Call::Batch { items, .. } => items.iter().any(|item| gone.contains(item)),
            _ => false,
        }
    }
}

/// A call, where it goes, and the id that makes it act once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Request {
    /// Index into [`NAMESPACES`].
    pub(super) space: usize,
    pub(super) call: Call,
    pub(super) id: Option<u32>,
}

pub(super) fn namespace(space: usize) -> Namespace {
    NAMESPACES[space].parse().unwrap()
}

pub(super) fn request_id(id: Option<u32>) -> Option<String> {
    id.map(|id| format!("req-{id}"))
}

pub(super) fn item_tag(item: Item) -> String {
    format!("item-{item}")
}

pub(super) fn chunk_tag(chunk: u32) -> String {
    format!("chunk-{chunk}")
}

pub(super) fn chunk_of(item: Item) -> u32 {
    item / CHUNK
}

pub(super) fn group_of(item: Item) -> u32 {
    item / GROUP
}

pub(super) fn tagged(tag: String) -> Filter {
    Filter { tags: vec![tag], ..Filter::default() }
}

/// Everything with a tag. Words are drawn at random, so two may say the same: they stay apart.
pub(super) fn recall_of_all(tag: String) -> Recall {
    Recall { filter: tagged(tag), top_k: 100, keep_alike: true, ..Recall::default() }
}

pub(super) fn group_filter(group: u32) -> Filter {
    tagged(format!("group-{group}"))
}

/// The word that only this memory has: one that no stemmer shortens and no analyser splits.
pub(super) fn own_word(item: Item) -> String {
    let digits = format!("{item:o}");
    let letters = digits.bytes().map(|digit| char::from(b"bdfgkmpr"[usize::from(digit - b'0')]));
    "zq".chars().chain(letters).collect()
}

/// The number that a stored memory carries.
pub(super) fn item_of(tags: &[String]) -> Option<Item> {
    tags.first()?.strip_prefix("item-")?.parse().ok()
}

/// The id that the caller chooses: every second memory has one.
pub(super) fn chosen_id(item: Item) -> Option<MemoryId> {
    item.is_multiple_of(2).then(|| MemoryId::from_u128((0x0180_0000_0000_u128 << 80) | u128::from(item) << 8))
}

/// The text of a memory.
fn text(item: Item, random: &mut Random) -> String {
    let mut text = own_word(item);
    for _ in 0..1 + random.below(2) {
        text.push(' ');
        text.push_str(random.pick(&WORDS));
    }
    text
}

/// A vector of a memory in one of its versions; no two are alike.
pub(super) fn vector(item: Item, change: u32) -> Vec<f32> {
    let mut random = Random::at(u64::from(item), u64::from(change) + 77);
    (0..3).map(|_| f32::from(u16::try_from(random.below(2_000)).unwrap()) / 1_000.0 - 0.999_5).collect()
}

fn vectors(item: Item, change: u32) -> RawVectors {
    let vector = RawVector { role: VectorRole::Content, values: vector(item, change) };
    RawVectors { model: MODEL.to_owned(), vectors: vec![vector] }
}

/// A memory as its number alone makes it.
pub(super) fn draft(item: Item) -> Draft {
    let mut random = Random::at(u64::from(item), 1);
    let tags = vec![item_tag(item), chunk_tag(chunk_of(item)), format!("group-{}", group_of(item))];
    let kind = random.pick(&[None, Some(Kind::Fact), Some(Kind::Episode), Some(Kind::Preference)]);
    let status = (kind == Some(Kind::Episode)).then(|| random.pick(&[Status::Success, Status::Failure]));
    let mut draft = Draft {
        id: chosen_id(item).map(|id| id.to_string()),
        kind,
        status,
        content: text(item, &mut random),
        tags,
        ..Draft::default()
    };
    if random.percent(30) {
        draft.metadata.insert("来源".to_owned(), serde_json::json!({"n": item, "list": [1, "二", null]}));
    }
    // Some reach over many sectors, few are longer than a log segment. Text would do the same, and take longer to index.
    let padding = match random.below(40) {
        0 => 10_000,
        1..=5 => 1_500,
        _ => 0,
    };
    if padding > 0 {
        draft.metadata.insert("padding".to_owned(), "p".repeat(padding).into());
    }
    if random.percent(20) {
        // Some expire within the run, when its clock jumps.
        draft.expires_at =
            Some(Timestamp::from_ms(1_700_000_000_000 + 86_400_000 * random.pick(&[60, 400, 9_000])));
    }
    draft
}

/// Whether the memory comes with a vector.
pub(super) fn has_vector(item: Item) -> bool {
    !item.is_multiple_of(3)
}

pub(super) fn write_item(item: Item) -> WriteItem {
    WriteItem::new(draft(item), has_vector(item).then(|| vectors(item, 0)))
}

/// The draft of an echo: the words of another memory, and nothing else of it.
pub(super) fn echo(item: Item, of: Item) -> Draft {
    let Draft { kind, status, content, .. } = draft(of);
    Draft { id: None, kind, status, content, tags: draft(item).tags, ..Draft::default() }
}

/// The draft of a claim.
pub(super) fn claim(item: Item, slot: u32) -> Draft {
    let value = Claim {
        subject: format!("slot {slot}"),
        attribute: "value".to_owned(),
        value: own_word(item),
        single_valued: true,
    };
    Draft { claims: vec![value], ..draft(item) }
}

/// What a change does to a memory, and its new vectors.
pub(super) fn patch(item: Item, change: u32) -> (Patch, Option<RawVectors>) {
    let mut random = Random::at(u64::from(change), 2);
    let mut patch = Patch::default();
    match random.below(4) {
        0 => patch.content = Some(text(item, &mut random)),
        1 => patch.importance = Some(random.pick(&[0.1, 0.5, 0.9])),
        2 => patch.summary = Some(format!("摘要 {change}")),
        _ => patch.keywords = Some(vec![format!("k{change}")]),
    }
    (patch, random.percent(40).then(|| vectors(item, change)))
}
