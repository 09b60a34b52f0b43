//! Holds what a server answers against the ledgers.

use std::collections::HashMap;
use std::fmt;

use hindsight_client::{Memory, MemoryId, State};

use super::ledger::{Item, Ledger, Open, Request};
use super::text::{Key, ballast, content, tag};

/// Findings that are kept; a server that lost everything would give one for each memory.
const FINDINGS_MAX: usize = 20;

/// What kind of promise was broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fault {
    /// Something that was acknowledged, or shown to a reader, is not there, or not as it was last.
    Lost,
    /// Fewer log positions than requests that were carried out, or one position for two.
    Hole,
    /// Something is there that was refused, never sent, or is there twice.
    Phantom,
    /// A part of a batch.
    Torn,
    /// An answer that is wrong in itself, or an error where none belongs.
    Wrong,
}

/// A broken promise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Which.
    pub fault: Fault,
    /// Where.
    pub text: String,
}

impl Finding {
    /// A finding.
    #[must_use]
    pub fn new(fault: Fault, text: impl Into<String>) -> Finding {
        Finding { fault, text: text.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.fault, self.text)
    }
}

/// Everything a server has.
#[derive(Debug, Default)]
pub struct Found {
    /// All memories of all writers, forgotten ones too.
    pub memories: Vec<Memory>,
    /// The newest log position.
    pub revision: u64,
}

/// Compares, finds out which open requests were carried out, and enters those into the ledgers. `others` are the log
/// positions that somebody else was told.
pub fn compare(ledgers: &mut [Ledger], found: &Found, others: &[u64]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut by_key: HashMap<Key, &Memory> = HashMap::new();
    for memory in &found.memories {
        let Some(key) = Key::of(&memory.content) else {
            findings
                .push(Finding::new(Fault::Phantom, format!("{} nobody wrote: {}", memory.id, start(memory))));
            continue;
        };
        if by_key.insert(key, memory).is_some() {
            findings.push(Finding::new(Fault::Phantom, format!("{key} is there twice")));
        }
    }
    for ledger in &mut *ledgers {
        settle(ledger, &by_key, &mut findings);
        for (number, item) in &ledger.items {
            let key = Key { writer: ledger.writer, number: *number };
            match by_key.remove(&key) {
                None => findings.push(Finding::new(Fault::Lost, format!("{key} is not there"))),
                Some(memory) => findings.extend(difference(key, item, memory)),
            }
        }
    }
    findings.extend(by_key.into_values().map(|memory| {
        Finding::new(Fault::Phantom, format!("{} was never asked for: {}", memory.id, start(memory)))
    }));
    findings.extend(positions(ledgers, others, found.revision));
    findings.sort_by(|a, b| a.fault.cmp(&b.fault).then_with(|| a.text.cmp(&b.text)));
    findings.truncate(FINDINGS_MAX);
    findings
}

/// Finds out whether the open request was carried out.
fn settle(ledger: &mut Ledger, by_key: &HashMap<Key, &Memory>, findings: &mut Vec<Finding>) {
    let Some(mut open) = ledger.open.take() else { return };
    let applied = was_applied(ledger, &open, by_key, findings);
    if open.was_seen && !applied {
        let what = format!("{:?} of writer {} was shown to a reader", open.request, ledger.writer);
        findings.push(Finding::new(Fault::Lost, what));
    }
    if applied {
        let ids: Vec<MemoryId> = open
            .request
            .numbers()
            .filter_map(|number| by_key.get(&ledger.key(number)))
            .map(|memory| memory.id)
            .collect();
        ledger.enter(&open.request, &ids);
    }
    open.applied = Some(applied);
    ledger.open = Some(open);
}

fn was_applied(
    ledger: &Ledger,
    open: &Open,
    by_key: &HashMap<Key, &Memory>,
    findings: &mut Vec<Finding>,
) -> bool {
    let present = |number: u64| by_key.get(&ledger.key(number));
    match open.request {
        Request::Write { number, id, .. } => {
            present(number).is_some_and(|memory| id.is_none_or(|id| memory.id == id))
        }
        Request::Batch { first } => {
            let numbers = open.request.numbers();
            let (whole, there) =
                (numbers.clone().count(), numbers.filter(|number| present(*number).is_some()).count());
            if there != 0 && there != whole {
                let what = format!("{there} of {whole} memories of batch {}", ledger.key(first));
                findings.push(Finding::new(Fault::Torn, what));
            }
            there != 0
        }
        // Any version above the acknowledged one; that it is the very next, and looks like it, is compared later.
        Request::Update { number, .. } | Request::Forget { number } => {
            let acknowledged = ledger.items.get(&number).map(|item| item.version);
            present(number).map(|memory| memory.version) > acknowledged
        }
    }
}

fn difference(key: Key, item: &Item, memory: &Memory) -> Option<Finding> {
    if memory.version != item.version {
        let fault = if memory.version < item.version { Fault::Lost } else { Fault::Phantom };
        let text = format!("{key} has version {}, acknowledged is {}", memory.version, item.version);
        return Some(Finding::new(fault, text));
    }
    let state = if item.forgotten { State::Forgotten } else { State::Active };
    let ballast_found = memory.metadata.get("ballast").and_then(|value| value.as_str()).unwrap_or_default();
    let what = if memory.id != item.id {
        format!("id {} instead of {}", memory.id, item.id)
    } else if memory.state != state {
        format!("state {} instead of {state}", memory.state)
    } else if memory.content != content(key, item.revision) {
        format!("another content: {}", start(memory))
    } else if memory.tags != [tag(key.writer, item.batch)] {
        format!("tags {:?}", memory.tags)
    } else if ballast_found != ballast(key, item.ballast_bytes) {
        "another metadata".to_owned()
    } else {
        return None;
    };
    Some(Finding::new(Fault::Wrong, format!("{key} at version {}: {what}", item.version)))
}

/// Each request that changes something takes one log position, and nothing else does: so the newest position is the
/// number of requests that were carried out, or the log has a hole, or something in it that nobody asked for.
fn positions(ledgers: &[Ledger], others: &[u64], revision: u64) -> Option<Finding> {
    let applied = ledgers.iter().map(|ledger| ledger.applied).sum::<u64>() + others.len() as u64;
    let mut named: Vec<u64> =
        ledgers.iter().flat_map(|ledger| &ledger.positions).chain(others).copied().collect();
    named.sort_unstable();
    let twice = named.windows(2).find(|pair| pair[0] == pair[1]);
    let newest = named.last().copied().unwrap_or_default();
    let (fault, text) = if let Some(pair) = twice {
        (Fault::Hole, format!("position {} was given to two requests", pair[0]))
    } else if newest > revision {
        (Fault::Lost, format!("position {newest} was acknowledged, and the log ends at {revision}"))
    } else if applied > revision {
        (Fault::Hole, format!("{applied} requests were carried out, and the log ends at {revision}"))
    } else if applied < revision {
        (Fault::Phantom, format!("{applied} requests were carried out, and the log ends at {revision}"))
    } else {
        return None;
    };
    Some(Finding::new(fault, text))
}

fn start(memory: &Memory) -> String {
    memory.content.chars().take(40).collect()
}

#[cfg(test)]
mod tests;
