//! Random histories over what a memory can go through. Whatever happens, in any order: confidence stays in its bounds, one
//! value of a single-valued property is true at a time, no chain of replacements bites its tail, a request acts once,
//! and the same question gets the same answer to the bit.

use std::collections::BTreeSet;

use hindsight_core::draft::EpisodeDraft;
use hindsight_core::{
    Action, AsOf, Axis, Draft, Filter, Hit, Kind, Memory, MemoryId, Patch, Recall, State, Status, Verdict,
};
use hindsight_engine::{
    EngineError, FeedbackRequest, ForgetRequest, ForgetTarget, ListRequest, Maker, RestoreRequest,
    RollbackRequest, UpdateRequest, WriteItem, WriteOptions,
};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::topics::TOPICS;
use crate::world::{DAY, World, draft, ns};

const NAMESPACE: &str = "life";
/// Few, so that histories meet.
const TOPICS_USED: usize = 3;

/// Something that happens.
#[derive(Debug, Clone)]
enum Event {
    /// A value is said, of today or of so many days ago.
    Say {
        topic: usize,
        which: usize,
        days_ago: i64,
    },
    /// A value is said that holds from a day to come.
    Plan {
        topic: usize,
        which: usize,
        in_days: i64,
    },
    Episode {
        succeeds: bool,
        tool: bool,
    },
    Judge {
        memory: Index,
        verdict: Verdict,
        task: Option<Status>,
    },
    Forget(Index),
    Restore(Index),
    /// Both at once: it must be as if nothing had happened.
    ForgetAndRestore(Index),
    RollBack(Index),
    Update {
        memory: Index,
        importance: f32,
    },
    Ask(usize),
    Pass(i64),
    /// More than a year passes, and the job that archives runs.
    Archive,
    Reopen,
}

fn event() -> impl Strategy<Value = Event> {
    let index = any::<Index>;
    let verdict = prop::sample::select(Verdict::ALL.to_vec());
    let task = prop::option::of(prop::sample::select(Status::ALL.to_vec()));
    prop_oneof![
        6 => (0..TOPICS_USED, 0..3_usize, prop_oneof![3 => Just(0_i64), 1 => 1_i64..90])
            .prop_map(|(topic, which, days_ago)| Event::Say { topic, which, days_ago }),
        2 => (0..TOPICS_USED, 0..3_usize, prop::sample::select(vec![5_i64, 30, 30, 70]))
            .prop_map(|(topic, which, in_days)| Event::Plan { topic, which, in_days }),
        2 => (any::<bool>(), any::<bool>()).prop_map(|(succeeds, tool)| Event::Episode { succeeds, tool }),
        4 => (index(), verdict, task).prop_map(|(memory, verdict, task)| Event::Judge { memory, verdict, task }),
        2 => index().prop_map(Event::Forget),
        2 => index().prop_map(Event::Restore),
        1 => index().prop_map(Event::ForgetAndRestore),
        3 => index().prop_map(Event::RollBack),
        1 => (index(), 0.0_f32..=1.0).prop_map(|(memory, importance)| Event::Update { memory, importance }),
        1 => (0..TOPICS_USED).prop_map(Event::Ask),
        2 => (1_i64..60).prop_map(Event::Pass),
        1 => Just(Event::Archive),
        1 => Just(Event::Reopen),
    ]
}

/// A history under way.
struct Life {
    world: World,
    /// Requests that were sent.
    requests: usize,
    /// Topics of which something was taken away by hand: they may have no value that is true.
    maimed: BTreeSet<usize>,
}

/// A request that can be sent again.
enum Request {
    Write(Box<Draft>),
    Judge(FeedbackRequest),
    Forget(MemoryId),
    Restore(MemoryId),
    RollBack(MemoryId),
    Update(MemoryId, f32),
}

impl Life {
    fn memories(&self) -> Vec<Memory> {
        let filter = Filter { states: State::ALL.to_vec(), ..Filter::default() };
        let list = ListRequest { filter, page_size: 1_000, ..ListRequest::default() };
        match self.world.engine().list(&ns(NAMESPACE), &list) {
            Ok(page) => page.wait().unwrap().memories,
            Err(EngineError::NamespaceNotFound { .. }) => Vec::new(),
            Err(error) => panic!("{error}"),
        }
    }

