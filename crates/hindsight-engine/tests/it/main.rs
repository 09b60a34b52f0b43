//! The engine as its callers see it: what is acknowledged stays, what is refused leaves nothing.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail loudly")]

mod as_of;
mod backup;
mod checkpoint;
mod concurrency;
mod contract;
mod damage;
mod directory;
mod drop_namespace;
mod echo;
mod erasure;
mod explain;
mod feedback;
mod forget;
mod graph;
mod history;
mod jobs;
mod learn;
mod old_format;
mod recall;
mod replay;
mod rollback;
mod rules;
mod search;
mod sessions;
mod simulation;
mod summary;
mod support;
mod tombstones;
mod update;
mod watch;
mod write;
