//! One file a command: its flags, what it asks of the server, and how the answer is printed.

pub(crate) mod backup;
pub(crate) mod demo;
pub(crate) mod export;
pub(crate) mod forget;
pub(crate) mod get;
pub(crate) mod health;
pub(crate) mod import;
pub(crate) mod inspect;
pub(crate) mod jobs;
pub(crate) mod learn;
pub(crate) mod list;
pub(crate) mod mcp;
pub(crate) mod namespaces;
pub(crate) mod purge;
pub(crate) mod recall;
pub(crate) mod record;
pub(crate) mod repair;
pub(crate) mod serve;
pub(crate) mod sessions;
pub(crate) mod settings;
pub(crate) mod stats;
pub(crate) mod update;
pub(crate) mod verify;
pub(crate) mod version;
pub(crate) mod watch;
pub(crate) mod write;