    fn pick(&self, index: &Index) -> Option<Memory> {
        let all = self.memories();
        (!all.is_empty()).then(|| index.get(&all).clone())
    }

    /// Sends a request twice under one id. The second one changes nothing, and one that was refused changes nothing.
    fn send(&mut self, request: &Request) -> Result<(), TestCaseError> {
        self.requests += 1;
        self.world.pass_ms(1_000);
        let id = format!("r-{}", self.requests);
        let before = self.memories();
        let first = self.once(request, &id);
        let after = self.memories();
        if first.is_err() {
            prop_assert_eq!(&before, &after, "what was refused changed something");
        }
        let again = self.once(request, &id);
        prop_assert_eq!(first.is_ok(), again.is_ok());
        // A feedback that changed nothing is not logged, and so not remembered: it changes nothing again.
        if let (Ok(_), Ok(replayed)) = (first, again) {
            prop_assert!(replayed || before == after, "a request acted, and was not known the second time");
        }
        prop_assert_eq!(after, self.memories(), "a request acted twice");
        Ok(())
    }

    /// Sends it; whether it had been sent before.
    fn once(&self, request: &Request, id: &str) -> Result<bool, EngineError> {
        let (engine, namespace) = (self.world.engine(), ns(NAMESPACE));
        let request_id = Some(id.to_owned());
        Ok(match request {
            Request::Write(draft) => {
                let options = WriteOptions { request_id, ..WriteOptions::default() };
                engine.write(&namespace, WriteItem::new((**draft).clone(), None), options)?.wait()?.replayed
            }
            Request::Judge(feedback) => {
                let feedback = FeedbackRequest { request_id, ..feedback.clone() };
                engine.feedback(&namespace, feedback)?.wait()?.replayed
            }
            Request::Forget(id) => {
                let target = ForgetTarget::Ids(vec![*id]);
                let forget = ForgetRequest { target, with_derived: false, validate_only: false, request_id };
                engine.forget(&namespace, forget)?.wait()?.replayed
            }
            Request::Restore(id) => {
                let restore = RestoreRequest { ids: vec![*id], request_id };
                engine.restore(&namespace, restore)?.wait()?.replayed
            }
            Request::RollBack(id) => {
                engine.rollback(&namespace, RollbackRequest { id: *id, request_id })?.wait()?.replayed
            }
            Request::Update(id, importance) => {
                let patch = Patch { importance: Some(*importance), ..Patch::default() };
                let (version, vectors, maker) = (None, None, Maker::Caller);
                let update = UpdateRequest {
                    id: *id,
                    patch,
                    version,
                    vectors,
                    maker,
                    allow_forgotten: false,
                    request_id,
                };
                engine.update(&namespace, update)?.wait()?.replayed
            }
        })
    }

