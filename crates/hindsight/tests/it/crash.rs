//! What was acknowledged is there after a kill, whenever the kill comes.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hindsight_client::{ClientBuilder, Draft, Filter, NamespaceHandle, WriteOptions};

use crate::program::{Served, wait_until};

const CYCLES: usize = 20;
const WRITERS: usize = 4;
/// Acknowledged writes of a cycle before the kill may come.
const WRITES_MIN: usize = 10;

/// Acknowledged memories: content by id.
type Acknowledged = Arc<Mutex<BTreeMap<String, String>>>;

fn namespace(served: &Served) -> NamespaceHandle {
    let client = ClientBuilder::new().attempts(1).timeout(Duration::from_secs(30)).connect_lazy(&served.grpc);
    client.unwrap().namespace("crash").unwrap()
}

/// Writes until the server is gone. What the server did not answer may or may not be there.
async fn write_on(
    memories: NamespaceHandle,
    name: String,
    acknowledged: Acknowledged,
    stop: Arc<AtomicBool>,
) {
    for index in 0.. {
        let content = format!("{name} 第{index}次写入");
        let draft = Draft { content: content.clone(), ..Draft::default() };
        let options = WriteOptions { request_id: Some(format!("{name}-{index}")), ..WriteOptions::default() };
        match memories.write_with(draft, None, options).await {
            Ok(written) => {
                acknowledged.lock().unwrap().insert(written.memory.id.to_string(), content);
            }
            Err(_) if stop.load(Ordering::SeqCst) => return,
            Err(error) => panic!("a running server refused a write: {error}"),
        }
    }
}

#[test]
fn kill_after_acknowledged_writes_loses_nothing() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let acknowledged: Acknowledged = Arc::default();
    let mut served = Served::start();
    for cycle in 0..CYCLES {
        let stop = Arc::new(AtomicBool::new(false));
        let before = acknowledged.lock().unwrap().len();
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let name = format!("cycle-{cycle}-writer-{writer}");
                let memories = runtime.block_on(async { namespace(&served) });
                runtime.spawn(write_on(memories, name, Arc::clone(&acknowledged), Arc::clone(&stop)))
            })
            .collect();
        // Another number of writes each time, so that the kills fall at different places of the log.
        let wanted = before + WRITES_MIN + cycle * 7 % 31;
        wait_until(|| {
            acknowledged.lock().unwrap().len() >= wanted || writers.iter().any(|w| w.is_finished())
        });
        stop.store(true, Ordering::SeqCst);
        let (data, folder) = served.kill();
        for writer in writers {
            runtime.block_on(writer).unwrap();
        }
        served = Served::start_on(&data, folder);
        runtime.block_on(async { compare(&namespace(&served), &acknowledged).await });
    }
    assert!(acknowledged.lock().unwrap().len() >= CYCLES * WRITES_MIN);
}

/// Every acknowledged memory is there with its text, and nothing is there twice.
async fn compare(memories: &NamespaceHandle, acknowledged: &Acknowledged) {
    let mut found = BTreeMap::new();
    let mut all = memories.list(Filter::default()).page_size(1_000).all();
    while let Some(memory) = all.next().await.unwrap() {
        found.insert(memory.id.to_string(), memory.content);
    }
    let acknowledged = acknowledged.lock().unwrap();
    for (id, content) in &*acknowledged {
        assert_eq!(found.get(id), Some(content), "{id} was acknowledged");
    }
    let mut contents: Vec<&String> = found.values().collect();
    contents.sort();
    contents.dedup();
    assert_eq!(contents.len(), found.len(), "a request was carried out twice");
    // Beside what was acknowledged only calls can be there that were open when the server was killed.
    assert!(found.len() <= acknowledged.len() + WRITERS * CYCLES);
}
