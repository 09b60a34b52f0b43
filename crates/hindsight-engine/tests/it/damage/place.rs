//! Data directories to be damaged.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hindsight_core::{MemoryId, Patch, State};
use hindsight_engine::{
    EngineOver, ForgetRequest, ForgetTarget, Maker, Options, RestoreRequest, UpdateRequest, WriteItem,
    WriteOptions,
};
use hindsight_storage::io::Io;
use hindsight_storage::testing::MemIo;
use hindsight_storage::{LogOptions, StorageOptions};

use super::truth::{Image, Truth};
use crate::support::{fact, ns, vectors};

pub(super) const DIR: &str = "/data";
pub(super) const NAMESPACES: [&str; 3] = ["ops", "sales", "support"];

/// A directory, and what has to be in it.
pub(super) struct Place {
    pub(super) name: &'static str,
    pub(super) disk: MemIo,
    pub(super) truth: Truth,
    /// Another database with the same history of names.
    pub(super) other: MemIo,
    /// What each file once was and is no longer, oldest first.
    pub(super) earlier: Earlier,
}

/// Contents of files, by path.
pub(super) type Earlier = BTreeMap<PathBuf, Vec<Vec<u8>>>;

/// What comes between the writes.
#[derive(Clone, Copy)]
struct Shape {
    steps: u64,
    /// After which steps a checkpoint is taken.
    checkpoints: &'static [u64],
    is_closed: bool,
    /// Writes at the end that were not committed when the process was killed.
    unsynced: u64,
}

pub(super) fn options() -> Options {
    let log = LogOptions { segment_bytes: 16 << 10, preallocate_bytes: 4 << 10, ..LogOptions::default() };
    let storage = StorageOptions { log, reserve_bytes: 8 << 10, ..StorageOptions::default() };
    Options { storage, ..Options::default() }
}

impl Place {
    pub(super) fn all() -> Vec<Place> {
        let plain = Shape { steps: 60, checkpoints: &[], is_closed: false, unsynced: 0 };
        [
            ("a log that was never checkpointed, killed", plain),
            ("checkpoints and a log beyond them, killed", Shape { checkpoints: &[20, 35, 45], ..plain }),
            (
                "many checkpoints, closed in order",
                Shape { checkpoints: &[15, 30, 50], is_closed: true, ..plain },
            ),
            ("a short log, closed in order", Shape { steps: 9, is_closed: true, ..plain }),
            (
                "killed before the last writes were durable",
                Shape { checkpoints: &[30], unsynced: 3, ..plain },
            ),
        ]
        .into_iter()
        .enumerate()
        .map(|(at, (name, shape))| {
            let seed = at as u64 + 1;
            let (disk, truth, earlier) = made(seed, shape);
            let (other, ..) = made(seed + 100, shape);
            Place { name, disk, truth, other, earlier }
        })
        .collect()
    }

    /// Every file that holds what was written, as a killed process leaves them.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        let names = self.disk.files().into_iter().map(|(path, _)| path);
        names.filter(|path| !path.ends_with("LOCK")).collect()
    }

    pub(super) fn segments(&self) -> Vec<PathBuf> {
        let mut files = self.files();
        files.retain(|path| path.extension().is_some_and(|extension| extension == "log"));
        files
    }
}

