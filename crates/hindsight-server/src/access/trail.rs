//! Which calls end in the audit trail, and the thread that writes it.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicU64, Ordering},
};
use std::time::{Duration, Instant};

use axum::response::{IntoResponse, Response};
use hindsight_auth::audit::{Anchor, AuditError, Event, Keep, Trail};
use tokio::sync::oneshot;
use tonic_types::StatusExt as _;

use super::admit::Access;
use super::call::{Call, Caller};
use super::policy::Effect;
use crate::app::Refusal;
use crate::config::{Audit, AuditLevel};
use crate::server::now;

/// Events that wait to be written; further ones are counted as lost.
const QUEUE: usize = 10_000;
/// How soon what was written is synced to the disk.
const SYNC: Duration = Duration::from_secs(1);
/// Most events of one write.
const GROUP: usize = 1_000;
/// How often the place of the trail's end goes to the log, which is kept elsewhere.
const HEAD_PERIOD: Duration = Duration::from_secs(3_600);

/// The way to the thread that writes.
pub(super) struct AuditLog {
    level: AuditLevel,
    keep: Keep,
    sender: OnceLock<SyncSender<Job>>,
    lost: Arc<AtomicU64>,
}

enum Job {
    Write(Event, Option<oneshot::Sender<()>>),
    /// Sync all before it, and say where the trail ends.
    Sync(oneshot::Sender<Option<Anchor>>),
}

impl AuditLog {
    pub(super) fn new(config: &Audit) -> AuditLog {
        let (level, keep) = (config.level, config.keep());
        AuditLog { level, keep, sender: OnceLock::new(), lost: Arc::default() }
    }
}

impl Access {
    /// Opens the audit trail of a data directory and begins to write it. It blocks.
    ///
    /// # Errors
    /// When it can't be opened.
    pub(crate) fn open_trail(&self, data: &std::path::Path) -> Result<(), AuditError> {
        if self.audit.level == AuditLevel::Off {
            return Ok(());
        }
        let trail = Trail::open(data)?;
        let (sender, jobs) = sync_channel(QUEUE);
        let writer =
            Writer { trail, keep: self.audit.keep, jobs, lost: Arc::clone(&self.audit.lost), failing: false };
        let failed = |source| AuditError { op: "start the thread of", path: data.to_owned(), source };
        std::thread::Builder::new().name("audit".into()).spawn(move || writer.run()).map_err(failed)?;
        // A trail is opened once.
        let _ = self.audit.sender.set(sender);
        Ok(())
    }

    /// How many events could not be written and are not noted as lost.
    pub(crate) fn audit_lost(&self) -> u64 {
        self.audit.lost.load(Ordering::Relaxed)
    }

    /// Syncs the audit trail, and says where it ends.
    pub(crate) async fn trail_head(&self) -> Option<Anchor> {
        let sender = self.audit.sender.get()?.clone();
        let (done, head) = oneshot::channel();
        // The queue may be full; its thread drains it.
        tokio::task::spawn_blocking(move || sender.send(Job::Sync(done)).ok()).await.ok()??;
        head.await.ok()?
    }

    /// Whether a call with this outcome ends in the trail.
    fn is_audited(&self, call: &Call, result: &str) -> bool {
        if self.audit.level == AuditLevel::Off {
            return false;
        }
        // Whoever was refused something is what the trail is for, whatever it was.
        if matches!(result, "NAMESPACE_DENIED" | "SCOPE_MISSING" | "AGENT_DENIED")
            || result.starts_with("TOKEN_")
        {
            return true;
        }
        match call.policy().effect {
            Effect::Silent => false,
            Effect::Changes => true,
            Effect::Reads => match self.audit.level {
                AuditLevel::All => true,
                AuditLevel::Auto => self.required(),
                AuditLevel::Changes | AuditLevel::Off => false,
            },
        }
    }

    /// Notes what became of a call; the receiver hears when it is written.
    fn note(&self, call: &Call, result: &str) -> Option<oneshot::Receiver<()>> {
        if !self.is_audited(call, result) {
            return None;
        }
        let sender = self.audit.sender.get()?;
        let (token, name) = match call.caller() {
            Caller::Anyone => (String::new(), String::new()),
            Caller::Holder(holder) => (holder.id.to_string(), holder.name.clone()),
        };
        let event = Event {
            at: now(),
            token,
            name,
            peer: call.peer().map(|peer| peer.to_canonical().to_string()).unwrap_or_default(),
            call: call.policy().call.to_owned(),
            namespace: call.namespace().map(ToString::to_string),
            count: call.count(),
            result: result.to_owned(),
            request_id: call.id().to_owned(),
        };
        let (done, written) = oneshot::channel();
        match sender.try_send(Job::Write(event, Some(done))) {
            Ok(()) => Some(written),
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {
                self.audit.lost.fetch_add(1, Ordering::Relaxed);
                None
            }
        }
    }
}

/// The answer to a call that no door let in.
pub(super) fn refused(access: &Access, call: &Call, refusal: Refusal) -> Response {
    access.note(call, refusal.reason);
    refusal.into_response()
}

