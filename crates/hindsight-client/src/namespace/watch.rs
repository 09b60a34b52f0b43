//! The change feed of a namespace, which goes on by itself when the server was away.

use std::collections::VecDeque;
use std::time::Duration;

use futures_util::{Stream, stream};
use hindsight_core::{ChangeKind, Kind, Lsn, Timestamp, WatchEvent, WatchRequest, Watched};
use hindsight_proto::call::WatchCall;
use hindsight_proto::{v1, watch};
use serde::Serialize;
use tokio::time::{Instant, sleep};
use tonic::{Status, Streaming};

use super::NamespaceHandle;
use crate::Error;
use crate::status::Failure;
use crate::transport::How;

/// The first pause before a watch connects again, and the longest.
const PAUSE_MIN: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(2);
/// How long a watch tries to get back to a server that is away.
const GIVE_UP_AFTER: Duration = Duration::from_secs(60);

/// Where a watch begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WatchFrom {
    /// With what changes from now on.
    #[default]
    Now,
    /// With what came after this revision; `Lsn(0)` is the beginning of the log.
    After(Lsn),
}

impl From<Lsn> for WatchFrom {
    fn from(revision: Lsn) -> Self {
        WatchFrom::After(revision)
    }
}

/// One change of a memory or of the namespace, and where it stands in the log.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Change {
    /// The revision that it is a part of.
    pub revision: Lsn,
    /// When it was decided.
    pub at: Timestamp,
    /// What happened.
    #[serde(flatten)]
    pub event: WatchEvent,
}

/// What a watch tells.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Told {
    /// Something changed.
    Change(Box<Change>),
    /// Everything up to this revision was told. This comes first, and then whenever nothing changed for a while.
    Progress(Lsn),
}

/// A watch that is about to begin.
#[derive(Debug, Clone)]
#[must_use = "nothing is watched before `start`"]
pub struct WatchBuilder {
    namespace: NamespaceHandle,
    request: WatchRequest,
    give_up_after: Duration,
}

/// A watch. It connects again by itself, and tells every change once.
#[derive(Debug)]
pub struct Watch {
    namespace: NamespaceHandle,
    request: WatchRequest,
    give_up_after: Duration,
    feed: Option<Streaming<v1::WatchResponse>>,
    waiting: VecDeque<Change>,
    /// The last change that was told of a revision that has not come whole.
    told: Option<(Lsn, u32)>,
}

impl NamespaceHandle {
    /// Watches the namespace: every durable change, once and in order.
    ///
    /// ```no_run
    /// # async fn example(ops: hindsight_client::NamespaceHandle) -> Result<(), hindsight_client::Error> {
    /// use hindsight_client::{ChangeKind, Told, WatchFrom};
    ///
    /// let mut watch = ops.watch(WatchFrom::Now).change(ChangeKind::Created).start().await?;
    /// while let Told::Change(change) = watch.next().await? {
    ///     println!("{} {:?}", change.revision, change.event.id);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn watch(&self, from: impl Into<WatchFrom>) -> WatchBuilder {
        let after = match from.into() {
            WatchFrom::Now => None,
            WatchFrom::After(revision) => Some(revision),
        };
        let request = WatchRequest { after, ..WatchRequest::default() };
        WatchBuilder { namespace: self.clone(), request, give_up_after: GIVE_UP_AFTER }
    }
}

impl WatchBuilder {
    /// Asks as this agent: it sees its own memories beside the shared ones.
    pub fn agent(mut self, agent: impl Into<String>) -> Self {
        self.request.agent_id = Some(agent.into());
        self
    }

    /// Only memories of this kind; may be repeated.
    pub fn kind(mut self, kind: Kind) -> Self {
        self.request.kinds.push(kind);
        self
    }

    /// Only memories that this agent wrote; may be repeated.
    pub fn by(mut self, agent: impl Into<String>) -> Self {
        self.request.agents.push(agent.into());
        self
    }

    /// Only changes of this kind; may be repeated.
    pub fn change(mut self, change: ChangeKind) -> Self {
        self.request.changes.push(change);
        self
    }

    /// Ids alone, without memories.
    pub fn ids_only(mut self) -> Self {
        self.request.ids_only = true;
        self
    }

    /// How long it tries to get back to a server that is away; a minute unless said otherwise.
    pub fn give_up_after(mut self, time: Duration) -> Self {
        self.give_up_after = time;
        self
    }

