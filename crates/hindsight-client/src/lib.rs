//! The Rust client of HindsightDB: a thin layer over gRPC that speaks in the database's own words.
//!
//! What it does: connects and says what is wrong when it can't, gives every call a deadline, gives every mutation a
//! request id and keeps it across its own retries, and turns answers and errors into typed values. What it does not:
//! it checks no memory (the server does, and names every field), keeps no cache, and shows no type of its transport.
//!
//! ```no_run
//! use hindsight_client::{Client, Draft, Error};
//!
//! # async fn example() -> Result<(), Error> {
//! let client = Client::connect("http://127.0.0.1:7420").await?;
//! let home = client.namespace("home")?;
//! home.write(Draft { content: "Mei is allergic to peanuts".to_owned(), ..Draft::default() }).await?;
//! let answer = home.recall("what is Mei allergic to").top_k(3).await?;
//! for hit in answer.hits {
//!     println!("{:.2} {}", hit.score, hit.memory.content);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! | default | value | changed by |
//! |---|---|---|
//! | deadline of a call, retries included | 10 s | [`ClientBuilder::timeout`], [`NamespaceHandle::with_timeout`] |
//! | time to connect | 5 s | [`ClientBuilder::connect_timeout`] |
//! | attempts, with 50 ms to 2 s of full jitter between them | 3 | [`ClientBuilder::attempts`] |
//! | HTTP/2 ping while idle; answer expected within | 30 s; 10 s | [`ClientBuilder::keepalive`] |
//! | TCP keepalive | 60 s | [`ClientBuilder::tcp_keepalive`] |
//! | token; certificates of an `https://` server | none; those of the system | [`ClientBuilder::token`]; [`ClientBuilder::tls_ca`] |
//! | largest message sent; received | 4 MiB; 16 MiB | [`ClientBuilder::message_bytes_max`] |
//!
//! Programs without a runtime have [`mod@blocking`]; [`MemoryStore`] is what an agent is written against that is tested without a
//! server, with [`Fake`].
//!
//! Reading order: [`client`] and [`builder`], [`namespace`] (every call on memories), [`recall`] and [`list`] (the two
//! calls with many options), [`mod@backup`], [`reply`], [`mod@rules`], [`session`] and [`purged`] (what comes back), [`token`] and [`audit`], [`error`] and [`connect`] (what goes
//! wrong), `transport`, `locks` and
//! `retry` (how a call is sent).
#![forbid(unsafe_code)]

pub mod admin;
pub mod audit;
pub mod backup;
pub mod blocking;
pub mod builder;
pub mod client;
pub mod connect;
pub mod error;
mod jobs;
pub mod list;
mod locks;
pub mod namespace;
pub mod purged;
pub mod recall;
pub mod reply;
mod request_id;
mod retry;
pub mod rules;
pub mod session;
mod status;
pub mod store;
pub mod token;
mod transport;

pub use hindsight_auth::{Credential, Grant, Pattern, Right, Rights, TokenId};

pub use audit::{AuditEvent, AuditPage, AuditQuery};
pub use token::{NewToken, TokenWish};

pub use admin::{MemoryUse, Model, NamespaceInfo, NamespaceStats, NamespaceSummary, ServerInfo, VectorGraph};
pub use backup::BackupSummary;
pub use builder::ClientBuilder;
pub use client::Client;
pub use connect::ConnectHint;
pub use error::Error;
pub use list::{ListBuilder, Memories, Page};
pub use namespace::{
    BatchOptions, Change, ConsolidateOptions, Feedback, ForgetMode, NamespaceHandle, RuleQuery,
    SessionEpisode, SessionHandle, SummarizeOptions, Told, UpdateOptions, Watch, WatchBuilder, WatchFrom,
    WriteOptions,
};
pub use purged::{Dropped, PurgeReceipt, Purged, PurgedFile};
pub use recall::{IntoRecall, RecallBuilder};
pub use reply::{
    BatchWritten, Forgotten, History, ItemError, Judged, Outcome, Restored, RolledBack, Updated, Written,
};
pub use store::{Fake, MemoryStore};

pub use session::{AppendedTurns, ClosedSession, OpenedSession, SessionTurns};

pub use rules::{Consolidated, ConsolidatedRule, RuleHappening, RuleHistory, RulePage, Summarized};

pub use hindsight_core::consolidate::{RuleEvent, RuleKey, RulePatch};
pub use hindsight_core::draft::{EpisodeDraft, RecordDraft, RuleDraft, RuleProposal, SourceDraft};
pub use hindsight_core::likeness::LikenessKey;
pub use hindsight_core::memory::Condition;
pub use hindsight_core::{
    Action, AsOf, Axis, Breakdown, ChangeKind, Claim, Decay, Draft, Durability, Entity, Episode, Explanation,
    Filter, Fusion, Hit, Job, JobReport, JobStatus, Kind, Layer, LeftOut, LifeKey, Lsn, Memory, MemoryId,
    Mode, Namespace, Neighbor, OnDuplicate, Part, Patch, Polarity, Prohibition, RawVector, RawVectors,
    Reason, Recall, RecallId, Recalled, Relation, Rule, RuleChange, RuleEventKind, RuleState, Scope, Session,
    SessionDraft, SessionId, SessionSettings, Settings, SettingsPatch, Source, SourceKind, State, Status,
    Timestamp, Turn, TurnDraft, Usage, VectorRole, Verdict, Violation, WatchEvent, Weights,
};
pub use hindsight_proto::call::WriteEntry;
