//! L2, L3, L7: what is done by itself, on a disk and a clock in memory.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use hindsight_core::{
    Draft, Filter, Job, JobReport, Kind, Life, Memory, MemoryId, Recall, Schedule, State, Status, Timestamp,
    Verdict,
};
use hindsight_engine::{
    BatchRequest, EngineError, EngineOver, FeedbackRequest, ForgetRequest, ForgetTarget, ListRequest,
    Options, RestoreRequest, Unsynced, WriteItem, WriteOptions,
};
use hindsight_storage::testing::MemIo;

use crate::support::{fact, ns};

const DAY_MS: u64 = 86_400_000;
/// 2026-12-01, a Tuesday, at noon.
const START_MS: u64 = 1_796_126_400_000;

struct Lab {
    io: MemIo,
    engine: EngineOver<MemIo>,
    options: Options,
}

impl Lab {
    fn new(life: Life) -> Lab {
        let schedule = |job: &Job| {
            let cron = job.usual_schedule().parse().unwrap();
            (*job, Schedule::new(cron, "UTC").unwrap())
        };
        let schedules: BTreeMap<Job, Schedule> = Job::ALL.iter().map(schedule).collect();
        let options = Options { life, schedules, ..Options::default() };
        let io = MemIo::new(1);
        io.set_now_ms(START_MS);
        let engine = open(&io, &options);
        Lab { io, engine, options }
    }

    fn day(&self, day: u64) -> &Lab {
        self.io.set_now_ms(START_MS + day * DAY_MS);
        self
    }

    /// As a crash leaves it; what was synced is there.
    fn crash(mut self) -> Lab {
        self.io = self.io.after_kill();
        self.engine = open(&self.io, &self.options);
        self
    }

    fn done<T>(&self, unsynced: Result<Unsynced<T, MemIo>, EngineError>) -> T {
        let unsynced = unsynced.unwrap();
        self.engine.commit_step().unwrap();
        unsynced.wait().unwrap()
    }

    fn write(&self, draft: Draft) -> Memory {
        let options = WriteOptions::default();
        self.done(self.engine.write(&ns("ops"), WriteItem::new(draft, None), options)).memory
    }

    fn run(&self, job: Job, is_dry: bool) -> JobReport {
        self.done(self.engine.run_job(job, Some(&ns("ops")), is_dry))
    }

    fn in_state(&self, state: State) -> Vec<MemoryId> {
        let filter = Filter { states: vec![state], ..Filter::default() };
        let list = ListRequest { filter, page_size: 1_000, ..ListRequest::default() };
        let page = self.done(self.engine.list(&ns("ops"), &list));
        page.memories.into_iter().map(|memory| memory.id).collect()
    }

    fn found(&self, query: &str, include_archived: bool) -> usize {
        let recall = Recall { query: query.to_owned(), include_archived, observe: true, ..Recall::default() };
        self.done(self.engine.recall(&ns("ops"), &recall)).hits.len()
    }

    /// Drives the schedule until nothing is due.
    fn drive(&self) -> usize {
        let steps = std::iter::from_fn(|| self.engine.job_step().then_some(())).count();
        self.engine.commit_step().unwrap();
        steps
    }
}

fn open(io: &MemIo, options: &Options) -> EngineOver<MemIo> {
    EngineOver::open_with(Arc::new(io.clone()), Path::new("/data"), options.clone()).unwrap().0
}

fn episode(text: &str, task_type: &str) -> Draft {
    Draft {
        kind: Some(Kind::Episode),
        task_type: Some(task_type.to_owned()),
        status: Some(Status::Success),
        ..fact(text)
    }
}

fn counts(report: &JobReport) -> Vec<(&str, u64)> {
    report.counts.iter().map(|(reason, count)| (reason.as_str(), *count)).collect()
}

#[test]
fn l2_what_is_past_its_time_is_archived_and_not_deleted() {
    let lab = Lab::new(Life::default());
    let old = lab.write(episode("restarted the ingest worker", "restart"));
    let kept = lab.write(fact("the staging cluster runs in Frankfurt"));
    let expires_at = Some(Timestamp::from_ms(i64::try_from(START_MS + 5 * DAY_MS).unwrap()));
    let badge = lab.write(Draft { expires_at, ..fact("the visitor badge is number seven") });
    lab.day(61);
    let dry = lab.run(Job::Archive, true);
    assert_eq!(counts(&dry), [("expired", 1), ("never_recalled", 1)]);
    assert_eq!(lab.in_state(State::Archived), []);
    let report = lab.run(Job::Archive, false);
    assert_eq!((counts(&report), report.namespaces, report.ended_at.is_some()), (counts(&dry), 1, true));
    assert_eq!(lab.in_state(State::Archived), [old.id, badge.id]);
    assert_eq!(lab.in_state(State::Active), [kept.id]);
    assert_eq!((lab.found("ingest worker", false), lab.found("ingest worker", true)), (0, 1));
    assert_eq!(counts(&lab.run(Job::Archive, false)), []);
}

