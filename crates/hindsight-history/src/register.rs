//! Whether the memories of a history behave as registers: the search of Wing and Gong, with the cache of Lowe.
//!
//! Each key is judged alone: a history is linearizable if it is so for each key. The search takes calls one after the
//! other into an order, of those that had begun before the first answer that is not in it, and goes back where the
//! answers do not fit. What was reached once with the same calls in the order and the same content leads nowhere new.

use std::collections::{BTreeMap, HashSet};

/// The content of a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Held {
    /// Its version, from 1.
    pub version: u64,
    /// Which of the contents that clients wrote.
    pub value: u64,
}

/// What a client asked for and was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// A read: it was shown this.
    Read(Held),
    /// A change: the memory has this now. With `expected` it was to be made at that version only.
    Changed {
        /// The version that the client named.
        expected: Option<u64>,
        /// The memory afterwards.
        now: Held,
    },
    /// A change that was refused, since the memory has not the version that the client named.
    Refused {
        /// That version.
        expected: u64,
    },
    /// A change without an answer: it was made, or will be, or never.
    Unknown {
        /// The version that the client named.
        expected: Option<u64>,
        /// The content that it brings.
        value: u64,
    },
}

/// One call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// Which memory.
    pub key: u32,
    /// When it began.
    pub begin: u64,
    /// When its answer was there; after all else for one without an answer.
    pub end: u64,
    /// The answer.
    pub told: Told,
}

impl Told {
    /// What the memory holds afterwards, if the call can come when it holds `held`.
    fn after(self, held: Held) -> Option<Held> {
        let is_expected = |expected: Option<u64>| expected.is_none_or(|version| version == held.version);
        let next = held.version + 1;
        match self {
            Told::Read(shown) => (shown == held).then_some(held),
            Told::Changed { expected, now } => (is_expected(expected) && now.version == next).then_some(now),
            Told::Refused { expected } => (expected != held.version).then_some(held),
            Told::Unknown { expected, value } => {
                is_expected(expected).then_some(Held { version: next, value })
            }
        }
    }
}

/// Checks every key of a history, all of which began as `first`.
///
/// # Errors
/// The first key whose answers fit into no order, with the call up to which they do.
pub fn check(history: &[Call], first: Held) -> Result<(), String> {
    let mut keys: BTreeMap<u32, Vec<Call>> = BTreeMap::new();
    for call in history {
        keys.entry(call.key).or_default().push(*call);
    }
    for (key, calls) in keys {
        if let Err(stuck) = Search::new(&calls).run(first) {
            let count = calls.len();
            return Err(format!(
                "no order of the {count} calls of key {key} explains their answers: after {} of them in an order, \
                 none can be {stuck:?}",
                stuck.begin
            ));
        }
    }
    Ok(())
}

/// A place in the list of beginnings and ends: which call, and where its other one is.
#[derive(Debug, Clone, Copy)]
struct Entry {
    call: usize,
    is_begin: bool,
    other: Option<usize>,
    before: usize,
    after: usize,
}

/// The list of what is not in the order yet. Entry 0 is its head; the list ends there, too.
struct Search<'a> {
    calls: &'a [Call],
    entries: Vec<Entry>,
}

impl<'a> Search<'a> {
    fn new(calls: &'a [Call]) -> Search<'a> {
        let mut moments: Vec<(u64, bool, usize)> = Vec::with_capacity(calls.len() * 2);
        for (at, call) in calls.iter().enumerate() {
            moments.push((call.begin, true, at));
            if !matches!(call.told, Told::Unknown { .. }) {
                moments.push((call.end, false, at));
            }
        }
        moments.sort_unstable();
        let mut begins = vec![0; calls.len()];
        let head = Entry { call: usize::MAX, is_begin: false, other: None, before: moments.len(), after: 1 };
        let mut entries = vec![head];
        for (at, (_, is_begin, call)) in (1..).zip(moments.iter().copied()) {
            let other = (!is_begin).then(|| begins[call]);
            if is_begin {
                begins[call] = at;
            } else {
                entries[begins[call]].other = Some(at);
            }
            let after = if at == moments.len() { 0 } else { at + 1 };
            entries.push(Entry { call, is_begin, other, before: at - 1, after });
        }
        Search { calls, entries }
    }

    fn unlink(&mut self, at: usize) {
        let Entry { before, after, .. } = self.entries[at];
        self.entries[before].after = after;
        self.entries[after].before = before;
    }

    fn link(&mut self, at: usize) {
        let Entry { before, after, .. } = self.entries[at];
        self.entries[before].after = at;
        self.entries[after].before = at;
    }

    /// Finds an order of all calls with an answer.
    fn run(mut self, first: Held) -> Result<(), Call> {
        let mut left = self.entries.iter().filter(|entry| entry.is_begin && entry.other.is_some()).count();
        let (mut held, mut at) = (first, self.entries[0].after);
        let mut chosen = vec![0_u64; self.calls.len().div_ceil(64)];
        let mut order: Vec<(usize, Held)> = Vec::new();
        let mut reached: HashSet<(Vec<u64>, Held)> = HashSet::new();
        let (mut longest, mut stuck) = (0, None);
        while left > 0 {
            let entry = self.entries[at];
            if !entry.is_begin {
                // Everything that began before this answer was tried: it fits nowhere, so the last choice was wrong.
                let call = self.calls[entry.call];
                if stuck.is_none() || order.len() > longest {
                    (longest, stuck) = (order.len(), Some(call));
                }
                let Some((last, before)) = order.pop() else { return Err(stuck.unwrap_or(call)) };
                let Entry { call, other, .. } = self.entries[last];
                chosen[call / 64] &= !(1 << (call % 64));
                if let Some(end) = other {
                    self.link(end);
                    left += 1;
                }
                self.link(last);
                (held, at) = (before, self.entries[last].after);
                continue;
            }
            let next = self.calls[entry.call].told.after(held);
            let is_new = next.is_some_and(|next| {
                let mut with = chosen.clone();
                with[entry.call / 64] |= 1 << (entry.call % 64);
                reached.insert((with, next))
            });
            let (Some(next), true) = (next, is_new) else {
                at = entry.after;
                continue;
            };
            order.push((at, held));
            held = next;
            chosen[entry.call / 64] |= 1 << (entry.call % 64);
            self.unlink(at);
            if let Some(end) = entry.other {
                self.unlink(end);
                left -= 1;
            }
            at = self.entries[0].after;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
