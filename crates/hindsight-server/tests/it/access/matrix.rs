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
    ("NamespaceService/DropNamespace", &[]),
    ("AdminService/Purge", &["purge"]),
    (
        "AdminService/GetServerInfo",
        &["other", "observe", "read", "write", "forget", "purge", "rules", "audit", "backup"],
    ),
    ("AdminService/Backup", &["backup", "everywhere"]),
    ("AdminService/CreateToken", &["everywhere"]),
    ("AdminService/ListTokens", &["everywhere"]),
    ("AdminService/RevokeToken", &["everywhere"]),
    ("AdminService/ListAuditEvents", &["audit"]),
];

/// Each RPC, and whether its request names a namespace.
fn rpcs() -> Vec<(String, bool)> {
    let files = FileDescriptorSet::decode(hindsight_proto::DESCRIPTOR_SET).unwrap().file;
    let messages: Vec<_> = files.iter().flat_map(|file| &file.message_type).collect();
    let services = files.iter().flat_map(|file| &file.service);
    let methods = services.flat_map(|service| service.method.iter().map(move |method| (service, method)));
    methods
        .map(|(service, method)| {
            let input = method.input_type().rsplit('.').next().unwrap();
            let message = messages.iter().find(|message| message.name() == input).unwrap();
            let scoped = message.field.iter().any(|field| field.name() == "namespace");
            (format!("{}/{}", service.name(), method.name()), scoped)
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
    for (rpc, scoped) in &rpcs {
        for (kind, token) in &callers.0 {
            for streaming in [false, true] {
                cases.push((rpc, *scoped, *kind, token.as_deref(), streaming));
            }
        }
    }
    let outcomes = join_all(cases.iter().map(|(rpc, scoped, _, token, streaming)| {
        let message = if *scoped { b"\x0a\x03ops".to_vec() } else { Vec::new() };
        outcome(&channel, rpc, *token, message, *streaming)
    }))
    .await;
    let mut wrong = Vec::new();
    for ((rpc, scoped, kind, _, streaming), found) in cases.into_iter().zip(outcomes) {
        let (found, expected) = (at_the_door(found), expected(rpc, scoped, kind));
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
    for (rpc, scoped) in rpcs() {
        let message = if scoped { b"\x0a\x03ops".to_vec() } else { Vec::new() };
        let found = outcome(&channel, &rpc, Some("hs_whatever"), message, false).await;
        assert_eq!(at_the_door(found), "PASSED", "{rpc}");
    }
}
