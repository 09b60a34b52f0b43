//! The operations of the HTTP port: method, path, the call that it stands for, what it is called, and which fields it takes.
//!
//! A test asks the server itself for the fields of each and holds them against these.

/// One operation.
pub(super) struct Operation {
    pub(super) method: &'static str,
    pub(super) path: &'static str,
    /// `Service/Method`; empty for what stands for none.
    pub(super) call: &'static str,
    pub(super) id: &'static str,
    pub(super) summary: &'static str,
    /// Names of fields; `+Name` are those of a schema of [`GROUPS`], and `!` behind a name says that it must be there.
    pub(super) fields: &'static str,
}

const fn op(
    method: &'static str,
    path: &'static str,
    call: &'static str,
    id: &'static str,
    summary: &'static str,
    fields: &'static str,
) -> Operation {
    Operation { method, path, call, id, summary, fields }
}

/// Fields that several operations and schemas share.
pub(super) const GROUPS: &[(&str, &str)] = &[
    (
        "Draft",
        "id kind content summary keywords content_type uri task_type status entities claims tags metadata episode rule source \
         session_id agent_id scope importance confidence occurred_at valid_from valid_to expires_at derived_from vectors embedding_model",
    ),
    (
        "Record",
        "task_type status summary content actions root_cause resolution transient started_at ended_at occurred_at entities claims \
         keywords tags metadata source session_id agent_id scope importance confidence expires_at vectors embedding_model on_duplicate",
    ),
    (
        "Filter",
        "kind kinds layer layers task_type task_types status statuses state states tag tags entities entity tool tools error_code \
         error_codes root_cause root_causes session session_id session_ids sessions agent agent_id agent_ids agents source source_kind \
         source_kinds sources from to last min_importance min_confidence transient all any not",
    ),
    (
        "Recall",
        "+Filter namespace filter filters vector embedding_model half_life time_decay_factor time_range query mode include_archived \
         include_history as_of as_of_axis top_k token_budget min_score weights fusion diversity keep_alike policy agent_id time_zone \
         now as_text explain exact observe",
    ),
];

const WRITE: &str = "+Draft namespace validate_only on_duplicate allow_forgotten request_id";
const LIST: &str = "+Filter namespace filter filters page_size page_token agent_id";
const AUDIT: &str = "namespace page_size page_token token_id call result since until";
const FORGET: &str = "namespace id ids filter filters expected_count validate_only with_derived request_id";
const PURGE: &str =
    "namespace id ids filter filters whole_namespace expected_count validate_only with_derived request_id";
const UPDATE: &str = "content summary keywords tags entities claims metadata task_type status importance confidence occurred_at \
     valid_from valid_to expires_at root_cause resolution transient rule_state namespace id! version vectors embedding_model \
     allow_forgotten request_id";
const PROPOSE: &str = "condition advice polarity content tags derived_from valid_from valid_to source agent_id scope confidence \
     namespace validate_only request_id task_type root_cause error_code tool";
const RULES: &str =
    "namespace rule_state status rule_states task_type task_types page_size page_token agent_id";
const RULE: &str = "rule_state state status valid_from valid_to valid_until namespace version request_id";
const DROP: &str = "namespace expected_count validate_only request_id";
const SESSION: &str = "session_id agent_id scope max_turns max_bytes idle_ttl namespace request_id";
const SESSIONS: &str = "namespace agent_id page_size page_token";

