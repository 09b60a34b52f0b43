//! The change feed (L9): what a watcher asks for, and what it is told.

use serde::{Deserialize, Serialize};

use crate::invalid::Invalid;
use crate::limits::WATCH_WORDS_MAX;
use crate::{ChangeKind, Kind, Lsn, Memory, MemoryId, State, Timestamp};

/// What a watcher wants to be told.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WatchRequest {
    /// Everything after this revision; what comes from now on when absent.
    pub after: Option<Lsn>,
    /// The agent that asks; it sees its own memories beside the shared ones.
    pub agent_id: Option<String>,
    /// Only memories of these kinds; all when empty.
    pub kinds: Vec<Kind>,
    /// Only memories that these agents wrote; all when empty.
    pub agents: Vec<String>,
    /// Only these changes; all when empty.
    pub changes: Vec<ChangeKind>,
    /// Tell ids, and no memories.
    pub ids_only: bool,
}

/// What one revision changed, or a part of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Watched {
    /// The revision.
    pub revision: Lsn,
    /// When it was decided.
    pub at: Timestamp,
    /// What changed, in the order of the log.
    pub events: Vec<WatchEvent>,
    /// Another part of the same revision follows.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub more: bool,
}

/// One change of a memory or of the namespace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WatchEvent {
    /// The place of the change in its revision: with the revision it names the event for good.
    pub index: u32,
    /// What happened.
    pub change: ChangeKind,
    /// The memory; absent when the change is about many of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<MemoryId>,
    /// Its version after the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// What it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// Its state after the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<State>,
    /// What replaced it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<MemoryId>,
    /// How many memories are gone, when they were purged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// The memory as of this revision. Absent when only ids are wanted, when it was forgotten since, and when it changed
    /// again in the meantime without a new text: the later change has it then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Box<Memory>>,
}

impl WatchRequest {
    /// Checks it.
    ///
    /// # Errors
    /// When a list is too long.
    pub fn check(&self) -> Result<(), Invalid> {
        let lists =
            [("kinds", self.kinds.len()), ("agents", self.agents.len()), ("changes", self.changes.len())];
        match lists.into_iter().find(|(_, found)| *found > WATCH_WORDS_MAX) {
            Some((field, found)) => {
                Err(Invalid::one(field, format!("has {found} items: at most {WATCH_WORDS_MAX}")))
            }
            None => Ok(()),
        }
    }

    /// Whether it asks for changes of this kind.
    #[must_use]
    pub fn wants(&self, change: ChangeKind) -> bool {
        self.changes.is_empty() || self.changes.contains(&change)
    }

    /// Whether a memory is one that this watcher may and wants to be told of. What this asks for never changes in the life
    /// of a memory.
    #[must_use]
    pub fn is_about(&self, memory: &Memory) -> bool {
        let is_of = |agent: &String| memory.agent_id.as_ref() == Some(agent);
        memory.is_visible_to(self.agent_id.as_deref())
            && (self.kinds.is_empty() || self.kinds.contains(&memory.kind))
            && (self.agents.is_empty() || self.agents.iter().any(is_of))
    }
}
