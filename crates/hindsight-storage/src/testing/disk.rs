//! The state of the disk: for every file what is cached and what is durable, for every folder the changes that no
//! sync has covered yet.

#![expect(
    clippy::cast_possible_truncation,
    reason = "files of tests are far below 4 GiB, and random bytes are cut on purpose"
)]

mod inode;
mod names;
mod random;

use std::{
    collections::BTreeMap,
    ffi::OsString,
    io,
    ops::Bound,
    path::{Path, PathBuf},
    time::Duration,
};

use super::{Counts, Fault, FaultKind};
use crate::io::OpenMode;
use inode::{Inode, SECTOR, Survival};
use names::{DirChange, Names};
pub(super) use random::Random;

const EIO: i32 = 5;
const ENOSPC: i32 = 28;
/// Bytes that the disk has in all.
pub(super) const CAPACITY: u64 = 1 << 40;

#[derive(Debug)]
pub(super) struct Disk {
    inodes: BTreeMap<u64, Inode>,
    names: Names,
    durable_names: Names,
    pending: Vec<DirChange>,
    next_id: u64,
    pub(super) random: Random,
    pub(super) now_ms: u64,
    pub(super) counts: Counts,
    pub(super) fault: Option<Fault>,
    pub(super) power_cut_at: Option<u64>,
    pub(super) sync_time: Duration,
    /// Bytes that files of others have.
    pub(super) taken: u64,
}

impl Disk {
    pub(super) fn new(seed: u64) -> Disk {
        Disk {
            inodes: BTreeMap::new(),
            names: Names::default(),
            durable_names: Names::default(),
            pending: Vec::new(),
            next_id: 1,
            random: Random::new(seed),
            now_ms: 1_700_000_000_000,
            counts: Counts::default(),
            fault: None,
            power_cut_at: None,
            sync_time: Duration::ZERO,
            taken: 0,
        }
    }

    /// Bytes that files still can get. Counted only where others take some: there is no end of it otherwise.
    pub(super) fn free(&self) -> u64 {
        if self.taken == 0 {
            return CAPACITY;
        }
        (CAPACITY - self.used()).saturating_sub(self.taken)
    }

    fn used(&self) -> u64 {
        let len = |inode: &u64| self.inodes.get(inode).map_or(0, |file| file.cached.len());
        let used: usize = self.names.files.values().map(|inode| len(inode).next_multiple_of(SECTOR)).sum();
        used as u64
    }

    pub(super) fn set_free(&mut self, free: u64) {
        self.taken = (CAPACITY - self.used()).saturating_sub(free);
    }

    /// How long a file can get.
    fn len_max(&self, inode: u64) -> u64 {
        let len = self.inodes.get(&inode).map_or(0, |file| file.cached.len());
        (len.next_multiple_of(SECTOR) as u64).saturating_add(self.free())
    }

    /// Counts a call and says whether it goes wrong.
    fn next_fault(&mut self) -> io::Result<Option<FaultKind>> {
        let call = self.counts.calls;
        self.counts.calls += 1;
        if self.power_cut_at.is_some_and(|at| call >= at) {
            return Err(io::Error::from_raw_os_error(EIO));
        }
        let hits = |fault: &Fault| call == fault.at_call || (fault.is_sticky && call > fault.at_call);
        Ok(self.fault.filter(hits).map(|fault| fault.kind))
    }

    /// A call that has no half-way: it fails or it happens.
    pub(super) fn call(&mut self, can_be_interrupted: bool) -> io::Result<()> {
        match self.next_fault()? {
            Some(FaultKind::Errno(errno)) => Err(io::Error::from_raw_os_error(errno)),
            Some(FaultKind::Interrupted) if can_be_interrupted => self.interrupted(),
            _ => Ok(()),
        }
    }

    /// A signal comes once: a sticky interruption would be an endless loop for every honest caller.
    fn interrupted<T>(&mut self) -> io::Result<T> {
        self.fault = None;
        Err(io::ErrorKind::Interrupted.into())
    }

