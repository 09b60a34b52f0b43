//! Which right each call needs, and where. Every RPC has a row (a test holds that against the descriptor), and every
//! HTTP path names the RPC that it stands for.

use http::Method;

use hindsight_auth::Right::{self, Admin, Audit, Backup, Forget, Observe, Purge, Read, Rules, Write};

/// Which right a call needs, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// None: whoever can connect may ask.
    Open,
    /// Any credential that counts.
    Valid,
    /// The right in the namespace that the request names in its field `namespace`.
    In(Right),
    /// As `In`, or in all namespaces when the request names none.
    InOrEverywhere(Right),
    /// The right in any namespace; the answer holds only what the credential reaches.
    Somewhere(Right),
    /// The right in all namespaces.
    Everywhere(Right),
    /// Any right in the namespace: what is asked for inside has rows of its own.
    Reaching,
}

/// Whether a call changes something, which the audit trail always holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Nobody wants to know.
    Silent,
    /// It reads.
    Reads,
    /// It changes something.
    Changes,
}

/// A row.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Policy {
    /// `Service/Method` of `hindsight.v1`.
    pub(crate) call: &'static str,
    pub(crate) need: Need,
    pub(crate) effect: Effect,
    /// Whether the answer is a stream, which ends when its credential does.
    pub(crate) streams: bool,
    /// The number of the request's field `namespace`.
    pub(crate) field: u8,
    /// Whether that field holds the recall that has the namespace, in its field 1.
    pub(crate) nested: bool,
}

const fn reads(call: &'static str, need: Need) -> Policy {
    Policy { call, need, effect: Effect::Reads, streams: false, field: 1, nested: false }
}

const fn changes(call: &'static str, need: Need) -> Policy {
    Policy { call, need, effect: Effect::Changes, streams: false, field: 1, nested: false }
}

const fn silent(call: &'static str, need: Need) -> Policy {
    Policy { call, need, effect: Effect::Silent, streams: false, field: 1, nested: false }
}

const fn streams(policy: Policy) -> Policy {
    Policy { streams: true, ..policy }
}

const fn in_a_recall(policy: Policy) -> Policy {
    Policy { nested: true, ..policy }
}

const fn in_field_2(policy: Policy) -> Policy {
    Policy { field: 2, ..policy }
}

/// The recall, which needs only `observe` when it says that it observes.
pub(crate) const RECALL: &str = "MemoryService/Recall";

/// The table.
pub(crate) const POLICIES: &[Policy] = &[
    changes("MemoryService/Write", Need::In(Write)),
    changes("MemoryService/BatchWrite", Need::In(Write)),
    changes("MemoryService/Record", Need::In(Write)),
    reads("MemoryService/Get", Need::In(Observe)),
    reads("MemoryService/List", Need::In(Observe)),
    reads(RECALL, Need::In(Read)),
    in_a_recall(reads("MemoryService/Explain", Need::In(Observe))),
    changes("MemoryService/Summarize", Need::In(Write)),
    reads("RuleService/ListRules", Need::In(Observe)),
    reads("RuleService/GetRule", Need::In(Observe)),
    changes("RuleService/ProposeRule", Need::In(Write)),
    changes("RuleService/UpdateRule", Need::In(Rules)),
    reads("RuleService/GetRuleHistory", Need::In(Observe)),
    changes("AdminService/Consolidate", Need::In(Rules)),
    changes("MemoryService/Update", Need::In(Write)),
    changes("MemoryService/Forget", Need::In(Forget)),
    changes("MemoryService/Restore", Need::In(Forget)),
    changes("MemoryService/Feedback", Need::In(Write)),
    reads("MemoryService/GetHistory", Need::In(Observe)),
    changes("MemoryService/Rollback", Need::In(Write)),
    reads("NamespaceService/ListNamespaces", Need::Somewhere(Observe)),
    reads("NamespaceService/GetNamespaceStats", Need::In(Observe)),
    reads("NamespaceService/GetNamespace", Need::In(Observe)),
    changes("NamespaceService/UpdateNamespace", Need::In(Admin)),
    changes("NamespaceService/DropNamespace", Need::In(Admin)),
    changes("AdminService/Purge", Need::In(Purge)),
    silent("AdminService/GetServerInfo", Need::Valid),
    streams(changes("AdminService/Backup", Need::Everywhere(Backup))),
    changes("SessionService/OpenSession", Need::In(Write)),
    changes("SessionService/AppendTurns", Need::In(Write)),
    reads("SessionService/GetSession", Need::In(Observe)),
    changes("SessionService/CloseSession", Need::In(Write)),
    reads("SessionService/ListSessions", Need::In(Observe)),
    streams(reads("WatchService/Watch", Need::In(Observe))),
    reads("AdminService/ListJobs", Need::Everywhere(Admin)),
    in_field_2(changes("AdminService/RunJob", Need::InOrEverywhere(Admin))),
    changes("AdminService/CreateToken", Need::Everywhere(Admin)),
    reads("AdminService/ListTokens", Need::Everywhere(Admin)),
    changes("AdminService/RevokeToken", Need::Everywhere(Admin)),
    reads("AdminService/ListAuditEvents", Need::InOrEverywhere(Audit)),
];

