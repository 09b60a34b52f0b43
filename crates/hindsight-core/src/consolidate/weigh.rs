//! How much the episodes of a case agree on.

use std::collections::BTreeMap;

use super::RuleTuning;
use super::case::{remedy, weight};
use crate::likeness::Gist;
use crate::{Action, Memory, MemoryId, Polarity, Timestamp};

/// Something that a case teaches, and how many of its episodes agree.
#[derive(Debug, Clone)]
pub struct Lesson<'a> {
    /// `do` with a remedy; `avoid` where none is known.
    pub polarity: Polarity,
    /// The remedy, in the form in which it is compared; none of an `avoid`.
    pub remedy: Option<Gist>,
    /// k: how often an episode agreed.
    pub agreeing: u32,
    /// n: how often one spoke of it.
    pub of: u32,
    /// `k/n · (1 − 1/(2k))`.
    pub confidence: f64,
    /// The episodes that agree, the newest first.
    pub episodes: Vec<&'a Memory>,
}

/// How sure a rule is that k of n episodes agree on (L5): `k/n · (1 − 1/(2k))`; 0 for none.
#[must_use]
pub fn confidence(agreeing: u32, of: u32) -> f64 {
    if agreeing == 0 || of == 0 {
        return 0.0;
    }
    let (k, n) = (f64::from(agreeing), f64::from(of.max(agreeing)));
    k / n * (1.0 - 1.0 / (2.0 * k))
}

/// What the `episodes` of one case teach, the surest first. All of them are evidence ([`super::is_evidence`]); `successes` are
/// of the same task and name no cause. The order of either makes no difference.
#[must_use]
pub fn weigh<'a>(episodes: &[&'a Memory], successes: &[&Memory]) -> Vec<Lesson<'a>> {
    let mut lessons = remedies(episodes);
    lessons.extend(nothing_helps(episodes, successes));
    // A remedy is worth more than a warning, whatever the figures.
    lessons.sort_by(|one, other| {
        let rank = |lesson: &Lesson<'_>| (lesson.polarity == Polarity::Avoid, u32::MAX - lesson.agreeing);
        let key = |lesson: &Lesson<'_>| {
            lesson.remedy.as_ref().map(|remedy| remedy.key().to_owned()).unwrap_or_default()
        };
        rank(one).cmp(&rank(other)).then_with(|| key(one).cmp(&key(other)))
    });
    lessons
}

impl Lesson<'_> {
    /// Whether it is sure enough to become a rule.
    #[must_use]
    pub fn holds(&self, tuning: &RuleTuning) -> bool {
        // Six decimals, as confidence is stored: 0.8 counts as 0.8.
        self.agreeing >= tuning.min_episodes && self.confidence + 5e-7 >= tuning.min_confidence
    }

    /// Its newest episodes, at most `most`.
    pub(super) fn newest(&self, most: usize) -> Vec<MemoryId> {
        self.episodes.iter().take(most).map(|memory| memory.id).collect()
    }

    /// The episode that said it first.
    pub(super) fn first(&self) -> Option<&Memory> {
        self.episodes.last().copied()
    }

    /// When it was last seen.
    pub(super) fn last_at(&self) -> Option<Timestamp> {
        self.episodes.first().map(|memory| memory.occurred_at)
    }
}

/// One lesson a remedy. Those that mean the same are grouped around the one that most episodes name, so that the groups are
/// the same in whatever order the episodes came.
fn remedies<'a>(episodes: &[&'a Memory]) -> Vec<Lesson<'a>> {
    let mut by_key: BTreeMap<String, (Gist, u32, Vec<&'a Memory>)> = BTreeMap::new();
    let mut of = 0u32;
    for memory in episodes {
        let Some(text) = remedy(memory) else { continue };
        let gist = Gist::of(text);
        of = of.saturating_add(weight(memory));
        let entry = by_key.entry(gist.key().to_owned()).or_insert_with(|| (gist, 0, Vec::new()));
        entry.1 = entry.1.saturating_add(weight(memory));
        entry.2.push(memory);
    }
    let mut named: Vec<(Gist, u32, Vec<&'a Memory>)> = by_key.into_values().collect();
    // Keys come in ascending order, and the sort keeps it among those that are named as often.
    named.sort_by_key(|(_, count, _)| std::cmp::Reverse(*count));
    let mut lessons: Vec<(Gist, u32, Vec<&'a Memory>)> = Vec::new();
    for (gist, count, memories) in named {
        match lessons.iter_mut().find(|(middle, ..)| middle.agrees(&gist)) {
            Some((_, agreeing, all)) => {
                *agreeing = agreeing.saturating_add(count);
                all.extend(memories);
            }
            None => lessons.push((gist, count, memories)),
        }
    }
    let lesson = |(gist, agreeing, episodes)| Lesson {
        polarity: Polarity::Do,
        remedy: Some(gist),
        agreeing,
        of,
        confidence: confidence(agreeing, of),
        episodes: newest_first(episodes),
    };
    lessons.into_iter().map(lesson).collect()
}

/// The lesson that what failed had better be left: failures that found no remedy, against those that did, and against later
/// successes with what failed.
fn nothing_helps<'a>(episodes: &[&'a Memory], successes: &[&Memory]) -> Option<Lesson<'a>> {
    let (known, unknown): (Vec<&'a Memory>, Vec<&'a Memory>) =
        episodes.iter().copied().partition(|memory| remedy(memory).is_some());
    let first = unknown.iter().map(|memory| memory.occurred_at).min()?;
    let failed: Vec<&str> =
        unknown.iter().filter_map(|memory| failing(memory)).map(|a| a.tool.as_str()).collect();
    let works = |memory: &&&Memory| {
        let actions = memory.episode.as_deref().map(|episode| episode.actions.as_slice()).unwrap_or_default();
        memory.occurred_at > first
            && actions.iter().any(|action| !is_failed(action) && failed.contains(&action.tool.as_str()))
    };
    let total = |count: u32, memory: &Memory| count.saturating_add(weight(memory));
    let agreeing = unknown.iter().fold(0, |count, memory| total(count, memory));
    let against = known.iter().fold(0, |count, memory| total(count, memory));
    let against = successes.iter().filter(works).fold(against, |count, memory| total(count, memory));
    let of = agreeing.saturating_add(against);
    Some(Lesson {
        polarity: Polarity::Avoid,
        remedy: None,
        agreeing,
        of,
        confidence: confidence(agreeing, of),
        episodes: newest_first(unknown),
    })
}

fn newest_first(mut episodes: Vec<&Memory>) -> Vec<&Memory> {
    episodes.sort_by_key(|memory| std::cmp::Reverse((memory.occurred_at, memory.id)));
    episodes
}

fn is_failed(action: &Action) -> bool {
    action.error_code.is_some() || action.error_message.is_some()
}

/// The last action of an episode that failed.
pub(super) fn failing(memory: &Memory) -> Option<&Action> {
    let actions = memory.episode.as_deref().map(|episode| episode.actions.as_slice())?;
    actions.iter().rev().find(|action| is_failed(action))
}
