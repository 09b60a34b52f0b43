//! The vocabulary of HindsightDB and the rules that need nothing but numbers.
//!
//! What it does: names everything the database speaks of, checks it once at the door, and holds every
//! formula as a pure function. What it does not: no I/O, no clock, no randomness. Time, ids and bytes are
//! arguments, so every rule here can be tested without a sleep and replayed without a difference.
//!
//! | word | meaning |
//! |---|---|
//! | memory | one stored record: what happened, a fact, a preference, a procedure or a rule |
//! | kind | what a memory is; its *layer* follows from it |
//! | status | how a task ended: success, failure, partial |
//! | state | where a memory is in its life: active, superseded, archived, quarantined, forgotten |
//! | namespace | one tenant; nothing crosses its border |
//! | draft | what a caller sends to be stored, before it is checked |
//! | change | one mutation as the log holds it; there is no other way to change state |
//! | recall | a question to the memory; a *hit* is one answer with its reason |
//!
//! Reading order: [`kind`] and [`memory`] (the nouns), [`draft`] (what callers send and how it is checked),
//! [`change`] (what the log holds), [`filter`] (which memories), [`recall`] and [`hit`] (question and
//! answer; [`explain`] says why a memory is none), [`as_of`] (the past), [`policy`] (what is held back), [`prompt`] (what a
//! model reads), [`timewords`] ("last week", 上周), [`scoring`] (every formula), [`likeness`] (one memory or two, and whether they
//! contradict), [`learn`] (what a memory becomes by that, and by use), [`mod@consolidate`] (what episodes teach), [`summary`] (many
//! memories as one), [`session`] (working memory), [`life`] (how long a memory stays), [`job`] and [`cron`] (what is done by
//! itself, and when), [`settings`] (of a namespace), [`watch`] (the change feed). [`limits`] bounds all of it.
#![forbid(unsafe_code)]

pub mod as_of;
pub mod change;
pub mod consolidate;
pub mod cron;
pub mod draft;
pub mod embedding;
pub mod explain;
pub mod filter;
pub mod hit;
pub mod ids;
pub mod invalid;
pub mod job;
pub mod kind;
pub mod learn;
pub mod life;
pub mod likeness;
pub mod limits;
pub mod memory;
mod months;
pub mod namespace;
pub mod patch;
pub mod policy;
pub mod prompt;
pub mod recall;
pub mod scoring;
pub mod session;
pub mod settings;
pub mod summary;
pub mod time;
pub mod timewords;
pub mod watch;
mod words;

pub use as_of::AsOf;
pub use change::{Batch, Change, Lsn, Purge, PurgeRequestHash, Purged, Record, RequestKey};
pub use cron::Cron;
pub use draft::Draft;
pub use embedding::{Components, Embedding, NamedVector, RawVector, RawVectors, VectorRole, VectorSource};
pub use explain::Explanation;
pub use filter::Filter;
pub use hit::{Breakdown, Hit, Neighbor, Part, Recalled};
pub use ids::{MemoryId, RecallId};
pub use invalid::{Invalid, Violation};
pub use job::{Job, JobReport, JobStatus, Schedule};
pub use kind::{
    Axis, ChangeKind, Kind, Layer, LeftOut, OnDuplicate, Outcome, Polarity, Prohibition, Reason, Relation,
    RuleChange, RuleEventKind, RuleState, Scope, SourceKind, State, Status, Verdict,
};
pub use life::{ArchiveReason, Days, Life, LifeKey};
pub use memory::{Action, Claim, Entity, Episode, Memory, Rule, Source, Usage};
pub use namespace::Namespace;
pub use patch::Patch;
pub use recall::{Decay, Fusion, Mode, Recall, Weights};
pub use session::{Session, SessionDraft, SessionId, SessionSettings, Turn, TurnDraft};
pub use settings::{Durability, Settings, SettingsPatch};
pub use time::Timestamp;
pub use watch::{WatchEvent, WatchRequest, Watched};
