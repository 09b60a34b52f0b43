//! Fifty tenants side by side, each trying to see the others.

use std::sync::atomic::{AtomicUsize, Ordering};

use fastrand::Rng;
use futures_util::future::join_all;
use hindsight_client::{AuditQuery, Client, Error, Filter, MemoryId, NamespaceHandle, Patch};

use super::{LONG_AGO, Locked, wish};
use crate::support::draft;

const TENANTS: usize = 50;
/// Operations of each; `HINDSIGHT_TENANT_OPS` sets another number.
const OPERATIONS: usize = 100;

fn name(tenant: usize) -> String {
    format!("tenant-{tenant:02}")
}

/// A word that nobody but its tenant may ever be shown. All letters, so that no list of words cuts it.
fn canary(tenant: usize) -> String {
    let letter = |number: usize| char::from(b'A' + u8::try_from(number).unwrap());
    format!("CANARY{}{}", letter(tenant / 10), letter(tenant % 10))
}

struct Tenant {
    number: usize,
    client: Client,
    own: NamespaceHandle,
    random: Rng,
    ids: Vec<MemoryId>,
    denied: usize,
}

impl Tenant {
    /// Holds an answer, or an error, against what this tenant may see.
    fn check<T: std::fmt::Debug>(&self, what: &str, answer: &Result<T, Error>) {
        let text = match answer {
            Ok(answer) => format!("{answer:?}"),
            Err(error) => format!("{error:?} {error}"),
        };
        let (own, shouted) = (canary(self.number), text.to_uppercase());
        for (place, _) in shouted.match_indices("CANARY") {
            let found: String = shouted[place..].chars().take(own.len()).collect();
            assert_eq!(found, own, "{what} by {} shows {text}", name(self.number));
        }
    }

    fn other(&mut self) -> usize {
        (self.number + self.random.usize(1..TENANTS)) % TENANTS
    }

    async fn act(&mut self, foreign: &[Vec<MemoryId>]) {
        let other = self.other();
        let id = foreign[other].get(self.random.usize(..foreign[other].len().max(1))).copied();
        match (self.random.u8(..12), id) {
            (0..=2, _) => {
                let text = format!("{} note {} about deploys", canary(self.number), self.random.u32(..));
                let written = self.own.write(draft(&text)).await;
                self.check("write", &written);
                self.ids.push(written.unwrap().memory.id);
            }
            (3, _) => {
                // The query itself is not shown back.
                let found = self.own.recall(format!("{} deploys", canary(other)).as_str()).explain().await;
                self.check("recall", &found);
                assert!(found.is_ok());
            }
            (4, _) => self.check("list", &self.own.list(Filter::default()).send().await),
            (5, _) => {
                let named = self.client.namespaces().await;
                let names: Vec<String> =
                    named.unwrap().iter().map(|summary| summary.name.to_string()).collect();
                assert_eq!(names, [name(self.number)]);
                assert_eq!(self.client.server_info().await.unwrap().namespaces, 1);
            }
            (6, _) => {
                let stats = self.own.stats().await.unwrap();
                let count: u64 = stats.by_state.iter().map(|(_, count)| count).sum();
                assert_eq!(count, u64::try_from(self.ids.len()).unwrap());
            }
            (7, _) => self.trespass(other).await,
            (8, Some(id)) => {
                let got = self.own.get(id).await;
                self.check("get", &got);
                assert_eq!(got.unwrap_err().reason(), "MEMORY_NOT_FOUND");
            }
            (9, Some(id)) => {
                let patch = Patch { content: Some("mine now".to_owned()), ..Patch::default() };
                let updated = self.own.update(id, patch).await;
                self.check("update", &updated);
                assert_eq!(updated.unwrap_err().reason(), "MEMORY_NOT_FOUND");
            }
            (10, Some(id)) => {
                let history = self.own.history(id, None).await;
                self.check("history", &history);
                assert!(history.is_err());
            }
            (_, Some(id)) => {
                let forgotten = self.own.forget_ids(&[id]).await;
                self.check("forget", &forgotten);
                assert!(forgotten.map_or(true, |forgotten| forgotten.count == 0));
            }
            (_, None) => {}
        }
    }

    /// Names another's namespace outright.
    async fn trespass(&mut self, other: usize) {
        let theirs = self.client.namespace(&name(other)).unwrap();
        let refused = match self.random.u8(..4) {
            0 => theirs.recall("deploys").await.map(drop),
            1 => theirs.write(draft("mine")).await.map(drop),
            2 => theirs.stats().await.map(drop),
            _ => theirs.list(Filter::default()).send().await.map(drop),
        };
        self.check("trespass", &refused);
        assert_eq!(refused.unwrap_err().reason(), "NAMESPACE_DENIED");
        self.denied += 1;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s1_fifty_tenants_never_see_each_other() {
    let operations = std::env::var("HINDSIGHT_TENANT_OPS").ok().and_then(|text| text.parse().ok());
    let operations: usize = operations.unwrap_or(OPERATIONS);
    let (locked, tokens) = Locked::with(
        |store| -> Vec<String> {
            let make = |tenant| {
                let grant = format!("{}=read,write,forget", name(tenant));
                store.create(wish(&name(tenant), &[grant.as_str()]), LONG_AGO).unwrap().0.expose()
            };
            (0..TENANTS).map(make).collect()
        },
        |_| {},
    )
    .await;
    let mut tenants = Vec::new();
    let mut foreign = Vec::new();
    for (number, token) in tokens.iter().enumerate() {
        let client = locked.client(token).await;
        let own = client.namespace(&name(number)).unwrap();
        let first =
            own.write(draft(&format!("{} is how we deploy", canary(number)))).await.unwrap().memory.id;
        foreign.push(vec![first]);
        let random = Rng::with_seed(u64::try_from(number).unwrap());
        tenants.push(Tenant { number, client, own, random, ids: vec![first], denied: 0 });
    }
    let done = AtomicUsize::new(0);
    join_all(tenants.iter_mut().map(|tenant| async {
        for _ in 0..operations {
            tenant.act(&foreign).await;
            done.fetch_add(1, Ordering::Relaxed);
        }
    }))
    .await;
    assert_eq!(done.into_inner(), TENANTS * operations);

    // Each trespass stands in the trail with the name of who tried.
    let denied: usize = tenants.iter().map(|tenant| tenant.denied).sum();
    assert!(denied > 0);
    let query =
        AuditQuery { result: Some("NAMESPACE_DENIED".into()), page_size: 1_000, ..Default::default() };
    let mut noted = 0;
    let admin = locked.client(&locked.admin).await;
    let mut page = admin.audit(query.clone()).await.unwrap();
    loop {
        noted += page.events.len();
        let Some(page_token) = page.next_page_token else { break };
        page = admin.audit(AuditQuery { page_token, ..query.clone() }).await.unwrap();
    }
    assert_eq!(noted, denied);
}
