//! A file: what is cached of it, what is durable, and what a crash makes of the difference.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Random;

pub(super) const SECTOR: usize = 512;

#[derive(Debug, Clone, Default)]
pub(super) struct Inode {
    /// Shared with the disks that were made of this one, until one of them is written to: a crash point costs what
    /// differs, not what there is.
    pub(super) durable: Arc<Vec<u8>>,
    pub(super) cached: Arc<Vec<u8>>,
    /// Sectors in which the cache is ahead of the disk, and that the next sync will write.
    pub(super) dirty: BTreeSet<usize>,
    /// Sectors that a failed sync marked clean.
    pub(super) lost: BTreeSet<usize>,
    pub(super) locked_by: Option<u64>,
    pub(super) had_failed_sync: bool,
}

/// How much of what was pending survives a crash.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Survival {
    Nothing,
    Everything,
    EachForItself,
}

impl Inode {
    /// What is durable, and nothing else.
    pub(super) fn of(content: Arc<Vec<u8>>) -> Inode {
        Inode { durable: Arc::clone(&content), cached: content, ..Inode::default() }
    }

    /// The cached bytes, to be changed.
    pub(super) fn cached_mut(&mut self) -> &mut Vec<u8> {
        Arc::make_mut(&mut self.cached)
    }

    /// What the cache holds and the disk never got is read from the disk again.
    pub(super) fn drop_cache(&mut self) {
        for sector in std::mem::take(&mut self.lost) {
            if !self.dirty.contains(&sector) {
                copy_sector(Arc::<Vec<u8>>::make_mut(&mut self.cached), &self.durable, sector);
            }
        }
    }

    pub(super) fn become_durable(&mut self) {
        if self.durable.len() != self.cached.len() {
            Arc::make_mut(&mut self.durable).resize(self.cached.len(), 0);
        }
        for sector in std::mem::take(&mut self.dirty) {
            self.lost.remove(&sector);
            copy_sector(Arc::<Vec<u8>>::make_mut(&mut self.durable), &self.cached, sector);
        }
    }

    /// Length and every dirty sector are decided each for itself.
    pub(super) fn after_crash(&self, random: &mut Random, survival: Survival) -> Arc<Vec<u8>> {
        let keeps_new_len = match survival {
            Survival::Nothing => return Arc::clone(&self.durable),
            Survival::Everything => true,
            Survival::EachForItself => random.below(2) == 0,
        };
        let mut shared = Arc::clone(&self.durable);
        let len = if keeps_new_len { self.cached.len() } else { self.durable.len() };
        if len != shared.len() {
            Arc::make_mut(&mut shared).resize(len, 0);
        }
        for sector in &self.dirty {
            let content = Arc::make_mut(&mut shared);
            let fate = if survival == Survival::Everything { 1 } else { random.below(5) };
            let start = (sector * SECTOR).min(content.len());
            let end = (start + SECTOR).min(content.len());
            match fate {
                0 => {}
                1 => copy_sector(content, &self.cached, *sector),
                2 => content[start..end].fill(0),
                3 => content[start..end].fill_with(|| random.next() as u8),
                _ => {
                    let old = content[start..end].to_vec();
                    copy_sector(content, &self.cached, *sector);
                    let cut = random.below(SECTOR as u64) as usize;
                    if let Some(rest) = old.get(cut..) {
                        content[start + cut..end].copy_from_slice(rest);
                    }
                }
            }
        }
        shared
    }
}

/// Copies one sector between two images of a file; what the source does not have is zero.
fn copy_sector(to: &mut [u8], from: &[u8], sector: usize) {
    let start = (sector * SECTOR).min(to.len());
    let end = (start + SECTOR).min(to.len());
    let there = from.len().clamp(start, end);
    to[start..there].copy_from_slice(from.get(start..there).unwrap_or_default());
    to[there..end].fill(0);
}