#[test]
fn l2_what_was_recalled_or_used_stays_longer() {
    let lab = Lab::new(Life::default());
    let returned = lab.write(episode("rotated the signing key", "rotate"));
    let used = lab.write(episode("emptied the dead letter queue", "drain"));
    let recall = Recall { query: "signing key".to_owned(), ..Recall::default() };
    assert_eq!(lab.done(lab.engine.recall(&ns("ops"), &recall)).hits.len(), 1);
    lab.day(40);
    let items = vec![(used.id, Verdict::Used)];
    lab.done(lab.engine.feedback(&ns("ops"), FeedbackRequest { items, ..FeedbackRequest::default() }));
    // Neither is archived for want of a recall, also while the recall's count is not logged.
    lab.day(70);
    assert_eq!(counts(&lab.run(Job::Archive, false)), []);
    lab.engine.log_accesses().unwrap();
    lab.day(91);
    assert_eq!(counts(&lab.run(Job::Archive, false)), [("too_old", 1)]);
    assert_eq!(lab.in_state(State::Archived), [returned.id]);
    lab.day(131);
    assert_eq!(counts(&lab.run(Job::Archive, false)), [("too_old", 1)]);
}

#[test]
fn l2_an_archived_memory_can_be_brought_back_and_its_time_begins_anew() {
    let lab = Lab::new(Life::default());
    let id = lab.write(episode("resized the broker", "resize")).id;
    lab.day(61);
    lab.run(Job::Archive, false);
    lab.done(lab.engine.restore(&ns("ops"), RestoreRequest { ids: vec![id], request_id: None }));
    assert_eq!((lab.found("broker", false), counts(&lab.run(Job::Archive, false))), (1, vec![]));
    lab.day(122);
    assert_eq!(counts(&lab.run(Job::Archive, false)), [("never_recalled", 1)]);
}

fn crowded(lab: &Lab, count: usize) {
    let items: Vec<WriteItem> = (0..count)
        .map(|number| {
            let draft = Draft {
                importance: Some(if number % 10 == 0 { 0.9 } else { 0.2 }),
                ..episode(&format!("deployed build {number}"), "deploy")
            };
            WriteItem::new(draft, None)
        })
        .collect();
    let batch = BatchRequest { items, ..BatchRequest::default() };
    lab.done(lab.engine.write_batch(&ns("ops"), batch));
}

#[test]
fn l7_beyond_the_cap_the_least_valuable_are_archived_and_consolidation_is_suggested() {
    let lab = Lab::new(Life { episodes_per_task_type: 60, ..Life::default() });
    crowded(&lab, 200);
    let other = lab.write(episode("paid the invoice", "pay")).id;
    let report = lab.run(Job::Archive, false);
    assert_eq!(counts(&report), [("beyond_cap", 140)]);
    assert_eq!(
        report.hints,
        [
            "namespace ops: task type \"deploy\" has 200 episodes, 140 beyond its cap of 60: consolidate them into rules"
        ]
    );
    let active = lab.done(lab.engine.list(
        &ns("ops"),
        &ListRequest {
            page_size: 1_000,
            filter: Filter { states: vec![State::Active], ..Filter::default() },
            ..ListRequest::default()
        },
    ));
    let important = active.memories.iter().filter(|memory| memory.importance > 0.5).count();
    assert_eq!((active.memories.len(), important), (61, 20));
    // Of equal ones the newer stay.
    assert!(active.memories.iter().any(|memory| memory.content == "deployed build 199"));
    assert!(active.memories.iter().any(|memory| memory.id == other));
    assert_eq!(counts(&lab.run(Job::Archive, false)), []);
}

