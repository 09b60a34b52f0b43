//! An engine by a clock that is set by hand, and short words for what is done to it.

use hindsight_core::{Claim, Draft, Job, Memory, MemoryId, Namespace, Recall, State, Timestamp};
use hindsight_engine::{
    Clock, Engine, EngineError, ForgetRequest, ForgetTarget, Options, PurgeRequest, PurgeTarget,
    RestoreRequest, RollbackRequest, WriteItem, WriteOptions, Written,
};
use tempfile::TempDir;

use crate::topics::Topic;

/// One day in milliseconds.
pub(crate) const DAY: i64 = 86_400_000;
/// When it begins: 1 March 2026, 09:00 UTC.
pub(crate) const BEGINNING: i64 = 1_772_355_600_000;

pub(crate) struct World {
    clock: Clock,
    now_ms: i64,
    engine: Option<Engine>,
    // Goes after the engine.
    dir: TempDir,
}

pub(crate) fn ns(name: &str) -> Namespace {
    name.parse().unwrap()
}

impl World {
    pub(crate) fn new() -> World {
        let clock = Clock::by_hand(u64::try_from(BEGINNING).unwrap());
        let mut world = World { dir: tempfile::tempdir().unwrap(), clock, now_ms: BEGINNING, engine: None };
        world.open();
        world
    }

    fn open(&mut self) {
        let options = Options { clock: self.clock.clone(), ..Options::default() };
        self.engine = Some(Engine::open(self.dir.path(), options).unwrap().0);
    }

    /// Closes in order and opens again.
    pub(crate) fn reopen(&mut self) {
        let engine = self.engine.take().unwrap();
        engine.close().unwrap();
        drop(engine);
        self.open();
    }

    pub(crate) fn engine(&self) -> &Engine {
        self.engine.as_ref().unwrap()
    }

    pub(crate) fn now(&self) -> Timestamp {
        Timestamp::from_ms(self.now_ms)
    }

    pub(crate) fn pass_ms(&mut self, ms: i64) {
        self.now_ms += ms;
        self.clock.set_ms(u64::try_from(self.now_ms).unwrap());
    }

    pub(crate) fn pass_days(&mut self, days: i64) {
        self.pass_ms(days * DAY);
    }

    /// A second passes with each call, as with real callers.
    pub(crate) fn write(&mut self, namespace: &str, draft: Draft) -> Written {
        self.pass_ms(1_000);
        let item = WriteItem::new(draft, None);
        self.engine().write(&ns(namespace), item, WriteOptions::default()).unwrap().wait().unwrap()
    }

    /// Says the value of a topic with that number.
    pub(crate) fn say(&mut self, namespace: &str, topic: &Topic, which: usize) -> Memory {
        self.write(namespace, draft(topic, which)).memory
    }

    pub(crate) fn forget(&mut self, namespace: &str, id: MemoryId) {
        self.pass_ms(1_000);
        let request = ForgetRequest {
            target: ForgetTarget::Ids(vec![id]),
            with_derived: false,
            validate_only: false,
            request_id: None,
        };
        self.engine().forget(&ns(namespace), request).unwrap().wait().unwrap();
    }

    pub(crate) fn restore(&mut self, namespace: &str, id: MemoryId) {
        self.pass_ms(1_000);
        let request = RestoreRequest { ids: vec![id], request_id: None };
        self.engine().restore(&ns(namespace), request).unwrap().wait().unwrap();
    }

    pub(crate) fn purge(&mut self, namespace: &str, ids: Vec<MemoryId>) {
        self.pass_ms(1_000);
        let request = PurgeRequest {
            target: PurgeTarget::Ids(ids),
            with_derived: false,
            validate_only: false,
            request_id: None,
        };
        self.engine().purge(&ns(namespace), request).unwrap();
    }

    pub(crate) fn roll_back(&mut self, namespace: &str, id: MemoryId) {
        self.pass_ms(1_000);
        let request = RollbackRequest { id, request_id: None };
        self.engine().rollback(&ns(namespace), request).unwrap().wait().unwrap();
    }

    /// Archives what its time is over for.
    pub(crate) fn archive(&self, namespace: &str) -> u64 {
        let report =
            self.engine().run_job(Job::Archive, Some(&ns(namespace)), false).unwrap().wait().unwrap();
        assert!(report.errors.is_empty(), "{report:?}");
        report.counts.values().sum()
    }

    /// What a recall returns, best first; nothing of a namespace that never was.
    pub(crate) fn ask(&self, namespace: &str, recall: Recall) -> Vec<(String, State)> {
        let recall = Recall { observe: true, top_k: 30, ..recall };
        match self.engine().recall(&ns(namespace), &recall) {
            Ok(recalled) => {
                let hits = recalled.wait().unwrap().hits.into_iter();
                hits.map(|hit| (hit.memory.content, hit.memory.state)).collect()
            }
            Err(EngineError::NamespaceNotFound { .. }) => Vec::new(),
            Err(error) => panic!("{error}"),
        }
    }
}

/// A topic's value with that number, as a memory.
pub(crate) fn draft(topic: &Topic, which: usize) -> Draft {
    let (value, said) = topic.said[which];
    let claim = Claim {
        subject: topic.subject.to_owned(),
        attribute: topic.attribute.to_owned(),
        value: value.to_owned(),
        single_valued: true,
    };
    Draft { content: said.to_owned(), claims: vec![claim], ..Draft::default() }
}
