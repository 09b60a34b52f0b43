//! Whether answers agree with the log positions that they name.
//!
//! Sorted by these, the changes make the one history that the database claims. It is right when no call that began
//! after another's answer stands before it, and when each read shows what the changes up to its position add up to: of
//! a batch everything or nothing.

use std::collections::{BTreeMap, HashMap};

/// What a call did or was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// A memory has a new content.
    Wrote {
        /// Which memory of its namespace.
        key: u32,
        /// Which content: no other write of it has the same.
        value: u64,
        /// The version that the answer names.
        version: u64,
    },
    /// All memories of a batch were written.
    WroteBatch {
        /// Which batch of its namespace.
        batch: u32,
    },
    /// A memory was read.
    Read {
        /// Which.
        key: u32,
        /// The content that was shown.
        value: u64,
        /// Its version.
        version: u64,
    },
    /// The memories of a batch were listed.
    Listed {
        /// Which batch.
        batch: u32,
        /// How many there were.
        count: u32,
    },
}

/// One call that was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// When it began.
    pub begin: u64,
    /// When its answer was there.
    pub end: u64,
    /// The namespace.
    pub space: u32,
    /// The log position: of what was written, or that a read reflects.
    pub lsn: u64,
    /// What it did.
    pub seen: Seen,
}

/// What was looked at, so that a test can tell a history that proves something from an empty one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Checked {
    /// Changes.
    pub writes: u64,
    /// Reads of one memory.
    pub reads: u64,
    /// Lists that showed a whole batch.
    pub whole: u64,
    /// Lists that showed nothing of it.
    pub absent: u64,
}

impl Seen {
    fn is_write(&self) -> bool {
        matches!(self, Seen::Wrote { .. } | Seen::WroteBatch { .. })
    }
}

/// Checks a history in which each batch has `batch_memories` memories.
///
/// # Errors
/// The first call that does not fit, and what it contradicts.
pub fn check(history: &[Event], batch_memories: u32) -> Result<Checked, String> {
    real_time(history)?;
    let model = Model::new(history)?;
    let mut checked = Checked::default();
    for event in history {
        model.judge(event, batch_memories).map_err(|wrong| format!("{event:?}: {wrong}"))?;
        match event.seen {
            Seen::Wrote { .. } | Seen::WroteBatch { .. } => checked.writes += 1,
            Seen::Read { .. } => checked.reads += 1,
            Seen::Listed { count: 0, .. } => checked.absent += 1,
            Seen::Listed { .. } => checked.whole += 1,
        }
    }
    Ok(checked)
}

/// Whoever begins after an answer comes behind it: a change behind everything that was answered, a read at or behind
/// what was answered in its namespace.
fn real_time(history: &[Event]) -> Result<(), String> {
    let (mut by_begin, mut by_end): (Vec<&Event>, Vec<&Event>) =
        (history.iter().collect(), history.iter().collect());
    by_begin.sort_unstable_by_key(|event| event.begin);
    by_end.sort_unstable_by_key(|event| event.end);
    let mut ended = by_end.into_iter().peekable();
    let (mut newest, mut of_space): (Option<&Event>, HashMap<u32, &Event>) = (None, HashMap::new());
    for event in by_begin {
        while let Some(before) = ended.next_if(|before| before.end < event.begin) {
            if newest.is_none_or(|newest| newest.lsn < before.lsn) {
                newest = Some(before);
            }
            let last = of_space.entry(before.space).or_insert(before);
            if last.lsn < before.lsn {
                *last = before;
            }
        }
        let (before, is_behind) = if event.seen.is_write() {
            (newest, newest.is_none_or(|before| before.lsn < event.lsn))
        } else {
            let before = of_space.get(&event.space).copied();
            (before, before.is_none_or(|before| before.lsn <= event.lsn))
        };
        if let (Some(before), false) = (before, is_behind) {
            return Err(format!(
                "{event:?} began after the answer of {before:?}, and does not come behind it"
            ));
        }
    }
    Ok(())
}

/// A change of one memory: its position, and what the memory has from then on.
type Change = (u64, u64, u64);

/// What the changes add up to.
#[derive(Debug, Default)]
struct Model {
    memories: HashMap<(u32, u32), Vec<Change>>,
    batches: HashMap<(u32, u32), u64>,
}

impl Model {
    fn new(history: &[Event]) -> Result<Model, String> {
        let mut by_lsn: BTreeMap<u64, &Event> = BTreeMap::new();
        for event in history.iter().filter(|event| event.seen.is_write()) {
            if let Some(other) = by_lsn.insert(event.lsn, event) {
                return Err(format!("{event:?} and {other:?} have one position"));
            }
        }
        let mut model = Model::default();
        for (lsn, event) in by_lsn {
            match event.seen {
                Seen::Wrote { key, value, version } => {
                    let changes = model.memories.entry((event.space, key)).or_default();
                    let before = changes.last().map_or(0, |(_, _, version)| *version);
                    if version != before + 1 {
                        return Err(format!("{event:?}: the change before it made version {before}"));
                    }
                    changes.push((lsn, value, version));
                }
                Seen::WroteBatch { batch } => {
                    model.batches.insert((event.space, batch), lsn);
                }
                Seen::Read { .. } | Seen::Listed { .. } => {}
            }
        }
        Ok(model)
    }

    fn judge(&self, event: &Event, batch_memories: u32) -> Result<(), String> {
        match event.seen {
            Seen::Wrote { .. } | Seen::WroteBatch { .. } => Ok(()),
            Seen::Read { key, value, version } => {
                let changes = self.memories.get(&(event.space, key)).map_or(&[][..], Vec::as_slice);
                let count = changes.partition_point(|(lsn, ..)| *lsn <= event.lsn);
                match changes.get(..count).and_then(<[Change]>::last) {
                    Some((_, held, at)) if (*held, *at) == (value, version) => Ok(()),
                    other => Err(format!("there the memory has {other:?} (position, content, version)")),
                }
            }
            Seen::Listed { batch, count } => {
                let is_there = self.batches.get(&(event.space, batch)).is_some_and(|lsn| *lsn <= event.lsn);
                let expected = if is_there { batch_memories } else { 0 };
                if count == expected {
                    Ok(())
                } else {
                    Err(format!("there the batch has {expected} memories"))
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
