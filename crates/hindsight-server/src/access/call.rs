//! One call, as far as the locks are concerned: who makes it, which it is, where it acts, and how much it did.

use std::net::IpAddr;
use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicU64, Ordering},
};

use hindsight_auth::{Credential, Right};
use hindsight_core::{Invalid, Namespace, namespace::BadNamespace};

use super::policy::{self, Need, Policy, RECALL};
use super::rates::Rates;
use crate::app::{Code, Refusal};

tokio::task_local! {
    /// The call that the application layer works for.
    static CURRENT: Call;
}

/// The address that a connection comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// The id of a call, as its reply has it.
#[derive(Debug, Clone)]
pub(crate) struct CallId(pub(crate) String);

/// Who makes a call.
#[derive(Debug, Clone)]
pub(crate) enum Caller {
    /// Whoever can connect: no credentials are asked for.
    Anyone,
    /// The holder of a token.
    Holder(Arc<Credential>),
}

/// A call that was admitted. Clones are the same call.
#[derive(Debug, Clone)]
pub(crate) struct Call(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    caller: Caller,
    policy: &'static Policy,
    peer: Option<IpAddr>,
    id: String,
    rates: Arc<Rates>,
    namespace: OnceLock<Namespace>,
    count: AtomicU64,
}

impl Call {
    pub(super) fn new(
        caller: Caller,
        policy: &'static Policy,
        peer: Option<IpAddr>,
        id: String,
        rates: Arc<Rates>,
    ) -> Call {
        let (namespace, count) = (OnceLock::new(), AtomicU64::new(0));
        Call(Arc::new(Inner { caller, policy, peer, id, rates, namespace, count }))
    }

    /// The call of a tool of MCP inside this one: that of the RPC that it stands for.
    ///
    /// # Errors
    /// When there is no such RPC, a fault of this program.
    pub(crate) fn of_tool(&self, rpc: &str) -> Result<Call, Refusal> {
        let policy = policy::of_call(rpc).ok_or_else(Refusal::internal)?;
        let Inner { caller, peer, id, rates, .. } = &*self.0;
        Ok(Call::new(caller.clone(), policy, *peer, id.clone(), Arc::clone(rates)))
    }

    /// The call that is worked on; none outside of one.
    pub(crate) fn current() -> Option<Call> {
        CURRENT.try_with(Call::clone).ok()
    }

    /// Runs `work` as this call.
    pub(super) async fn scope<T>(&self, work: impl Future<Output = T>) -> T {
        CURRENT.scope(self.clone(), work).await
    }

    pub(crate) fn caller(&self) -> &Caller {
        &self.0.caller
    }

