//! Making, naming and taking back tokens.

use hindsight_auth::{Credential, Grant, TokenId};
use hindsight_core::{Invalid, SourceKind, Timestamp};
use hindsight_proto::words::Word as _;
use hindsight_proto::{time, v1};

use crate::transport::How;
use crate::{Client, Error};

/// What a new token is to allow.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TokenWish {
    /// What people call it: who holds it.
    pub name: String,
    /// What it may do, and where.
    pub grants: Vec<Grant>,
    /// The best grade that memories written with it have; left out, the server decides by the rights.
    pub source: Option<SourceKind>,
    /// The agent that it belongs to, if to one.
    pub agent_id: Option<String>,
    /// From when on it is worth nothing.
    pub expires_at: Option<Timestamp>,
}

/// A new token. `Debug` does not show it.
#[derive(Clone)]
#[non_exhaustive]
pub struct NewToken {
    /// The token: it can't be had again.
    pub token: String,
    /// What it stands for.
    pub credential: Credential,
}

impl std::fmt::Debug for NewToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewToken").field("credential", &self.credential).finish_non_exhaustive()
    }
}

impl Client {
    /// Makes a token. It is not made again when the answer is lost: look with [`Client::tokens`] what is there.
    ///
    /// # Errors
    /// [`Error::Invalid`] when the wish makes no sense; what else the server answers, or that it can't be reached.
    pub async fn create_token(&self, wish: TokenWish) -> Result<NewToken, Error> {
        let grants = wish.grants.iter().map(|grant| v1::Grant {
            namespaces: grant.namespaces.to_string(),
            rights: grant.rights.list().iter().map(ToString::to_string).collect(),
        });
        let request = v1::CreateTokenRequest {
            name: wish.name,
            grants: grants.collect(),
            source_kind: wish.source.map_or(0, SourceKind::number),
            agent_id: wish.agent_id.unwrap_or_default(),
            expires_at: wish.expires_at.map(time::to_wire),
        };
        let answer = self
            .transport()
            .call(How::mutation(self.timeout(), None), request, |request| {
                let mut service = self.transport().admin();
                async move { service.create_token(request).await }
            })
            .await?;
        let credential = credential(answer.credential).map_err(Error::unreadable)?;
        Ok(NewToken { token: answer.token, credential })
    }

    /// Every credential of the server, those that were taken back among them.
    ///
    /// # Errors
    /// What the server answers, or that it can't be reached.
    pub async fn tokens(&self) -> Result<Vec<Credential>, Error> {
        let (mut found, mut page_token) = (Vec::new(), String::new());
        while found.len() < hindsight_auth::keyring::CREDENTIALS_MAX {
            let request = v1::ListTokensRequest { page_size: 1_000, page_token };
            let page = self
                .transport()
                .call(How::read(self.timeout()), request, |request| {
                    let mut service = self.transport().admin();
                    async move { service.list_tokens(request).await }
                })
                .await?;
            for wire in page.credentials {
                found.push(credential(Some(wire)).map_err(Error::unreadable)?);
            }
            if page.next_page_token.is_empty() {
                break;
            }
            page_token = page.next_page_token;
        }
        Ok(found)
    }

    /// Takes a token back: its next call is refused, and its open streams end within a second.
    ///
    /// # Errors
    /// [`Error::NotFound`] when there is none with this id; what else the server answers, or that it can't be reached.
    pub async fn revoke_token(&self, id: TokenId) -> Result<Credential, Error> {
        let request = v1::RevokeTokenRequest { id: id.to_string() };
        // A token that was taken back stays so; doing it twice does no harm.
        let answer = self
            .transport()
            .call(How::read(self.timeout()), request, |request| {
                let mut service = self.transport().admin();
                async move { service.revoke_token(request).await }
            })
            .await?;
        credential(answer.credential).map_err(Error::unreadable)
    }
}

fn credential(wire: Option<v1::Credential>) -> Result<Credential, Invalid> {
    let wire = wire.ok_or_else(|| Invalid::one("credential", "is missing"))?;
    let bad = |field: &str, error: &dyn std::fmt::Display| Invalid::one(field, error.to_string());
    let grants = wire.grants.into_iter().map(|grant| {
        let rights: Result<_, _> = grant.rights.iter().map(|word| word.parse()).collect();
        Ok(Grant {
            namespaces: grant.namespaces.parse().map_err(|error| bad("grants", &error))?,
            rights: rights.map_err(|error: hindsight_auth::right::BadRight| bad("grants", &error))?,
        })
    });
    Ok(Credential {
        id: wire.id.parse().map_err(|error| bad("id", &error))?,
        name: wire.name,
        grants: grants.collect::<Result<_, Invalid>>()?,
        source: SourceKind::of_number(wire.source_kind).ok_or_else(|| bad("source_kind", &"is unknown"))?,
        agent_id: Some(wire.agent_id).filter(|agent| !agent.is_empty()),
        created_at: time::required("created_at", wire.created_at.as_ref())?,
        expires_at: time::optional("expires_at", wire.expires_at.as_ref())?,
        last_used_at: time::optional("last_used_at", wire.last_used_at.as_ref())?,
        revoked_at: time::optional("revoked_at", wire.revoked_at.as_ref())?,
    })
}