    fn happen(&mut self, event: &Event) -> Result<(), TestCaseError> {
        match event {
            Event::Say { topic, which, days_ago } => {
                let occurred_at = (*days_ago > 0).then(|| self.world.now().plus_ms(-days_ago * DAY));
                let said = Draft { occurred_at, ..draft(&TOPICS[*topic], *which) };
                self.send(&Request::Write(Box::new(said)))
            }
            Event::Plan { topic, which, in_days } => {
                // Until then there may be none.
                self.maimed.insert(*topic);
                // Days that are counted from the same hour can fall together.
                let day = (self.world.now().as_ms() / DAY + in_days) * DAY;
                let valid_from = Some(hindsight_core::Timestamp::from_ms(day));
                let said = Draft { valid_from, ..draft(&TOPICS[*topic], *which) };
                self.send(&Request::Write(Box::new(said)))
            }
            Event::Episode { succeeds, tool } => {
                self.send(&Request::Write(Box::new(episode(*succeeds, *tool))))
            }
            Event::Judge { memory, verdict, task } => {
                let Some(memory) = self.pick(memory) else { return Ok(()) };
                if *verdict == Verdict::Outdated {
                    self.maim(&memory);
                }
                let items = vec![(memory.id, *verdict)];
                let feedback = FeedbackRequest { items, task_status: *task, ..FeedbackRequest::default() };
                self.send(&Request::Judge(feedback))
            }
            Event::Forget(index) => {
                let Some(memory) = self.pick(index) else { return Ok(()) };
                self.maim(&memory);
                self.send(&Request::Forget(memory.id))
            }
            Event::Restore(index) => {
                let Some(memory) = self.pick(index) else { return Ok(()) };
                self.send(&Request::Restore(memory.id))
            }
            Event::ForgetAndRestore(index) => self.forget_and_restore(index),
            Event::RollBack(index) => {
                let Some(memory) = self.pick(index) else { return Ok(()) };
                self.send(&Request::RollBack(memory.id))
            }
            Event::Update { memory, importance } => {
                let Some(memory) = self.pick(memory) else { return Ok(()) };
                self.send(&Request::Update(memory.id, *importance))
            }
            Event::Ask(topic) => {
                self.hits(*topic, false);
                Ok(())
            }
            Event::Pass(days) => {
                self.world.pass_days(*days);
                Ok(())
            }
            Event::Archive => {
                self.world.pass_days(400);
                if !self.memories().is_empty() {
                    // A value that is archived is out of the way, and another one may be true.
                    self.maimed.extend(0..TOPICS_USED);
                    self.world.archive(NAMESPACE);
                }
                Ok(())
            }
            Event::Reopen => {
                self.world.reopen();
                Ok(())
            }
        }
    }

    fn forget_and_restore(&mut self, index: &Index) -> Result<(), TestCaseError> {
        let is_kept = |memory: &Memory| memory.state != State::Forgotten;
        let Some(memory) = self.pick(index).filter(is_kept) else { return Ok(()) };
        let before = self.memories();
        self.send(&Request::Forget(memory.id))?;
        self.send(&Request::Restore(memory.id))?;
        let mut after = self.memories();
        for (was, is) in before.iter().zip(&mut after).filter(|(was, _)| was.id == memory.id) {
            prop_assert!(is.version > was.version);
            (is.version, is.updated_at) = (was.version, was.updated_at);
        }
        prop_assert_eq!(before, after, "forget and restore are not the identity");
        Ok(())
    }

    fn maim(&mut self, memory: &Memory) {
        self.maimed.extend((0..TOPICS_USED).filter(|topic| is_about(memory, *topic)));
    }

    /// The values of a topic that a question about a time is answered with.
    fn true_at(&self, topic: usize, at: hindsight_core::Timestamp) -> BTreeSet<String> {
        let as_of = Some(AsOf { at, axis: Axis::Valid });
        let query = TOPICS[topic].question.to_owned();
        let recall = Recall { query, as_of, observe: true, top_k: 50, ..Recall::default() };
        let recalled = match self.world.engine().recall(&ns(NAMESPACE), &recall) {
            Ok(recalled) => recalled.wait().unwrap(),
            // A time before the first memory.
            Err(_) => return BTreeSet::new(),
        };
        let about = recalled.hits.into_iter().filter(|hit| is_about(&hit.memory, topic));
        about.flat_map(|hit| hit.memory.claims.into_iter().map(|claim| claim.value)).collect()
    }

    fn hits(&self, topic: usize, observe: bool) -> Vec<Hit> {
        let query = TOPICS[topic].question.to_owned();
        let recall = Recall {
            query,
            observe,
            include_history: true,
            include_archived: true,
            top_k: 50,
            ..Recall::default()
        };
        match self.world.engine().recall(&ns(NAMESPACE), &recall) {
            Ok(recalled) => recalled.wait().unwrap().hits,
            Err(EngineError::NamespaceNotFound { .. }) => Vec::new(),
            Err(error) => panic!("{error}"),
        }
    }

