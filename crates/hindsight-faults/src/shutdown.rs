//! The one call that cuts a file system off from its disk, as a power cut would.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::ioctl::{Opcode, Setter, ioctl, opcode};

/// `EXT4_IOC_SHUTDOWN` of Linux' `fs/ext4/ext4.h`: `_IOR('X', 125, __u32)`; XFS has the same number.
const EXT4_IOC_SHUTDOWN: Opcode = opcode::read::<u32>(b'X', 125);
/// `EXT4_GOING_FLAGS_NOLOGFLUSH`: whatever is not in the journal on disk by now never gets there.
const NOLOGFLUSH: u32 = 2;

/// Cuts the ext4 file system mounted at `mount` off: every later read, write and sync fails, dirty pages never reach
/// the disk, and the journal is not flushed. What a successful sync promised is on the disk; nothing else needs to be.
///
/// # Errors
/// When it is not ext4, or the caller is not root.
pub fn cut(mount: &Path) -> io::Result<()> {
    let folder = File::open(mount)?;
    #[expect(
        unsafe_code,
        reason = "the request has no safe form: its number and its argument's type are ours to know"
    )]
    // SAFETY: the kernel's declaration of this request is `_IOR('X', 125, __u32)`, which is what the opcode is made of,
    // and it reads one `u32` through the pointer (`get_user` in `ext4_ioctl_shutdown`): exactly what `Setter` with a
    // `u32` passes. It writes no memory of this process. A file system that does not know the number answers ENOTTY.
    unsafe {
        ioctl(&folder, Setter::<EXT4_IOC_SHUTDOWN, u32>::new(NOLOGFLUSH))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_is_the_kernels() {
        assert_eq!(EXT4_IOC_SHUTDOWN, 0x8004_587d);
    }

    #[test]
    fn a_file_system_that_does_not_know_it_says_so() {
        assert!(cut(Path::new("/proc")).is_err());
        assert!(cut(Path::new("/nowhere")).is_err());
    }
}
