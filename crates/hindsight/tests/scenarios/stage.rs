//! The server that scenes are played on: in this process, on a directory of its own, by a clock that is set by hand.

use hindsight_core::Timestamp;
use hindsight_server::config::{Jobs, Timeouts};
use hindsight_server::{Clock, Config, Running, Server};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::call::BEGINNING;

pub(crate) struct Stage {
    pub(crate) runtime: Runtime,
    clock: Clock,
    running: Option<Running>,
    // Goes after the server.
    folder: TempDir,
}

impl Stage {
    pub(crate) fn set() -> Stage {
        let runtime = Runtime::new().unwrap();
        let beginning: Timestamp = BEGINNING.parse().unwrap();
        let clock = Clock::by_hand(u64::try_from(beginning.as_ms()).unwrap());
        let mut stage = Stage { runtime, clock, folder: tempfile::tempdir().unwrap(), running: None };
        stage.start();
        stage
    }

    fn start(&mut self) {
        let config = Config {
            data: self.folder.path().join("data"),
            listen: "127.0.0.1:0".parse().unwrap(),
            http: "127.0.0.1:0".parse().unwrap(),
            // Jobs run when a story says so.
            jobs: Jobs {
                archive: String::new(),
                consolidate: String::new(),
                purge: String::new(),
                ..Jobs::default()
            },
            // A story reads the feed until it is told that this is all.
            timeouts: Timeouts { watch_notice_ms: 20, ..Timeouts::default() },
            ..Config::default()
        };
        let started = self.runtime.block_on(Server::start_with(&config, self.clock.clone()));
        self.running = Some(started.unwrap());
    }

    /// Stops in order and starts again on the same directory.
    pub(crate) fn restart(&mut self) {
        let running = self.running.take().unwrap();
        self.runtime.block_on(running.shutdown()).unwrap();
        self.start();
    }

    pub(crate) fn set_clock(&self, time: Timestamp) {
        self.clock.set_ms(u64::try_from(time.as_ms()).unwrap());
    }

    pub(crate) fn grpc(&self) -> String {
        format!("http://{}", self.running.as_ref().unwrap().grpc_addr())
    }

    pub(crate) fn http(&self) -> std::net::SocketAddr {
        self.running.as_ref().unwrap().http_addr()
    }
}
