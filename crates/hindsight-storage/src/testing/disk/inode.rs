//! A file: what is cached of it, what is durable, and what a crash makes of the difference.

use std::collections::BTreeSet;

use super::Random;

pub(super) const SECTOR: usize = 512;

#[derive(Debug, Clone, Default)]
pub(super) struct Inode {
    pub(super) durable: Vec<u8>,
    pub(super) cached: Vec<u8>,
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
    /// What the cache holds and the disk never got is read from the disk again.
    pub(super) fn drop_cache(&mut self) {
        for sector in std::mem::take(&mut self.lost) {
            if !self.dirty.contains(&sector) {
                copy_sector(&mut self.cached, &self.durable, sector);
            }
        }
    }

    pub(super) fn become_durable(&mut self) {
        self.durable.resize(self.cached.len(), 0);
        for sector in std::mem::take(&mut self.dirty) {
            self.lost.remove(&sector);
            copy_sector(&mut self.durable, &self.cached, sector);
        }
    }

    /// Length and every dirty sector are decided each for itself.
    pub(super) fn after_crash(&self, random: &mut Random, survival: Survival) -> Vec<u8> {
        let keeps_new_len = match survival {
            Survival::Nothing => return self.durable.clone(),
            Survival::Everything => true,
            Survival::EachForItself => random.below(2) == 0,
        };
        let mut content = self.durable.clone();
        content.resize(if keeps_new_len { self.cached.len() } else { self.durable.len() }, 0);
        for sector in &self.dirty {
            let fate = if survival == Survival::Everything { 1 } else { random.below(5) };
            let start = (sector * SECTOR).min(content.len());
            let end = (start + SECTOR).min(content.len());
            match fate {
                0 => {}
                1 => copy_sector(&mut content, &self.cached, *sector),
                2 => content[start..end].fill(0),
                3 => content[start..end].fill_with(|| random.next() as u8),
                _ => {
                    let old = content[start..end].to_vec();
                    copy_sector(&mut content, &self.cached, *sector);
                    let cut = random.below(SECTOR as u64) as usize;
                    if let Some(rest) = old.get(cut..) {
                        content[start + cut..end].copy_from_slice(rest);
                    }
                }
            }
        }
        content
    }
}

/// Copies one sector between two images of a file; what the source does not have is zero.
fn copy_sector(to: &mut [u8], from: &[u8], sector: usize) {
    let start = sector * SECTOR;
    let end = (start + SECTOR).min(to.len());
    for (at, byte) in to.iter_mut().enumerate().take(end).skip(start) {
        *byte = from.get(at).copied().unwrap_or(0);
    }
}
