//! The names and claims of a shelf as bytes.

use rustc_hash::FxHashMap;

use super::claims::{ClaimIndex, Statement};
use super::lexicon::Lexicon;
use super::{EntityIndex, OrdinalSet, PackedList};
use crate::Ordinal;
use crate::dictionary::Dictionary;
use crate::snapshot::wire::{Reader, Writer};
use crate::snapshot::{SnapshotError, lists, unsound};

impl EntityIndex {
    pub(crate) fn save(&self, out: &mut Writer) {
        self.names.words().save(out);
        lists::save_sets(out, &self.bearers, self.names.words().numbers());
        self.claims.save(out);
    }

    pub(crate) fn load(from: &mut Reader<'_>, slots: u32) -> Result<EntityIndex, SnapshotError> {
        let names = Lexicon::of_words(Dictionary::load(from)?);
        let numbers = names.words().numbers();
        let bearers = lists::load_sets(from, numbers, slots)?;
        let names_of = lists::invert(slots, bearers.iter().map(OrdinalSet::iter), |names| {
            PackedList::new(names.iter().copied())
        });
        let claims = ClaimIndex::load(from, slots, numbers)?;
        Ok(EntityIndex { names, bearers, names_of, claims })
    }
}

impl ClaimIndex {
    /// The attributes, then each memory that has claims, in the order of slots, with them in theirs.
    fn save(&self, out: &mut Writer) {
        self.attributes().words().save(out);
        let mut of: Vec<(u32, &[Statement])> = self.by_memory().collect();
        of.sort_unstable_by_key(|(slot, _)| *slot);
        out.count(of.len());
        for (slot, statements) in of {
            out.u32(slot);
            out.short(u32::try_from(statements.len()).unwrap_or(u32::MAX));
            for Statement { subject, attribute, value } in statements {
                out.u32(*subject);
                out.u32(*attribute);
                out.u8(u8::from(value.is_some()));
                out.u32(value.unwrap_or(0));
            }
        }
    }

    fn load(from: &mut Reader<'_>, slots: u32, names: u32) -> Result<ClaimIndex, SnapshotError> {
        let attributes = Lexicon::of_words(Dictionary::load(from)?);
        let known = attributes.words().numbers();
        let count = from.count(5)?;
        let mut of: Vec<(u32, Box<[Statement]>)> = Vec::with_capacity(count);
        for _ in 0..count {
            let slot = Ordinal::checked(from.u32()?, slots)?.get();
            if of.last().is_some_and(|(last, _)| *last >= slot) {
                return Err(unsound("the order of claims"));
            }
            let many = from.short_count(13)?;
            let mut statements: Vec<Statement> = Vec::with_capacity(many);
            for _ in 0..many {
                let (subject, attribute) = (from.u32()?, from.u32()?);
                let value = match (from.u8()?, from.u32()?) {
                    (0, 0) => None,
                    (1, value) => Some(value),
                    _ => return Err(unsound("the value of a claim")),
                };
                if subject.max(value.unwrap_or(0)) >= names || attribute >= known {
                    return Err(unsound("a name of a claim"));
                }
                statements.push(Statement { subject, attribute, value });
            }
            if statements.is_empty() || !statements.is_sorted_by(|a, b| a < b) {
                return Err(unsound("the order of claims"));
            }
            of.push((slot, statements.into_boxed_slice()));
        }
        Ok(ClaimIndex::of_parts(attributes, known, of))
    }
}

/// What follows of the claims of each memory, in the order of slots.
impl ClaimIndex {
    fn of_parts(attributes: Lexicon, known: u32, of: Vec<(u32, Box<[Statement]>)>) -> ClaimIndex {
        let mut uses = vec![0_u32; known as usize];
        let mut stated: FxHashMap<_, OrdinalSet> = FxHashMap::default();
        let mut claims = 0;
        for (slot, statements) in &of {
            claims += statements.len();
            for statement in statements {
                if let Some(uses) = uses.get_mut(statement.attribute as usize) {
                    *uses += 1;
                }
                for key in statement.keys() {
                    stated.entry(key).or_default().insert(*slot);
                }
            }
        }
        ClaimIndex::with(attributes, uses, of.into_iter().collect(), stated, claims)
    }
}
