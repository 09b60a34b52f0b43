//! A namespace that nobody writes to while the disk fills up: it owes nothing to the log, so it can always be read.

use std::time::{Duration, Instant};

use hindsight_client::{Draft, Error, MemoryId, NamespaceHandle};

use crate::Setting;
use crate::server::Served;

const NAMESPACE: &str = "quiet";
const TEXT: &str = "磁盘写满之前写下的一条记忆 written before the disk was full";
/// How soon writes are taken again once there is room.
const RECOVERY_MAX: Duration = Duration::from_secs(5);

/// Memories that are forgotten while the disk is full.
const SPARE: usize = 20;

/// Memories of that namespace.
#[derive(Debug)]
pub(super) struct Quiet {
    kept: MemoryId,
    /// Those that are to be forgotten.
    spare: Vec<MemoryId>,
    /// Log positions since they were last asked for.
    positions: u64,
}

impl Quiet {
    pub(super) fn write(setting: &Setting, served: &Served) -> anyhow::Result<Quiet> {
        setting.runtime.block_on(async {
            let namespace = served.client()?.namespace(NAMESPACE)?;
            let kept = namespace.write(draft(TEXT)).await?.memory.id;
            let mut spare = Vec::with_capacity(SPARE);
            for _ in 0..SPARE {
                spare.push(namespace.write(draft("to be forgotten")).await?.memory.id);
            }
            Ok(Quiet { kept, positions: 1 + spare.len() as u64, spare })
        })
    }

    /// How many log positions it took since this was last asked.
    pub(super) fn positions(&mut self) -> u64 {
        std::mem::take(&mut self.positions)
    }

    /// Reads and forgets go on.
    pub(super) fn while_full(&mut self, setting: &Setting, served: &Served) -> Result<(), String> {
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
            for id in self.spare.drain(..) {
                namespace.forget_ids(&[id]).await.map_err(|error| told("a forget", &error))?;
                self.positions += 1;
            }
            let refused = namespace.write(draft("written without room")).await;
            self.positions += u64::from(refused.is_ok());
            match refused {
                Err(error) if error.reason() == "DISK_FULL" && error.retry_after().is_some() => Ok(()),
                Err(error) => Err(told("a write without room", &error)),
                Ok(_) => Err("a write without room was taken".to_owned()),
            }
        })
    }

    /// With room again writes are taken, soon and by the same process.
    pub(super) fn with_room(&mut self, setting: &Setting, served: &Served) -> Result<(), String> {
        setting.runtime.block_on(async {
            let namespace = handle(served)?;
            let began = Instant::now();
            loop {
                match namespace.write(draft("written with room again")).await {
                    Ok(_) => {
                        self.positions += 1;
                        return Ok(());
                    }
                    Err(error) if began.elapsed() > RECOVERY_MAX => {
                        return Err(told("a write with room again", &error));
                    }
                    Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
                }
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

fn told(what: &str, error: &Error) -> String {
    format!("{what}: {error} ({})", error.reason())
}
