//! What a query names, weighed by how rare it is where it will be looked for.

use compact_str::CompactString;
use hindsight_core::scoring::bm25::idf;

use super::alias::{Alias, aliases};
use super::claims::End;
use super::lexicon::Lexicon;
use super::name::{Text, fold};
use super::shape::shapes;
use super::walk::walk;
use crate::bitmap::OrdinalSet;
use crate::{Selection, Shelf};

/// Most things a query names that are looked for: the rarest ones.
const WANTED_MAX: usize = 16;
/// Most names, and most attributes, that are read off a query at all.
const NAMES_MAX: usize = 64;
/// The rarity below which a name tells no memory from another: more than nine in ten bear it, or five of five.
const RARITY_MIN: f64 = 0.1;

/// A shelf, and which of its memories may be returned. Links between names are read off those alone.
#[derive(Debug, Clone, Copy)]
pub struct EntityPart<'a> {
    /// The shelf.
    pub shelf: &'a Shelf,
    /// The memories that may be returned.
    pub allowed: &'a Selection,
}

/// What a query names, and what lies beside it.
#[derive(Debug, Clone, Default)]
pub struct EntityQuery {
    pub(super) wanted: Vec<Wanted>,
    /// Names that lead to memories: those of the query first, then those that a walk reached.
    pub(super) reached: Vec<Reached>,
}

/// One thing that a query names.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    /// A folded name, a claim as `user / allergic to`, or a shape as the query spells it.
    pub(super) label: String,
    pub(super) idf: f64,
    pub(super) by: By,
    /// Terms that a text must hold together to name it; empty where it has no shape.
    pub(super) terms: Vec<String>,
}

/// How memories are known to be meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum By {
    /// They bear the name in the label.
    Name,
    /// They state this attribute of this name, or with it as the value.
    Claim { name: String, attribute: String, end: End },
    /// They hold the terms.
    Terms,
}

/// A name on the way from something that the query names.
#[derive(Debug, Clone)]
pub(super) struct Reached {
    pub(super) name: CompactString,
    /// Which of the wanted the way began at.
    pub(super) wanted: usize,
    /// The least rarity of the names on the way.
    pub(super) weakest: f64,
    /// What a memory with this name counts for the wanted.
    pub(super) strength: f64,
    /// The way, as a reader sees it.
    pub(super) path: String,
}

impl EntityQuery {
    /// Reads what a text names, by the names and words of all shelves together, and walks on from names that few of the
    /// allowed memories bear.
    #[must_use]
    pub fn new(text: &str, parts: &[EntityPart<'_>]) -> EntityQuery {
        let folded = Text::new(fold(text));
        let counts = Counts { parts };
        let mut wanted: Vec<Wanted> = Vec::new();
        let names = in_order(&folded, parts.iter().map(|part| &part.shelf.entities().names));
        let others: Vec<Vec<Alias>> = names.iter().map(|name| aliases(name, parts)).collect();
        for (name, others) in names.iter().zip(&others) {
            let others = others.iter().map(|other| counts.bearers(&other.name));
            wanted.push(Wanted {
                label: name.clone(),
                // At most so many bear one of the names.
                idf: counts.idf(others.fold(counts.bearers(name), usize::saturating_add)),
                by: By::Name,
                terms: Vec::new(),
            });
        }
        if !names.is_empty() {
            let others = others.iter().flatten().map(|other| &other.name);
            let mut all: Vec<String> = names.clone();
            others.for_each(|other| {
                if all.len() < NAMES_MAX && !all.contains(other) {
                    all.push(other.clone());
                }
            });
            claims(&folded, &all, &counts, &mut wanted);
        }
        by_shape(text, &counts, &mut wanted);
        wanted.retain(|one| one.idf >= RARITY_MIN);
        wanted.sort_by(|a, b| b.idf.total_cmp(&a.idf));
        wanted.truncate(WANTED_MAX);
        let mut query = EntityQuery { reached: reached(&wanted, &names, &others), wanted };
        walk(&mut query, &counts);
        query
    }

    /// Whether it names nothing that is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.wanted.is_empty()
    }

    /// What it names, the rarest first.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.wanted.iter().map(|wanted| wanted.label.clone()).collect()
    }
}

