//! A small ext4 file system of our own: an image in memory behind a loop device, so that it can be cut off and filled.

use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail, ensure};
use tempfile::TempDir;

use crate::setting::temporary;
use crate::shutdown;

/// An ext4 file system in an image. It is unmounted and removed when this value goes.
#[derive(Debug)]
pub struct Volume {
    folder: TempDir,
    is_mounted: bool,
}

impl Volume {
    /// Makes a file system of that many bytes in the folder `images`.
    ///
    /// # Errors
    /// What this machine lacks for it: root, loop devices, or `mkfs.ext4`.
    pub fn create(images: &Path, bytes: u64) -> anyhow::Result<Volume> {
        ensure!(rustix::process::geteuid().is_root(), "file systems are mounted here: run it as root");
        ensure!(
            Path::new("/dev/loop-control").exists(),
            "this kernel has no loop devices (/dev/loop-control is missing): load the module `loop`"
        );
        let folder = temporary(images)?;
        let volume = Volume { folder, is_mounted: false };
        File::create(volume.image())?.set_len(bytes)?;
        std::fs::create_dir(volume.path())?;
        // No blocks are kept back for root, whom these tests are: full shall mean full.
        let words = ["-q", "-F", "-m", "0"].map(OsStr::new);
        run("mkfs.ext4", words.into_iter().chain([volume.image().as_os_str()]))?;
        Ok(volume)
    }

    /// Where it is mounted.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("mount")
    }

    /// A folder outside of it that lives as long as it does.
    #[must_use]
    pub fn beside(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    fn image(&self) -> PathBuf {
        self.folder.path().join("image")
    }

    /// Mounts it; after a cut this replays the journal. `data` is ext4's mode of journalling.
    ///
    /// # Errors
    /// What `mount` says.
    pub fn mount(&mut self, data: &str) -> anyhow::Result<()> {
        let options = format!("loop,data={data}");
        let (image, path) = (self.image(), self.path());
        let words = ["-t", "ext4", "-o", &options].map(OsStr::new);
        run("mount", words.into_iter().chain([image.as_os_str(), path.as_os_str()]))?;
        self.is_mounted = true;
        Ok(())
    }

    /// Unmounts it.
    ///
    /// # Errors
    /// What `umount` says, such as that a process still uses it.
    pub fn unmount(&mut self) -> anyhow::Result<()> {
        run("umount", [self.path().as_os_str()])?;
        self.is_mounted = false;
        Ok(())
    }

    /// Cuts its power.
    ///
    /// # Errors
    /// When the kernel does not take the request.
    pub fn cut(&self) -> anyhow::Result<()> {
        shutdown::cut(&self.path())
            .context("the kernel does not cut this file system off (EXT4_IOC_SHUTDOWN)")
    }

    /// Bytes that are free on it.
    ///
    /// # Errors
    /// When the kernel does not say.
    pub fn free_bytes(&self) -> anyhow::Result<u64> {
        let stat = rustix::fs::statvfs(self.path())?;
        Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
    }

    /// Leaves image and all in their folder, unmounted, for whoever looks into a failure.
    pub fn keep(mut self) -> PathBuf {
        let _ = self.unmount();
        self.folder.disable_cleanup(true);
        self.folder.path().to_owned()
    }
}

impl Drop for Volume {
    fn drop(&mut self) {
        if self.is_mounted {
            // One that is still used goes when its last user does; the image's folder could not be removed before.
            let _ = Command::new("umount").arg("--lazy").arg(self.path()).status();
        }
    }
}

fn run<'a>(program: &str, words: impl IntoIterator<Item = &'a OsStr>) -> anyhow::Result<()> {
    let ran = Command::new(program).args(words).output();
    let output = ran.with_context(|| format!("cannot run {program}: is it installed?"))?;
    if !output.status.success() {
        bail!("{program} ended with {}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}
