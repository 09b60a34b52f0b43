//! The disk of the simulator: [`MemIo`], with a plan of what happens at which call, and with room for a planted bug.
//!
//! Calls are counted over the whole run, also when a crash has put another disk in the place of the first. A *shot* is
//! the disk as a power cut before that call would leave it, once for each outcome: taking it disturbs nothing, so one
//! run gives all its crash points.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use hindsight_engine::EngineOver;
use hindsight_storage::io::{Io, IoFile, OpenMode};
use hindsight_storage::testing::{Fault, FaultKind, MemFile, MemIo};
use parking_lot::Mutex;

use super::random::Random;
use super::sabotage::Sabotage;

/// The engine on this disk.
pub(super) type Engine = EngineOver<SimIo>;

/// How many ways a power cut can go are looked at for each crash point.
pub(super) const OUTCOMES: u64 = 4;

/// Before which of the calls that change something the disk is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Points {
    Every,
    /// So many of a thousand.
    Some(u64),
    One(u64),
}

/// What happens at which call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Plan {
    Nothing,
    Shots(Points),
    Fault { at: u64, kind: FaultKind, is_sticky: bool },
    PowerCut(u64),
}

/// The disks that a power cut at one call can leave.
#[derive(Debug)]
pub(super) struct Shot {
    pub(super) call: u64,
    /// The newest batch that was acknowledged by then.
    pub(super) acked: u64,
    /// One for each outcome.
    pub(super) images: Vec<MemIo>,
}

/// The disk. Clones are the same disk.
#[derive(Debug, Clone)]
pub(super) struct SimIo(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    seed: u64,
    disk: Mutex<MemIo>,
    calls: AtomicU64,
    plan: Mutex<Plan>,
    sabotage: Option<Sabotage>,
    /// A planted bug sleeps until the database is made: it is to be found in what the database does for a living.
    is_armed: AtomicBool,
    shots: Mutex<Vec<Shot>>,
    /// Who can tell what is acknowledged, while it is open; and what was before.
    engine: Mutex<Weak<Engine>>,
    acked: AtomicU64,
}

/// An open file.
#[derive(Debug)]
pub(super) struct SimFile {
    io: Arc<Shared>,
    file: MemFile,
    is_manifest: bool,
    is_lock: bool,
    is_sync_owed: AtomicBool,
}

/// The seed of one outcome of one crash point.
pub(super) fn outcome_seed(seed: u64, call: u64, outcome: u64) -> u64 {
    Random::at(seed, call * OUTCOMES + outcome).next()
}

impl SimIo {
    pub(super) fn new(seed: u64, disk: MemIo, plan: Plan, sabotage: Option<Sabotage>) -> SimIo {
        let is_armed = !disk.files().is_empty();
        SimIo(Arc::new(Shared {
            seed,
            disk: Mutex::new(disk),
            calls: AtomicU64::new(0),
            plan: Mutex::new(plan),
            sabotage,
            is_armed: AtomicBool::new(is_armed),
            shots: Mutex::default(),
            engine: Mutex::default(),
            acked: AtomicU64::new(0),
        }))
    }

    pub(super) fn disk(&self) -> MemIo {
        self.0.disk()
    }

    /// The machine comes up again with what a crash left.
    pub(super) fn replace_disk(&self, disk: MemIo) {
        *self.0.disk.lock() = disk;
    }

    /// From now on this happens.
    pub(super) fn set_plan(&self, plan: Plan) {
        *self.0.plan.lock() = plan;
    }

    /// Wakes the planted bug.
    pub(super) fn arm(&self) {
        self.0.is_armed.store(true, Ordering::Relaxed);
    }

    pub(super) fn calls(&self) -> u64 {
        self.0.calls.load(Ordering::Relaxed)
    }

    pub(super) fn take_shots(&self) -> Vec<Shot> {
        std::mem::take(&mut self.0.shots.lock())
    }

    /// The newest batch that was acknowledged.
    pub(super) fn acked(&self) -> u64 {
        self.0.acked()
    }

    /// From now on this engine says what is acknowledged; after its end, what it said last remains.
    pub(super) fn ask(&self, engine: &Arc<Engine>) {
        *self.0.engine.lock() = Arc::downgrade(engine);
    }

    pub(super) fn set_acked(&self, lsn: u64) {
        self.0.acked.store(lsn, Ordering::Relaxed);
    }
}

impl Shared {
    fn disk(&self) -> MemIo {
        self.disk.lock().clone()
    }

    fn acked(&self) -> u64 {
        let before = self.acked.load(Ordering::Relaxed);
        self.engine.lock().upgrade().map_or(before, |engine| engine.revision().0.max(before))
    }

    /// Counts a call and lets happen what is planned for it. Before one that changes nothing a power cut leaves what it
    /// leaves before the next that does.
    fn before_call(&self, changes: bool) {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        let disk = self.disk();
        let next = disk.counts().calls;
        match *self.plan.lock() {
            Plan::Shots(points) if points.wants(self.seed, call, changes) => {
                let image = |outcome| disk.after_crash(outcome_seed(self.seed, call, outcome));
                let images = (0..OUTCOMES).map(image).collect();
                self.shots.lock().push(Shot { call, acked: self.acked(), images });
            }
            Plan::Fault { at, kind, is_sticky } if at == call => {
                disk.inject(Fault { at_call: next, kind, is_sticky });
            }
            Plan::PowerCut(at) if at == call => disk.cut_power_at(next),
            _ => {}
        }
    }

