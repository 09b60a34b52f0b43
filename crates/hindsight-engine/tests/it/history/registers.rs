//! The black box: short histories of memories that are read, changed, and changed at a version (A9).

use std::sync::Mutex;

use hindsight_core::Namespace;
use hindsight_engine::{EngineOver, ErrorKind};
use hindsight_history::register::{Call, Held, Told, check};
use hindsight_storage::io::Io;

use super::clients::{Moments, change, create, id_of, on_memory, value};
use crate::simulation::random::Random;
use crate::support::ns;

/// As the matrix has it. `HINDSIGHT_HISTORIES` sets another number, for a longer run.
const HISTORIES: u64 = 200;
const CLIENTS: u64 = 8;
const CALLS: u64 = 250;
const KEYS: u32 = 20;

#[test]
fn a9_an_order_of_all_calls_explains_every_answer() {
    let (mut calls, mut refused, mut overlapping) = (0, 0, 0);
    let histories =
        std::env::var("HINDSIGHT_HISTORIES").map_or(HISTORIES, |text| text.parse::<u64>().unwrap());
    on_memory(1, |engine| {
        for seed in 0..histories {
            let namespace = ns(&format!("history-{seed}"));
            let history = run(engine, &namespace, seed);
            check(&history, Held { version: 1, value: 0 })
                .unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}"));
            calls += history.len();
            refused += history.iter().filter(|call| matches!(call.told, Told::Refused { .. })).count();
            overlapping += history.iter().filter(|call| call.end > call.begin + 1).count();
        }
    });
    println!("{calls} calls, {refused} refused for their version, {overlapping} beside another");
    assert_eq!(calls as u64, histories * CLIENTS * CALLS);
    assert!(
        refused > calls / 200 && overlapping > calls / 10,
        "{refused} refused, {overlapping} of {calls} overlap"
    );
}

fn run<I: Io>(engine: &EngineOver<I>, namespace: &Namespace, seed: u64) -> Vec<Call> {
    (0..KEYS).for_each(|key| drop(create(engine, namespace, key)));
    let (moments, history) = (Moments::default(), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (moments, history) = (&moments, &history);
            scope.spawn(move || {
                let mut random = Random::at(seed, client);
                let calls: Vec<Call> = (0..CALLS)
                    .map(|at| one(engine, namespace, moments, &mut random, client << 32 | at))
                    .collect();
                history.lock().unwrap().extend(calls);
            });
        }
    });
    history.into_inner().unwrap()
}

/// Half of the calls read, and the others change; of these every second names a version, some a wrong one.
fn one<I: Io>(
    engine: &EngineOver<I>,
    namespace: &Namespace,
    moments: &Moments,
    random: &mut Random,
    unique: u64,
) -> Call {
    let key = u32::try_from(random.below(u64::from(KEYS))).unwrap();
    let read = || engine.get(namespace, id_of(key), None).and_then(|got| got.wait()).unwrap().memory;
    let expected = random.percent(50).then(|| read().version + u64::from(random.percent(5)));
    let changes = random.percent(50);
    let begin = moments.next();
    let told = if changes {
        match change(engine, namespace, key, unique + 1, expected) {
            Ok(written) => {
                let now = Held { version: written.memory.version, value: value(&written.memory) };
                Told::Changed { expected, now }
            }
            Err(error) if error.kind() == ErrorKind::Conflict => {
                Told::Refused { expected: expected.unwrap() }
            }
            Err(error) => panic!("{error}"),
        }
    } else {
        let memory = read();
        Told::Read(Held { version: memory.version, value: value(&memory) })
    };
    Call { key, begin, end: moments.next(), told }
}
