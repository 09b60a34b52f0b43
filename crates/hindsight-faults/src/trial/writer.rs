//! One writer: one request after the other, each noted before it is sent and after it was answered.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use hindsight_client::{
    BatchOptions, Draft, Error, MemoryId, NamespaceHandle, Patch, UpdateOptions, WriteEntry, WriteOptions,
};
use tokio::sync::mpsc;

use super::load::{Shared, clock_us};
use super::{Mix, unexpected};
use crate::model::{Acknowledged, Fault, Finding, Ledger, Open, Request, content, draft};

/// The one error of a good request after which it may not be there: it never came to the log.
const REFUSED_FOR_GOOD: &str = "DISK_FULL";

/// What a server answered to a request that changes something.
#[derive(Debug)]
pub(super) struct Answer {
    /// The ids of the memories that it names.
    pub(super) ids: Vec<MemoryId>,
    /// The version of the one memory that it shows.
    pub(super) version: Option<u64>,
    /// Whether it had been carried out before.
    pub(super) replayed: bool,
    /// Its log position.
    pub(super) position: u64,
}

/// Writes until it is told to stop or has an error. One request in 32 is one that must be refused.
pub(super) async fn work(
    mut ledger: Ledger,
    namespace: NamespaceHandle,
    mix: Mix,
    shared: Arc<Shared>,
    announce: mpsc::Sender<(usize, MemoryId)>,
) -> Ledger {
    while !shared.stop.load(Ordering::Relaxed) {
        let done = if ledger.random.u8(0..32) == 0 {
            refused(&mut ledger, &namespace).await
        } else {
            let request = if mix.only_large {
                ledger.choose_large(mix.ballast_bytes)
            } else {
                ledger.choose(mix.ballast_bytes)
            };
            if let Some(id) = chosen_id(&request) {
                // A reader that is busy misses one.
                let _ = announce.try_send((ledger.writer, id));
            }
            asked(&mut ledger, request, &namespace, &shared).await
        };
        match done {
            Ok(findings) => note(&shared, findings),
            Err(error) => {
                if !shared.broken.load(Ordering::SeqCst) {
                    note(&shared, vec![unexpected(&format!("writer {}", ledger.writer), &error)]);
                }
                shared.errors.lock().unwrap_or_else(PoisonError::into_inner).push(error);
                break;
            }
        }
    }
    shared.writing.fetch_sub(1, Ordering::SeqCst);
    ledger
}

fn note(shared: &Shared, findings: Vec<Finding>) {
    shared.findings.lock().unwrap_or_else(PoisonError::into_inner).extend(findings);
}

/// Sends one request. Without an answer it stays open in the ledger.
async fn asked(
    ledger: &mut Ledger,
    request: Request,
    namespace: &NamespaceHandle,
    shared: &Shared,
) -> Result<Vec<Finding>, Error> {
    let request_id = ledger.next_request_id();
    let sent_us = clock_us();
    let open = Open {
        request: request.clone(),
        request_id: request_id.clone(),
        sent_us,
        was_seen: false,
        applied: None,
    };
    ledger.open = Some(open);
    let answer = send(ledger, &request, request_id, namespace).await;
    if answer.as_ref().is_err_and(|error| error.reason() == REFUSED_FOR_GOOD) {
        ledger.open = None;
    }
    let answer = answer?;
    ledger.times.push(Acknowledged { sent_us, answered_us: clock_us() });
    ledger.open = None;
    ledger.acknowledge(&request, &answer.ids, answer.position);
    let numbers = request.numbers();
    shared.acknowledged.fetch_add(numbers.end - numbers.start, Ordering::Relaxed);
    shared.calls.fetch_add(1, Ordering::Relaxed);
    Ok(judge(ledger, &request, &answer).into_iter().collect())
}

/// What is wrong with the answer to a request that was sent for the first time and is entered already.
fn judge(ledger: &Ledger, request: &Request, answer: &Answer) -> Option<Finding> {
    let wanted = request.numbers();
    let item = ledger.items.get(&wanted.start)?;
    let right = !answer.replayed
        && u64::try_from(answer.ids.len()) == Ok(wanted.end - wanted.start)
        && answer.version.is_none_or(|version| version == item.version)
        && answer.ids.first() == Some(&item.id)
        && chosen_id(request).is_none_or(|id| id == item.id);
    (!right).then(|| Finding::new(Fault::Wrong, format!("{request:?} was answered with {answer:?}")))
}

