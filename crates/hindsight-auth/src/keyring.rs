//! All credentials in memory, and whose token a text is.

use std::collections::BTreeMap;
use std::sync::Arc;

use hindsight_core::Timestamp;

use crate::{Credential, CredentialState, Token, TokenId};

/// Most credentials of a database, those that were taken back among them.
pub const CREDENTIALS_MAX: usize = 10_000;

/// Why a token was refused. Whether its id is known makes no difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Rejected {
    /// It is none of ours, or was taken back.
    #[error("the token is not valid: ask whoever runs this server for one")]
    Invalid,
    /// Its time is over.
    #[error("the token's time is over: ask whoever runs this server for a new one")]
    Expired,
}

/// A credential with what is known of its token.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) credential: Arc<Credential>,
    pub(crate) hash: blake3::Hash,
}

/// All credentials.
#[derive(Clone, Default)]
pub struct Keyring {
    pub(crate) key: [u8; 32],
    pub(crate) entries: BTreeMap<TokenId, Entry>,
}

impl Keyring {
    /// Whose token `text` is.
    ///
    /// # Errors
    /// [`Rejected`]; that a token's time is over is told only to whoever has it.
    pub fn authenticate(&self, text: &str, now: Timestamp) -> Result<Arc<Credential>, Rejected> {
        let token = Token::parse(text).map_err(|_| Rejected::Invalid)?;
        let given = token.hash(&self.key);
        // An id that is not known is compared too, so that it takes as long.
        let entry = self.entries.get(&token.id());
        let nobody = blake3::Hash::from_bytes([0; 32]);
        let matches = given == entry.map_or(nobody, |entry| entry.hash);
        let Some(entry) = entry.filter(|_| matches) else { return Err(Rejected::Invalid) };
        match entry.credential.state(now) {
            CredentialState::Valid => Ok(Arc::clone(&entry.credential)),
            CredentialState::Expired => Err(Rejected::Expired),
            CredentialState::Revoked => Err(Rejected::Invalid),
        }
    }

    /// Whether the credential with this id counts at `now`.
    #[must_use]
    pub fn is_valid(&self, id: TokenId, now: Timestamp) -> bool {
        self.entries.get(&id).is_some_and(|entry| entry.credential.state(now) == CredentialState::Valid)
    }

    /// Whether nobody was ever given a token. One whose only token was taken back is not empty: it must not open by that.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// All credentials by id, those that were taken back among them.
    pub fn credentials(&self) -> impl Iterator<Item = &Arc<Credential>> {
        self.entries.values().map(|entry| &entry.credential)
    }

    /// Adds a credential for a token that stands in a file of its own, and is kept in memory only.
    pub fn add(&mut self, token: &Token, credential: Credential) {
        let hash = token.hash(&self.key);
        self.entries.insert(token.id(), Entry { credential: Arc::new(credential), hash });
    }
}

impl std::fmt::Debug for Keyring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Keyring({})", self.entries.len())
    }
}