    fn parent_exists(&self, path: &Path) -> io::Result<()> {
        match path.parent() {
            Some(parent) if self.names.files.contains_key(parent) => Err(io::ErrorKind::NotADirectory.into()),
            Some(parent) if !self.names.dirs.contains(parent) => Err(io::ErrorKind::NotFound.into()),
            _ => Ok(()),
        }
    }

    pub(super) fn open(&mut self, path: &Path, mode: OpenMode) -> io::Result<(u64, u64)> {
        self.parent_exists(path)?;
        let creates = matches!(mode, OpenMode::CreateOrOpen | OpenMode::CreateEmpty);
        let inode = match self.names.files.get(path) {
            Some(inode) => *inode,
            // A name takes room, too.
            None if creates && self.free() < SECTOR as u64 => {
                return Err(io::Error::from_raw_os_error(ENOSPC));
            }
            None if creates => {
                let inode = self.new_id();
                self.inodes.insert(inode, Inode::default());
                self.names.files.insert(path.to_owned(), inode);
                self.pending.push(DirChange::Create(path.to_owned(), inode));
                inode
            }
            None => return Err(io::ErrorKind::NotFound.into()),
        };
        if mode == OpenMode::CreateEmpty {
            self.set_len(inode, 0);
        }
        Ok((inode, self.new_id()))
    }

