//! The program's clock.

use hindsight_core::Timestamp;

/// Now, in UTC.
pub(crate) fn now() -> Timestamp {
    jiff::Timestamp::now().into()
}
