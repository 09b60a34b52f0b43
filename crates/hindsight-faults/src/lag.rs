//! Row D1, `durability = async`: what a namespace gives up for speed is the newest 50 ms, and nothing from the middle.
//!
//! Writers note when each answer came and which log position it named. Then the process is killed, or the power is cut.
//! Of what was acknowledged, exactly what lies at or below the newest position that is found must be there: a prefix. And
//! nothing that was acknowledged more than 50 ms before the end may be missing; a commit of this machine, which is measured
//! before, comes on top, since what is being synced at the end is lost, too.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use hindsight_client::{Durability, Filter, NamespaceHandle, SettingsPatch};
use rustix::process::Signal;

use crate::server::{Launch, Served};
use crate::setting::temporary;
use crate::trial::clock_us;
use crate::volume::Volume;
use crate::{Setting, Verdict};

const NAMESPACE: &str = "lag";
const WRITERS: u64 = 4;
/// What `durability = async` may lose, in microseconds.
const LOST_US_MAX: u64 = 50_000;
/// Durable writes of each writer, whose slowest says what a commit takes here.
const DURABLE_WRITES: u64 = 40;
/// How long the writers write before the end.
const LOAD_US: std::ops::Range<u64> = 80_000..300_000;
const VOLUME_BYTES: u64 = 64 << 20;
const PAGE: usize = 500;
/// Failed cycles after which nothing new is learned.
const FAILURES_MAX: u64 = 3;

/// The amounts.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Kills, and as many power cuts
    #[arg(long, default_value_t = 20)]
    cycles: u64,
    /// 500 kills and 500 power cuts, as before a release
    #[arg(long)]
    release_amounts: bool,
    /// No power cuts, which need root
    #[arg(long)]
    without_power: bool,
}

/// A write that was acknowledged.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Told {
    content: String,
    position: u64,
    answered_us: u64,
}

/// The end of a server, and what was found afterwards.
#[derive(Debug, Default)]
struct Life {
    told: Vec<Told>,
    /// The slowest durable write, in microseconds.
    commit_us: u64,
    ended_us: u64,
    /// What is there, and up to which position.
    found: Vec<String>,
    revision: u64,
}

/// What a life lost.
#[derive(Debug, PartialEq, Eq)]
struct Loss {
    writes: u64,
    /// How long before the end the oldest lost write was acknowledged, in microseconds; none when none is lost.
    oldest_us: Option<u64>,
}

/// Runs it.
///
/// # Errors
/// When the server can't be started or asked, or no file system can be mounted and cut here.
pub fn run(args: &Args, setting: &Setting, verdict: &mut Verdict) -> anyhow::Result<()> {
    let cycles = if args.release_amounts { 500 } else { args.cycles };
    let mut random = setting.random(9);
    let ways: &[&str] = if args.without_power { &["kill"] } else { &["kill", "power cut"] };
    for way in ways {
        let (mut told, mut lost, mut oldest, mut commit) = (0, 0, 0, 0);
        for cycle in 1..=cycles {
            if verdict.failed() >= FAILURES_MAX {
                return Ok(());
            }
            let pause = Duration::from_micros(random.u64(LOAD_US));
            let life = if *way == "kill" { killed(setting, pause)? } else { cut(setting, pause)? };
            let loss = judge(&life);
            if let Ok(Loss { writes, oldest_us }) = &loss {
                told += u64::try_from(life.told.len())?;
                lost += writes;
                oldest = oldest.max(oldest_us.unwrap_or(0));
                commit = commit.max(life.commit_us);
            }
            verdict.check(&format!("{way} {cycle}"), loss.map(drop));
        }
        verdict.note(&format!(
            "{cycles} times {way}: {told} memories acknowledged before they were durable, {lost} lost, the oldest {} ms before the end; a durable write took at most {} ms",
            oldest / 1_000,
            commit / 1_000
        ));
        verdict.that("something was lost", lost > 0, || {
            format!("nothing by a {way}: no write was acknowledged before it was durable")
        });
    }
    Ok(())
}

/// Whether what is there is a prefix, and what is missing was told a moment ago.
fn judge(life: &Life) -> Result<Loss, String> {
    let mut found: BTreeMap<&str, u64> = BTreeMap::new();
    for content in &life.found {
        *found.entry(content).or_default() += 1;
    }
    if let Some((content, _)) = found.iter().find(|(_, count)| **count > 1) {
        return Err(format!("{content} is there twice"));
    }
    let mut loss = Loss { writes: 0, oldest_us: None };
    for told in &life.told {
        let is_there = found.contains_key(told.content.as_str());
        if is_there != (told.position <= life.revision) {
            let (what, position) = (if is_there { "there" } else { "missing" }, told.position);
            return Err(format!("position {position} is {what}, and the log ends at {}", life.revision));
        }
        if !is_there {
            let age = life.ended_us.saturating_sub(told.answered_us);
            loss.writes += 1;
            loss.oldest_us = loss.oldest_us.max(Some(age));
        }
    }
    match loss.oldest_us {
        Some(age) if age > LOST_US_MAX + life.commit_us => Err(format!(
            "a write is lost that was acknowledged {age} µs before the end; a commit takes {} µs",
            life.commit_us
        )),
        _ => Ok(loss),
    }
}

fn killed(setting: &Setting, pause: Duration) -> anyhow::Result<Life> {
    let folder = temporary(&setting.scratch)?;
    let (data, beside) = (folder.path().join("data"), folder.path().to_owned());
    let mut life = live(setting, (&data, &beside), pause, |served| served.signal(Signal::KILL))?;
    look(setting, (&data, &beside), &mut life)?;
    Ok(life)
}

