//! Making, naming and taking back tokens, and reading the audit trail: what both fronts call.

use std::sync::Arc;

use hindsight_auth::audit::{self, AuditError, Entry, Query};
use hindsight_auth::{Credential, StoreError, Token, TokenId, Wish};
use hindsight_core::{Invalid, Namespace};

use super::admit::Access;
use crate::app::{Code, Refusal};

/// A page of the audit trail, newest first.
pub(crate) struct EventPage {
    pub(crate) entries: Vec<Entry>,
    /// Whether older ones follow.
    pub(crate) more: bool,
    /// Where the trail ends, as NUMBER:HASH, for who may see all of it.
    pub(crate) anchor: Option<String>,
}

impl Access {
    /// Makes a token.
    ///
    /// # Errors
    /// When the wish is wrong, or the file can't be written.
    pub(crate) async fn make_token(self: &Arc<Self>, wish: Wish) -> Result<(Token, Credential), Refusal> {
        let made = self.beside(move |access| Ok(access.create(wish)?)).await?;
        super::note(1);
        Ok(made)
    }

    /// Takes a token back.
    ///
    /// # Errors
    /// When there is none with this id, or the file can't be written.
    pub(crate) async fn take_back(self: &Arc<Self>, id: &str) -> Result<Credential, Refusal> {
        let id: TokenId = id
            .parse()
            .map_err(|bad: hindsight_auth::token::BadTokenId| Invalid::one("id", bad.to_string()))?;
        let revoked = self.beside(move |access| Ok(access.revoke(id)?)).await?;
        super::note(1);
        Ok(revoked)
    }

    /// The credentials by id, at most `limit` of those after `after`; and whether more follow.
    ///
    /// # Errors
    /// When `after` is no id.
    pub(crate) fn page(&self, after: &str, limit: usize) -> Result<(Vec<Arc<Credential>>, bool), Refusal> {
        let no_token =
            || Invalid::one("page_token", "is no page token: give next_page_token of the page before");
        let after = match after {
            "" => None,
            text => Some(text.parse::<TokenId>().map_err(|_| no_token())?),
        };
        let ring = self.ring();
        let mut found: Vec<_> = ring.credentials().filter(|one| Some(one.id) > after).cloned().collect();
        found.sort_by_key(|credential| credential.id);
        let more = found.len() > limit;
        found.truncate(limit);
        super::note(found.len());
        Ok((found, more))
    }

    /// The newest events that `query` takes, at most `limit`.
    ///
    /// # Errors
    /// When the trail can't be read.
    pub(crate) async fn events(
        self: &Arc<Self>,
        namespace: Option<Namespace>,
        query: Query,
        limit: usize,
    ) -> Result<EventPage, Refusal> {
        let query = Query { namespace: namespace.map(|namespace| namespace.to_string()), ..query };
        // What was written before the call is in the answer.
        let head = self.trail_head().await;
        let whole = query.namespace.is_none();
        let mut entries =
            self.beside(move |access| audit::search(&access.data, &query, limit + 1).map_err(unread)).await?;
        let more = entries.len() > limit;
        entries.truncate(limit);
        super::note(entries.len());
        let anchor = head.filter(|_| whole).map(|head| head.to_string());
        Ok(EventPage { entries, more, anchor })
    }

    /// Runs `work`, which waits for the disk, beside the network's threads.
    async fn beside<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Access) -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let access = Arc::clone(self);
        tokio::task::spawn_blocking(move || work(&access)).await.unwrap_or_else(|_| Err(Refusal::internal()))
    }
}

/// The number that a page of the audit trail begins before: its token is the last number of the page before.
///
/// # Errors
/// When the token is none.
pub(crate) fn before(token: &str) -> Result<Option<u64>, Invalid> {
    match token {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(|_| {
            Invalid::one("page_token", "is no page token: give next_page_token of the page before")
        }),
    }
}

fn unread(error: AuditError) -> Refusal {
    tracing::error!(error = &error as &dyn std::error::Error, "the audit trail can't be read");
    Refusal::new(Code::Internal, "STORAGE_FAILED", error.to_string())
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Wish(bad) => Invalid::one(bad.field, bad.problem).into(),
            StoreError::Unknown { .. } => Refusal::new(Code::NotFound, "TOKEN_NOT_FOUND", error.to_string()),
            StoreError::Full => Refusal::new(Code::Exhausted, "LIMIT_REACHED", error.to_string()),
            error => {
                tracing::error!(error = &error as &dyn std::error::Error, "the tokens can't be changed");
                Refusal::new(Code::Internal, "STORAGE_FAILED", error.to_string())
            }
        }
    }
}