    fn sabotage(&self) -> Option<Sabotage> {
        self.sabotage.filter(|_| self.is_armed.load(Ordering::Relaxed))
    }

    fn has(&self, sabotage: Sabotage) -> bool {
        self.sabotage() == Some(sabotage)
    }

    /// A sync, as the planted bugs about syncs leave it.
    fn sync(&self, sync: impl Fn() -> io::Result<()>) -> io::Result<()> {
        match sync() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Err(_) if self.has(Sabotage::IgnoreFailedSync) => Ok(()),
            Err(_) if self.has(Sabotage::RetryFailedSync) => sync(),
            result => result,
        }
    }
}

impl Points {
    /// Whether a call is one of them; depends on nothing but the run and its number.
    fn wants(self, seed: u64, call: u64, changes: bool) -> bool {
        match self {
            Points::Every => changes,
            Points::Some(per_mille) => changes && Random::at(seed, call).below(1_000) < per_mille,
            Points::One(one) => one == call,
        }
    }
}

impl Io for SimIo {
    type File = SimFile;

    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<SimFile> {
        self.0.before_call(!matches!(mode, OpenMode::Read | OpenMode::ReadWrite));
        let file = self.0.disk().open(path, mode)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Ok(SimFile {
            io: Arc::clone(&self.0),
            file,
            is_manifest: name.starts_with("MANIFEST"),
            is_lock: name == "LOCK",
            is_sync_owed: AtomicBool::new(false),
        })
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.before_call(true);
        self.0.disk().rename(from, to)
    }

    fn unlink(&self, path: &Path) -> io::Result<()> {
        self.0.before_call(true);
        let is_kept =
            |sabotage, end: &str| self.0.has(sabotage) && path.extension().is_some_and(|found| found == end);
        if is_kept(Sabotage::KeepSegments, "log") || is_kept(Sabotage::KeepRecordFiles, "rec") {
            return Ok(());
        }
        self.0.disk().unlink(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.0.before_call(true);
        if self.0.has(Sabotage::SkipDirSync) {
            return Ok(());
        }
        self.0.sync(|| self.0.disk().sync_dir(path))
    }

    fn list(&self, path: &Path) -> io::Result<Vec<OsString>> {
        self.0.before_call(false);
        self.0.disk().list(path)
    }

    fn create_dir_all(&self, path: &Path) -> io::Result<()> {
        self.0.before_call(true);
        self.0.disk().create_dir_all(path)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.0.before_call(true);
        self.0.disk().create_dir(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.0.before_call(true);
        self.0.disk().remove_dir(path)
    }

    fn file_len(&self, path: &Path) -> io::Result<u64> {
        self.0.before_call(false);
        self.0.disk().file_len(path)
    }

    fn now_ms(&self) -> u64 {
        self.0.disk().now_ms()
    }

    fn random(&self) -> io::Result<u64> {
        self.0.disk().random()
    }

    fn free_bytes(&self, path: &Path) -> io::Result<u64> {
        self.0.disk().free_bytes(path)
    }

    fn total_bytes(&self, path: &Path) -> io::Result<u64> {
        self.0.disk().total_bytes(path)
    }
}

impl IoFile for SimFile {
    fn pwrite(&self, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        self.io.before_call(true);
        if self.is_sync_owed.swap(false, Ordering::Relaxed) {
            self.file.sync_data()?;
        }
        if self.is_lock {
            // The number of this process must not reach the run: its length would decide what garbage a crash leaves.
            self.file.pwrite(offset, b"pid 1")?;
            return Ok(bytes.len());
        }
        let written = self.file.pwrite(offset, bytes)?;
        Ok(if self.io.has(Sabotage::BelieveShortWrite) { bytes.len() } else { written })
    }

    fn pread(&self, offset: u64, bytes: &mut [u8]) -> io::Result<usize> {
        self.io.before_call(false);
        self.file.pread(offset, bytes)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.io.before_call(true);
        self.file.set_len(len)
    }

    fn allocate(&self, len: u64) -> io::Result<()> {
        self.io.before_call(true);
        self.file.allocate(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.io.before_call(true);
        match self.io.sabotage() {
            Some(Sabotage::SkipDataSync) => Ok(()),
            Some(Sabotage::SkipManifestSync) if self.is_manifest => Ok(()),
            Some(Sabotage::AcknowledgeBeforeSync) => {
                self.is_sync_owed.store(true, Ordering::Relaxed);
                Ok(())
            }
            _ => self.io.sync(|| self.file.sync_data()),
        }
    }

    fn sync_all(&self) -> io::Result<()> {
        self.io.before_call(true);
        match self.io.sabotage() {
            Some(Sabotage::SkipFileSync) => Ok(()),
            Some(Sabotage::SkipManifestSync) if self.is_manifest => Ok(()),
            _ => self.io.sync(|| self.file.sync_all()),
        }
    }

    fn sync_fs(&self) -> io::Result<()> {
        self.io.before_call(true);
        if self.io.has(Sabotage::SkipFileSync) {
            return Ok(());
        }
        self.io.sync(|| self.file.sync_fs())
    }

    fn len(&self) -> io::Result<u64> {
        self.io.before_call(false);
        self.file.len()
    }

    fn drop_cache(&self) -> io::Result<()> {
        self.io.before_call(false);
        if self.io.has(Sabotage::KeepCache) { Ok(()) } else { self.file.drop_cache() }
    }

    fn try_lock(&self) -> io::Result<bool> {
        self.io.before_call(false);
        self.file.try_lock()
    }
}