/// All of them.
#[rustfmt::skip]
pub(super) const OPERATIONS: &[Operation] = &[
    op("post", "/memory/write", "MemoryService/Write", "memory_write", "Store one memory", WRITE),
    op("post", "/memory/record", "MemoryService/Record", "memory_record", "Store a finished task as an episode", "+Record namespace validate_only allow_forgotten request_id"),
    op("post", "/memory/batch", "MemoryService/BatchWrite", "memory_batch", "Store many memories with one sync", "namespace request_id all_or_nothing on_duplicate allow_forgotten items!"),
    op("post", "/memory/search", "MemoryService/Recall", "memory_search", "Recall the few memories that matter now", "+Recall"),
    op("post", "/memory/explain", "MemoryService/Explain", "memory_explain", "Say what becomes of one memory in a recall, and why", "+Recall id!"),
    op("get", "/memory/get", "MemoryService/Get", "memory_get", "One memory by its id", "namespace id! agent_id"),
    op("get", "/memory/list", "MemoryService/List", "memory_list", "Memories page by page", LIST),
    op("post", "/memory/list", "MemoryService/List", "memory_list_post", "Memories page by page", LIST),
    op("put", "/memory/update", "MemoryService/Update", "memory_update", "Change fields of a memory", UPDATE),
    op("post", "/memory/update", "MemoryService/Update", "memory_update_post", "Change fields of a memory", UPDATE),
    op("post", "/memory/forget", "MemoryService/Forget", "memory_forget", "Take memories out of recall; they stay restorable", FORGET),
    op("delete", "/memory/forget", "MemoryService/Forget", "memory_forget_delete", "Take memories out of recall; they stay restorable", FORGET),
    op("post", "/memory/restore", "MemoryService/Restore", "memory_restore", "Bring forgotten memories back", "namespace id ids request_id"),
    op("post", "/memory/feedback", "MemoryService/Feedback", "memory_feedback", "Say what became of what a recall returned", "namespace recall_id task_status items used ignored wrong outdated request_id"),
    op("get", "/memory/history", "MemoryService/GetHistory", "memory_history", "What superseded what, around one memory", "namespace id! agent_id"),
    op("post", "/memory/history", "MemoryService/GetHistory", "memory_history_post", "What superseded what, around one memory", "namespace id! agent_id"),
    op("post", "/memory/rollback", "MemoryService/Rollback", "memory_rollback", "Take back that a memory was superseded", "namespace id! request_id"),
    op("get", "/memory/rules", "RuleService/ListRules", "rules_list", "Rules page by page", RULES),
    op("post", "/memory/rules", "RuleService/ProposeRule", "rules_propose", "Propose a rule", PROPOSE),
    op("get", "/memory/rules/{id}", "RuleService/GetRule", "rules_get", "One rule", "namespace agent_id"),
    op("patch", "/memory/rules/{id}", "RuleService/UpdateRule", "rules_update", "Change a rule's state or validity", RULE),
    op("get", "/memory/rules/{id}/history", "RuleService/GetRuleHistory", "rules_history", "What became of a rule", "namespace agent_id"),
    op("post", "/memory/consolidate", "AdminService/Consolidate", "memory_consolidate", "Make rules of what episodes agree on", "namespace validate_only dry_run min_episodes min_confidence request_id"),
    op("post", "/memory/summarize", "MemoryService/Summarize", "memory_summarize", "Merge what is known of an entity into one memory", "namespace entity kinds kind agent_id validate_only request_id"),
    op("post", "/memory/purge", "AdminService/Purge", "memory_purge", "Erase memories for good", PURGE),
    op("delete", "/memory/purge", "AdminService/Purge", "memory_purge_delete", "Erase memories for good", PURGE),
    op("get", "/namespaces", "NamespaceService/ListNamespaces", "namespaces_list", "The namespaces that the caller may know of", "page_size page_token"),
    op("post", "/namespaces/drop", "NamespaceService/DropNamespace", "namespaces_drop", "Drop a namespace", DROP),
    op("delete", "/namespaces/drop", "NamespaceService/DropNamespace", "namespaces_drop_delete", "Drop a namespace", DROP),
    op("get", "/namespaces/{namespace}", "NamespaceService/GetNamespace", "namespaces_get", "A namespace with its settings", ""),
    op("patch", "/namespaces/{namespace}", "NamespaceService/UpdateNamespace", "namespaces_update", "Change settings of a namespace", "durability life rules likeness request_id"),
    op("get", "/stats", "NamespaceService/GetNamespaceStats", "stats", "What a namespace holds", "namespace"),
    op("post", "/sessions/open", "SessionService/OpenSession", "sessions_open", "Open a session", SESSION),
    op("post", "/sessions/append", "SessionService/AppendTurns", "sessions_append", "Append turns to a session", "namespace session_id! agent_id turns request_id"),
    op("get", "/sessions/get", "SessionService/GetSession", "sessions_get", "A session with its newest turns", "namespace session_id! agent_id last"),
    op("post", "/sessions/get", "SessionService/GetSession", "sessions_get_post", "A session with its newest turns", "namespace session_id! agent_id last"),
    op("post", "/sessions/close", "SessionService/CloseSession", "sessions_close", "End a session; with a record it becomes an episode", "namespace session_id! agent_id record request_id"),
    op("get", "/sessions/list", "SessionService/ListSessions", "sessions_list", "The open sessions", SESSIONS),
    op("post", "/sessions/list", "SessionService/ListSessions", "sessions_list_post", "The open sessions", SESSIONS),
    op("get", "/v1/namespaces/{namespace}/watch", "WatchService/Watch", "watch", "The change feed, as server-sent events", "after_revision agent_id kinds agents changes ids_only"),
    op("get", "/jobs", "AdminService/ListJobs", "jobs_list", "The jobs, and how they stand", ""),
    op("post", "/jobs/run", "AdminService/RunJob", "jobs_run", "Run a job now", "namespace job! validate_only"),
    op("get", "/info", "AdminService/GetServerInfo", "info", "Who answers", ""),
    op("get", "/tokens", "AdminService/ListTokens", "tokens_list", "The credentials, without their secrets", "page_size page_token"),
    op("post", "/tokens/create", "AdminService/CreateToken", "tokens_create", "Make a token, and show it this once", "name grants source_kind agent_id expires_at"),
    op("post", "/tokens/revoke", "AdminService/RevokeToken", "tokens_revoke", "Take a token back", "id!"),
    op("get", "/audit", "AdminService/ListAuditEvents", "audit", "Who did what, newest first", AUDIT),
    op("post", "/audit", "AdminService/ListAuditEvents", "audit_post", "Who did what, newest first", AUDIT),
    op("get", "/health", "", "health", "Whether calls are served", ""),
    op("get", "/readyz", "", "readyz", "Whether calls are served", ""),
    op("get", "/livez", "", "livez", "Whether the process lives", ""),
];
