//! From a name to the names beside it: one hop, or two.
//!
//! Two names are linked where an allowed memory bears both; a claim that joins them names the link. A walk serves the
//! query whose names few memories bear: somebody who is asked about peanuts may need what is known of the person who is
//! allergic to them. Where many memories are found anyway it would only bring chance company, so it does not begin, and
//! it passes by names that many memories bear.
//!
//! A memory at the end of a way counts `0.5^hops` of the least rarity on the way: a way over a name that everybody bears
//! says as little as that name.

use std::collections::BTreeMap;

use compact_str::CompactString;

use super::query::{Counts, EntityPart, EntityQuery, Reached};
use crate::Ordinal;
use crate::bitmap::OrdinalSet;

/// A walk goes on while fewer memories than this are found.
const FEW: usize = 10;
/// Most steps.
const HOPS_MAX: u32 = 2;
/// What each step leaves.
const STEP: f64 = 0.5;
/// A name that more of the allowed memories bear is not walked from.
const CROWD: usize = 32;
/// Most names that one step adds: those joined by claims first, then by rarity, then by how many memories bear both.
const LINKS_MAX: usize = 16;
/// Of a longer list of texts it is not counted how many are allowed: they are not few.
const TEXTS_MAX: usize = 1_024;

/// A link from a name that was reached.
struct Link {
    from: usize,
    memories: u32,
    attribute: Option<CompactString>,
}

/// Adds the names beside those of the query.
pub(super) fn walk(query: &mut EntityQuery, counts: &Counts<'_>) {
    let mut begins = 0;
    for hops in 1..=HOPS_MAX {
        let ends = query.reached.len();
        if begins == ends || found(query, counts.parts) >= FEW {
            return;
        }
        let links = links(query, begins..ends, counts.parts);
        begins = ends;
        query.reached.extend(best(query, links, hops, counts));
    }
}

/// How many allowed memories were found; one that bears two of the names counts twice.
fn found(query: &EntityQuery, parts: &[EntityPart<'_>]) -> usize {
    let by_name: usize = query.reached.iter().map(|reached| allowed_bearers(&reached.name, parts)).sum();
    let by_terms = query.wanted.iter().filter_map(|wanted| Some((wanted.terms.first()?, wanted)));
    let by_terms = by_terms.flat_map(|(first, _)| parts.iter().map(move |part| texts(part, first)));
    by_name + by_terms.sum::<usize>()
}

fn texts(part: &EntityPart<'_>, term: &str) -> usize {
    let list = part.shelf.lexical().list(term);
    if list.len() > TEXTS_MAX {
        return list.len();
    }
    list.iter().filter(|posting| part.allowed.contains(posting.ordinal())).take(FEW).count()
}

fn allowed_bearers(name: &str, parts: &[EntityPart<'_>]) -> usize {
    let of_part = |part: &EntityPart<'_>| {
        part.shelf.entities().bearers(name).map_or(0, |bearers| bearers.shared_with(&part.allowed.0))
    };
    parts.iter().map(of_part).sum()
}

/// The links of the names in `range` to names that are new to what the query wants, by that and by name.
fn links(
    query: &EntityQuery,
    range: std::ops::Range<usize>,
    parts: &[EntityPart<'_>],
) -> BTreeMap<(usize, CompactString), Link> {
    let mut links: BTreeMap<(usize, CompactString), Link> = BTreeMap::new();
    for (from, reached) in query.reached.iter().enumerate().skip(range.start).take(range.len()) {
        if allowed_bearers(&reached.name, parts) > CROWD {
            continue;
        }
        let is_known = |name: &str| {
            query.reached.iter().any(|other| other.wanted == reached.wanted && other.name == name)
        };
        for part in parts {
            each_link(part, &reached.name, &mut |name, attribute| {
                if is_known(name) {
                    return;
                }
                let key = (reached.wanted, CompactString::from(name));
                let link = links.entry(key).or_insert(Link { from, memories: 0, attribute: None });
                link.memories += 1;
                // Of several ways the one over a claim, then the one that began first.
                if let Some(attribute) = attribute
                    && link.attribute.as_deref().is_none_or(|held| link.from == from && attribute < held)
                {
                    (link.attribute, link.from) = (Some(attribute.into()), from);
                }
            });
        }
    }
    links
}

/// Hands over the other names of every allowed memory that bears a name, with the attribute of the claim that joins them.
fn each_link(part: &EntityPart<'_>, name: &str, take: &mut dyn FnMut(&str, Option<&str>)) {
    let entities = part.shelf.entities();
    let Some(number) = entities.names.get(name) else { return };
    let bearers = entities.bearers(name).into_iter().flat_map(OrdinalSet::iter).map(Ordinal);
    for memory in bearers.filter(|memory| part.allowed.contains(*memory)) {
        for other in entities.names_of(memory).filter(|other| *other != number) {
            take(entities.names.word(other), entities.claims.between(memory, number, other));
        }
    }
}

/// The best of the links as names that were reached.
fn best(
    query: &EntityQuery,
    links: BTreeMap<(usize, CompactString), Link>,
    hops: u32,
    counts: &Counts<'_>,
) -> Vec<Reached> {
    let step = |((wanted, name), link): ((usize, CompactString), Link)| {
        let from = query.reached.get(link.from)?;
        let weakest = from.weakest.min(counts.idf(counts.bearers(&name)));
        let by_claim = link.attribute.is_some();
        let over = link.attribute.map(|attribute| format!(" → {attribute}")).unwrap_or_default();
        let path = format!("{}{over} → {name}", from.path);
        let strength = weakest * STEP.powi(i32::try_from(hops).unwrap_or(i32::MAX));
        let reached = Reached { name, wanted, weakest, strength, path };
        Some((by_claim, link.memories, reached))
    };
    let mut steps: Vec<(bool, u32, Reached)> = links.into_iter().filter_map(step).collect();
    steps.sort_by(|(a_claim, a_memories, a), (b_claim, b_memories, b)| {
        b_claim.cmp(a_claim).then(b.strength.total_cmp(&a.strength)).then(b_memories.cmp(a_memories))
    });
    steps.truncate(LINKS_MAX);
    steps.into_iter().map(|(_, _, reached)| reached).collect()
}
