//! Why two memories are not one.

use serde::{Deserialize, Serialize};

/// Longest value that a reason shows, in characters.
pub const SHOWN_CHARS_MAX: usize = 120;

/// In what two memories differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aspect {
    /// They are not near enough to be looked at.
    Similarity,
    /// One is a fact, the other a preference.
    Kind,
    /// Another scope or, inside scope `agent`, another agent.
    Scope,
    /// The task ended differently.
    Status,
    /// Another type of task.
    TaskType,
    /// Somebody else said it, of himself or herself.
    Speaker,
    /// True at other times.
    Validity,
    /// Words such as "today" that mean another time, because it was said at another time.
    Moment,
    /// Another value of a claim, or a claim that the old memory does not make.
    Claim,
    /// About somebody or something else.
    Entity,
    /// Another tool, or other steps.
    Tool,
    /// Another parameter of a step.
    Parameter,
    /// Another result of a step.
    Outcome,
    /// Another error.
    ErrorCode,
    /// Another cause or another remedy.
    Cause,
    /// Other advice, or another condition of a rule.
    Rule,
    /// Another value in the caller's own fields.
    Metadata,
    /// About another image, recording or document.
    Uri,
    /// Another number, or another unit.
    Number,
    /// Another date.
    Date,
    /// Another time of day.
    Time,
    /// Another version.
    Version,
    /// Another code, path, address or identifier.
    Code,
    /// One denies what the other says, or says the opposite.
    Polarity,
    /// Another name.
    Name,
    /// The same words in another order.
    Order,
    /// One says more.
    Added,
    /// Other words. Whether they mean the same, no table knows.
    Wording,
}

impl Aspect {
    /// The word as it stands in JSON and in replies.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Aspect::Similarity => "similarity",
            Aspect::Kind => "kind",
            Aspect::Scope => "scope",
            Aspect::Status => "status",
            Aspect::TaskType => "task_type",
            Aspect::Speaker => "speaker",
            Aspect::Validity => "validity",
            Aspect::Moment => "moment",
            Aspect::Claim => "claim",
            Aspect::Entity => "entity",
            Aspect::Tool => "tool",
            Aspect::Parameter => "parameter",
            Aspect::Outcome => "outcome",
            Aspect::ErrorCode => "error_code",
            Aspect::Cause => "cause",
            Aspect::Rule => "rule",
            Aspect::Metadata => "metadata",
            Aspect::Uri => "uri",
            Aspect::Number => "number",
            Aspect::Date => "date",
            Aspect::Time => "time",
            Aspect::Version => "version",
            Aspect::Code => "code",
            Aspect::Polarity => "polarity",
            Aspect::Name => "name",
            Aspect::Order => "order",
            Aspect::Added => "added",
            Aspect::Wording => "wording",
        }
    }
}

impl std::fmt::Display for Aspect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

/// One difference, with what each side has; empty where a side has nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// In what they differ.
    pub aspect: Aspect,
    /// What the old memory has, at most [`SHOWN_CHARS_MAX`] characters of it.
    pub old: String,
    /// What the new memory has, cut alike.
    pub new: String,
}

impl Difference {
    pub(crate) fn new(aspect: Aspect, old: impl Into<String>, new: impl Into<String>) -> Difference {
        Difference { aspect, old: clip(old.into()), new: clip(new.into()) }
    }
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {:?} / {:?}", self.aspect, self.old, self.new)
    }
}

fn clip(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(SHOWN_CHARS_MAX) {
        text.truncate(end);
        text.push('…');
    }
    text
}
