//! Request ids: the same request sent twice acts once, also across a restart, since the ids are in the log (W9).

use std::collections::{BTreeSet, HashMap, VecDeque};

use hindsight_core::limits::{REQUEST_ID_CHARS_MAX, REQUEST_IDS_MAX};
use hindsight_core::{Invalid, Lsn, MemoryId, RequestKey};

use hindsight_storage::SeenRequest;

use crate::error::EngineError;

/// What a request did when it came first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    digest: u128,
    /// The memories it changed, in order, with [`hindsight_core::change::WAS_THERE`] among them.
    pub(crate) ids: Vec<MemoryId>,
    /// The batch that holds it.
    pub(crate) lsn: Lsn,
}

/// The newest [`REQUEST_IDS_MAX`] request ids of a namespace.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    seen: HashMap<String, Seen>,
    order: VecDeque<String>,
}

impl Requests {
    /// What the request did when it came first, or `None` when it is new.
    ///
    /// # Errors
    /// When the id was used for another request.
    pub(crate) fn seen(&self, key: Option<&RequestKey>) -> Result<Option<&Seen>, EngineError> {
        let Some(key) = key else { return Ok(None) };
        match self.seen.get(&key.id) {
            Some(seen) if seen.digest != key.digest => {
                Err(EngineError::RequestIdReused { request_id: key.id.clone() })
            }
            seen => Ok(seen),
        }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    /// The requests of batches after `lsn`, oldest first: what record files do not hold yet.
    pub(crate) fn since(&self, lsn: Lsn) -> Vec<SeenRequest> {
        let newest_first = self.order.iter().rev().filter_map(|id| Some((id, self.seen.get(id)?)));
        let mut newer: Vec<SeenRequest> = newest_first
            .take_while(|(_, seen)| seen.lsn > lsn)
            .map(|(id, seen)| SeenRequest {
                key: RequestKey { id: id.clone(), digest: seen.digest },
                ids: seen.ids.clone(),
                lsn: seen.lsn,
            })
            .collect();
        newer.reverse();
        newer
    }

    /// Forgets every request that changed one of these memories.
    pub(crate) fn drop_all_of(&mut self, ids: &BTreeSet<MemoryId>) {
        self.seen.retain(|_, seen| !seen.ids.iter().any(|id| ids.contains(id)));
        let seen = &self.seen;
        self.order.retain(|id| seen.contains_key(id));
    }

    /// Remembers a request; the oldest is dropped when there are too many.
    pub(crate) fn remember(&mut self, key: RequestKey, ids: Vec<MemoryId>, lsn: Lsn) {
        if self.order.len() >= REQUEST_IDS_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.seen.remove(&oldest);
        }
        self.order.push_back(key.id.clone());
        self.seen.insert(key.id, Seen { digest: key.digest, ids, lsn });
    }
}

/// The key of a request: its id, checked, and a digest of what it asks for. `call` keeps the calls apart, `asked` is
/// everything the caller chose.
///
/// # Errors
/// When the id is empty, too long or not printable ASCII.
pub(crate) fn key(
    id: Option<&str>,
    call: &str,
    asked: &impl serde::Serialize,
) -> Result<Option<RequestKey>, Invalid> {
    let Some(id) = id else { return Ok(None) };
    let printable = id.bytes().all(|byte| byte.is_ascii_graphic());
    if id.is_empty() || id.len() > REQUEST_ID_CHARS_MAX || !printable {
        let right = format!(
            "expected 1 to {REQUEST_ID_CHARS_MAX} printable ASCII characters without spaces, such as a UUID"
        );
        return Err(Invalid::one("request_id", right));
    }
    let mut hasher = blake3::Hasher::new();
    hasher.update(call.as_bytes()).update(&[0]);
    // A hasher takes every write, and the types here have no map with keys that are not text: it can't fail.
    let written = serde_json::to_writer(&mut hasher, asked);
    debug_assert!(written.is_ok());
    let mut digest = [0; 16];
    digest.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    Ok(Some(RequestKey { id: id.to_owned(), digest: u128::from_le_bytes(digest) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn w9_the_same_id_with_another_request_is_refused() {
        let mut requests = Requests::default();
        let key_of = |asked: &str| key(Some("r1"), "write", &asked).unwrap();
        requests.remember(key_of("a").unwrap(), vec![MemoryId::from_u128(1)], Lsn(7));
        assert_eq!(requests.seen(key_of("a").as_ref()).unwrap().unwrap().lsn, Lsn(7));
        assert!(matches!(requests.seen(key_of("b").as_ref()), Err(EngineError::RequestIdReused { .. })));
        assert_eq!(requests.seen(None).unwrap(), None);
    }

    #[test]
    fn the_oldest_id_is_forgotten_first() {
        let mut requests = Requests::default();
        for number in 0..=REQUEST_IDS_MAX {
            requests.remember(RequestKey { id: number.to_string(), digest: 0 }, Vec::new(), Lsn(1));
        }
        let seen =
            |id: &str| requests.seen(Some(&RequestKey { id: id.to_owned(), digest: 0 })).unwrap().is_some();
        assert!(!seen("0") && seen("1") && seen(&REQUEST_IDS_MAX.to_string()));
    }

    #[test]
    fn a_request_id_is_printable_and_short() {
        for bad in ["", "a b", "名", &"x".repeat(65)] {
            assert!(key(Some(bad), "write", &()).is_err(), "{bad:?}");
        }
    }
}
