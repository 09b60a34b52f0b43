//! A namespace that nobody writes to while the disk fills up: it owes nothing to the log, so it can always be read, and
//! its memories can be forgotten without a byte free.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use anyhow::ensure;
use hindsight_client::{Draft, Error, Filter, MemoryId, NamespaceHandle, Outcome, State};

use crate::Setting;
use crate::server::Served;

const NAMESPACE: &str = "quiet";
const TEXT: &str = "磁盘写满之前写下的一条记忆 written before the disk was full";
/// How soon writes are taken again once there is room.
const RECOVERY_MAX: Duration = Duration::from_secs(5);

/// Memories that are forgotten while the disk is full.
const SPARE: u64 = 20;

/// Memories of that namespace.
#[derive(Debug)]
pub(super) struct Quiet {
    /// In which state each memory must be found.
    states: HashMap<MemoryId, State>,
    kept: MemoryId,
    /// Those that are to be forgotten.
    spare: Vec<MemoryId>,
    /// The log positions that were told since they were last asked for.
    positions: Vec<u64>,
}

impl Quiet {
    pub(super) fn write(setting: &Setting, served: &Served) -> anyhow::Result<Quiet> {
        setting.runtime.block_on(async {
            let namespace = served.client()?.namespace(NAMESPACE)?;
            // Texts that say the same would become one memory, which can be forgotten only once.
            let texts =
                (0..SPARE).map(|number| format!("order {number} is to be forgotten, 第{number}号订单"));
            let (mut ids, mut positions) = (Vec::new(), Vec::new());
            for text in std::iter::once(TEXT.to_owned()).chain(texts) {
                let written = namespace.write(draft(&text)).await?;
                ensure!(written.outcome == Outcome::Created, "{text:?} was {:?}", written.outcome);
                ids.push(written.memory.id);
                positions.push(written.revision.0);
            }
            let states = ids.iter().map(|id| (*id, State::Active)).collect();
            let spare = ids.split_off(1);
            ensure!(spare.len() as u64 == SPARE, "{} memories to forget", spare.len());
            Ok(Quiet { states, kept: ids[0], spare, positions })
        })
    }

    /// The log positions that were told since this was last asked.
    pub(super) fn take_positions(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.positions)
    }

    /// Reads and forgets go on; nothing new is taken.
    pub(super) fn while_full(&mut self, setting: &Setting, served: &Served) -> Result<(), String> {
        setting.runtime.block_on(async {
            let namespace = handle(served)?;
            let got = namespace.get(self.kept).await.map_err(|error| format!("get: {error}"))?;
            if got.content != TEXT {
                return Err(format!("get answers {:?}", got.content));
            }
            // One that is counted would take a log position, some seconds later.
            let recalled =
                namespace.recall("disk full").observe().await.map_err(|error| format!("recall: {error}"))?;
            if !recalled.hits.iter().any(|hit| hit.memory.id == self.kept) {
                return Err("recall does not find what is there".to_owned());
            }
            for id in std::mem::take(&mut self.spare) {
                self.forget(&namespace, id).await?;
            }
            self.refused(&namespace).await
        })
    }

    /// Forgets a memory, which takes a log position, and once more, which takes none: there is nothing left to do.
    async fn forget(&mut self, namespace: &NamespaceHandle, id: MemoryId) -> Result<(), String> {
        let first = namespace.forget_ids(&[id]).await.map_err(|error| told("a forget", &error))?;
        self.states.insert(id, State::Forgotten);
        self.positions.push(first.revision.0);
        let again = namespace.forget_ids(&[id]).await.map_err(|error| told("a second forget", &error))?;
        if first.ids == [id] && first.count == 1 && again.count == 0 && again.revision >= first.revision {
            Ok(())
        } else {
            Err(format!("a forget of {id} is answered with {first:?}, the second one with {again:?}"))
        }
    }

    async fn refused(&mut self, namespace: &NamespaceHandle) -> Result<(), String> {
        match namespace.write(draft("written without room")).await {
            Err(error) if error.reason() == "DISK_FULL" && error.retry_after().is_some() => Ok(()),
            Err(error) => Err(told("a write without room", &error)),
            Ok(written) => {
                self.positions.push(written.revision.0);
                Err("a write without room was taken".to_owned())
            }
        }
    }

    /// With room again writes are taken, soon and by the same process.
    pub(super) fn with_room(&mut self, setting: &Setting, served: &Served) -> Result<(), String> {
        setting.runtime.block_on(async {
            let namespace = handle(served)?;
            let began = Instant::now();
            loop {
                match namespace.write(draft("written with room again")).await {
                    Ok(written) => {
                        self.states.insert(written.memory.id, State::Active);
                        self.positions.push(written.revision.0);
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

    /// After the last start: every memory is in the state that was acknowledged last, and there is no other.
    pub(super) fn at_last(&self, setting: &Setting, served: &Served) -> Result<(), String> {
        setting.runtime.block_on(async {
            let every_state = Filter { states: State::ALL.to_vec(), ..Filter::default() };
            let mut memories = handle(served)?.list(every_state).all();
            let mut found = HashMap::new();
            while let Some(memory) = memories.next().await.map_err(|error| told("a list", &error))? {
                found.insert(memory.id, memory.state);
            }
            if found == self.states {
                return Ok(());
            }
            let wrong: Vec<_> =
                self.states.iter().filter(|(id, state)| found.get(id) != Some(state)).collect();
            Err(format!("{} memories of {}; not as acknowledged: {wrong:?}", found.len(), self.states.len()))
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