    /// Begins to watch.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] when the log does not reach back as far, with the oldest revision after which a watch can
    /// begin; what else the server answers, or that it can't be reached.
    pub async fn start(self) -> Result<Watch, Error> {
        let WatchBuilder { namespace, request, give_up_after } = self;
        let mut watch =
            Watch { namespace, request, give_up_after, feed: None, waiting: VecDeque::new(), told: None };
        watch.feed = Some(watch.connect().await?);
        Ok(watch)
    }
}

impl Watch {
    /// Everything up to here was told. `None` before a watch from now on has heard of the server.
    #[must_use]
    pub fn revision(&self) -> Option<Lsn> {
        self.request.after
    }

    /// The next that happened; waits for it. It is safe to drop the future: nothing is lost.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] when the log was given up before it was read: read the memories anew, and watch on from the
    /// revision that is named. What else the server answers, or that it was away for too long. The watch can be asked
    /// again after an error.
    pub async fn next(&mut self) -> Result<Told, Error> {
        loop {
            if let Some(change) = self.waiting.pop_front() {
                self.told = Some((change.revision, change.event.index));
                if self.waiting.is_empty() && self.request.after >= Some(change.revision) {
                    self.told = None;
                }
                return Ok(Told::Change(Box::new(change)));
            }
            let Some(feed) = &mut self.feed else {
                self.feed = Some(self.come_back().await?);
                continue;
            };
            match feed.message().await {
                Ok(Some(message)) => {
                    if let Some(told) = self.take(message)? {
                        return Ok(told);
                    }
                }
                Ok(None) => self.feed = None,
                Err(status) => {
                    self.feed = None;
                    let error = failure(&status, self.namespace.timeout);
                    if !error.is_retryable() {
                        return Err(error);
                    }
                }
            }
        }
    }

    /// The watch as a stream. It ends after an error.
    pub fn into_stream(self) -> impl Stream<Item = Result<Told, Error>> + Send {
        stream::unfold(Some(self), |watch| async move {
            let mut watch = watch?;
            match watch.next().await {
                Ok(told) => Some((Ok(told), Some(watch))),
                Err(error) => Some((Err(error), None)),
            }
        })
    }

    /// Takes a message in; a notice of progress is told at once.
    fn take(&mut self, message: v1::WatchResponse) -> Result<Option<Told>, Error> {
        if let Some(revision) = watch::is_progress(&message) {
            self.request.after = self.request.after.max(Some(revision));
            return Ok(Some(Told::Progress(revision)));
        }
        let Watched { revision, at, events, more } = message.try_into().map_err(Error::unreadable)?;
        // What came before a break is not told twice.
        let told = self.told.filter(|(of, _)| *of == revision).map(|(_, index)| index);
        let news = events.into_iter().filter(|event| told.is_none_or(|told| event.index > told));
        self.waiting.extend(news.map(|event| Change { revision, at, event }));
        if !more {
            self.request.after = Some(revision);
            if self.waiting.is_empty() {
                self.told = None;
            }
        }
        Ok(None)
    }

    async fn connect(&self) -> Result<Streaming<v1::WatchResponse>, Error> {
        let call = WatchCall { namespace: self.namespace.namespace.clone(), watch: self.request.clone() };
        let send = |request| {
            let mut service = self.namespace.transport.watches();
            async move { service.watch(request).await }
        };
        self.namespace.transport.call(How::read(self.namespace.timeout), call.into_wire(), send).await
    }

    /// Connects again, with pauses, until it is given up.
    async fn come_back(&self) -> Result<Streaming<v1::WatchResponse>, Error> {
        let until = Instant::now() + self.give_up_after;
        let mut pause = PAUSE_MIN;
        loop {
            match self.connect().await {
                Ok(feed) => return Ok(feed),
                Err(error) => {
                    let may_pass = error.is_retryable() || matches!(error, Error::Deadline { .. });
                    if !may_pass || Instant::now() + pause > until {
                        return Err(error);
                    }
                }
            }
            sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }
}

/// The error of a feed that ended with a status.
fn failure(status: &Status, timeout: Duration) -> Error {
    // Only this side attaches sources: the connection broke, and the server said nothing.
    if std::error::Error::source(status).is_some() {
        let message = format!("the watch broke off: {}", status.message());
        return Error::Unavailable { reason: "CUT_OFF".to_owned(), message, retry_after: None };
    }
    Failure::of(status, timeout).error
}
