//! Every call: how many, how long, and what became of it.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

/// Upper bounds of the classes of durations, in seconds.
const SECONDS: [f64; 14] =
    [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 30.0];

/// Reasons for which a credential is refused.
const OF_AUTH: [&str; 6] =
    ["TOKEN_MISSING", "TOKEN_INVALID", "TOKEN_EXPIRED", "NAMESPACE_DENIED", "SCOPE_MISSING", "AGENT_DENIED"];

/// Reasons that mean that a limit was reached.
const OF_LIMITS: [&str; 7] = [
    "OVERLOADED",
    "RATE_LIMITED",
    "LIMIT_REACHED",
    "DISK_FULL",
    "CONTENT_TOO_LARGE",
    "BATCH_TOO_LARGE",
    "DEADLINE",
];

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Made {
    front: &'static str,
    method: &'static str,
    code: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Of {
    front: &'static str,
    method: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Front {
    front: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Reason {
    reason: &'static str,
}

/// Which call a request is, by its row in the table of rights: the label `method`. The door says it once it knows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Called(Arc<OnceLock<&'static str>>);

impl Called {
    /// It is this call.
    pub(crate) fn is(&self, method: &'static str) {
        // Said once; a second time it would be the same.
        let _ = self.0.set(method);
    }

    /// Which it is; `unknown` for what is none.
    pub(crate) fn method(&self) -> &'static str {
        self.0.get().copied().unwrap_or("unknown")
    }
}

/// Counts calls.
pub(crate) struct Calls {
    made: Family<Made, Counter>,
    took: Family<Of, Histogram, fn() -> Histogram>,
    open: Family<Front, Gauge>,
    auth: Family<Reason, Counter>,
    limits: Family<Reason, Counter>,
    panics: Counter,
}

/// A call that is being worked on.
pub(crate) struct InFlight(Gauge);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl Calls {
    pub(super) fn new(registry: &mut Registry) -> Calls {
        let calls = Calls {
            made: Family::default(),
            took: Family::new_with_constructor(|| Histogram::new(SECONDS)),
            open: Family::default(),
            auth: Family::default(),
            limits: Family::default(),
            panics: Counter::default(),
        };
        registry.register("requests", "Calls that were answered", calls.made.clone());
        let help = "How long calls took until their answer, or its head where it streams, was there";
        registry.register("request_duration_seconds", help, calls.took.clone());
        registry.register("requests_in_flight", "Calls that are being worked on", calls.open.clone());
        registry.register("auth_failures", "Calls refused because of their credential", calls.auth.clone());
        registry.register("quota_rejections", "Calls refused because of a limit", calls.limits.clone());
        let help = "Calls that panicked; each is a fault of this program and stands in the log";
        registry.register("panics", help, calls.panics.clone());
        // What never happened is 0, not absent: a rule about it must have something to look at.
        for reason in OF_AUTH {
            drop(calls.auth.get_or_create(&Reason { reason }));
        }
        for reason in OF_LIMITS {
            drop(calls.limits.get_or_create(&Reason { reason }));
        }
        calls
    }

    /// A call begins.
    pub(crate) fn begin(&self, front: &'static str) -> InFlight {
        let open = self.open.get_or_create_owned(&Front { front });
        open.inc();
        InFlight(open)
    }

    /// A call was answered with this code, after that time.
    pub(crate) fn answered(
        &self,
        front: &'static str,
        method: &'static str,
        code: &'static str,
        took: Duration,
    ) {
        self.made.get_or_create(&Made { front, method, code }).inc();
        self.took.get_or_create(&Of { front, method }).observe(took.as_secs_f64());
    }

    /// A call was refused. Only reasons that are about credentials or limits are counted by themselves.
    pub(crate) fn refused(&self, reason: &str) {
        let known = |list: &[&'static str]| list.iter().find(|known| **known == reason).copied();
        if let Some(reason) = known(&OF_AUTH) {
            self.auth.get_or_create(&Reason { reason }).inc();
        }
        if let Some(reason) = known(&OF_LIMITS) {
            self.limits.get_or_create(&Reason { reason }).inc();
        }
    }

    /// A call panicked.
    pub(crate) fn panicked(&self) {
        self.panics.inc();
    }
}