    fn new_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    pub(super) fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.parent_exists(to)?;
        if self.names.dirs.contains(from) {
            self.names.move_dir(from, to);
            self.pending.push(DirChange::RenameDir(from.to_owned(), to.to_owned()));
            return Ok(());
        }
        let inode = self.names.files.remove(from).ok_or(io::ErrorKind::NotFound)?;
        self.names.files.insert(to.to_owned(), inode);
        self.pending.push(DirChange::Rename(from.to_owned(), to.to_owned(), inode));
        Ok(())
    }

    pub(super) fn unlink(&mut self, path: &Path) -> io::Result<()> {
        self.names.files.remove(path).ok_or(io::ErrorKind::NotFound)?;
        self.pending.push(DirChange::Unlink(path.to_owned()));
        Ok(())
    }

    pub(super) fn sync_dir(&mut self, dir: &Path) -> io::Result<()> {
        let (now_durable, still_pending): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.pending).into_iter().partition(|change| change.dir() == Some(dir));
        self.pending = still_pending;
        now_durable.iter().for_each(|change| change.apply(&mut self.durable_names));
        Ok(())
    }

    pub(super) fn list(&self, dir: &Path) -> io::Result<Vec<OsString>> {
        if self.names.files.contains_key(dir) {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        if !self.names.dirs.contains(dir) {
            return Err(io::ErrorKind::NotFound.into());
        }
        // A folder's content follows it in the order of paths.
        let below = (Bound::Excluded(dir), Bound::Unbounded);
        let files = self.names.files.range::<Path, _>(below).map(|(path, _)| path);
        let dirs = self.names.dirs.range::<Path, _>(below);
        let files = files.take_while(|path| path.starts_with(dir));
        let dirs = dirs.take_while(|path| path.starts_with(dir));
        let mut names: Vec<_> = files
            .chain(dirs)
            .filter(|path| path.parent() == Some(dir))
            .filter_map(|path| path.file_name().map(ToOwned::to_owned))
            .collect();
        names.sort_unstable();
        Ok(names)
    }

    /// Durable at once, as the trait promises.
    pub(super) fn create_dir_all(&mut self, path: &Path) -> io::Result<()> {
        if path.ancestors().any(|ancestor| self.names.files.contains_key(ancestor)) {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        self.names.dirs.extend(path.ancestors().map(Path::to_owned));
        self.durable_names.dirs.extend(path.ancestors().map(Path::to_owned));
        Ok(())
    }

    pub(super) fn create_dir(&mut self, path: &Path) -> io::Result<()> {
        self.parent_exists(path)?;
        if self.names.files.contains_key(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        if self.names.dirs.insert(path.to_owned()) {
            self.pending.push(DirChange::MakeDir(path.to_owned()));
        }
        Ok(())
    }

    pub(super) fn remove_dir(&mut self, path: &Path) -> io::Result<()> {
        if !self.list(path)?.is_empty() {
            return Err(io::ErrorKind::DirectoryNotEmpty.into());
        }
        self.names.dirs.remove(path);
        self.pending.push(DirChange::RemoveDir(path.to_owned()));
        Ok(())
    }

    pub(super) fn file_len(&self, path: &Path) -> io::Result<u64> {
        let inode = self.names.files.get(path).ok_or(io::ErrorKind::NotFound)?;
        Ok(self.len(*inode))
    }

    pub(super) fn pwrite(&mut self, inode: u64, offset: u64, bytes: &[u8]) -> io::Result<usize> {
        self.counts.writes += 1;
        let (len, result) = match self.next_fault()? {
            None => (bytes.len(), Ok(bytes.len())),
            Some(FaultKind::ShortWrite) => (bytes.len().div_ceil(2), Ok(bytes.len().div_ceil(2))),
            Some(FaultKind::Interrupted) => return self.interrupted(),
            Some(FaultKind::Errno(errno)) => {
                let end = offset as usize + bytes.len();
                let is_there = self.inodes.get(&inode).is_some_and(|file| {
                    // What is left of the last sector costs no more room.
                    end <= file.cached.len().next_multiple_of(SECTOR)
                });
                self.counts.failed_overwrites += u64::from(is_there);
                (bytes.len() / 2, Err(io::Error::from_raw_os_error(errno)))
            }
        };
        let room = self.len_max(inode).saturating_sub(offset) as usize;
        let (len, result) = match result {
            Ok(_) if room == 0 && len > 0 => (0, Err(io::Error::from_raw_os_error(ENOSPC))),
            Ok(written) => (len.min(room), Ok(written.min(room))),
            Err(error) => (len.min(room), Err(error)),
        };
        let file = self.inodes.entry(inode).or_default();
        let start = offset as usize;
        if file.cached.len() < start + len {
            file.cached.resize(start + len, 0);
        }
        file.cached[start..start + len].copy_from_slice(&bytes[..len]);
        file.dirty.extend((start / SECTOR..(start + len).div_ceil(SECTOR)).filter(|_| len > 0));
        result
    }

    pub(super) fn allocate(&mut self, inode: u64, len: u64) -> io::Result<()> {
        if len > self.len_max(inode) {
            return Err(io::Error::from_raw_os_error(ENOSPC));
        }
        let file = self.inodes.entry(inode).or_default();
        let len = file.cached.len().max(len as usize);
        file.cached.resize(len, 0);
        Ok(())
    }

    pub(super) fn pread(&self, inode: u64, offset: u64, bytes: &mut [u8]) -> usize {
        let cached = self.inodes.get(&inode).map_or(&[][..], |file| &file.cached);
        let from = cached.get(offset as usize..).unwrap_or_default();
        let len = from.len().min(bytes.len());
        bytes[..len].copy_from_slice(&from[..len]);
        len
    }

    pub(super) fn set_len(&mut self, inode: u64, len: u64) {
        let file = self.inodes.entry(inode).or_default();
        let (old, new) = (file.cached.len(), len as usize);
        file.cached.resize(new, 0);
        file.dirty.extend(new.min(old) / SECTOR..new.max(old).div_ceil(SECTOR));
    }

    pub(super) fn len(&self, inode: u64) -> u64 {
        self.inodes.get(&inode).map_or(0, |file| file.cached.len() as u64)
    }

    pub(super) fn sync(&mut self, inode: u64) -> io::Result<()> {
        self.counts.syncs += 1;
        let fault = self.next_fault()?;
        let file = self.inodes.entry(inode).or_default();
        if file.had_failed_sync {
            self.counts.syncs_after_failure += 1;
        }
        match fault {
            Some(FaultKind::Errno(errno)) => {
                file.lost.append(&mut file.dirty);
                file.had_failed_sync = true;
                self.counts.failed_syncs += 1;
                return Err(io::Error::from_raw_os_error(errno));
            }
            Some(FaultKind::Interrupted) => return self.interrupted(),
            Some(FaultKind::ShortWrite) | None => {}
        }
        file.become_durable();
        Ok(())
    }

    /// All files and all names. When it fails, every file with dirty pages has lost them.
    pub(super) fn sync_fs(&mut self) -> io::Result<()> {
        self.counts.syncs += 1;
        match self.next_fault()? {
            Some(FaultKind::Errno(errno)) => {
                for file in self.inodes.values_mut().filter(|file| !file.dirty.is_empty()) {
                    file.lost.append(&mut file.dirty);
                    file.had_failed_sync = true;
                }
                self.counts.failed_syncs += 1;
                return Err(io::Error::from_raw_os_error(errno));
            }
            Some(FaultKind::Interrupted) => return self.interrupted(),
            Some(FaultKind::ShortWrite) | None => {}
        }
        self.inodes.values_mut().for_each(Inode::become_durable);
        let pending = std::mem::take(&mut self.pending);
        pending.iter().for_each(|change| change.apply(&mut self.durable_names));
        Ok(())
    }

    /// What the cache holds and the disk never got is read from the disk again.
    pub(super) fn drop_cache(&mut self, inode: u64) {
        self.inodes.entry(inode).or_default().drop_cache();
    }

    pub(super) fn try_lock(&mut self, inode: u64, handle: u64) -> bool {
        let file = self.inodes.entry(inode).or_default();
        *file.locked_by.get_or_insert(handle) == handle
    }

    pub(super) fn unlock(&mut self, inode: u64, handle: u64) {
        if let Some(file) = self.inodes.get_mut(&inode)
            && file.locked_by == Some(handle)
        {
            file.locked_by = None;
        }
    }

    pub(super) fn after_crash(&self, seed: u64) -> Disk {
        let mut random = Random::new(seed);
        let survival = match random.below(10) {
            0 => Survival::Nothing,
            1 => Survival::Everything,
            _ => Survival::EachForItself,
        };
        let mut disk = self.successor();
        for (inode, file) in &self.inodes {
            let content = file.after_crash(&mut random, survival);
            disk.inodes
                .insert(*inode, Inode { durable: content.clone(), cached: content, ..Inode::default() });
        }
        disk.names.clone_from(&self.durable_names);
        for change in &self.pending {
            if survival == Survival::Everything
                || (survival == Survival::EachForItself && random.below(2) == 0)
            {
                change.apply(&mut disk.names);
            }
        }
        disk.names.drop_strays();
        disk.durable_names.clone_from(&disk.names);
        disk
    }

    pub(super) fn after_kill(&self) -> Disk {
        let mut disk = self.successor();
        disk.inodes.clone_from(&self.inodes);
        for file in disk.inodes.values_mut() {
            file.locked_by = None;
            file.had_failed_sync = false;
        }
        disk.names.clone_from(&self.names);
        disk.durable_names.clone_from(&self.durable_names);
        disk.pending.clone_from(&self.pending);
        disk
    }

    fn successor(&self) -> Disk {
        Disk { next_id: self.next_id, now_ms: self.now_ms, ..Disk::new(self.random.seed()) }
    }

    pub(super) fn content(&self, path: &Path) -> Option<Vec<u8>> {
        Some(self.inodes.get(self.names.files.get(path)?)?.cached.clone())
    }

    pub(super) fn put_durably(&mut self, path: &Path, bytes: &[u8]) {
        let dirs: Vec<_> = path.ancestors().skip(1).map(Path::to_owned).collect();
        self.names.dirs.extend(dirs.iter().cloned());
        self.durable_names.dirs.extend(dirs);
        let inode = self.new_id();
        let file = Inode { durable: bytes.to_vec(), cached: bytes.to_vec(), ..Inode::default() };
        self.inodes.insert(inode, file);
        self.names.files.insert(path.to_owned(), inode);
        self.durable_names.files.insert(path.to_owned(), inode);
    }

    pub(super) fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        self.names.files.keys().filter_map(|path| Some((path.clone(), self.content(path)?))).collect()
    }
}
