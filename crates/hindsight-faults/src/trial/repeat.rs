//! The request that was open when the server went away, sent once more with the same request id.

use hindsight_client::NamespaceHandle;

use super::unexpected;
use super::writer::send;
use crate::model::{Fault, Finding, Ledger, Open, Request};

/// Repeats a request of which `open.applied` says whether it had been carried out. If so, the answer must say that too
/// and nothing may happen; if not, it must happen now. Both are seen at the next comparison.
pub(super) async fn repeat(ledger: &mut Ledger, open: Open, namespace: &NamespaceHandle) -> Vec<Finding> {
    let applied = open.applied == Some(true);
    let what = format!("{:?} of writer {}, repeated", open.request, ledger.writer);
    if applied {
        undo(ledger, &open.request);
    }
    let answer = send(ledger, &open.request, open.request_id.clone(), namespace).await;
    if applied {
        redo(ledger, &open.request);
    }
    let answer = match answer {
        Ok(answer) => answer,
        Err(error) => return vec![unexpected(&what, &error)],
    };
    let mut findings = Vec::new();
    // A forget has no request id of the caller's; the second one finds nothing left to do, which is no less safe.
    let is_forget = matches!(open.request, Request::Forget { .. });
    let was_applied = if is_forget { answer.ids.is_empty() } else { answer.replayed };
    if was_applied != applied {
        let text = format!("{what}: was carried out before: {applied}, the answer says {was_applied}");
        findings.push(Finding::new(Fault::Wrong, text));
    }
    if !applied {
        ledger.acknowledge(&open.request, &answer.ids, answer.position);
    } else if !is_forget {
        ledger.positions.push(answer.position);
    }
    findings
}

/// An update is made from what the ledger says the memory is; when it is entered already, from what it was before.
fn undo(ledger: &mut Ledger, request: &Request) {
    change(ledger, request, |count| count.saturating_sub(1));
}

fn redo(ledger: &mut Ledger, request: &Request) {
    change(ledger, request, |count| count + 1);
}

fn change(ledger: &mut Ledger, request: &Request, change: impl Fn(u64) -> u64) {
    if let Request::Update { number, .. } = request
        && let Some(item) = ledger.items.get_mut(number)
    {
        item.revision = change(item.revision);
        item.version = change(item.version);
    }
}
