//! What the locks know: the credentials, who failed lately, and the audit trail.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use hindsight_auth::{Credential, Keyring, Rejected, StoreError, Token, TokenId, TokenStore, Wish, store};
use hindsight_core::Timestamp;
use http::{HeaderMap, header};
use tokio::sync::watch;

use super::call::{Call, CallId, Caller, Peer};
use super::failures::Failures;
use super::policy::Policy;
use super::rates::Rates;
use super::trail::AuditLog;
use crate::app::{Code, Refusal};
use crate::config::Config;
use crate::server::now;

/// The locks of one server.
pub(crate) struct Access {
    /// The data directory.
    pub(super) data: PathBuf,
    store: TokenStore,
    /// The token of `auth.token_file`, which is kept in memory alone.
    administrator: Option<Token>,
    always: bool,
    /// Whether the HTTP port can be reached from other machines.
    open: bool,
    ring: RwLock<Arc<Keyring>>,
    /// Counts the changes of the credentials, for streams that have to end.
    changes: watch::Sender<u64>,
    pub(super) used: Mutex<BTreeMap<TokenId, Timestamp>>,
    failures: Failures,
    pub(super) rates: Arc<Rates>,
    pub(super) audit: AuditLog,
}

impl Access {
    /// The locks of a server with this configuration. Nothing is touched on the disk.
    ///
    /// # Errors
    /// When the credentials can't be read, or the token file holds no token.
    pub(crate) fn load(config: &Config) -> Result<Access, StoreError> {
        let store = TokenStore::of(&config.data);
        let administrator = administrator(&config.auth.token_file)?;
        let access = Access {
            data: config.data.clone(),
            store,
            administrator,
            always: config.auth.required,
            open: !config.http.ip().to_canonical().is_loopback(),
            ring: RwLock::default(),
            changes: watch::Sender::new(0),
            used: Mutex::default(),
            failures: Failures::default(),
            rates: Arc::new(Rates::new(&config.limits)),
            audit: AuditLog::new(&config.audit),
        };
        access.reload()?;
        Ok(access)
    }

    /// Reads the credentials anew.
    ///
    /// # Errors
    /// When they can't be read; then those of before count.
    pub(super) fn reload(&self) -> Result<(), StoreError> {
        let mut ring = self.store.load()?;
        let before = self.ring();
        let own = self.administrator.as_ref().map(Token::id);
        let had_some = before.credentials().any(|credential| Some(credential.id) != own);
        if ring.is_empty() && had_some {
            // IMPORTANT: a database must not open because a file went away under it.
            tracing::error!(path = %self.store.path().display(), "the file of the tokens is gone: those of before count until the next start");
            return Ok(());
        }
        if let Some(token) = &self.administrator {
            ring.add(token, store::administrator(token, now()));
        }
        *self.ring.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(ring);
        self.changes.send_modify(|count| *count += 1);
        Ok(())
    }

    pub(super) fn store(&self) -> &TokenStore {
        &self.store
    }