    fn check(&self) -> Result<(), TestCaseError> {
        let all = self.memories();
        for memory in &all {
            prop_assert!((0.0..=1.0).contains(&memory.confidence), "confidence {}", memory.confidence);
            if memory.state == State::Superseded {
                prop_assert!(memory.superseded_by.is_some(), "replaced by nothing: {}", memory.content);
            }
            let (mut at, mut steps) = (memory, 0);
            while let Some(next) = at.superseded_by.and_then(|id| all.iter().find(|other| other.id == id)) {
                (at, steps) = (next, steps + 1);
                prop_assert!(steps <= all.len(), "a chain of replacements has no end: {}", memory.content);
            }
        }
        for days in [0, 5, 30, 70, 200] {
            self.check_values(&all, days)?;
        }
        Ok(())
    }

    /// One value at a time of each topic, now and in so many days, by what the memories say and by what is answered.
    fn check_values(&self, all: &[Memory], days: i64) -> Result<(), TestCaseError> {
        let now = self.world.now().plus_ms(days * DAY);
        for (topic, what) in TOPICS.iter().enumerate().take(TOPICS_USED) {
            let about = || all.iter().filter(|memory| is_about(memory, topic));
            // The same value may be said twice, in words that are bound to their day.
            let heads: BTreeSet<&str> = about()
                .filter(|memory| memory.state == State::Active && memory.is_valid_at(now))
                .flat_map(|memory| memory.claims.iter().map(|claim| claim.value.as_str()))
                .collect();
            prop_assert!(heads.len() <= 1, "true at once: {heads:?}");
            let told = self.true_at(topic, now);
            prop_assert!(told.len() <= 1, "told as true in {days} days: {told:?}");
            let is_whole = about().next().is_some() && !self.maimed.contains(&topic);
            prop_assert!(!is_whole || heads.len() == 1, "no value is true: {:?}", what.subject);
        }
        Ok(())
    }

    fn answers(&self) -> Vec<Vec<Hit>> {
        (0..TOPICS_USED).map(|topic| self.hits(topic, true)).collect()
    }

    /// The same question, the same clock, the same data: the same answer, also after a start.
    fn ask_again(&mut self) -> Result<(), TestCaseError> {
        // Counts that were not logged yet are no part of the data.
        self.world.engine().log_accesses().unwrap();
        let first = self.answers();
        for hit in first.iter().flatten() {
            prop_assert!(
                hit.breakdown.confidence <= 1.5,
                "effective confidence {}",
                hit.breakdown.confidence
            );
            prop_assert!(hit.breakdown.confidence >= 0.0 && hit.score.is_finite());
        }
        prop_assert_eq!(bits(&first), bits(&self.answers()));
        self.world.reopen();
        prop_assert_eq!(bits(&first), bits(&self.answers()), "after a restart");
        Ok(())
    }
}

/// Every number to the bit: a debug text tells even zeros apart.
fn bits(answers: &[Vec<Hit>]) -> String {
    format!("{answers:?}")
}

fn is_about(memory: &Memory, topic: usize) -> bool {
    memory.claims.iter().any(|claim| claim.subject == TOPICS[topic].subject)
}

fn episode(succeeds: bool, tool: bool) -> Draft {
    let action = Action {
        tool: if tool { "update_order" } else { "refund" }.to_owned(),
        error_code: (!succeeds).then(|| "permission_denied".to_owned()),
        ..Action::default()
    };
    Draft {
        kind: Some(Kind::Episode),
        status: Some(if succeeds { Status::Success } else { Status::Failure }),
        task_type: Some("order".to_owned()),
        content: format!("an order was changed with {}", action.tool),
        episode: Some(EpisodeDraft { actions: vec![action], ..EpisodeDraft::default() }),
        ..Draft::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, max_shrink_iters: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn w7_w9_l1_l3_r17_whatever_happens(events in prop::collection::vec(event(), 1..24)) {
        let mut life = Life { world: World::new(), requests: 0, maimed: BTreeSet::new() };
        for event in &events {
            life.happen(event)?;
            life.check()?;
        }
        life.ask_again()?;
    }
}
