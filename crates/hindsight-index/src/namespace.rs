//! Everything derived of one namespace, and the one way it changes.

use hindsight_core::likeness::{Marks, held_marks};
use hindsight_core::{Embedding, MemoryId, Record, State};

use crate::{IndexError, KeywordQuery, MeetingIndex, NamespaceStats, Ordinal, Shelf, VectorQuery};

/// The indexes of one namespace. Active memories stand on one shelf and nowhere else; superseded, archived and
/// quarantined ones on another; forgotten ones on none. So a search of the active shelf can't return the others,
/// whatever its filter says.
#[derive(Debug, Default)]
pub struct NamespaceIndex {
    active: Shelf,
    inactive: Shelf,
    /// Of the active shelf: what is superseded or archived is neither repeated nor contradicted.
    meeting: MeetingIndex,
}

/// Which shelves a query is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Shelves {
    /// The active one: what recall sees by default.
    #[default]
    Active,
    /// Both: history and the archive too.
    Both,
}

impl NamespaceIndex {
    /// Brings the indexes to what a record says: enters it, replaces what stood under its id, moves it to the shelf of its
    /// state, or drops it when it is forgotten. Nothing of an earlier version is left in any list or statistic.
    ///
    /// # Errors
    /// [`IndexError`] when the record can't be held; nothing has changed then.
    pub fn apply(&mut self, record: &Record) -> Result<(), IndexError> {
        self.apply_marked(record, None)
    }

    /// As [`NamespaceIndex::apply`], for who knows the record's [`held_marks`] already.
    ///
    /// # Errors
    /// As [`NamespaceIndex::apply`].
    pub fn apply_marked(&mut self, record: &Record, held: Option<Vec<u32>>) -> Result<(), IndexError> {
        let id = record.memory.id;
        match record.memory.state {
            State::Active => {
                check_vectors(record, self.dimension())?;
                self.active.put(record)?;
                self.inactive.remove(id);
                if let Some(ordinal) = self.active.ordinal(id) {
                    let held = held.unwrap_or_else(|| held_marks(&record.memory));
                    debug_assert_eq!(held, held_marks(&record.memory));
                    self.meeting.set(ordinal, held);
                }
            }
            State::Superseded | State::Archived | State::Quarantined => {
                check_vectors(record, self.dimension())?;
                self.inactive.put(record)?;
                self.remove_active(id);
            }
            State::Forgotten => {
                self.remove(id);
            }
        }
        Ok(())
    }

    /// Takes a memory out of every index and says whether it was in one.
    pub fn remove(&mut self, id: MemoryId) -> bool {
        let was_active = self.remove_active(id);
        let was_inactive = self.inactive.remove(id);
        was_active || was_inactive
    }

    fn remove_active(&mut self, id: MemoryId) -> bool {
        if let Some(ordinal) = self.active.ordinal(id) {
            self.meeting.remove(ordinal);
        }
        self.active.remove(id)
    }

    /// The active memories that one with these marks may repeat; of each mark at most `most`.
    #[must_use]
    pub fn same(&self, marks: &Marks, most: usize) -> Vec<MemoryId> {
        self.ids(self.meeting.same(marks, most))
    }

    /// The active memories that one with these marks may contradict; of each mark at most `most`.
    #[must_use]
    pub fn met(&self, marks: &Marks, most: usize) -> Vec<MemoryId> {
        self.ids(self.meeting.met(marks, most))
    }

    fn ids(&self, ordinals: Vec<Ordinal>) -> Vec<MemoryId> {
        ordinals.into_iter().map(|ordinal| self.active.id(ordinal)).collect()
    }

    /// The shelf of the active memories.
    #[must_use]
    pub fn active(&self) -> &Shelf {
        &self.active
    }

    pub(crate) fn active_mut(&mut self) -> &mut Shelf {
        &mut self.active
    }

    pub(crate) fn inactive_mut(&mut self) -> &mut Shelf {
        &mut self.inactive
    }

    pub(crate) fn meeting(&self) -> &MeetingIndex {
        &self.meeting
    }

    pub(crate) fn of_parts(active: Shelf, inactive: Shelf, meeting: MeetingIndex) -> NamespaceIndex {
        NamespaceIndex { active, inactive, meeting }
    }

    /// The shelf of the superseded, archived and quarantined ones.
    #[must_use]
    pub fn inactive(&self) -> &Shelf {
        &self.inactive
    }

    /// The dimension of the namespace's vectors, fixed by the first one.
    #[must_use]
    pub fn dimension(&self) -> Option<usize> {
        self.active.vectors().dimension().or(self.inactive.vectors().dimension())
    }

    /// Prepares a vector to be searched for, on either shelf.
    ///
    /// # Errors
    /// [`IndexError::Dimension`] when it does not fit the namespace's vectors.
    pub fn vector_query(&self, embedding: &Embedding) -> Result<VectorQuery, IndexError> {
        match self.dimension() {
            Some(expected) if expected != embedding.dimension() => {
                Err(IndexError::Dimension { expected, found: embedding.dimension() })
            }
            _ => Ok(VectorQuery::new(embedding)),
        }
    }

    /// Analyses a text to be searched for on these shelves; words are weighed by their rarity on them together.
    #[must_use]
    pub fn keyword_query(&self, text: &str, shelves: Shelves) -> KeywordQuery {
        match shelves {
            Shelves::Active => KeywordQuery::new(text, &[self.active.lexical()]),
            Shelves::Both => KeywordQuery::new(text, &[self.active.lexical(), self.inactive.lexical()]),
        }
    }

    /// Counts and estimated bytes.
    #[must_use]
    pub fn stats(&self) -> NamespaceStats {
        NamespaceStats {
            active: self.active.stats(),
            inactive: self.inactive.stats(),
            meeting_bytes: self.meeting.bytes(),
        }
    }
}

/// Whether all vectors of a record have the dimension of the namespace, or, where it has none yet, of each other.
fn check_vectors(record: &Record, dimension: Option<usize>) -> Result<(), IndexError> {
    let mut expected = dimension;
    for vector in &record.vectors {
        let found = vector.embedding.dimension();
        match expected {
            Some(expected) if expected != found => return Err(IndexError::Dimension { expected, found }),
            _ => expected = Some(found),
        }
    }
    Ok(())
}
