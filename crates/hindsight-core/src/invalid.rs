//! What is wrong with a request: which field, and what would be right.

/// One field that is wrong. The sentence says what would be right.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Violation {
    /// The path of the field as the caller wrote it, such as `importance` or `actions[2].tool`.
    pub field: String,
    /// What was found and what would be right, without the field's name.
    pub description: String,
}

/// A request that can't be carried out as it stands; nothing was stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", violations.iter().map(|v| format!("{}: {}", v.field, v.description)).collect::<Vec<_>>().join("; "))]
pub struct Invalid {
    /// Every violation that was found; never empty.
    pub violations: Vec<Violation>,
}

impl Invalid {
    /// A request with one wrong field.
    #[must_use]
    pub fn one(field: impl Into<String>, description: impl Into<String>) -> Invalid {
        Invalid { violations: vec![Violation { field: field.into(), description: description.into() }] }
    }

    /// The same violations with `prefix` put before each field, such as `items[3].`.
    #[must_use]
    pub fn under(mut self, prefix: &str) -> Invalid {
        for violation in &mut self.violations {
            violation.field = format!("{prefix}{}", violation.field);
        }
        self
    }
}

/// Collects violations, so that a caller learns of all of them at once.
#[derive(Debug, Default)]
pub struct Violations(Vec<Violation>);

impl Violations {
    /// Notes that `field` is wrong.
    pub fn add(&mut self, field: impl Into<String>, description: impl Into<String>) {
        self.0.push(Violation { field: field.into(), description: description.into() });
    }

    /// Notes that `field` is wrong unless `right`.
    pub fn unless(&mut self, right: bool, field: &str, description: impl FnOnce() -> String) {
        if !right {
            self.add(field, description());
        }
    }

    /// Keeps the value of a good result; notes the error of a bad one.
    pub fn take<T, E: std::fmt::Display>(&mut self, field: &str, result: Result<T, E>) -> Option<T> {
        result.map_err(|error| self.add(field, error.to_string())).ok()
    }

    /// `Ok` when nothing was noted.
    ///
    /// # Errors
    /// All violations noted so far.
    pub fn finish(self) -> Result<(), Invalid> {
        if self.0.is_empty() { Ok(()) } else { Err(Invalid { violations: self.0 }) }
    }
}
