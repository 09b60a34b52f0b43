//! Pages: how large, and where the next one begins.

use hindsight_core::limits::{PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX};
use hindsight_core::{Filter, Invalid, MemoryId, Namespace};
use hindsight_engine::{Page, RuleListRequest};

/// What is said of a token that no page gave.
const NO_TOKEN: &str = "is no page token: give next_page_token of the page before, or leave it out";

/// The size of a page, from the wish: 0 is the default, more than the most is brought down to it.
pub(crate) fn size(wish: i64) -> Result<usize, Invalid> {
    match usize::try_from(wish) {
        Ok(0) => Ok(PAGE_SIZE_DEFAULT),
        Ok(wish) => Ok(wish.min(PAGE_SIZE_MAX)),
        Err(_) => {
            let problem = format!("is {wish}: expected 1 to {PAGE_SIZE_MAX}, or 0 for {PAGE_SIZE_DEFAULT}");
            Err(Invalid::one("page_size", problem))
        }
    }
}

/// The namespace that a page of namespaces begins after: its token is the last name of the page before.
pub(crate) fn after_name(token: String) -> Result<Option<String>, Invalid> {
    if token.is_empty() {
        return Ok(None);
    }
    match token.parse::<Namespace>() {
        Ok(_) => Ok(Some(token)),
        Err(_) => Err(Invalid::one("page_token", NO_TOKEN)),
    }
}

/// What a token of a list belongs to: a page of another list would silently leave memories out.
pub(crate) struct Listing<'a> {
    pub(crate) namespace: &'a Namespace,
    pub(crate) filter: &'a Filter,
    pub(crate) agent_id: Option<&'a str>,
}

impl Listing<'_> {
    /// The token for the page after this one, if more follow.
    pub(crate) fn next(&self, page: &Page) -> Option<String> {
        page.memories.last().filter(|_| page.more).map(|last| self.token_after(last.id))
    }

    /// The id that the next page begins after, and a mark of the request.
    fn token_after(&self, last: MemoryId) -> String {
        format!("{last}.{}", self.mark())
    }

    /// The last id of the page before; none for an empty token, which asks for the first page.
    ///
    /// # Errors
    /// When the token is none of ours, or of another list.
    pub(crate) fn after(&self, token: &str) -> Result<Option<MemoryId>, Invalid> {
        after(token, &self.mark())
    }

    fn mark(&self) -> String {
        mark(&(self.namespace, self.filter, self.agent_id))
    }
}

/// A mark of what a list asks for.
fn mark(parts: &impl serde::Serialize) -> String {
    // Filters have no map and no number that JSON lacks, apart from NaN, which the engine refuses.
    let json = serde_json::to_vec(parts).unwrap_or_default();
    blake3::hash(&json).to_hex()[..16].to_owned()
}

fn after(token: &str, mark: &str) -> Result<Option<MemoryId>, Invalid> {
    if token.is_empty() {
        return Ok(None);
    }
    let bad = |problem: &str| Invalid::one("page_token", problem);
    let (id, given) = token.split_once('.').ok_or_else(|| bad(NO_TOKEN))?;
    let id = id.parse().map_err(|_| bad(NO_TOKEN))?;
    if given == mark {
        Ok(Some(id))
    } else {
        Err(bad("belongs to a list with another namespace, filter or agent: begin again without it"))
    }
}

/// As [`Listing`], for a list of rules.
pub(crate) struct RuleListing(String);

impl RuleListing {
    pub(crate) fn of(namespace: &Namespace, list: &RuleListRequest) -> RuleListing {
        RuleListing(mark(&("rules", namespace, &list.rule_states, &list.task_types, &list.agent_id)))
    }

    /// The token for the page after this one, if more follow.
    pub(crate) fn next(&self, page: &Page) -> Option<String> {
        page.memories.last().filter(|_| page.more).map(|last| format!("{}.{}", last.id, self.0))
    }

    /// The id that the page begins after.
    ///
    /// # Errors
    /// When the token is none of ours, or of another list.
    pub(crate) fn after(&self, token: &str) -> Result<Option<MemoryId>, Invalid> {
        after(token, &self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_size_below_nothing_is_refused() {
        assert_eq!((size(0), size(7), size(5_000)), (Ok(50), Ok(7), Ok(1_000)));
        assert_eq!(size(-1).unwrap_err().violations[0].field, "page_size");
    }

    #[test]
    fn a_token_belongs_to_its_list() {
        let namespace = "ops".parse().unwrap();
        let tagged = Filter { tags: vec!["a".into()], ..Filter::default() };
        let listing = |filter| Listing { namespace: &namespace, filter, agent_id: None };
        let id = MemoryId::from_u128(7);
        let token = listing(&tagged).token_after(id);
        assert_eq!(listing(&tagged).after(&token), Ok(Some(id)));
        assert_eq!(listing(&tagged).after(""), Ok(None));
        let open = Filter::default();
        for bad in [token.as_str(), "x", "mem_1.2", "."] {
            assert_eq!(listing(&open).after(bad).unwrap_err().violations[0].field, "page_token", "{bad}");
        }
    }
}
