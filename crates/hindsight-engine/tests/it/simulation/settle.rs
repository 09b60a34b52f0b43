//! W7, L3: what becomes true again does not stand beside another value of the same property.

use std::collections::BTreeMap;
use std::sync::Arc;

use hindsight_core::{MemoryId, State, Timestamp};

use super::known::{Known, is_true, replaced, step};
use super::model::Images;
use super::request::Item;

/// Who gives way: the value that holds from earlier on, or whatever the one contradicts that somebody made true again.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wins {
    Later,
    Risen,
}

/// The images of a restore or a rollback, with what else they bring about.
pub(super) fn settled(
    items: &BTreeMap<Item, Arc<Known>>,
    images: Images,
    wins: Wins,
    at: Timestamp,
) -> Images {
    let mut now: BTreeMap<Item, Arc<Known>> = items.clone();
    now.extend(images.iter().map(|(item, known)| (*item, Arc::clone(known))));
    let active = images.iter().filter(|(_, known)| known.memory.state == State::Active);
    let mut rising: Vec<Item> = active.map(|(item, _)| *item).collect();
    rising.sort_by_key(|item| std::cmp::Reverse(later(&now[item])));
    // Those that have not risen are not there for the ones that rise before them.
    let mut waiting = rising.clone();
    let mut risen: Vec<Item> = Vec::new();
    let mut all = images;
    for item in rising {
        waiting.retain(|other| *other != item);
        let known = Arc::clone(&now[&item]);
        let rivals: Vec<(Item, Arc<Known>)> = now
            .iter()
            .filter(|(other, _)| **other != item && !waiting.contains(other))
            .filter(|(_, other)| is_true(other, at) && is_true(&known, at) && says_other(other, &known))
            .map(|(other, rival)| (*other, Arc::clone(rival)))
            .collect();
        let may_win = |other: &Item| wins == Wins::Later || risen.contains(other);
        let winners = rivals
            .iter()
            .filter(|(other, rival)| rival.memory.occurred_at >= known.memory.occurred_at && may_win(other));
        let winner = winners.max_by_key(|(_, rival)| later(rival)).map(|(_, rival)| Arc::clone(rival));
        let mut changed: Images = Vec::new();
        match winner {
            Some(winner) => changed.push((item, Arc::new(behind(&items[&item], &known, &winner)))),
            None => {
                risen.push(item);
                let id = known.memory.id;
                changed
                    .extend(rivals.iter().map(|(other, rival)| (*other, Arc::new(replaced(rival, id, at)))));
            }
        }
        for (item, known) in changed {
            now.insert(item, Arc::clone(&known));
            all.retain(|(other, _)| *other != item);
            all.push((item, known));
        }
    }
    all
}

fn later(known: &Known) -> (Timestamp, MemoryId) {
    (known.memory.occurred_at, known.memory.id)
}

fn says_other(one: &Known, other: &Known) -> bool {
    let claims =
        || one.memory.claims.iter().flat_map(|claim| other.memory.claims.iter().map(move |o| (claim, o)));
    claims().any(|(claim, other)| claim.subject == other.subject && claim.value != other.value)
}

/// History behind the value that holds from later on; one that was history before is no less sure for staying it.
fn behind(before: &Known, known: &Known, winner: &Known) -> Known {
    let mut known = known.clone();
    let memory = &mut known.memory;
    let begins = winner.memory.occurred_at;
    memory.state = State::Superseded;
    memory.superseded_by = Some(winner.memory.id);
    memory.valid_to = Some(memory.valid_to.map_or(begins, |to| to.min(begins)));
    memory.confidence = match before.memory.state {
        State::Superseded => before.memory.confidence,
        _ => step(memory.confidence, -0.3),
    };
    known
}