    pub(crate) fn policy(&self) -> &'static Policy {
        self.0.policy
    }

    pub(super) fn peer(&self) -> Option<IpAddr> {
        self.0.peer
    }

    pub(super) fn id(&self) -> &str {
        &self.0.id
    }

    /// Where it acts, once that is decided.
    pub(crate) fn namespace(&self) -> Option<&Namespace> {
        self.0.namespace.get()
    }

    /// How many memories it stored, changed or returned.
    pub(super) fn count(&self) -> u64 {
        self.0.count.load(Ordering::Relaxed)
    }

    pub(super) fn add(&self, count: u64) {
        self.0.count.fetch_add(count, Ordering::Relaxed);
    }

    /// Whether the caller may make this call somewhere, as far as can be said before its body is read.
    ///
    /// # Errors
    /// `SCOPE_MISSING`.
    pub(super) fn check_right(&self) -> Result<(), Refusal> {
        let Caller::Holder(holder) = self.caller() else { return Ok(()) };
        let (right, has) = match self.policy().need {
            Need::Open | Need::Valid | Need::Reaching => return Ok(()),
            Need::In(Right::Read) => (Right::Read, holder.may_somewhere(self.least(true))),
            Need::In(right) | Need::InOrEverywhere(right) | Need::Somewhere(right) => {
                (right, holder.may_somewhere(right))
            }
            Need::Everywhere(right) => (right, holder.may_everywhere(right)),
        };
        if has { Ok(()) } else { Err(self.scope_missing(right, None)) }
    }

    /// Decides the namespace: the one that is named (empty: none is), else the only one of the credential. None for a caller
    /// without credential who names none or a bad one, which the call itself refuses with its other fields; and for a call about
    /// all namespaces. `observes` says that the call leaves no trace.
    ///
    /// # Errors
    /// `NAMESPACE_DENIED`, `SCOPE_MISSING`, `RATE_LIMITED`, or that the namespace is missing.
    pub(crate) fn enter(&self, named: &str, observes: bool) -> Result<Option<Namespace>, Refusal> {
        let Caller::Holder(holder) = self.caller() else {
            let namespace: Option<Namespace> = named.parse().ok();
            if let Some(namespace) = &namespace {
                self.acts_in(namespace)?;
            }
            return Ok(namespace);
        };
        let right = match self.policy().need {
            Need::In(Right::Read) => Some(self.least(observes)),
            Need::In(right) => Some(right),
            Need::InOrEverywhere(right) if named.is_empty() && holder.may_everywhere(right) => {
                return Ok(None);
            }
            Need::InOrEverywhere(right) => Some(right),
            Need::Reaching => None,
            // A row that names no namespace belongs to a call that acts in none.
            Need::Open | Need::Valid | Need::Somewhere(_) | Need::Everywhere(_) => return Ok(None),
        };
        let namespace = if named.is_empty() {
            let only = holder.only_namespace().cloned();
            only.ok_or_else(|| {
                Invalid::one("namespace", "is missing: this token is for several, so name one")
            })?
        } else {
            let bad = |bad: BadNamespace| Invalid::one("namespace", bad.to_string());
            named.parse().map_err(bad)?
        };
        if !holder.reaches(&namespace) {
            self.is_about(&namespace);
            let message = format!("this token is not for namespace {namespace}");
            return Err(Refusal::new(Code::Forbidden, "NAMESPACE_DENIED", message));
        }
        match right {
            Some(right) if !holder.may(right, &namespace) => {
                self.is_about(&namespace);
                Err(self.scope_missing(right, Some(&namespace)))
            }
            _ => {
                self.acts_in(&namespace)?;
                Ok(Some(namespace))
            }
        }
    }

    /// The right that a recall needs.
    fn least(&self, observes: bool) -> Right {
        if observes && self.policy().call == RECALL { Right::Observe } else { Right::Read }
    }

    /// Whether its caller may only look, and leave no trace.
    pub(crate) fn only_observes(&self, namespace: &Namespace) -> bool {
        matches!(self.caller(), Caller::Holder(holder) if !holder.may(Right::Read, namespace))
    }

    /// Decides that it acts there, and counts it among the calls there; of an address of MCP its tools are counted.
    ///
    /// # Errors
    /// `RATE_LIMITED`.
    fn acts_in(&self, namespace: &Namespace) -> Result<(), Refusal> {
        if self.is_about(namespace) && self.policy().need != Need::Reaching {
            self.0.rates.of_namespace(namespace)?;
        }
        Ok(())
    }

    /// Notes where it acts; whether that was not known before.
    fn is_about(&self, namespace: &Namespace) -> bool {
        tracing::Span::current().record("namespace", namespace.as_str());
        // A call acts in one namespace; a second decision is the same one.
        self.0.namespace.set(namespace.clone()).is_ok()
    }

    fn scope_missing(&self, right: Right, namespace: Option<&Namespace>) -> Refusal {
        let place = match (namespace, self.policy().need) {
            (Some(namespace), _) => format!(" in namespace {namespace}"),
            (None, Need::Everywhere(_)) => " in all namespaces".to_owned(),
            (None, _) => String::new(),
        };
        let hint = if right == Right::Read { ", or observe for one that says observe" } else { "" };
        let message =
            format!("this call needs the right {right}{place}{hint}, and this token does not have it");
        let mut refusal = Refusal::new(Code::Forbidden, "SCOPE_MISSING", message);
        refusal.metadata.insert("needed_right", right.to_string());
        refusal
    }
}
