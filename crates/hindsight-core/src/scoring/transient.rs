//! Failures that pass by themselves: timeouts, rate limits, outages. They must not teach "this never works" (M4).

use crate::Action;

/// Parts of error codes that tell of a passing failure, in lower case.
const TRANSIENT_CODES: &[&str] = &[
    "timeout",
    "timed_out",
    "deadline",
    "rate_limit",
    "ratelimit",
    "too_many_requests",
    "unavailable",
    "connection_reset",
    "connection_refused",
    "econnreset",
    "econnrefused",
    "etimedout",
    "temporar",
    "throttl",
    "overloaded",
];

/// Error codes that are passing failures as a whole.
const TRANSIENT_NUMBERS: &[&str] = &["408", "429", "502", "503", "504"];

/// Whether the last error of the sequence is of the passing sort; an episode without an error code is not.
#[must_use]
pub fn is_transient(actions: &[Action]) -> bool {
    let last = actions.iter().rev().find_map(|action| action.error_code.as_deref());
    last.is_some_and(|code| {
        let code = code.to_lowercase().replace(['-', ' '], "_");
        TRANSIENT_NUMBERS.contains(&code.trim_start_matches("http_"))
            || TRANSIENT_CODES.iter().any(|part| code.contains(part))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn m4_the_last_error_decides() {
        let actions = |codes: &[&str]| -> Vec<Action> {
            codes
                .iter()
                .map(|code| Action { error_code: Some((*code).to_owned()), ..Action::default() })
                .collect()
        };
        assert!(is_transient(&actions(&["permission_denied", "rate_limited"])));
        assert!(is_transient(&actions(&["HTTP-503"])));
        assert!(!is_transient(&actions(&["timeout", "permission_denied"])));
        assert!(!is_transient(&actions(&["E5030"])));
        assert!(!is_transient(&[]));
    }
}
