//! A namespace that nobody writes to while the disk fills up: it owes nothing to the log, so it can always be read.

use std::time::{Duration, Instant};

use hindsight_client::{Draft, Error, MemoryId, NamespaceHandle};

use super::Expect;
use crate::Setting;
use crate::server::Served;

const NAMESPACE: &str = "quiet";
const TEXT: &str = "磁盘写满之前写下的一条记忆 written before the disk was full";
/// How soon writes are taken again once there is room.
const RECOVERY_MAX: Duration = Duration::from_secs(5);

/// Two memories of that namespace.
#[derive(Debug)]
pub(super) struct Quiet {
    kept: MemoryId,
    spare: MemoryId,
    /// Log positions since they were last asked for.
    positions: u64,
}

impl Quiet {
    pub(super) fn write(setting: &Setting, served: &Served) -> anyhow::Result<Quiet> {
        setting.runtime.block_on(async {
            let namespace = served.client()?.namespace(NAMESPACE)?;
            let kept = namespace.write(draft(TEXT)).await?.memory.id;
            let spare = namespace.write(draft("to be forgotten")).await?.memory.id;
            Ok(Quiet { kept, spare, positions: 2 })
        })
    }

    /// How many log positions it took since this was last asked.
    pub(super) fn positions(&mut self) -> u64 {
        std::mem::take(&mut self.positions)
    }

    /// Reads go on. Whether a forget does is what the server is expected to do.
    pub(super) fn while_full(
        &mut self,
        setting: &Setting,
        served: &Served,
        expect: Expect,
    ) -> Result<(), String> {
        setting.runtime.block_on(async {
            let namespace = handle(served)?;
            let got = namespace.get(self.kept).await.map_err(|error| format!("get: {error}"))?;
            if got.content != TEXT {
                return Err(format!("get answers {:?}", got.content));
            }
            let recalled = namespace.recall("disk full").await.map_err(|error| format!("recall: {error}"))?;
            if !recalled.hits.iter().any(|hit| hit.memory.id == self.kept) {
                return Err("recall does not find what is there".to_owned());
            }
            let forgotten = namespace.forget_ids(&[self.spare]).await;
            self.positions += u64::from(forgotten.is_ok());
            as_expected("a forget", forgotten.map(|_| ()), expect)
        })
    }

    /// With room again writes are taken, or still refused until a restart.
    pub(super) fn with_room(
        &mut self,
        setting: &Setting,
        served: &Served,
        expect: Expect,
    ) -> Result<(), String> {
        setting.runtime.block_on(async {
            let namespace = handle(served)?;
            let began = Instant::now();
            loop {
                let written = namespace.write(draft("written with room again")).await;
                self.positions += u64::from(written.is_ok());
                let is_over = written.is_ok() || expect == Expect::Poisons || began.elapsed() > RECOVERY_MAX;
                if is_over {
                    return as_expected("a write with room again", written.map(|_| ()), expect);
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        })
    }
}

fn handle(served: &Served) -> Result<NamespaceHandle, String> {
    let client = served.client().map_err(|error| format!("{error:#}"))?;
    client.namespace(NAMESPACE).map_err(|error| error.to_string())
}

fn draft(text: &str) -> Draft {
    Draft { content: text.to_owned(), ..Draft::default() }
}

fn as_expected(what: &str, answer: Result<(), Error>, expect: Expect) -> Result<(), String> {
    match (expect, answer) {
        (Expect::Recovers, Ok(())) => Ok(()),
        (Expect::Poisons, Err(error)) if error.reason() == "STORAGE_POISONED" => Ok(()),
        (Expect::Poisons, Ok(())) => {
            Err(format!("{what} was taken by a server that is expected to take none"))
        }
        (_, Err(error)) => Err(format!("{what}: {} ({})", error, error.reason())),
    }
}