fn made(seed: u64, shape: Shape) -> (MemIo, Truth, Earlier) {
    let io = MemIo::new(seed);
    io.create_dir_all(Path::new("/")).unwrap();
    io.set_now_ms(1_796_029_200_000);
    let (engine, _) = EngineOver::open_with(Arc::new(io.clone()), Path::new(DIR), options()).unwrap();
    let mut maker = Made { engine, truth: Truth::default(), ids: Vec::new() };
    let mut earlier = Earlier::new();
    for step in 1..=shape.steps {
        note(&mut earlier, &io);
        maker.step(step);
        // Some commits hold several batches.
        if step % 4 != 2 {
            maker.engine.commit_step().unwrap();
        }
        if shape.checkpoints.contains(&step) {
            maker.engine.commit_step().unwrap();
            maker.engine.checkpoint().unwrap();
            maker.truth.first_cut = maker.truth.last() + 1;
        }
    }
    note(&mut earlier, &io);
    maker.engine.commit_step().unwrap();
    maker.engine.witness_step().unwrap();
    note(&mut earlier, &io);
    maker.truth.synced = maker.truth.last();
    if shape.is_closed {
        maker.engine.close().unwrap();
        maker.truth.first_cut = maker.truth.last() + 1;
    }
    if shape.unsynced > 0 {
        for step in 1..=shape.unsynced {
            maker.step(shape.steps + step);
        }
        // They are written and the process ends before the sync returns: a disk that lost nothing of them.
        maker.engine.commit_step().unwrap();
    }
    let disk = io.after_kill();
    for (path, contents) in &mut earlier {
        let now = disk.read_file(path);
        contents.retain(|content| Some(content) != now.as_ref());
    }
    earlier.retain(|path, contents| !contents.is_empty() && disk.read_file(path).is_some());
    (disk, maker.truth, earlier)
}

/// Notes what has changed since the last time.
fn note(earlier: &mut Earlier, io: &MemIo) {
    for (path, content) in io.files() {
        let is_kept = path.ends_with("LOCK") || path.ends_with("reserve");
        let contents = earlier.entry(path).or_default();
        if !is_kept && contents.last() != Some(&content) {
            contents.push(content);
        }
    }
}

struct Made {
    engine: EngineOver<MemIo>,
    truth: Truth,
    ids: Vec<(&'static str, MemoryId)>,
}

impl Made {
    /// One write, change, forgetting or restoring. Which one follows from the number.
    fn step(&mut self, step: u64) {
        let name = NAMESPACES[usize::try_from(step % 3).unwrap()];
        let pick = usize::try_from(step * 7).unwrap() % self.ids.len().max(1);
        let request_id = (step % 3 == 1).then(|| format!("request-{step}"));
        match (step % 6, self.ids.get(pick).copied()) {
            (2, Some((name, id))) => self.change(step, name, id),
            (4, Some((name, id))) => {
                let is_forgotten = self.truth.newest(name, id).state == State::Forgotten;
                let revision = if is_forgotten {
                    let restore = RestoreRequest { ids: vec![id], request_id };
                    self.engine.restore(&ns(name), restore).unwrap().lsn()
                } else {
                    let target = ForgetTarget::Ids(vec![id]);
                    let forget =
                        ForgetRequest { target, validate_only: false, request_id, with_derived: false };
                    self.engine.forget(&ns(name), forget).unwrap().lsn()
                };
                let image = self.truth.newest(name, id).clone();
                let state = if is_forgotten { State::Active } else { State::Forgotten };
                self.truth.tell(revision.0, name, id, Image { state, version: image.version + 1, ..image });
            }
            _ => {
                let fill = "字 word ".repeat(usize::try_from(step % 5 * 40).unwrap());
                let content = format!("memory {step} {fill}");
                let vectors = vectors("model", &[1.0, step as f32, 0.5]).filter(|_| step.is_multiple_of(2));
                let options = WriteOptions { request_id, ..WriteOptions::default() };
                let written =
                    self.engine.write(&ns(name), WriteItem::new(fact(&content), vectors), options).unwrap();
                let revision = written.lsn();
                self.engine.commit_step().unwrap();
                let id = written.wait().unwrap().memory.id;
                self.ids.push((name, id));
                let image = Image { content, state: State::Active, version: 1 };
                self.truth.tell(revision.0, name, id, image);
            }
        }
    }

    fn change(&mut self, step: u64, name: &'static str, id: MemoryId) {
        let image = self.truth.newest(name, id).clone();
        if image.state == State::Forgotten {
            return;
        }
        let content = format!("{}, changed in step {step}", image.content);
        let patch = Patch { content: Some(content.clone()), ..Patch::default() };
        let update = UpdateRequest {
            id,
            patch,
            version: None,
            vectors: None,
            maker: Maker::Caller,
            request_id: None,
            allow_forgotten: false,
        };
        let revision = self.engine.update(&ns(name), update).unwrap().lsn();
        self.truth.tell(revision.0, name, id, Image { content, version: image.version + 1, ..image });
    }
}