/// The id that the writer chose for the memory.
pub(super) fn chosen_id(request: &Request) -> Option<MemoryId> {
    if let Request::Write { id, .. } = request { *id } else { None }
}

/// Makes the call of a request; the same each time it is made.
pub(super) async fn send(
    ledger: &Ledger,
    request: &Request,
    request_id: String,
    namespace: &NamespaceHandle,
) -> Result<Answer, Error> {
    let request_id = Some(request_id);
    match *request {
        Request::Write { number, id, ballast_bytes } => {
            let mut draft = draft(ledger.key(number), None, ballast_bytes);
            draft.id = id.map(|id| id.to_string());
            let options = WriteOptions { request_id, ..WriteOptions::default() };
            let written = namespace.write_with(draft, None, options).await?;
            Ok(Answer {
                ids: vec![written.memory.id],
                version: Some(written.memory.version),
                replayed: written.replayed,
                position: written.revision.0,
            })
        }
        Request::Batch { first } => {
            let entry =
                |number| WriteEntry { draft: draft(ledger.key(number), Some(first), 0), vectors: None };
            let entries = request.numbers().map(entry).collect();
            // A batch of good memories is whole either way, so both ways are taken.
            let options =
                BatchOptions { all_or_nothing: first % 2 == 0, request_id, ..BatchOptions::default() };
            let written = namespace.batch_write(entries, options).await?;
            // One that was refused is missing among the ids, and found by that.
            let ids = written.results.into_iter().filter_map(Result::ok).collect();
            Ok(Answer { ids, version: None, replayed: written.replayed, position: written.revision.0 })
        }
        Request::Update { number, with_version } => {
            let item = ledger.items.get(&number);
            let id = item.map_or(MemoryId::from_u128(0), |item| item.id);
            // A repeated request is repeated as it was: before it was entered, or as if.
            let (revision, version) = item.map_or((0, 0), |item| (item.revision + 1, item.version));
            let patch = Patch { content: Some(content(ledger.key(number), revision)), ..Patch::default() };
            let options = UpdateOptions {
                version: with_version.then_some(version),
                request_id,
                ..UpdateOptions::default()
            };
            let updated = namespace.update_with(id, patch, options).await?;
            Ok(Answer {
                ids: vec![updated.memory.id],
                version: Some(updated.memory.version),
                replayed: updated.replayed,
                position: updated.revision.0,
            })
        }
        Request::Forget { number } => {
            let id = ledger.items.get(&number).map_or(MemoryId::from_u128(0), |item| item.id);
            let forgotten = namespace.forget_ids(&[id]).await?;
            Ok(Answer {
                ids: forgotten.ids,
                version: None,
                replayed: forgotten.replayed,
                position: forgotten.revision.0,
            })
        }
    }
}

/// Sends what must be refused, alone or as a part of a batch that is all or nothing. None of it may ever be found.
async fn refused(ledger: &mut Ledger, namespace: &NamespaceHandle) -> Result<Vec<Finding>, Error> {
    let bad = Draft { content: "refused".to_owned(), importance: Some(7.0), ..Draft::default() };
    let answer = if ledger.random.bool() {
        namespace.write(bad).await.map(|_| ())
    } else {
        let good = Draft { content: "refused with another".to_owned(), ..Draft::default() };
        let entries = [good, bad].map(|draft| WriteEntry { draft, vectors: None });
        let options = BatchOptions { all_or_nothing: true, request_id: None, ..BatchOptions::default() };
        namespace.batch_write(entries.into(), options).await.map(|_| ())
    };
    match answer {
        Err(Error::Invalid { .. }) => Ok(Vec::new()),
        Err(error) => Err(error),
        Ok(()) => Ok(vec![Finding::new(Fault::Wrong, "a memory with importance 7 was taken")]),
    }
}
