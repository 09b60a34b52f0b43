//! Every RPC of the descriptor, with every kind of credential, called as unary and as stream.

use futures_util::future::join_all;
use prost::Message as _;
use prost_types::FileDescriptorSet;

use super::raw::outcome;
use super::{Callers, Locked};

/// Who may make each call in namespace `ops`, beside the two administrators; written down here once more, so that a slip in the
/// server's table is seen. A call that only the administrator of everything may make says so.
const EXPECTED: &[(&str, &[&str])] = &[
    ("MemoryService/Write", &["write"]),
    ("MemoryService/BatchWrite", &["write"]),
    ("MemoryService/Record", &["write"]),
    ("MemoryService/Get", &["observe", "read"]),
    ("MemoryService/List", &["observe", "read"]),
    ("MemoryService/Recall", &["read"]),
    ("MemoryService/Update", &["write"]),
    ("MemoryService/Forget", &["forget"]),
    ("MemoryService/Restore", &["forget"]),
    ("MemoryService/Feedback", &["write"]),
    ("MemoryService/GetHistory", &["observe", "read"]),
    ("MemoryService/Rollback", &["write"]),
    ("NamespaceService/ListNamespaces", &["observe", "read", "other"]),
    ("NamespaceService/GetNamespaceStats", &["observe", "read"]),
    ("NamespaceService/GetNamespace", &["observe", "read"]),
    ("NamespaceService/UpdateNamespace", &[]),
    ("NamespaceService/DropNamespace", &[]),
    ("AdminService/Purge", &["purge"]),
    (
        "AdminService/GetServerInfo",
        &["other", "observe", "read", "write", "forget", "purge", "rules", "audit", "backup"],
    ),
    ("AdminService/Backup", &["backup", "everywhere"]),
    ("SessionService/OpenSession", &["write"]),
    ("SessionService/AppendTurns", &["write"]),
    ("SessionService/GetSession", &["observe", "read"]),
    ("SessionService/CloseSession", &["write"]),
    ("SessionService/ListSessions", &["observe", "read"]),
    ("WatchService/Watch", &["observe", "read"]),
    ("AdminService/ListJobs", &["everywhere"]),
    ("AdminService/RunJob", &[]),
    ("AdminService/CreateToken", &["everywhere"]),
    ("AdminService/ListTokens", &["everywhere"]),
    ("AdminService/RevokeToken", &["everywhere"]),
    ("AdminService/ListAuditEvents", &["audit"]),
];

/// Each RPC, with a request that names the namespace `ops`, if it can name one.
fn rpcs() -> Vec<(String, Option<Vec<u8>>)> {
    let files = FileDescriptorSet::decode(hindsight_proto::DESCRIPTOR_SET).unwrap().file;
    let messages: Vec<_> = files.iter().flat_map(|file| &file.message_type).collect();
    let services = files.iter().flat_map(|file| &file.service);
    let methods = services.flat_map(|service| service.method.iter().map(move |method| (service, method)));
    methods
        .map(|(service, method)| {
            let input = method.input_type().rsplit('.').next().unwrap();
            let message = messages.iter().find(|message| message.name() == input).unwrap();
            let field = message.field.iter().find(|field| field.name() == "namespace");
            let named = field.map(|field| {
                let key = u8::try_from(field.number()).unwrap() << 3 | 2;
                [&[key, 3][..], b"ops"].concat()
            });
            (format!("{}/{}", service.name(), method.name()), named)
        })
        .collect()
}

/// What the door says: a reason that only it has, or `PASSED`.
fn at_the_door(reason: String) -> String {
    let of_the_door =
        ["TOKEN_MISSING", "TOKEN_INVALID", "TOKEN_EXPIRED", "SCOPE_MISSING", "NAMESPACE_DENIED"];
    if of_the_door.contains(&reason.as_str()) { reason } else { "PASSED".to_owned() }
}

fn expected(rpc: &str, scoped: bool, kind: &str) -> String {
    let (_, allowed) = EXPECTED.iter().find(|(name, _)| *name == rpc).unwrap_or_else(|| {
        panic!("{rpc} is not in this test: say who may call it, here and in access/policy.rs")
    });
    if let Some(reason) = Callers::refusal(kind) {
        return reason.to_owned();
    }
    let everywhere = allowed.contains(&"everywhere");
    let passes = kind == "admin" || (kind == "local_admin" && !everywhere) || allowed.contains(&kind);
    match (passes, kind) {
        (true, _) => "PASSED",
        // An administrator of another namespace has every right, but not here.
        (false, "other") if scoped => "NAMESPACE_DENIED",
        // The right to take a backup holds everywhere, so what is missing is another right.
        (false, _) => "SCOPE_MISSING",
    }
    .to_owned()
}

#[tokio::test]
async fn s6_every_rpc_is_open_to_whom_it_is_for_and_to_nobody_else() {
    let (locked, callers) = Locked::with(Callers::make, |config| {
        config.limits.requests_per_connection = 1_000;
    })
    .await;
    let rpcs = rpcs();
    assert_eq!(rpcs.len(), EXPECTED.len());
    let channel = locked.server.channel().await;
    let mut cases = Vec::new();
    for (rpc, named) in &rpcs {
        for (kind, token) in &callers.0 {
            for streaming in [false, true] {
                cases.push((rpc, named.as_ref(), *kind, token.as_deref(), streaming));
            }
        }
    }
    let outcomes = join_all(cases.iter().map(|(rpc, named, _, token, streaming)| {
        let message = named.cloned().unwrap_or_default();
        outcome(&channel, rpc, *token, message, *streaming)
    }))
    .await;
    let mut wrong = Vec::new();
    for ((rpc, named, kind, _, streaming), found) in cases.into_iter().zip(outcomes) {
        let (found, expected) = (at_the_door(found), expected(rpc, named.is_some(), kind));
        if found != expected {
            wrong.push(format!("{rpc} by {kind} (stream: {streaming}): {found}, expected {expected}"));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[tokio::test]
async fn s6_without_a_token_file_nothing_is_asked_on_loopback() {
    let server = crate::support::TestServer::start().await;
    let channel = server.channel().await;
    for (rpc, named) in rpcs() {
        let message = named.unwrap_or_default();
        let found = outcome(&channel, &rpc, Some("hs_whatever"), message, false).await;
        assert_eq!(at_the_door(found), "PASSED", "{rpc}");
    }
}
