//! Other names of the same: a claim whose attribute is one of [`ATTRIBUTES`] says that its subject and its value are two
//! names of one ("Elizabeth / alias / Liz").
//!
//! Who is asked about by one name is found by all of them, at full strength: an alias is no hop. What an alias claim says is
//! read off the memories that may be returned, as links are; a name that is known from a hidden one alone stays unknown.

use super::claims::End;
use super::query::EntityPart;
use crate::Ordinal;

/// The attributes that say so, folded.
const ATTRIBUTES: [&str; 10] =
    ["alias", "aliases", "also known as", "aka", "nickname", "别名", "又名", "昵称", "别称", "也叫"];
/// Most other names of a name: the first in the order of letters of each step, over as many steps as there are.
const ALIASES_MAX: usize = 16;
/// An alias claim that more of the allowed memories make is passed by: it would tell everybody apart from nobody.
const CROWD: usize = 1_024;

/// Another name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Alias {
    /// Folded.
    pub(super) name: String,
    /// How it is known, as a reader sees it: `liz → alias → elizabeth`.
    pub(super) path: String,
}

/// The other names of a folded name, of all parts together.
pub(super) fn aliases(name: &str, parts: &[EntityPart<'_>]) -> Vec<Alias> {
    let mut found = vec![Alias { name: name.to_owned(), path: name.to_owned() }];
    let mut from = 0;
    while from < found.len() && found.len() <= ALIASES_MAX {
        let (begin, end) = (from, found.len());
        from = end;
        let mut next: Vec<Alias> = Vec::new();
        for at in begin..end {
            let Some(one) = found.get(at) else { continue };
            each_other(&one.name, parts, &mut |attribute, other| {
                if found.iter().chain(&next).all(|known| known.name != other) {
                    next.push(Alias {
                        name: other.to_owned(),
                        path: format!("{} → {attribute} → {other}", one.path),
                    });
                }
            });
        }
        // Numbers depend on history, the order of letters does not.
        next.sort();
        found.extend(next);
    }
    found.truncate(ALIASES_MAX + 1);
    found.split_off(1)
}

/// Hands over what alias claims of the allowed memories join a name with, and by which attribute.
fn each_other(name: &str, parts: &[EntityPart<'_>], take: &mut dyn FnMut(&str, &str)) {
    for part in parts {
        let entities = part.shelf.entities();
        let Some(number) = entities.names.get(name) else { continue };
        for attribute in ATTRIBUTES {
            for end in [End::Subject, End::Value] {
                let Some(memories) = entities.stated_at(name, attribute, end) else { continue };
                if memories.shared_with(&part.allowed.0) > CROWD {
                    continue;
                }
                for memory in memories.iter().map(Ordinal).filter(|memory| part.allowed.contains(*memory)) {
                    for other in entities.claims.across(memory, number, attribute) {
                        take(attribute, entities.names.word(other));
                    }
                }
            }
        }
    }
}
