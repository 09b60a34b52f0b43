//! What was looked at, how it is, and what mends it.

use serde::Serialize;

/// How it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Grade {
    /// As it should be.
    Ok,
    /// It works, and something should be known or done.
    Warning,
    /// It does not work.
    Wrong,
    /// It could not be looked at.
    Skipped,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Finding {
    pub(crate) check: &'static str,
    pub(crate) grade: Grade,
    pub(crate) detail: String,
    /// What to do; absent where nothing is to be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fix: Option<String>,
}

impl Finding {
    pub(crate) fn ok(check: &'static str, detail: impl Into<String>) -> Finding {
        Finding { check, grade: Grade::Ok, detail: detail.into(), fix: None }
    }

    pub(crate) fn warning(check: &'static str, detail: impl Into<String>, fix: impl Into<String>) -> Finding {
        Finding { check, grade: Grade::Warning, detail: detail.into(), fix: Some(fix.into()) }
    }

    pub(crate) fn wrong(check: &'static str, detail: impl Into<String>, fix: impl Into<String>) -> Finding {
        Finding { check, grade: Grade::Wrong, detail: detail.into(), fix: Some(fix.into()) }
    }

    pub(crate) fn skipped(check: &'static str, detail: impl Into<String>) -> Finding {
        Finding { check, grade: Grade::Skipped, detail: detail.into(), fix: None }
    }
}
