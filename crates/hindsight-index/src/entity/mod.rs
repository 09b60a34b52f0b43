//! Entities and claims: which memories name whom and what, and how names hang together (M7, R4).
//!
//! A memory names its entities, the subjects of its claims and the short values of its claims. Names are compared folded
//! ([`name`]), and found in a query by the shelf's own [`lexicon`], the longest name first. Codes, identifiers and
//! quoted words are found in a query by their shape ([`shape`]), and looked for among the words of the texts. [`claims`]
//! holds who was stated what, [`alias`] which names are of one. [`query`] weighs what a query names by its rarity, [`walk`] goes from a name that few
//! memories bear to the names beside it, and [`search`] scores memories.
//!
//! What it does not: it guesses no names in the texts of memories. The caller says whom a memory is about.

mod alias;
mod claims;
mod lexicon;
mod name;
mod query;
mod search;
mod shape;
mod stored;
mod walk;

pub use query::{EntityPart, EntityQuery};
pub use search::EntitySearch;

use hindsight_core::Memory;

use crate::Ordinal;
use crate::bitmap::OrdinalSet;
use crate::packed::PackedList;
use claims::{ClaimIndex, End, Statement};
use lexicon::Lexicon;
pub(crate) use name::fold;
use name::{fold_attribute, fold_value};

/// The names and claims of one shelf.
#[derive(Debug, Default, Clone)]
pub struct EntityIndex {
    /// Folded names and their numbers.
    names: Lexicon,
    /// The memories that bear each name.
    bearers: Vec<OrdinalSet>,
    /// The names of each memory.
    names_of: Vec<PackedList>,
    claims: ClaimIndex,
}

impl EntityIndex {
    /// Brings a memory's entries to what it says, whatever they were before. A name that nobody bears any more is forgotten.
    pub(crate) fn set(&mut self, ordinal: Ordinal, memory: &Memory) {
        let mut found: Vec<u32> = Vec::new();
        for entity in &memory.entities {
            found.extend(self.intern(&entity.name));
        }
        let statements = self.statements(memory, &mut found);
        found.sort_unstable();
        found.dedup();
        self.claims.set(ordinal, statements);
        for name in &found {
            let at = *name as usize;
            if self.bearers.len() <= at {
                self.bearers.resize_with(at + 1, OrdinalSet::default);
            }
            if let Some(bearers) = self.bearers.get_mut(at) {
                bearers.insert(ordinal.get());
            }
        }
        self.leave_all_but(ordinal, &found);
        self.keep(ordinal, found);
    }

    /// Takes a memory out.
    pub(crate) fn remove(&mut self, ordinal: Ordinal) {
        self.claims.set(ordinal, Vec::new());
        self.leave_all_but(ordinal, &[]);
    }

    fn intern(&mut self, name: &str) -> Option<u32> {
        let folded = fold(name);
        (!folded.is_empty()).then(|| self.names.intern(&folded))
    }

    /// The claims of a memory in numbers; the names in them join `found`.
    fn statements(&mut self, memory: &Memory, found: &mut Vec<u32>) -> Vec<Statement> {
        let mut statements = Vec::new();
        for claim in &memory.claims {
            let attribute = fold_attribute(&claim.attribute);
            if attribute.is_empty() {
                continue;
            }
            let Some(subject) = self.intern(&claim.subject) else { continue };
            let value = fold_value(&claim.value).map(|value| self.names.intern(&value));
            found.push(subject);
            found.extend(value);
            statements.push(Statement { subject, attribute: self.claims.intern(&attribute), value });
        }
        statements
    }

    fn leave_all_but(&mut self, ordinal: Ordinal, stays: &[u32]) {
        let names = self.names_of.get_mut(ordinal.index()).map(std::mem::take).unwrap_or_default();
        for name in names.iter().filter(|name| stays.binary_search(name).is_err()) {
            if let Some(bearers) = self.bearers.get_mut(name as usize) {
                bearers.remove(ordinal.get());
                if bearers.is_empty() {
                    self.names.remove(name);
                }
            }
        }
    }

    fn keep(&mut self, ordinal: Ordinal, names: Vec<u32>) {
        if self.names_of.len() <= ordinal.index() {
            if names.is_empty() {
                return;
            }
            self.names_of.resize_with(ordinal.index() + 1, PackedList::default);
        }
        if let Some(place) = self.names_of.get_mut(ordinal.index()) {
            *place = PackedList::new(names);
        }
    }

    /// The memories that bear a folded name.
    fn bearers(&self, name: &str) -> Option<&OrdinalSet> {
        self.bearers.get(self.names.get(name)? as usize)
    }

    /// The memories that state a folded attribute of a folded name, or with it as the value.
    fn stated_at(&self, name: &str, attribute: &str, end: End) -> Option<&OrdinalSet> {
        self.claims.stated(self.names.get(name)?, self.claims.attributes().get(attribute)?, end)
    }

    /// The numbers of a memory's names, ascending.
    fn names_of(&self, ordinal: Ordinal) -> impl Iterator<Item = u32> + '_ {
        self.names_of.get(ordinal.index()).into_iter().flat_map(PackedList::iter)
    }

    /// How many memories name somebody or something, as an entity or in a claim. Names are compared folded: in lower
    /// case, with compatible forms as one (ＡＰＩ is API) and one space between words.
    #[must_use]
    pub fn named(&self, name: &str) -> usize {
        self.bearers(&fold(name)).map_or(0, OrdinalSet::len)
    }

    /// The memories that state this attribute of this subject, ascending.
    #[must_use]
    pub fn stated(&self, subject: &str, attribute: &str) -> Vec<Ordinal> {
        let stated = self.stated_at(&fold(subject), &fold_attribute(attribute), End::Subject);
        stated.map(|memories| memories.iter().map(Ordinal).collect()).unwrap_or_default()
    }

    /// How many distinct names there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether no memory names anything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many claims there are, the same one of several memories counted for each.
    #[must_use]
    pub fn claims(&self) -> usize {
        self.claims.len()
    }

    /// Estimated bytes on the heap.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.names.bytes()
            + self.bearers.iter().map(OrdinalSet::bytes).sum::<usize>()
            + self.bearers.capacity() * size_of::<OrdinalSet>()
            + self.names_of.iter().map(PackedList::bytes).sum::<usize>()
            + self.names_of.capacity() * size_of::<PackedList>()
            + self.claims.bytes()
    }
}