/// Runs a call, and notes what became of it: also that its caller went away, or its time was over, while it ran. A change by a
/// known caller is answered when its entry is written.
pub(super) async fn noted(access: &Access, call: &Call, work: impl Future<Output = Response>) -> Response {
    let mut open = Open { access, call, done: false };
    let response = call.scope(work).await;
    open.done = true;
    let result = outcome(&response);
    let written = access.note(call, &result);
    if let (Some(written), Effect::Changes, Caller::Holder(_)) =
        (written, call.policy().effect, call.caller())
    {
        // A thread that is gone answers by its absence.
        let _ = written.await;
    }
    response
}

/// A call inside another, of a row of its own, such as a tool's.
///
/// # Errors
/// Those of its door, and of the call.
pub(crate) async fn inside<T, E>(
    access: &Access,
    call: &Call,
    work: impl Future<Output = Result<T, E>>,
    reason: impl Fn(&E) -> String,
) -> Result<T, E> {
    let mut open = Open { access, call, done: false };
    let result = call.scope(work).await;
    open.done = true;
    let word = result.as_ref().map_or_else(&reason, |_| "OK".to_owned());
    let written = access.note(call, &word);
    if let (Some(written), Effect::Changes, Caller::Holder(_)) =
        (written, call.policy().effect, call.caller())
    {
        let _ = written.await;
    }
    result
}

/// A call that is being worked on. Dropped before its end, it was cut off.
struct Open<'a> {
    access: &'a Access,
    call: &'a Call,
    done: bool,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if !self.done {
            self.access.note(self.call, "CUT_OFF");
        }
    }
}

/// `OK`, or the reason of the refusal.
fn outcome(response: &Response) -> String {
    if let Some(refusal) = response.extensions().get::<Refusal>() {
        return refusal.reason.to_owned();
    }
    match tonic::Status::from_header_map(response.headers()) {
        Some(status) if status.code() != tonic::Code::Ok => status
            .get_error_details()
            .error_info()
            .map_or_else(|| format!("{:?}", status.code()).to_uppercase(), |info| info.reason.clone()),
        _ if response.status().is_success() => "OK".to_owned(),
        _ => response.status().as_u16().to_string(),
    }
}

/// The thread.
struct Writer {
    trail: Trail,
    keep: Keep,
    jobs: Receiver<Job>,
    lost: Arc<AtomicU64>,
    failing: bool,
}

impl Writer {
    fn run(mut self) {
        let (mut unsynced, mut told) = (None::<Instant>, Instant::now());
        self.give_up_old();
        loop {
            let first = match unsynced {
                Some(since) => self.jobs.recv_timeout(SYNC.saturating_sub(since.elapsed())),
                None => self.jobs.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match first {
                Ok(job) => {
                    if self.take(job) {
                        unsynced.get_or_insert_with(Instant::now);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    self.sync();
                    return;
                }
            }
            if unsynced.is_some_and(|since| since.elapsed() >= SYNC) {
                self.sync();
                unsynced = None;
            }
            if told.elapsed() >= HEAD_PERIOD {
                told = Instant::now();
                self.give_up_old();
                if let Some(head) = self.trail.head() {
                    tracing::info!(%head, "the audit trail ends here");
                }
            }
        }
    }

    /// Writes a job with those that wait behind it; whether there is something to sync.
    fn take(&mut self, first: Job) -> bool {
        let (mut events, mut waiting, mut asked) = (Vec::new(), Vec::new(), None);
        let mut next = Some(first);
        while let Some(job) = next.take() {
            match job {
                Job::Write(event, done) => {
                    events.push(event);
                    waiting.extend(done);
                }
                Job::Sync(done) => asked = Some(done),
            }
            if asked.is_none() && events.len() < GROUP {
                next = self.jobs.try_recv().ok();
            }
        }
        let wrote = !events.is_empty();
        self.write(events);
        for done in waiting {
            // Whoever does not wait is no longer there.
            let _ = done.send(());
        }
        if let Some(done) = asked {
            self.sync();
            let _ = done.send(self.trail.head());
        }
        wrote
    }

    fn write(&mut self, mut events: Vec<Event>) {
        let count = u64::try_from(events.len()).unwrap_or(u64::MAX);
        let lost = self.lost.swap(0, Ordering::Relaxed);
        if lost > 0 {
            events.push(lost_event(lost));
        }
        match self.trail.append(events) {
            Ok(()) => self.failing = false,
            Err(error) => {
                self.lost.fetch_add(count + lost, Ordering::Relaxed);
                self.tell(&error);
            }
        }
    }

    fn sync(&mut self) {
        if let Err(error) = self.trail.sync() {
            self.tell(&error);
        }
    }

    /// Removes what need not be kept.
    fn give_up_old(&mut self) {
        match self.trail.keep(self.keep, now()) {
            Ok(given) if given.files == 0 => {}
            Ok(given) => {
                let (files, bytes, entries) = (given.files, given.bytes, given.entries);
                tracing::info!(files, bytes, entries, "old files of the audit trail were removed");
            }
            Err(error) => self.tell(&error),
        }
    }

    /// Says once that it fails, until it works again.
    fn tell(&mut self, error: &AuditError) {
        if !std::mem::replace(&mut self.failing, true) {
            tracing::error!(error = error as &dyn std::error::Error, "the audit trail can't be written");
        }
    }
}

/// Says how many events are not in the trail, because it could not be written.
fn lost_event(count: u64) -> Event {
    Event {
        at: now(),
        token: String::new(),
        name: String::new(),
        peer: String::new(),
        call: "Audit/Lost".to_owned(),
        namespace: None,
        count,
        result: "LOST".to_owned(),
        request_id: String::new(),
    }
}