/// Health: those who ask it have no credential.
static HEALTH: Policy = silent("Health", Need::Open);
/// The description of the HTTP port, which says nothing about what is stored.
static DOCUMENT: Policy = silent("Document", Need::Open);
/// What is measured, of all namespaces.
static METRICS: Policy = silent("Metrics", Need::Everywhere(Observe));
/// The description of the services.
static REFLECTION: Policy = streams(silent("ServerReflection", Need::Valid));
/// An address of MCP; each tool has the row of the RPC that it stands for.
static MCP: Policy = silent("Mcp", Need::Reaching);

/// A call that does not exist; only who needs no credential comes so far.
pub(super) static UNKNOWN: Policy = silent("Unknown", Need::Valid);

/// What each path of the HTTP port stands for; for one that stands for several, its methods are told apart in [`of_route`].
pub(crate) const ROUTES: &[(&str, &str)] = &[
    ("/memory/write", "MemoryService/Write"),
    ("/memory/record", "MemoryService/Record"),
    ("/memory/batch", "MemoryService/BatchWrite"),
    ("/memory/search", RECALL),
    ("/memory/explain", "MemoryService/Explain"),
    ("/memory/rules", "RuleService/ProposeRule"),
    ("/memory/rules/{id}", "RuleService/UpdateRule"),
    ("/memory/rules/{id}/history", "RuleService/GetRuleHistory"),
    ("/memory/consolidate", "AdminService/Consolidate"),
    ("/memory/summarize", "MemoryService/Summarize"),
    ("/memory/get", "MemoryService/Get"),
    ("/memory/list", "MemoryService/List"),
    ("/memory/update", "MemoryService/Update"),
    ("/memory/forget", "MemoryService/Forget"),
    ("/memory/restore", "MemoryService/Restore"),
    ("/memory/feedback", "MemoryService/Feedback"),
    ("/memory/history", "MemoryService/GetHistory"),
    ("/memory/rollback", "MemoryService/Rollback"),
    ("/memory/purge", "AdminService/Purge"),
    ("/namespaces/drop", "NamespaceService/DropNamespace"),
    ("/namespaces", "NamespaceService/ListNamespaces"),
    ("/stats", "NamespaceService/GetNamespaceStats"),
    ("/info", "AdminService/GetServerInfo"),
    ("/namespaces/{namespace}", "NamespaceService/UpdateNamespace"),
    ("/sessions/open", "SessionService/OpenSession"),
    ("/sessions/append", "SessionService/AppendTurns"),
    ("/sessions/get", "SessionService/GetSession"),
    ("/sessions/close", "SessionService/CloseSession"),
    ("/sessions/list", "SessionService/ListSessions"),
    ("/v1/namespaces/{namespace}/watch", "WatchService/Watch"),
    ("/jobs", "AdminService/ListJobs"),
    ("/jobs/run", "AdminService/RunJob"),
    ("/tokens", "AdminService/ListTokens"),
    ("/tokens/create", "AdminService/CreateToken"),
    ("/tokens/revoke", "AdminService/RevokeToken"),
    ("/audit", "AdminService/ListAuditEvents"),
];

/// The row of a call of `hindsight.v1`.
pub(crate) fn of_call(call: &str) -> Option<&'static Policy> {
    POLICIES.iter().find(|policy| policy.call == call)
}

