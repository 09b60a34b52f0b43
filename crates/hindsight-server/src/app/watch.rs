//! The change feed as a stream. Nothing is read before the one before was taken, so a slow reader costs no memory: it goes
//! on from the log on the disk, for as long as that reaches back.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use futures_util::{Stream, stream};
use hindsight_core::{Lsn, Namespace, WatchRequest, Watched};
use hindsight_engine::{EngineError, Watcher};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    time::{Instant, sleep_until},
};

use super::{App, AppError};
use crate::{access, config::Config, net::Phase};

/// How many may watch at once, and when they are told that nothing happened.
pub(super) struct Watches {
    places: Arc<Semaphore>,
    most: usize,
    notice_every: Duration,
    phase: watch::Receiver<Phase>,
}

impl Watches {
    pub(super) fn new(config: &Config, phase: watch::Receiver<Phase>) -> Watches {
        let most = config.limits.watchers;
        let notice_every = Duration::from_millis(config.timeouts.watch_notice_ms);
        Watches { places: Arc::new(Semaphore::new(most)), most, notice_every, phase }
    }
}

impl Watches {
    pub(super) fn open(&self) -> usize {
        self.most.saturating_sub(self.places.available_permits())
    }
}

/// What a watcher is told.
#[derive(Debug)]
pub(crate) enum Told {
    /// What a revision changed.
    Changes(Watched),
    /// Everything up to this revision was told.
    Progress(Lsn),
}

/// One watch.
struct Life {
    app: Arc<App>,
    /// Absent while it reads, and after its end.
    watcher: Option<Watcher>,
    waiting: VecDeque<Watched>,
    has_begun: bool,
    notice_at: Instant,
    phase: watch::Receiver<Phase>,
    _place: OwnedSemaphorePermit,
}

/// Why a watch goes on.
enum Woken {
    /// The server stops.
    Stop,
    /// It is time for a notice.
    Notice,
    /// There is more to read, or never will be.
    Log(Result<(), EngineError>),
}

impl App {
    /// Begins to watch a namespace. The stream ends with an error, or when it is dropped.
    ///
    /// # Errors
    /// When too many watch, the request is wrong, or the log does not reach back as far.
    pub(crate) async fn watch(
        self: &Arc<Self>,
        namespace: Namespace,
        mut request: WatchRequest,
    ) -> Result<impl Stream<Item = Result<Told, AppError>> + Send + use<>, AppError> {
        access::as_agent(&mut request.agent_id)?;
        let what = "the number of watches";
        let full = |_| EngineError::LimitReached { what, most: self.watches.most };
        let place = Arc::clone(&self.watches.places).try_acquire_owned().map_err(full)?;
        let watcher = self.on_worker(move |worker| Ok(worker.engine.watch(namespace, request)?)).await?;
        let life = Life {
            app: Arc::clone(self),
            watcher: Some(watcher),
            waiting: VecDeque::new(),
            has_begun: false,
            notice_at: Instant::now() + self.watches.notice_every,
            phase: self.watches.phase.clone(),
            _place: place,
        };
        Ok(stream::unfold(life, Life::step))
    }
}

impl Life {
    /// The next that is told. After an error there is nothing.
    async fn step(mut self) -> Option<(Result<Told, AppError>, Life)> {
        let mut watcher = self.watcher.take()?;
        if !self.has_begun {
            self.has_begun = true;
            return Some(self.notice(watcher));
        }
        loop {
            if let Some(watched) = self.waiting.pop_front() {
                self.watcher = Some(watcher);
                return Some((Ok(Told::Changes(watched)), self));
            }
            match self.wait(&watcher).await {
                Woken::Stop => return Some((Err(AppError::Draining), self)),
                Woken::Notice => return Some(self.notice(watcher)),
                Woken::Log(Err(error)) => return Some((Err(error.into()), self)),
                Woken::Log(Ok(())) => {}
            }
            let read = move || {
                let told = watcher.read();
                (watcher, told)
            };
            let (back, told) = match self.app.on_worker(move |_| Ok(read())).await {
                Ok(read) => read,
                Err(error) => return Some((Err(error), self)),
            };
            watcher = back;
            match told {
                Ok(told) => self.waiting = told.into(),
                Err(error) => return Some((Err(error.into()), self)),
            }
            if !self.waiting.is_empty() {
                self.notice_at = Instant::now() + self.app.watches.notice_every;
            }
        }
    }

    /// Waits until there is something to do.
    async fn wait(&mut self, watcher: &Watcher) -> Woken {
        tokio::select! {
            biased;
            // An error means that the server itself is gone.
            _ = self.phase.wait_for(|phase| *phase >= Phase::Draining) => Woken::Stop,
            () = sleep_until(self.notice_at) => Woken::Notice,
            ready = watcher.ready() => Woken::Log(ready),
        }
    }

    fn notice(mut self, watcher: Watcher) -> (Result<Told, AppError>, Life) {
        let revision = watcher.revision();
        self.notice_at = Instant::now() + self.app.watches.notice_every;
        self.watcher = Some(watcher);
        (Ok(Told::Progress(revision)), self)
    }
}