fn cut(setting: &Setting, pause: Duration) -> anyhow::Result<Life> {
    let mut volume = Volume::create(&setting.images, VOLUME_BYTES)?;
    volume.mount("ordered")?;
    let (data, beside) = (volume.path().join("data"), volume.beside());
    let mut life = live(setting, (&data, &beside), pause, |_| volume.cut())?;
    volume.unmount()?;
    volume.mount("ordered")?;
    look(setting, (&data, &beside), &mut life)?;
    volume.unmount()?;
    Ok(life)
}

fn launch<'a>(setting: &'a Setting, (data, beside): (&'a PathBuf, &'a PathBuf)) -> Launch<'a> {
    Launch { program: &setting.program, data, beside, under: Vec::new() }
}

/// A server, its writers, and its end.
fn live(
    setting: &Setting,
    place: (&PathBuf, &PathBuf),
    pause: Duration,
    end: impl FnOnce(&Served) -> anyhow::Result<()>,
) -> anyhow::Result<Life> {
    let served = launch(setting, place).start()?;
    setting.runtime.block_on(async {
        let (stop, slowest) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let begin = |part: &'static str, most: u64| -> anyhow::Result<Vec<_>> {
            let writer = |number: u64| -> anyhow::Result<_> {
                let namespace = served.client()?.namespace(NAMESPACE)?;
                let (stop, slowest) = (Arc::clone(&stop), Arc::clone(&slowest));
                let name = format!("{part} {number}");
                Ok(tokio::spawn(async move { write(&namespace, &name, most, &stop, &slowest).await }))
            };
            (0..WRITERS).map(writer).collect()
        };
        let mut life = Life::default();
        for writer in begin("durable", DURABLE_WRITES)? {
            life.told.extend(writer.await?);
        }
        anyhow::ensure!(life.told.len() as u64 == WRITERS * DURABLE_WRITES, "a durable write is refused");
        life.commit_us = slowest.load(Ordering::Relaxed);
        // These outlast everything.
        life.told.iter_mut().for_each(|told| told.answered_us = 0);
        let patch = SettingsPatch { durability: Some(Some(Durability::Async)), ..SettingsPatch::default() };
        served.client()?.namespace(NAMESPACE)?.set(patch).await?;
        let writers = begin("async", u64::MAX)?;
        tokio::time::sleep(pause).await;
        life.ended_us = clock_us();
        end(&served)?;
        stop.store(true, Ordering::Relaxed);
        served.kill()?;
        for writer in writers {
            life.told.extend(writer.await?);
        }
        Ok(life)
    })
}

/// Writes one memory after the other until told to stop or refused.
async fn write(
    namespace: &NamespaceHandle,
    name: &str,
    most: u64,
    stop: &AtomicBool,
    slowest_us: &AtomicU64,
) -> Vec<Told> {
    let mut told = Vec::new();
    for number in 0..most {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let (content, sent_us) = (format!("{name}, memory {number}"), clock_us());
        let draft =
            hindsight_client::Draft { content: content.clone(), ..hindsight_client::Draft::default() };
        let Ok(written) = namespace.write(draft).await else { break };
        let answered_us = clock_us();
        slowest_us.fetch_max(answered_us.saturating_sub(sent_us), Ordering::Relaxed);
        told.push(Told { content, position: written.revision.0, answered_us });
    }
    told
}

/// What a new server finds.
fn look(setting: &Setting, place: (&PathBuf, &PathBuf), life: &mut Life) -> anyhow::Result<()> {
    let served = launch(setting, place).start()?;
    setting.runtime.block_on(async {
        let client = served.client()?;
        let mut memories = client.namespace(NAMESPACE)?.list(Filter::default()).page_size(PAGE).all();
        while let Some(memory) = memories.next().await.context("cannot list what the server has")? {
            life.found.push(memory.content);
        }
        life.revision = client.server_info().await?.revision.0;
        anyhow::Ok(())
    })?;
    served.stop()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn life(found: &[&str], revision: u64) -> Life {
        let told = |(position, answered_us): (u64, u64)| Told {
            content: format!("m{position}"),
            position,
            answered_us,
        };
        let told = [(1, 0), (2, 100_000), (3, 148_000), (4, 190_000)].map(told).to_vec();
        let found = found.iter().map(|content| (*content).to_owned()).collect();
        Life { told, commit_us: 3_000, ended_us: 200_000, found, revision }
    }

    #[test]
    fn d1_the_newest_moment_may_be_lost_and_nothing_else() {
        let lost = |writes, oldest_us| Ok(Loss { writes, oldest_us });
        assert_eq!(judge(&life(&["m1", "m2", "m3", "m4"], 4)), lost(0, None));
        assert_eq!(judge(&life(&["m1", "m2", "m3"], 3)), lost(1, Some(10_000)));
        assert_eq!(judge(&life(&["m1", "m2"], 2)), lost(2, Some(52_000)));
        // Too old, a hole, something behind the end, and something twice.
        assert!(judge(&life(&["m1"], 1)).is_err_and(|why| why.contains("100000 µs before the end")));
        assert!(judge(&life(&["m1", "m3", "m4"], 4)).is_err_and(|why| why.contains("position 2 is missing")));
        assert!(judge(&life(&["m1", "m2", "m3"], 2)).is_err_and(|why| why.contains("position 3 is there")));
        assert!(judge(&life(&["m1", "m2", "m2"], 2)).is_err_and(|why| why.contains("twice")));
    }
}
