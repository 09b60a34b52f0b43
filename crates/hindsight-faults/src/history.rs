//! Row A9: eight clients read and change twenty memories while the server is killed now and then. Whatever they were
//! told, before and after, must be explained by some order in which their calls could have happened.
//!
//! Nothing is believed but the answers: no log position, no ledger. A change without an answer may have been made.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use hindsight_client::{Draft, Error, Memory, MemoryId, NamespaceHandle, Patch, UpdateOptions, WriteOptions};
use hindsight_history::register::{Call, Held, Told, check};
use tokio::task::JoinHandle;

use crate::server::{Launch, Served};
use crate::setting::temporary;
use crate::{Setting, Verdict};

const CLIENTS: u64 = 8;
const KEYS: u32 = 20;
const NAMESPACE: &str = "history";
/// Calls of all clients in one life of the server, and its lives in one history.
const CALLS_A_LIFE: u64 = 500;
const LIVES: u64 = 4;
/// How long that many calls may take, before it is taken for a server that hangs.
const LIFE_MAX: Duration = Duration::from_secs(120);
/// Failed histories after which nothing new is learned.
const FAILURES_MAX: u64 = 3;

/// The amounts.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Histories, each with three kills
    #[arg(long, default_value_t = 20)]
    histories: u64,
    /// 500 histories, as before a release
    #[arg(long)]
    release_amounts: bool,
}

/// What clients and the one who kills share.
#[derive(Debug, Default)]
struct Shared {
    /// Gives every begin and every end its moment, over all lives.
    moments: AtomicU64,
    calls: Mutex<Vec<Call>>,
    /// Calls that were made in this life.
    made: AtomicU64,
    /// The server is being killed: errors are no longer its fault.
    is_broken: AtomicBool,
    errors: Mutex<Vec<String>>,
}

#[derive(Debug, Default)]
struct Totals {
    calls: usize,
    refused: usize,
    unanswered: usize,
    kills: u64,
    kills_in_flight: u64,
}

/// Runs it.
///
/// # Errors
/// When the server can't be started or asked.
pub fn run(args: &Args, setting: &Setting, verdict: &mut Verdict) -> anyhow::Result<()> {
    let histories = if args.release_amounts { 500 } else { args.histories };
    let mut random = setting.random(6);
    let mut totals = Totals::default();
    for number in 1..=histories {
        if verdict.failed() >= FAILURES_MAX {
            break;
        }
        let judged = one(setting, &mut random, &mut totals)?;
        verdict.check(&format!("history {number}"), judged);
    }
    let Totals { calls, refused, unanswered, kills, kills_in_flight } = totals;
    verdict.note(&format!(
        "{histories} histories with {calls} calls, {refused} of them refused for their version; {kills} kills, {kills_in_flight} of them with changes in flight, {unanswered} in all"
    ));
    verdict.that("changes were in flight in half of the kills", kills_in_flight * 2 >= kills, || {
        format!("in {kills_in_flight} of {kills}")
    });
    verdict.that("some changes were refused for their version", refused > 0, || "none".to_owned());
    Ok(())
}

/// One history on a data directory of its own.
fn one(
    setting: &Setting,
    random: &mut fastrand::Rng,
    totals: &mut Totals,
) -> anyhow::Result<Result<(), String>> {
    let folder = temporary(&setting.scratch)?;
    let (data, beside) = (folder.path().join("data"), folder.path().to_owned());
    let launch = Launch { program: &setting.program, data: &data, beside: &beside, under: Vec::new() };
    let shared = Arc::new(Shared::default());
    for life in 1..=LIVES {
        let served = launch.start()?;
        if life == 1 {
            setting.runtime.block_on(create(&served))?;
        }
        let before = unanswered(&shared);
        let clients = begin(setting, &served, random, life, &shared)?;
        let enough = if life == LIVES { CALLS_A_LIFE } else { random.u64(50..CALLS_A_LIFE) };
        wait(&shared, enough)?;
        shared.is_broken.store(true, Ordering::SeqCst);
        served.kill()?;
        for client in clients {
            setting.runtime.block_on(client).context("a client")?;
        }
        totals.kills += 1;
        totals.kills_in_flight += u64::from(unanswered(&shared) > before);
    }
    let calls = std::mem::take(&mut *shared.calls.lock().unwrap_or_else(PoisonError::into_inner));
    totals.calls += calls.len();
    totals.refused += calls.iter().filter(|call| matches!(call.told, Told::Refused { .. })).count();
    totals.unanswered += calls.iter().filter(|call| is_unknown(call)).count();
    let errors = std::mem::take(&mut *shared.errors.lock().unwrap_or_else(PoisonError::into_inner));
    Ok(match errors.first() {
        Some(error) => Err(format!("{} errors where none belongs, such as {error}", errors.len())),
        None => check(&calls, Held { version: 1, value: 0 }),
    })
}

