//! Who was stated what: subject, attribute and value, found from either end.

use rustc_hash::FxHashMap;

use super::lexicon::Lexicon;
use crate::Ordinal;
use crate::bitmap::OrdinalSet;

/// A claim of one memory, in numbers: names of the shelf's lexicon, an attribute of this index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Statement {
    pub(super) subject: u32,
    pub(super) attribute: u32,
    /// Absent where the value is no name.
    pub(super) value: Option<u32>,
}

/// One end of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum End {
    Subject,
    Value,
}

pub(super) type Key = (u32, u32, End);

/// The claims of one shelf.
#[derive(Debug, Default, Clone)]
pub(super) struct ClaimIndex {
    attributes: Lexicon,
    /// How many claims use each attribute.
    uses: Vec<u32>,
    /// The claims of each memory that has some.
    of: FxHashMap<u32, Box<[Statement]>>,
    /// The memories that state an attribute of a name, or with it as the value.
    stated: FxHashMap<Key, OrdinalSet>,
    claims: usize,
}

impl Statement {
    pub(super) fn keys(&self) -> impl Iterator<Item = Key> {
        let value = self.value.map(|value| (value, self.attribute, End::Value));
        [(self.subject, self.attribute, End::Subject)].into_iter().chain(value)
    }
}

impl ClaimIndex {
    /// The number of a folded attribute. It is kept when a claim that uses it is entered next.
    pub(super) fn intern(&mut self, attribute: &str) -> u32 {
        self.attributes.intern(attribute)
    }

    /// Brings a memory's claims to these. The names in the old ones must still have their numbers.
    pub(super) fn set(&mut self, ordinal: Ordinal, mut statements: Vec<Statement>) {
        statements.sort_unstable();
        statements.dedup();
        let before = self.of.remove(&ordinal.get()).unwrap_or_default();
        // The new ones first, so that an attribute that stays keeps its number.
        for statement in &statements {
            let at = statement.attribute as usize;
            if self.uses.len() <= at {
                self.uses.resize(at + 1, 0);
            }
            if let Some(uses) = self.uses.get_mut(at) {
                *uses += 1;
            }
        }
        for statement in &before {
            self.leave(ordinal, statement);
        }
        for key in statements.iter().flat_map(Statement::keys) {
            self.stated.entry(key).or_default().insert(ordinal.get());
        }
        self.claims = self.claims + statements.len() - before.len();
        if !statements.is_empty() {
            self.of.insert(ordinal.get(), statements.into_boxed_slice());
        }
    }

    fn leave(&mut self, ordinal: Ordinal, statement: &Statement) {
        for key in statement.keys() {
            if let Some(memories) = self.stated.get_mut(&key) {
                memories.remove(ordinal.get());
                if memories.is_empty() {
                    self.stated.remove(&key);
                }
            }
        }
        if let Some(uses) = self.uses.get_mut(statement.attribute as usize) {
            *uses = uses.saturating_sub(1);
            if *uses == 0 {
                self.attributes.remove(statement.attribute);
            }
        }
    }

    /// The attributes.
    pub(super) fn attributes(&self) -> &Lexicon {
        &self.attributes
    }

    /// The memories that state an attribute of a name, or with it as the value.
    pub(super) fn stated(&self, name: u32, attribute: u32, end: End) -> Option<&OrdinalSet> {
        self.stated.get(&(name, attribute, end))
    }

    /// The attribute by which a claim of a memory joins two names; of several the first in the order of letters.
    pub(super) fn between(&self, ordinal: Ordinal, one: u32, other: u32) -> Option<&str> {
        let claims = self.of.get(&ordinal.get())?;
        let joins = |claim: &&Statement| {
            (claim.subject, claim.value) == (one, Some(other))
                || (claim.subject, claim.value) == (other, Some(one))
        };
        claims.iter().filter(joins).map(|claim| self.attributes.word(claim.attribute)).min()
    }

    /// The claims of each memory that has some, in no order.
    pub(super) fn by_memory(&self) -> impl Iterator<Item = (u32, &[Statement])> {
        self.of.iter().map(|(slot, statements)| (*slot, &**statements))
    }

    /// Of the claims of each memory, and what follows from them.
    pub(super) fn with(
        attributes: Lexicon,
        uses: Vec<u32>,
        of: FxHashMap<u32, Box<[Statement]>>,
        stated: FxHashMap<Key, OrdinalSet>,
        claims: usize,
    ) -> ClaimIndex {
        ClaimIndex { attributes, uses, of, stated, claims }
    }

    /// The other ends of a memory's claims of a folded attribute that have this name at one end.
    pub(super) fn across(
        &self,
        ordinal: Ordinal,
        name: u32,
        attribute: &str,
    ) -> impl Iterator<Item = u32> + '_ {
        let attribute = self.attributes.get(attribute);
        let claims = self.of.get(&ordinal.get()).into_iter().flatten();
        claims.filter(move |claim| Some(claim.attribute) == attribute).filter_map(move |claim| {
            if claim.subject == name {
                claim.value
            } else {
                (claim.value == Some(name)).then_some(claim.subject)
            }
        })
    }

    /// How many claims there are.
    pub(super) fn len(&self) -> usize {
        self.claims
    }

    /// Estimated bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        self.attributes.bytes()
            + self.uses.capacity() * 4
            + self.claims * size_of::<Statement>()
            + self.of.capacity() * (size_of::<(u32, Box<[Statement]>)>() + 1)
            + self.stated.capacity() * (size_of::<(Key, OrdinalSet)>() + 1)
            + self.stated.values().map(OrdinalSet::bytes).sum::<usize>()
    }
}
