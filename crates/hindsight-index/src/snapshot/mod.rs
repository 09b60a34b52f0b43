//! A namespace's index as bytes and back: what a start would otherwise derive of every record again.
//!
//! [`NamespaceIndex::to_bytes`] and [`NamespaceIndex::from_bytes`]. The bytes are described in `docs/disk-format.md`,
//! section "Index snapshot"; each index has its part in a file named `stored` beside it, [`wire`] has the numbers and
//! [`lists`] what they share. Vectors in full are not in it, and no graph: the first are in the records
//! ([`NamespaceIndex::take_vectors`]), the second is built anew.
//!
//! Whoever reads it believes nothing: what is cut off, out of order or out of range is an error, never a panic, and memory
//! is taken only for what bytes are there for. What can be derived of the rest (free slots, sums, which lists a memory stands
//! in) is not stored, so that it can't contradict the rest.

pub(crate) mod lists;
pub(crate) mod wire;

use hindsight_core::{Record, State};

use crate::bitmap::OrdinalSet;
use crate::{MeetingIndex, NamespaceIndex, Ordinal, Shelf};
use wire::{Reader, Writer};

/// The version of the form that is written, and the only one that is read: an older one is made anew.
pub const SNAPSHOT_VERSION: u32 = 1;

/// Why bytes are not an index.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotError {
    /// Another version wrote it.
    #[error("version {found}: {SNAPSHOT_VERSION} can be read")]
    Version {
        /// The version that stands in it.
        found: u32,
    },
    /// The bytes end too early.
    #[error("the bytes end too early")]
    CutOff,
    /// Something in it can't be.
    #[error("{what} can't be")]
    Unsound {
        /// What.
        what: &'static str,
    },
    /// It says something else of a memory than the memory's record.
    #[error("it does not fit the records: {what}")]
    Misfit {
        /// What.
        what: &'static str,
    },
}

pub(crate) fn unsound(what: &'static str) -> SnapshotError {
    SnapshotError::Unsound { what }
}

impl NamespaceIndex {
    /// The index as bytes: everything but vectors in full and the graph. The same index gives the same bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.u32(SNAPSHOT_VERSION);
        self.active().save(&mut out);
        self.inactive().save(&mut out);
        self.meeting().save(&mut out);
        out.into_bytes()
    }

    /// The index that [`NamespaceIndex::to_bytes`] made these bytes of. Its vectors are to be given back by
    /// [`NamespaceIndex::take_vectors`] before anything is searched.
    ///
    /// # Errors
    /// [`SnapshotError`] when the bytes are not an index of this version.
    pub fn from_bytes(bytes: &[u8]) -> Result<NamespaceIndex, SnapshotError> {
        let mut from = Reader::new(bytes);
        match from.u32()? {
            SNAPSHOT_VERSION => {}
            found => return Err(SnapshotError::Version { found }),
        }
        let (active, inactive) = (Shelf::load(&mut from)?, Shelf::load(&mut from)?);
        let meeting = MeetingIndex::load(&mut from, active.slots())?;
        from.end()?;
        let dimensions = (active.vectors().dimension(), inactive.vectors().dimension());
        if let (Some(one), Some(other)) = dimensions
            && one != other
        {
            return Err(unsound("two dimensions of vectors"));
        }
        Ok(NamespaceIndex::of_parts(active, inactive, meeting))
    }

    /// Holds the index against a record that has not changed since the index was made into bytes, and takes its vectors
    /// in full from it.
    ///
    /// # Errors
    /// [`SnapshotError::Misfit`] when the index does not have this memory where it belongs, or other vectors of it.
    pub fn take_vectors(&mut self, record: &Record) -> Result<(), SnapshotError> {
        let id = record.memory.id;
        let is_on = (self.active().ordinal(id).is_some(), self.inactive().ordinal(id).is_some());
        let belongs = match record.memory.state {
            State::Active => (true, false),
            State::Superseded | State::Archived | State::Quarantined => (false, true),
            State::Forgotten => (false, false),
        };
        if is_on != belongs {
            return Err(SnapshotError::Misfit { what: "a memory is not where its state says" });
        }
        let vectors = record.vectors.iter().map(|vector| vector.embedding.as_slice());
        let fits = match is_on {
            (true, _) => self.active_mut().take_vectors(id, vectors),
            (_, true) => self.inactive_mut().take_vectors(id, vectors),
            _ => true,
        };
        if fits { Ok(()) } else { Err(SnapshotError::Misfit { what: "a memory has other vectors" }) }
    }
}

impl MeetingIndex {
    /// Each mark with the memories that hold it, in the order of marks.
    fn save(&self, out: &mut Writer) {
        let mut marks: Vec<(u32, &OrdinalSet)> = self.holders().collect();
        marks.sort_unstable_by_key(|(mark, _)| *mark);
        out.count(marks.len());
        for (mark, holders) in marks {
            out.u32(mark);
            lists::save_set(out, holders);
        }
    }

    fn load(from: &mut Reader<'_>, slots: u32) -> Result<MeetingIndex, SnapshotError> {
        let count = from.count(6)?;
        let (mut marks, mut holders) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for _ in 0..count {
            let mark = from.u32()?;
            if marks.last().is_some_and(|last| *last >= mark) {
                return Err(unsound("the order of marks"));
            }
            marks.push(mark);
            let set = lists::load_set(from, slots)?;
            if set.is_empty() {
                return Err(unsound("a mark without a memory"));
            }
            holders.push(set);
        }
        let held = lists::invert(slots, holders.iter().map(OrdinalSet::iter), |numbers| {
            numbers.iter().filter_map(|at| marks.get(*at as usize).copied()).collect::<Box<[u32]>>()
        });
        Ok(MeetingIndex::of_parts(marks.into_iter().zip(holders), held))
    }
}

impl Ordinal {
    /// A slot that stands in bytes, which is below `slots`.
    pub(crate) fn checked(slot: u32, slots: u32) -> Result<Ordinal, SnapshotError> {
        if slot < slots { Ok(Ordinal(slot)) } else { Err(unsound("a slot beyond the last")) }
    }
}
