//! Where two memories meet that may be one, or may contradict each other: marks to keep an index by.
//!
//! Two memories that [`duplicate()`](super::duplicate()) calls the same, or that [`conflict()`](super::conflict())
//! finds, share a mark: one holds it, the other seeks it. So a new memory is compared with the few that hold what it
//! seeks, however many there are. A mark is a hash: memories that share one may have nothing else in common.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::claims::{self, Stated};
use super::stance::Stance;
use super::text::Text;
use super::text::token::Sort;
use crate::{Kind, Memory, Scope};

/// Texts of more bytes are met only by texts of the same letters and digits: each memory is marked at every load, and reading
/// a long text costs more than it finds.
const READ_BYTES_MAX: usize = 400;

/// A statement about more than that is met only by claims.
const TOPIC_MAX: usize = 12;

/// How many tokens of a statement's topic the other one may lack.
const LACKS_MAX: usize = 3;

/// The marks of one memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Marks {
    /// What it is found under, ascending.
    pub held: Vec<u32>,
    /// Where a new memory looks for one that says the same, ascending.
    pub same: Vec<u32>,
    /// Where it looks for one that it contradicts, ascending.
    pub sought: Vec<u32>,
    /// Groups of marks: it may contradict a memory that holds all of a group.
    pub rarest: Vec<Vec<u32>>,
}

/// The marks of a memory. Memories of another scope, or of another agent's own, share none with it.
#[must_use]
pub fn marks(memory: &Memory) -> Marks {
    let agent = match memory.scope {
        Scope::Agent => memory.agent_id.as_deref().unwrap_or_default(),
        Scope::Shared => "",
    };
    let mut collected = Collected { scope: (memory.scope, agent), marks: Marks::default() };
    let claims = claims::stated(memory);
    let text = (memory.content.len() <= READ_BYTES_MAX).then(|| Text::of(&memory.content));
    collected.wording(memory, text.as_ref());
    collected.claims(memory.kind, &claims);
    for claim in &claims {
        let said = format!("{} {}", claim.claim.attribute.replace('_', " "), claim.claim.value);
        collected.stance(&Text::of(&said), &("claim", &claim.subject));
    }
    if let Some(rule) = &memory.rule {
        let condition = format!("{:?}", rule.condition);
        let advice = collected.mark(&("advice", &condition, Text::key(&rule.advice)));
        collected.marks.held.push(advice);
        collected.marks.sought.push(advice);
        collected.stance(&Text::of(&rule.advice), &("rule", &condition));
    } else if let Some(text) = text.filter(|_| memory.kind != Kind::Episode) {
        collected.stance(&text, &"text");
    }
    collected.finish()
}

/// Marks by which one seeks all memories that claim something of what this one does.
#[must_use]
pub fn marks_of_claims(memory: &Memory) -> Marks {
    let agent = match memory.scope {
        Scope::Agent => memory.agent_id.as_deref().unwrap_or_default(),
        Scope::Shared => "",
    };
    let mut collected = Collected { scope: (memory.scope, agent), marks: Marks::default() };
    for one in claims::stated(memory) {
        for sort in ["single", "many"] {
            let mark = collected.mark(&(sort, &one.subject, &one.attribute));
            collected.marks.sought.push(mark);
        }
    }
    collected.finish()
}

struct Collected<'a> {
    scope: (Scope, &'a str),
    marks: Marks,
}

impl Collected<'_> {
    fn mark(&self, what: &impl Hash) -> u32 {
        let mut hasher = DefaultHasher::new();
        (self.scope.0.as_str(), self.scope.1).hash(&mut hasher);
        what.hash(&mut hasher);
        let hash = hasher.finish();
        u32::try_from(hash >> 32).unwrap_or(u32::MAX)
    }

    fn same(&mut self, what: &impl Hash) {
        let mark = self.mark(what);
        self.marks.held.push(mark);
        self.marks.same.push(mark);
    }

    /// The same words about the same image, recording or document.
    fn wording(&mut self, memory: &Memory, text: Option<&Text>) {
        let letters = |text: &str| -> String {
            text.chars().filter(|one| one.is_alphanumeric()).flat_map(char::to_lowercase).collect()
        };
        let words = text.map_or_else(|| letters(&memory.content), Text::row);
        if !words.is_empty() || memory.uri.is_some() {
            self.same(&("wording", memory.kind.as_str(), words, &memory.uri));
        }
    }

    /// All claims together, for two wordings of them; and each property of a subject, where one of both sides says that
    /// it has one value.
    fn claims(&mut self, kind: Kind, claims: &[Stated<'_>]) {
        let mut all: Vec<_> = claims.iter().map(|one| (&one.subject, &one.attribute, &one.value)).collect();
        if all.is_empty() {
            return;
        }
        all.sort_unstable();
        all.dedup();
        self.same(&("claims", kind.as_str(), all));
        for one in claims {
            let single = self.mark(&("single", &one.subject, &one.attribute));
            let many = self.mark(&("many", &one.subject, &one.attribute));
            self.marks.sought.push(single);
            if one.claim.single_valued {
                self.marks.held.push(single);
                self.marks.sought.push(many);
            } else {
                self.marks.held.push(many);
            }
        }
    }

    /// What a statement is about: its topic, and what the topic would be without a few of its words. A statement that
    /// says more is met by its rarest word.
    fn stance(&mut self, text: &Text, about: &impl Hash) {
        let Some(stance) = Stance::of(text) else { return };
        let (places, mut topic) = stance.about();
        topic.sort_unstable();
        topic.dedup();
        if topic.len() > TOPIC_MAX {
            return;
        }
        let whole = self.topic(about, &places, &topic);
        self.marks.held.push(whole);
        let least = topic.len().saturating_sub(LACKS_MAX).max(topic.len().div_ceil(2));
        self.without(about, &places, &topic, least, 0);
        let words: Vec<u32> =
            topic.iter().map(|word| self.mark(&("word", about_hash(about), &places, word))).collect();
        self.marks.held.extend_from_slice(&words);
        self.marks.rarest.push(words);
    }

    fn topic(&self, about: &impl Hash, places: &[Option<usize>], topic: &[(Sort, String)]) -> u32 {
        self.mark(&("topic", about_hash(about), places, topic))
    }

    /// Seeks the topic, and each that lacks some of its words from `from` on, down to `least` words.
    fn without(
        &mut self,
        about: &impl Hash,
        places: &[Option<usize>],
        topic: &[(Sort, String)],
        least: usize,
        from: usize,
    ) {
        let mark = self.topic(about, places, topic);
        self.marks.sought.push(mark);
        if topic.len() <= least.max(1) {
            return;
        }
        for at in from..topic.len() {
            let mut fewer = topic.to_vec();
            fewer.remove(at);
            self.without(about, places, &fewer, least, at);
        }
    }

    fn finish(self) -> Marks {
        let mut marks = self.marks;
        for list in [&mut marks.held, &mut marks.same, &mut marks.sought] {
            list.sort_unstable();
            list.dedup();
        }
        marks.rarest.retain(|group| !group.is_empty());
        marks
    }
}

fn about_hash(about: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    about.hash(&mut hasher);
    hasher.finish()
}
