//! A value that holds from a day to come ends the older one when that day comes (W7, M9).

use hindsight_core::{AsOf, Axis, Claim, Draft, Memory, Outcome, Recall, Relation, State, Timestamp};
use hindsight_engine::{Clock, Engine, Options, RollbackRequest, WriteItem, WriteOptions, Written};

use crate::support::ns;

const DAY: i64 = 86_400_000;
const BEGINNING: i64 = 1_772_355_600_000;

struct Town {
    dir: tempfile::TempDir,
    clock: Clock,
    engine: Engine,
}

fn day(days: i64) -> Timestamp {
    Timestamp::from_ms(BEGINNING + days * DAY)
}

impl Town {
    fn new() -> Town {
        let clock = Clock::by_hand(u64::try_from(BEGINNING).unwrap());
        let dir = tempfile::tempdir().unwrap();
        let options = Options { clock: clock.clone(), ..Options::default() };
        let (engine, _) = Engine::open(dir.path(), options).unwrap();
        Town { dir, clock, engine }
    }

    fn set_day(&self, days: i64) {
        self.clock.set_ms(u64::try_from(day(days).as_ms()).unwrap());
    }

    fn lives(&self, town: &str, from: Option<i64>) -> Written {
        let claim = Claim {
            subject: "Ann".to_owned(),
            attribute: "lives_in".to_owned(),
            value: town.to_owned(),
            single_valued: true,
        };
        let content = format!("Ann lives in {town}");
        let draft = Draft { content, claims: vec![claim], valid_from: from.map(day), ..Draft::default() };
        let item = WriteItem::new(draft, None);
        self.engine.write(&ns("ops"), item, WriteOptions::default()).unwrap().wait().unwrap()
    }

    fn get(&self, memory: &Memory) -> Memory {
        self.engine.get(&ns("ops"), memory.id, None).unwrap().wait().unwrap().memory
    }

    fn roll_back(&self, memory: &Memory) {
        let request = RollbackRequest { id: memory.id, request_id: None };
        self.engine.rollback(&ns("ops"), request).unwrap().wait().unwrap();
    }

    /// Where she lives, as a recall without and with a time says.
    fn told(&self, as_of: Option<AsOf>) -> Vec<String> {
        let query = "Where does Ann live?".to_owned();
        let recall = Recall { query, as_of, observe: true, ..Recall::default() };
        let hits = self.engine.recall(&ns("ops"), &recall).unwrap().wait().unwrap().hits.into_iter();
        let mut told: Vec<String> = hits.map(|hit| hit.memory.claims[0].value.clone()).collect();
        told.sort();
        told
    }

    fn at(&self, days: i64, axis: Axis) -> Vec<String> {
        self.told(Some(AsOf { at: day(days), axis }))
    }
}

#[test]
fn w7_m9_a_value_to_come_takes_over_on_its_day() {
    let town = Town::new();
    let bern = town.lives("Bern", None).memory;
    town.set_day(1);
    let written = town.lives("Rome", Some(10));
    assert_eq!(written.outcome, Outcome::Superseded);
    assert_eq!((written.neighbors[0].id, written.neighbors[0].relation), (bern.id, Relation::Superseded));
    let ends = town.get(&bern);
    assert_eq!((ends.state, ends.valid_to, ends.confidence), (State::Active, Some(day(10)), bern.confidence));
    assert_eq!(ends.superseded_by, Some(written.memory.id));
    assert_eq!(town.told(None), ["Bern"]);
    town.set_day(9);
    assert_eq!(town.told(None), ["Bern"]);
    // Then, without anybody doing anything; also after a restart.
    let Town { dir, clock, engine } = town;
    engine.close().unwrap();
    drop(engine);
    let options = Options { clock: clock.clone(), ..Options::default() };
    let town = Town { engine: Engine::open(dir.path(), options).unwrap().0, dir, clock };
    town.set_day(10);
    assert_eq!(town.told(None), ["Rome"]);
    let told = |axis| [2, 9, 10, 11].map(|days| town.at(days, axis));
    town.set_day(12);
    assert_eq!(told(Axis::Valid), [vec!["Bern"], vec!["Bern"], vec!["Rome"], vec!["Rome"]]);
    assert_eq!(told(Axis::Known), [vec!["Bern"], vec!["Bern"], vec!["Rome"], vec!["Rome"]]);
    let history = town.engine.history(&ns("ops"), bern.id, None).unwrap().wait().unwrap();
    assert_eq!(
        history.memories.iter().map(|one| one.claims[0].value.as_str()).collect::<Vec<_>>(),
        ["Bern", "Rome"]
    );
}

#[test]
fn w7_what_is_learned_meanwhile_ends_on_that_day_too() {
    let town = Town::new();
    let bern = town.lives("Bern", None).memory;
    let rome = town.lives("Rome", Some(30)).memory;
    town.set_day(5);
    // She moved at once, and the plan stands.
    let oslo = town.lives("Oslo", None);
    assert_eq!((oslo.outcome, oslo.memory.valid_to), (Outcome::Superseded, Some(day(30))));
    assert_eq!((town.get(&bern).state, town.told(None)), (State::Superseded, vec!["Oslo".to_owned()]));
    // A plan for an earlier day: it holds until the later one does.
    let nice = town.lives("Nice", Some(20)).memory;
    assert_eq!((nice.valid_to, nice.superseded_by), (Some(day(30)), Some(rome.id)));
    assert_eq!(town.get(&oslo.memory).valid_to, Some(day(20)));
    let told: Vec<Vec<String>> = [6, 19, 20, 29, 30, 99].map(|days| town.at(days, Axis::Valid)).into();
    assert_eq!(told, [["Oslo"], ["Oslo"], ["Nice"], ["Nice"], ["Rome"], ["Rome"]]);
    // Another plan for the same day takes the place of the first.
    let paris = town.lives("Paris", Some(30)).memory;
    assert_eq!((town.get(&rome).state, town.get(&rome).superseded_by), (State::Superseded, Some(paris.id)));
    assert_eq!(town.at(30, Axis::Valid), ["Paris"]);
}

#[test]
fn w7_a_plan_is_taken_back_and_made_again() {
    let town = Town::new();
    let bern = town.lives("Bern", None).memory;
    let rome = town.lives("Rome", Some(10)).memory;
    town.roll_back(&rome);
    let back = town.get(&bern);
    assert_eq!((back.state, back.valid_to, back.superseded_by), (State::Active, None, None));
    assert_eq!(back.confidence, bern.confidence);
    assert_eq!([5, 10, 50].map(|days| town.at(days, Axis::Valid)), [["Bern"], ["Bern"], ["Bern"]]);
    town.roll_back(&rome);
    assert_eq!(
        [5, 9, 10, 50].map(|days| town.at(days, Axis::Valid)),
        [["Bern"], ["Bern"], ["Rome"], ["Rome"]]
    );
    // The older one can be named as well.
    town.roll_back(&bern);
    assert_eq!(town.at(50, Axis::Valid), ["Bern"]);
}