#[test]
fn l7_a_job_that_a_crash_cuts_off_comes_to_the_same_end_when_it_runs_again() {
    let life = Life { episodes_per_task_type: 60, ..Life::default() };
    let whole = Lab::new(life);
    crowded(&whole, 200);
    whole.run(Job::Archive, false);
    for steps in 2..7 {
        let lab = Lab::new(life);
        crowded(&lab, 200);
        lab.io.set_now_ms(START_MS + 61_000);
        for _ in 0..steps {
            assert!(lab.engine.job_step());
            lab.engine.commit_step().unwrap();
        }
        let archived = lab.in_state(State::Archived).len();
        assert!(archived < 140, "{archived} after {steps} steps");
        let lab = lab.crash();
        lab.io.set_now_ms(START_MS);
        lab.run(Job::Archive, false);
        assert_eq!(lab.in_state(State::Archived), whole.in_state(State::Archived), "after {steps} steps");
    }
}

#[test]
fn l2_jobs_run_when_their_schedule_says_and_once() {
    let lab = Lab::new(Life::default());
    lab.write(episode("restarted the ingest worker", "restart"));
    assert_eq!(lab.drive(), 0);
    // A minute after the start, for what was missed before it.
    lab.io.set_now_ms(START_MS + 60_000);
    assert!(lab.drive() > 0);
    assert_eq!(lab.drive(), 0);
    let status = |job: Job| lab.engine.jobs().into_iter().find(|status| status.job == job).unwrap();
    let archive = status(Job::Archive);
    assert_eq!(archive.schedule.as_deref(), Some("30 3 * * * UTC"));
    assert_eq!(archive.next_run_at.map(|next| next.to_string()).as_deref(), Some("2026-12-02T03:30:00Z"));
    assert_eq!(archive.last.map(|last| (last.namespaces, last.changed())), Some((1, 0)));
    lab.day(61);
    assert!(lab.drive() > 0);
    let archive = status(Job::Archive);
    assert_eq!(archive.last.map(|last| last.changed()), Some(1));
    assert_eq!(archive.next_run_at.map(|next| next.to_string()).as_deref(), Some("2027-02-01T03:30:00Z"));
    assert!(!archive.is_running);
    assert_eq!(
        status(Job::Purge).next_run_at.map(|next| next.to_string()).as_deref(),
        Some("2027-02-07T04:00:00Z")
    );
}

#[test]
fn l2_a_namespace_that_is_not_in_memory_has_its_turn_when_it_is_touched() {
    let lab = Lab::new(Life::default());
    lab.write(episode("restarted the ingest worker", "restart"));
    lab.engine.close().unwrap();
    let lab = lab.crash();
    lab.day(61).drive();
    lab.io.set_now_ms(START_MS + 61 * DAY_MS + 60_000);
    lab.drive();
    assert!(!lab.engine.is_loaded(&ns("ops")));
    assert_eq!(lab.found("ingest worker", false), 1);
    lab.io.set_now_ms(START_MS + 61 * DAY_MS + 71_000);
    lab.drive();
    assert_eq!(lab.in_state(State::Archived).len(), 1);
}

#[test]
fn l3_what_was_forgotten_is_purged_after_its_days_by_the_job() {
    let lab = Lab::new(Life { forgotten: 10, ..Life::default() });
    let id = lab.write(fact("the alarm code is 4417")).id;
    let target = ForgetTarget::Ids(vec![id]);
    lab.done(lab.engine.forget(
        &ns("ops"),
        ForgetRequest { target, validate_only: false, request_id: None, with_derived: false },
    ));
    lab.day(9);
    assert_eq!(counts(&lab.run(Job::Purge, false)), []);
    lab.day(11);
    assert_eq!(counts(&lab.run(Job::Purge, true)), [("purged", 1)]);
    assert_eq!(lab.in_state(State::Forgotten), [id]);
    assert_eq!(counts(&lab.run(Job::Purge, false)), [("purged", 1)]);
    assert_eq!(lab.in_state(State::Forgotten), []);
    lab.engine.erase_step().unwrap();
    assert_eq!(lab.engine.erasures().len(), 1);
}

#[test]
fn l3_a_job_in_an_unknown_namespace_is_refused() {
    let lab = Lab::new(Life::default());
    let refused = lab.engine.run_job(Job::Archive, Some(&ns("nowhere")), false);
    assert!(matches!(refused, Err(EngineError::NamespaceNotFound { .. })));
    assert_eq!(lab.engine.run_job(Job::Archive, None, false).unwrap().wait().unwrap().namespaces, 0);
}
