//! Collects what is wrong with a message, so that a caller learns of all of it at once.

use hindsight_core::Invalid;
use hindsight_core::invalid::Violations;

/// Notes violations while a message is read on.
#[derive(Debug, Default)]
pub(crate) struct Gather(Violations);

impl Gather {
    /// The value of a good result; of a bad one nothing, after its violations were noted.
    pub(crate) fn keep<T: Default>(&mut self, result: Result<T, Invalid>) -> T {
        result.unwrap_or_else(|invalid| {
            for violation in invalid.violations {
                self.0.add(violation.field, violation.description);
            }
            T::default()
        })
    }

    /// As [`Gather::keep`], for values that have no default.
    pub(crate) fn keep_some<T>(&mut self, result: Result<T, Invalid>) -> Option<T> {
        self.keep(result.map(Some))
    }

    /// Notes that `field` is wrong unless `right`.
    pub(crate) fn unless(&mut self, right: bool, field: &str, description: &str) {
        self.0.unless(right, field, || description.to_owned());
    }

    /// `Ok` when nothing was noted.
    pub(crate) fn finish(self) -> Result<(), Invalid> {
        self.0.finish()
    }
}