/// The row behind a path of the gRPC port.
pub(crate) fn of_grpc(path: &str) -> Option<&'static Policy> {
    if path.starts_with("/grpc.health.") {
        return Some(&HEALTH);
    }
    if path.starts_with("/grpc.reflection.") {
        return Some(&REFLECTION);
    }
    of_call(path.strip_prefix("/hindsight.v1.")?)
}

/// The row behind a path of the HTTP port, as the router has it.
pub(crate) fn of_route(method: &Method, path: &str) -> Option<&'static Policy> {
    match path {
        "/health" | "/livez" | "/readyz" => Some(&HEALTH),
        "/metrics" => Some(&METRICS),
        "/openapi.json" => Some(&DOCUMENT),
        "/mcp/{namespace}" => Some(&MCP),
        "/memory/rules" if method == Method::GET => of_call("RuleService/ListRules"),
        "/memory/rules/{id}" if method == Method::GET => of_call("RuleService/GetRule"),
        "/namespaces/{namespace}" if method == Method::GET => of_call("NamespaceService/GetNamespace"),
        path => ROUTES.iter().find(|(route, _)| *route == path).and_then(|(_, call)| of_call(call)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prost::Message;
    use prost_types::FileDescriptorSet;

    /// Every RPC with whether it streams, and the number of its request's field `namespace`.
    fn rpcs() -> Vec<(String, bool, Option<i32>)> {
        let files = FileDescriptorSet::decode(hindsight_proto::DESCRIPTOR_SET).unwrap().file;
        let messages: Vec<_> = files.iter().flat_map(|file| &file.message_type).collect();
        let mut rpcs = Vec::new();
        for service in files.iter().flat_map(|file| &file.service) {
            for method in &service.method {
                let input = method.input_type().rsplit('.').next().unwrap();
                let message = messages.iter().find(|message| message.name() == input).unwrap();
                // A request that holds a recall has its namespace there.
                let names = ["namespace", "recall"];
                let field = message.field.iter().find(|field| names.contains(&field.name()));
                let name = format!("{}/{}", service.name(), method.name());
                assert!(!method.client_streaming(), "{name}: the door reads one message");
                rpcs.push((name, method.server_streaming(), field.map(|field| field.number())));
            }
        }
        rpcs
    }

    #[test]
    fn s6_every_rpc_has_a_row_that_fits_its_request() {
        let rpcs = rpcs();
        for (name, streams, namespace) in &rpcs {
            let policy = of_call(name).unwrap_or_else(|| {
                panic!("{name} has no row in POLICIES (access/policy.rs): say which right it needs")
            });
            assert_eq!(policy.streams, *streams, "{name}");
            let scoped = matches!(policy.need, Need::In(_) | Need::InOrEverywhere(_));
            assert_eq!(namespace.is_some(), scoped, "{name}: its need and its field `namespace`");
            assert!(
                namespace.is_none_or(|number| number == i32::from(policy.field)),
                "{name}: namespace is another field"
            );
            assert_eq!(policy.nested, name == "MemoryService/Explain");
            assert!(matches!(policy.field, 1 | 2), "{name}: teach the door of gRPC to look into this field");
            assert_ne!(policy.need, Need::Open, "{name}");
        }
        assert_eq!(POLICIES.len(), rpcs.len(), "a row of a call that does not exist");
    }

    #[test]
    fn s6_every_path_stands_for_a_call() {
        for (path, call) in ROUTES {
            assert!(of_call(call).is_some(), "{path}");
            assert_eq!(of_route(&Method::POST, path).map(|policy| policy.call), Some(*call));
        }
        assert_eq!(of_route(&Method::POST, "/else"), None);
        assert_eq!(of_grpc("/hindsight.v1.MemoryService/Else"), None);
        assert_eq!(of_grpc("/hindsight.v1.MemoryService/Write"), of_route(&Method::POST, "/memory/write"));
    }

    #[test]
    fn s6_the_field_that_says_observe_is_where_the_door_looks() {
        let files = FileDescriptorSet::decode(hindsight_proto::DESCRIPTOR_SET).unwrap().file;
        let messages = files.iter().flat_map(|file| &file.message_type);
        let recall = messages.into_iter().find(|message| message.name() == "RecallRequest").unwrap();
        let field = recall.field.iter().find(|field| field.name() == "observe").unwrap();
        assert_eq!(field.number(), super::super::grpc::OBSERVE_FIELD);
    }
}
