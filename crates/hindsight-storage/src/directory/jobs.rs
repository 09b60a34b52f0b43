//! Small notes of background work: what it is at, so that it can go on after a restart instead of beginning anew.
//!
//! They never hold anything of what a memory says, and losing them costs time only: a rebuild forgets them.

use super::{error::DirectoryError, stamp::hash};

/// Longest key of a job, in bytes; it has at least one.
pub const JOB_KEY_BYTES_MAX: usize = 128;
/// Longest value of a job, in bytes.
pub const JOB_VALUE_BYTES_MAX: usize = 4_096;
/// Most jobs: with the limits above, 4 MiB.
pub const JOBS_MAX: usize = 1_024;

/// Key and value of a note.
pub type Job = (Vec<u8>, Vec<u8>);

/// The first byte of every key that is a job's.
pub(super) const TAG: u8 = b'j';
/// The first byte after those of all jobs.
pub(super) const TAG_END: u8 = TAG + 1;

/// Count and digest of all jobs: what sled loses or brings back by itself is found at open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct JobSum {
    pub(super) jobs: u64,
    pub(super) digest: u128,
}

const SUM_BYTES: usize = 24;

impl JobSum {
    /// Takes the change of one job in; the numbers wrap as those of a stamp.
    pub(super) fn replace(&mut self, key: &[u8], old: Option<&[u8]>, new: Option<&[u8]>) {
        if let Some(old) = old {
            self.jobs = self.jobs.wrapping_sub(1);
            self.digest = self.digest.wrapping_sub(hash_of_job(key, old));
        }
        if let Some(new) = new {
            self.jobs = self.jobs.wrapping_add(1);
            self.digest = self.digest.wrapping_add(hash_of_job(key, new));
        }
    }

    pub(super) fn to_bytes(self) -> [u8; SUM_BYTES] {
        let mut bytes = [0; SUM_BYTES];
        bytes[..8].copy_from_slice(&self.jobs.to_le_bytes());
        bytes[8..].copy_from_slice(&self.digest.to_le_bytes());
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Option<JobSum> {
        let (jobs, digest) = bytes.split_first_chunk::<8>()?;
        Some(JobSum { jobs: u64::from_le_bytes(*jobs), digest: u128::from_le_bytes(digest.try_into().ok()?) })
    }
}

/// The length of the key goes in first, so that no byte can move from key to value.
fn hash_of_job(key: &[u8], value: &[u8]) -> u128 {
    hash(&[&(key.len() as u64).to_le_bytes(), key, value].concat())
}

/// Holds a job against the limits.
pub(super) fn check(key: &[u8], value: &[u8]) -> Result<(), DirectoryError> {
    if key.is_empty() || key.len() > JOB_KEY_BYTES_MAX {
        return Err(DirectoryError::JobKey { bytes: key.len(), bytes_max: JOB_KEY_BYTES_MAX });
    }
    if value.len() > JOB_VALUE_BYTES_MAX {
        return Err(DirectoryError::JobValue { bytes: value.len(), bytes_max: JOB_VALUE_BYTES_MAX });
    }
    Ok(())
}

/// The key under which a job is stored.
pub(super) fn stored_key(key: &[u8]) -> Vec<u8> {
    [&[TAG], key].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_byte_moves_from_key_to_value_unnoticed() {
        let (mut one, mut other) = (JobSum::default(), JobSum::default());
        one.replace(b"ab", None, Some(b"c"));
        other.replace(b"a", None, Some(b"bc"));
        assert_ne!(one, other);
        assert_eq!(JobSum::from_bytes(&one.to_bytes()), Some(one));
        one.replace(b"ab", Some(b"c"), None);
        assert_eq!(one, JobSum::default());
    }
}
