//! The locks, from outside: every call with every kind of credential.

mod audit;
mod bounds;
mod door;
mod fronts;
mod matrix;
pub(crate) mod raw;
mod streams;
mod tenants;
mod tls;

use hindsight_auth::{TokenStore, Wish};
use hindsight_client::{Client, ClientBuilder};
use hindsight_core::Timestamp;
use hindsight_server::{Config, Server};
use serde_json::Value;

use crate::support::{Answer, TestServer, config};

/// A time long ago: tokens of the tests are made then, and some end soon after.
pub(crate) const LONG_AGO: Timestamp = Timestamp::from_ms(1_000_000);

pub(crate) fn wish(name: &str, grants: &[&str]) -> Wish {
    Wish {
        name: name.to_owned(),
        grants: grants.iter().map(|grant| grant.parse().unwrap()).collect(),
        source: None,
        agent_id: None,
        expires_at: None,
    }
}

/// A server that asks for tokens, and one that may do everything.
pub(crate) struct Locked {
    pub(crate) server: TestServer,
    pub(crate) store: TokenStore,
    pub(crate) admin: String,
}

/// One token for each kind of caller.
pub(crate) struct Callers(pub(crate) Vec<(&'static str, Option<String>)>);

impl Callers {
    /// Of the generated matrix: none, garbage, expired, revoked, other namespace, read, write, purge, admin.
    pub(crate) fn make(store: &TokenStore) -> Callers {
        let make = |wish: Wish| store.create(wish, LONG_AGO).unwrap().0;
        let revoked = make(wish("revoked", &["*=admin"]));
        store.revoke(revoked.id(), LONG_AGO).unwrap();
        let ended = Wish { expires_at: Some(LONG_AGO.plus_ms(1)), ..wish("expired", &["*=admin"]) };
        Callers(vec![
            ("none", None),
            ("garbage", Some("hs_garbage".to_owned())),
            ("foreign", Some(hindsight_auth::Token::random().unwrap().expose())),
            ("expired", Some(make(ended).expose())),
            ("revoked", Some(revoked.expose())),
            ("other", Some(make(wish("other", &["other=admin"])).expose())),
            ("observe", Some(make(wish("observe", &["ops=observe"])).expose())),
            ("read", Some(make(wish("read", &["ops=read"])).expose())),
            ("write", Some(make(wish("write", &["ops=write"])).expose())),
            ("forget", Some(make(wish("forget", &["ops=forget"])).expose())),
            ("purge", Some(make(wish("purge", &["ops=purge"])).expose())),
            ("rules", Some(make(wish("rules", &["ops=rules"])).expose())),
            ("audit", Some(make(wish("audit", &["ops=audit"])).expose())),
            ("backup", Some(make(wish("backup", &["*=backup"])).expose())),
            ("local_admin", Some(make(wish("local_admin", &["ops=admin"])).expose())),
            ("admin", Some(make(wish("all", &["*=admin"])).expose())),
        ])
    }

    /// What a caller is refused with whose credential does not count; none for one whose credential does.
    pub(crate) fn refusal(kind: &str) -> Option<&'static str> {
        match kind {
            "none" => Some("TOKEN_MISSING"),
            "garbage" | "foreign" | "revoked" => Some("TOKEN_INVALID"),
            "expired" => Some("TOKEN_EXPIRED"),
            _ => None,
        }
    }
}

impl Locked {
    pub(crate) async fn start() -> Locked {
        Locked::with(|_| (), |_| {}).await.0
    }

    /// A server whose tokens `make` has made before its start.
    pub(crate) async fn with<T>(
        make: impl FnOnce(&TokenStore) -> T,
        change: impl FnOnce(&mut Config),
    ) -> (Locked, T) {
        let dir = tempfile::tempdir().unwrap();
        let mut config = config(dir.path());
        let store = TokenStore::of(dir.path());
        let admin = store.create(wish("admin", &["*=admin"]), LONG_AGO).unwrap().0.expose();
        let made = make(&store);
        change(&mut config);
        let running = Server::start(&config).await.unwrap();
        (Locked { server: TestServer { running, dir }, store, admin }, made)
    }

    pub(crate) async fn client(&self, token: &str) -> Client {
        let url = format!("http://{}", self.server.running.grpc_addr());
        ClientBuilder::new().token(token).connect(&url).await.unwrap()
    }

    pub(crate) async fn http(&self, token: &str, method: &str, path: &str, body: Value) -> Answer {
        let bearer = format!("Bearer {token}");
        let text = if body.is_null() { String::new() } else { body.to_string() };
        self.server.http_raw(method, path, &[("authorization", &bearer)], text.as_bytes()).await
    }
}