/// The names that are wanted, and their other names, which count as much.
fn reached(wanted: &[Wanted], names: &[String], others: &[Vec<Alias>]) -> Vec<Reached> {
    let named = wanted.iter().enumerate().filter(|(_, one)| one.by == By::Name);
    let at = |name: &str, index: usize, idf: f64, path: &str| Reached {
        name: CompactString::from(name),
        wanted: index,
        weakest: idf,
        strength: idf,
        path: path.to_owned(),
    };
    let (mut reached, mut by_alias) = (Vec::new(), Vec::new());
    for (index, one) in named {
        reached.push(at(&one.label, index, one.idf, &one.label));
        let others =
            names.iter().zip(others).filter(|(name, _)| **name == one.label).flat_map(|(_, others)| others);
        by_alias.extend(others.map(|other| at(&other.name, index, one.idf, &other.path)));
    }
    reached.extend(by_alias);
    reached
}

/// The names of several lexicons in a text, in its order, each once.
fn in_order<'a>(text: &Text, lexicons: impl Iterator<Item = &'a Lexicon>) -> Vec<String> {
    let mut found: Vec<(usize, String)> = Vec::new();
    for lexicon in lexicons {
        for one in lexicon.find(text) {
            if found.len() < NAMES_MAX && found.iter().all(|(_, name)| name != one.name) {
                found.push((one.from, one.name.to_owned()));
            }
        }
    }
    found.sort();
    found.into_iter().map(|(_, name)| name).collect()
}

/// The claims whose attribute the text names beside their subject or their value.
fn claims(text: &Text, names: &[String], counts: &Counts<'_>, wanted: &mut Vec<Wanted>) {
    let attributes =
        in_order(text, counts.parts.iter().map(|part| part.shelf.entities().claims.attributes()));
    for attribute in &attributes {
        for name in names.iter().filter(|name| *name != attribute) {
            for end in [End::Subject, End::Value] {
                let memories = counts.stated(name, attribute, end);
                if memories > 0 {
                    let label = match end {
                        End::Subject => format!("{name} / {attribute}"),
                        End::Value => format!("{attribute} / {name}"),
                    };
                    let by = By::Claim { name: name.clone(), attribute: attribute.clone(), end };
                    wanted.push(Wanted { label, idf: counts.idf(memories), by, terms: Vec::new() });
                }
            }
        }
    }
}

/// Codes and quotations whose words are known. One that is a known name too is looked for both ways.
fn by_shape(text: &str, counts: &Counts<'_>, wanted: &mut Vec<Wanted>) {
    for shape in shapes(text) {
        let texts = counts.texts(&shape.terms);
        if texts == 0 {
            continue;
        }
        let folded = fold(&shape.surface);
        let holds = |one: &&mut Wanted| one.by == By::Name && one.label.contains(&folded);
        match wanted.iter_mut().filter(|one| holds(one)).min_by_key(|one| one.label.len()) {
            Some(named) if named.label == folded => {
                named.idf = counts.idf(texts.max(counts.bearers(&folded)));
                named.terms = shape.terms;
            }
            // A part of a longer name is not meant by itself.
            Some(_) => {}
            None => wanted.push(Wanted {
                label: shape.surface,
                idf: counts.idf(texts),
                by: By::Terms,
                terms: shape.terms,
            }),
        }
    }
}

/// How many memories of all shelves name something.
pub(super) struct Counts<'a> {
    pub(super) parts: &'a [EntityPart<'a>],
}

impl Counts<'_> {
    pub(super) fn idf(&self, memories: usize) -> f64 {
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        idf(number(memories), number(self.parts.iter().map(|part| part.shelf.len()).sum()))
    }

    /// Those that bear a folded name.
    pub(super) fn bearers(&self, name: &str) -> usize {
        self.parts.iter().filter_map(|part| part.shelf.entities().bearers(name)).map(OrdinalSet::len).sum()
    }

    fn stated(&self, name: &str, attribute: &str, end: End) -> usize {
        let stated =
            self.parts.iter().filter_map(|part| part.shelf.entities().stated_at(name, attribute, end));
        stated.map(OrdinalSet::len).sum()
    }

    /// At most so many texts hold all of these terms: as many as hold the rarest.
    fn texts(&self, terms: &[String]) -> usize {
        let rarest =
            |part: &EntityPart<'_>| terms.iter().map(|term| part.shelf.lexical().list(term).len()).min();
        self.parts.iter().filter_map(rarest).sum()
    }
}