fn is_unknown(call: &Call) -> bool {
    matches!(call.told, Told::Unknown { .. })
}

fn unanswered(shared: &Shared) -> usize {
    let calls = shared.calls.lock().unwrap_or_else(PoisonError::into_inner);
    calls.iter().filter(|call| is_unknown(call)).count()
}

fn id_of(key: u32) -> MemoryId {
    MemoryId::from_u128((0x0190_0000_0000_u128 << 80) | u128::from(key))
}

fn content(value: u64) -> String {
    format!("value {value}")
}

/// What a memory holds; content that nobody wrote is a value that nobody wrote.
fn held(memory: &Memory) -> Held {
    let digits = memory.content.strip_prefix("value ").and_then(|digits| digits.parse().ok());
    Held { version: memory.version, value: digits.unwrap_or(u64::MAX) }
}

async fn create(served: &Served) -> anyhow::Result<()> {
    let namespace = served.client()?.namespace(NAMESPACE)?;
    for key in 0..KEYS {
        let draft = Draft { id: Some(id_of(key).to_string()), content: content(0), ..Draft::default() };
        namespace.write_with(draft, None, WriteOptions::default()).await?;
    }
    Ok(())
}

fn begin(
    setting: &Setting,
    served: &Served,
    random: &mut fastrand::Rng,
    life: u64,
    shared: &Arc<Shared>,
) -> anyhow::Result<Vec<JoinHandle<()>>> {
    // Clients connect inside the runtime.
    let _inside = setting.runtime.enter();
    shared.made.store(0, Ordering::SeqCst);
    shared.is_broken.store(false, Ordering::SeqCst);
    let client = |number: u64| {
        let namespace = served.client()?.namespace(NAMESPACE)?;
        let first_value = (life << 8 | number) << 32 | 1;
        Ok(tokio::spawn(work(namespace, random.fork(), first_value, Arc::clone(shared))))
    };
    (0..CLIENTS).map(client).collect()
}

fn wait(shared: &Shared, calls: u64) -> anyhow::Result<()> {
    let began = Instant::now();
    while shared.made.load(Ordering::Relaxed) < calls {
        anyhow::ensure!(began.elapsed() < LIFE_MAX, "the server neither answers nor refuses");
        std::thread::sleep(Duration::from_micros(500));
    }
    Ok(())
}

/// One client: half of its calls read, the others change; of these every second names the version it saw last, some a
/// wrong one. It ends with its first error.
async fn work(namespace: NamespaceHandle, mut random: fastrand::Rng, mut value: u64, shared: Arc<Shared>) {
    let mut seen = [1; KEYS as usize];
    loop {
        let key = random.u32(0..KEYS);
        let Some(seen) = seen.get_mut(key as usize) else { return };
        let expected = random.bool().then(|| *seen + u64::from(random.u8(0..20) == 0));
        let changes = random.bool();
        let begin = shared.moments.fetch_add(1, Ordering::SeqCst);
        let answer = if changes {
            value += 1;
            change(&namespace, key, value, expected).await
        } else {
            namespace.get(id_of(key)).await.map(|memory| Told::Read(held(&memory)))
        };
        let end = shared.moments.fetch_add(1, Ordering::SeqCst);
        let is_last = answer.is_err();
        let call = match answer {
            Ok(told) => Some(Call { key, begin, end, told }),
            Err(error) => {
                if !shared.is_broken.load(Ordering::SeqCst) {
                    let mut errors = shared.errors.lock().unwrap_or_else(PoisonError::into_inner);
                    errors.push(format!("{error} ({})", error.reason()));
                }
                changes.then_some(Call { key, begin, end: u64::MAX, told: Told::Unknown { expected, value } })
            }
        };
        if let Some(Told::Read(now) | Told::Changed { now, .. }) = call.map(|call| call.told) {
            *seen = now.version;
        }
        shared.calls.lock().unwrap_or_else(PoisonError::into_inner).extend(call);
        shared.made.fetch_add(1, Ordering::Relaxed);
        if is_last {
            return;
        }
    }
}

async fn change(
    namespace: &NamespaceHandle,
    key: u32,
    value: u64,
    expected: Option<u64>,
) -> Result<Told, Error> {
    let patch = Patch { content: Some(content(value)), ..Patch::default() };
    let options = UpdateOptions { version: expected, ..UpdateOptions::default() };
    match (namespace.update_with(id_of(key), patch, options).await, expected) {
        (Ok(updated), expected) => Ok(Told::Changed { expected, now: held(&updated.memory) }),
        (Err(Error::VersionMismatch { .. }), Some(expected)) => Ok(Told::Refused { expected }),
        (Err(error), _) => Err(error),
    }
}
