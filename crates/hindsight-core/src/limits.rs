//! A limit for everything. Past one, a request is refused with the limit named; nothing grows without bound.

/// Longest content, in characters.
pub const CONTENT_CHARS_MAX: usize = 32_000;
/// Longest summary, root cause, resolution or advice, in characters.
pub const SUMMARY_CHARS_MAX: usize = 4_000;
/// Longest single word of the model: tag, keyword, task type, tool, error code, entity, session or agent id, in characters.
pub const WORD_CHARS_MAX: usize = 256;
/// Longest attribute value of a claim, parameter text or result of an action, in characters.
pub const VALUE_CHARS_MAX: usize = 4_000;
/// Most tags of a memory; the same for keywords.
pub const TAGS_MAX: usize = 64;
/// Most entities of a memory; the same for claims.
pub const ENTITIES_MAX: usize = 128;
/// Most actions of an episode.
pub const ACTIONS_MAX: usize = 256;
/// Most turn references of a source, and most memories one memory derives from.
pub const REFERENCES_MAX: usize = 256;
/// Largest metadata, in bytes of its JSON.
pub const METADATA_BYTES_MAX: usize = 64 * 1024;
/// Deepest nesting of metadata and of an action's parameters.
pub const JSON_DEPTH_MAX: usize = 16;
/// Most components of a vector.
pub const DIMENSION_MAX: usize = 4_096;
/// Most vectors of a memory.
pub const VECTORS_MAX: usize = 8;
/// Longest name of an embedding model, in characters.
pub const MODEL_CHARS_MAX: usize = 128;
/// Longest name of a namespace, in characters.
pub const NAMESPACE_CHARS_MAX: usize = 64;
/// Longest request id, in ASCII characters.
pub const REQUEST_ID_CHARS_MAX: usize = 64;
/// Most memories of one batch.
pub const BATCH_ITEMS_MAX: usize = 1_000;
/// Largest message on the wire, in bytes, and largest HTTP body.
pub const MESSAGE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Longest query of a recall, in characters.
pub const QUERY_CHARS_MAX: usize = 8_000;
/// Hits of a recall when the caller names no number.
pub const TOP_K_DEFAULT: usize = 8;
/// Most hits of a recall.
pub const TOP_K_MAX: usize = 100;
/// Page size of a list when the caller names none.
pub const PAGE_SIZE_DEFAULT: usize = 50;
/// Largest page; a larger wish is brought down to it.
pub const PAGE_SIZE_MAX: usize = 1_000;
/// Deepest nesting of a filter.
pub const FILTER_DEPTH_MAX: usize = 16;
/// Most nodes of a filter tree.
pub const FILTER_NODES_MAX: usize = 256;
/// Most words in one list of a filter.
pub const FILTER_WORDS_MAX: usize = 1_000;
/// Most memories one forget call takes by id.
pub const FORGET_IDS_MAX: usize = 1_000;
/// How many request ids a namespace remembers; the oldest is dropped first.
pub const REQUEST_IDS_MAX: usize = 100_000;
/// Most namespaces of one data directory.
pub const NAMESPACES_MAX: usize = 100_000;
/// Most settings of a namespace.
pub const SETTINGS_MAX: usize = 64;
/// Longest key of a setting, in characters.
pub const SETTING_KEY_CHARS_MAX: usize = 64;
/// Longest value of a setting, in characters.
pub const SETTING_VALUE_CHARS_MAX: usize = 1_024;
/// Most memories of one history.
pub const HISTORY_MAX: usize = 1_000;
/// Most memories that one feedback names.
pub const FEEDBACK_ITEMS_MAX: usize = 1_000;
/// How many recalls are remembered for feedback; the oldest is dropped first.
pub const RECALLS_MAX: usize = 10_000;
/// How long a recall is remembered for feedback, in milliseconds: a day.
pub const RECALL_TTL_MS: u64 = 86_400_000;
/// Most memories of a namespace whose accesses wait to be logged.
pub const ACCESSES_MAX: usize = 4_096;
/// How many events a rule remembers of its life; the oldest is dropped first.
pub const RULE_EVENTS_MAX: usize = 32;
/// Most episodes of one case, and most successes of one type of task, that a consolidation reads; the newest.
pub const CASE_EPISODES_MAX: usize = 1_000;
/// Most turns that one call appends to a session.
pub const TURNS_MAX: usize = 256;
/// Most turns that a session keeps.
pub const SESSION_TURNS_MAX: usize = 1_000;
/// Turns that a session keeps when the caller names no number.
pub const SESSION_TURNS_DEFAULT: usize = 200;
/// Most bytes of a session's turns.
pub const SESSION_BYTES_MAX: usize = 1024 * 1024;
/// Bytes of a session's turns when the caller names no number.
pub const SESSION_BYTES_DEFAULT: usize = 256 * 1024;
/// How long a session may be idle at least, in milliseconds.
pub const SESSION_IDLE_MS_MIN: i64 = 1_000;
/// How long a session may be idle when the caller names no time, in milliseconds: an hour.
pub const SESSION_IDLE_MS_DEFAULT: i64 = 3_600_000;
/// How long a session may be idle at most, in milliseconds: a week.
pub const SESSION_IDLE_MS_MAX: i64 = 7 * 86_400_000;
/// Most open sessions of a namespace.
pub const SESSIONS_PER_NAMESPACE_MAX: usize = 1_000;
/// Most open sessions of a server.
pub const SESSIONS_MAX: usize = 10_000;
/// Most bytes of all sessions of a namespace.
pub const SESSIONS_BYTES_PER_NAMESPACE_MAX: usize = 16 * 1024 * 1024;
/// Most bytes of all sessions of a server.
pub const SESSIONS_BYTES_MAX: usize = 64 * 1024 * 1024;
/// How many sessions that have ended are remembered, so that a late call is told what became of them.
pub const SESSIONS_ENDED_MAX: usize = 10_000;
/// How many request ids of appends a session remembers.
pub const SESSION_REQUEST_IDS_MAX: usize = 64;
/// Most kinds, agents or sorts of change that a watch names.
pub const WATCH_WORDS_MAX: usize = 64;