    /// The credentials as they are now.
    pub(crate) fn ring(&self) -> Arc<Keyring> {
        Arc::clone(&self.ring.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Whether a credential is needed: once there is one, or the configuration says so.
    pub(crate) fn required(&self) -> bool {
        self.always || !self.ring().is_empty()
    }

    /// Whether the name by which a caller knows this server says nothing about the caller: a token does, or nothing is asked.
    pub(crate) fn answers_to_any_name(&self) -> bool {
        self.open || self.required()
    }

    /// Makes a credential. It blocks.
    ///
    /// # Errors
    /// When the wish is wrong, or the file can't be written.
    pub(crate) fn create(&self, wish: Wish) -> Result<(Token, Credential), StoreError> {
        let made = self.store.create(wish, now())?;
        self.reload()?;
        Ok(made)
    }

    /// Takes a credential back. It blocks.
    ///
    /// # Errors
    /// When there is none, or the file can't be written.
    pub(crate) fn revoke(&self, id: TokenId) -> Result<Credential, StoreError> {
        let revoked = self.store.revoke(id, now())?;
        self.reload()?;
        Ok(revoked)
    }

    /// Admits a call by what it brings beside its body, or refuses it. `policy` is its row; without one nobody who needs a
    /// credential makes it.
    ///
    /// # Errors
    /// `TOKEN_MISSING`, `TOKEN_INVALID`, `TOKEN_EXPIRED`, `SCOPE_MISSING`, `RATE_LIMITED`; with the call, if it has a row.
    pub(super) async fn admit(
        &self,
        policy: &'static Policy,
        headers: &HeaderMap,
        extensions: &http::Extensions,
    ) -> Result<Call, (Call, Refusal)> {
        let peer = extensions.get::<Peer>().map(|peer| peer.0);
        let id = extensions.get::<CallId>().map(|id| id.0.clone()).unwrap_or_default();
        let caller = match self.caller(policy, headers) {
            Ok(caller) => caller,
            Err(refusal) => {
                self.slow_down(peer, &refusal).await;
                return Err((Call::new(Caller::Anyone, policy, peer, id, Arc::clone(&self.rates)), refusal));
            }
        };
        let call = Call::new(caller, policy, peer, id, Arc::clone(&self.rates));
        match call.check_right().and_then(|()| self.check_rate(&call)) {
            Ok(()) => Ok(call),
            Err(refusal) => Err((call, refusal)),
        }
    }

    fn caller(&self, policy: &Policy, headers: &HeaderMap) -> Result<Caller, Refusal> {
        if policy.need == super::policy::Need::Open || !self.required() {
            return Ok(Caller::Anyone);
        }
        let text = bearer(headers)?;
        let now = now();
        let credential = self.ring().authenticate(text, now).map_err(rejected)?;
        self.note_use(credential.id, now);
        tracing::Span::current().record("token", credential.id.to_string());
        Ok(Caller::Holder(credential))
    }

    fn check_rate(&self, call: &Call) -> Result<(), Refusal> {
        match call.caller() {
            Caller::Anyone => Ok(()),
            Caller::Holder(holder) => self.rates.of_token(holder.id),
        }
    }

    fn note_use(&self, id: TokenId, now: Timestamp) {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).insert(id, now);
    }

    /// Whoever fails often waits. A missing token is a setting, not a guess.
    async fn slow_down(&self, peer: Option<IpAddr>, refusal: &Refusal) {
        if refusal.reason == "TOKEN_MISSING" {
            return;
        }
        if let Some(delay) = self.failures.note(peer) {
            tokio::time::sleep(delay).await;
        }
    }
}

fn bearer(headers: &HeaderMap) -> Result<&str, Refusal> {
    let missing = || {
        let message = "this server needs a token: send it as `authorization: Bearer hs_…`";
        Refusal::new(Code::Unauthenticated, "TOKEN_MISSING", message)
    };
    let value = headers.get(header::AUTHORIZATION).ok_or_else(missing)?;
    let (scheme, token) = value.to_str().ok().and_then(|text| text.split_once(' ')).ok_or_else(invalid)?;
    if scheme.eq_ignore_ascii_case("bearer") { Ok(token) } else { Err(invalid()) }
}

fn invalid() -> Refusal {
    rejected(Rejected::Invalid)
}

fn rejected(rejected: Rejected) -> Refusal {
    let reason = match rejected {
        Rejected::Invalid => "TOKEN_INVALID",
        Rejected::Expired => "TOKEN_EXPIRED",
    };
    Refusal::new(Code::Unauthenticated, reason, rejected.to_string())
}

/// The token of `auth.token_file`; none when the key is empty.
fn administrator(path: &Path) -> Result<Option<Token>, StoreError> {
    if path.as_os_str().is_empty() {
        return Ok(None);
    }
    let io = |source| StoreError::Io { op: "read", path: path.to_owned(), source };
    let text = std::fs::read_to_string(path).map_err(io)?;
    let bad = |bad: hindsight_auth::token::BadToken| StoreError::Damaged {
        path: path.to_owned(),
        line: 1,
        problem: format!("it {bad}, or `hindsight token generate`"),
    };
    Token::parse(&text).map(Some).map_err(bad)
}
