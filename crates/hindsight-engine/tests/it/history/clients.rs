//! What the clients of both histories share: an engine whose log somebody commits, moments, memories with an id and a
//! number for a content.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use hindsight_core::{Memory, MemoryId, Namespace, Patch};
use hindsight_engine::{
    EngineError, EngineOver, Maker, Options, UpdateRequest, Updated, WriteItem, WriteOptions, Written,
};
use hindsight_storage::io::Io;
use hindsight_storage::testing::MemIo;
use hindsight_storage::{LogOptions, StorageOptions};

use crate::support::fact;

/// Gives every begin and every end its moment.
#[derive(Debug, Default)]
pub(super) struct Moments(AtomicU64);

impl Moments {
    pub(super) fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::SeqCst)
    }
}

/// Small segments, so that the log goes from one to the next.
pub(super) fn options() -> Options {
    let log = LogOptions { segment_bytes: 256 << 10, preallocate_bytes: 16 << 10, ..LogOptions::default() };
    let storage = StorageOptions { log, checkpoint_bytes: 512 << 10, ..StorageOptions::default() };
    Options { storage, ..Options::default() }
}

/// Lets `work` use an engine on a disk in memory, while one thread commits and one takes checkpoints.
pub(super) fn on_memory(seed: u64, work: impl FnOnce(&EngineOver<MemIo>)) {
    let (engine, _) =
        EngineOver::open_with(Arc::new(MemIo::new(seed)), Path::new("/data"), options()).unwrap();
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Acquire) {
                engine.commit_step().unwrap();
                std::thread::yield_now();
            }
        });
        scope.spawn(|| {
            while !is_done.load(Ordering::Acquire) {
                engine.checkpoint().unwrap();
                std::thread::sleep(std::time::Duration::from_millis(3));
            }
        });
        let done = Done(&is_done);
        work(&engine);
        drop(done);
    });
}

/// Ends the threads, also when the work panics.
struct Done<'a>(&'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

pub(super) fn id_of(key: u32) -> MemoryId {
    MemoryId::from_u128((0x0190_0000_0000_u128 << 80) | u128::from(key))
}

pub(super) fn content(value: u64) -> String {
    format!("value {value}")
}

/// The number that the memory has for a content.
pub(super) fn value(memory: &Memory) -> u64 {
    memory.content.strip_prefix("value ").and_then(|digits| digits.parse().ok()).unwrap()
}

/// Writes the memory of a key with content 0.
pub(super) fn create<I: Io>(engine: &EngineOver<I>, namespace: &Namespace, key: u32) -> Written {
    let mut draft = fact(&content(0));
    draft.id = Some(id_of(key).to_string());
    let item = WriteItem::new(draft, None);
    engine.write(namespace, item, WriteOptions::default()).unwrap().wait().unwrap()
}

/// Changes the content of a key's memory.
pub(super) fn change<I: Io>(
    engine: &EngineOver<I>,
    namespace: &Namespace,
    key: u32,
    value: u64,
    version: Option<u64>,
) -> Result<Updated, EngineError> {
    let patch = Patch { content: Some(content(value)), ..Patch::default() };
    let update = UpdateRequest {
        id: id_of(key),
        patch,
        version,
        vectors: None,
        maker: Maker::Caller,
        request_id: None,
        allow_forgotten: false,
    };
    engine.update(namespace, update)?.wait()
}
