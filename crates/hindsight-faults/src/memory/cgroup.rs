//! A memory cgroup of our own, of either version.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

const ROOT: &str = "/sys/fs/cgroup";

/// A cgroup with a limit on its memory; removed when this value goes.
#[derive(Debug)]
pub(super) struct Cgroup {
    folder: PathBuf,
}

impl Cgroup {
    /// Makes one. What the kernel keeps of files counts too, but is given up first.
    ///
    /// # Errors
    /// When this machine lets nobody, or not us, make one.
    pub(super) fn with_limit(bytes: u64) -> anyhow::Result<Cgroup> {
        let (parent, limit) = place()?;
        let folder = parent.join(format!("hindsight-faults-{}", std::process::id()));
        fs::create_dir(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let cgroup = Cgroup { folder };
        let file = cgroup.folder.join(limit);
        fs::write(&file, bytes.to_string()).with_context(|| format!("cannot write {}", file.display()))?;
        // What does not fit is not to go to swap; a kernel without swap has no such file.
        let _ = fs::write(cgroup.folder.join("memory.swap.max"), "0");
        let _ = fs::write(cgroup.folder.join("memory.swappiness"), "0");
        Ok(cgroup)
    }

    /// A program that runs another inside it.
    pub(super) fn under(&self) -> Vec<OsString> {
        let enter = "echo $$ >\"$0\" && exec \"$@\"";
        vec!["sh".into(), "-c".into(), enter.into(), self.folder.join("cgroup.procs").into()]
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // Its processes have ended. One that is still being taken down keeps it, and harms nobody.
        let _ = fs::remove_dir(&self.folder);
    }
}

/// Where cgroups with a limit on memory can be made, and the file of the limit.
fn place() -> anyhow::Result<(PathBuf, &'static str)> {
    let own = fs::read_to_string("/proc/self/cgroup").context("cannot read /proc/self/cgroup")?;
    if let Some(path) = own_path(&own) {
        let parent = Path::new(ROOT).join("memory").join(path.trim_start_matches('/'));
        // A container may see its own cgroup as the root.
        let parent = if parent.is_dir() { parent } else { Path::new(ROOT).join("memory") };
        return Ok((parent, "memory.limit_in_bytes"));
    }
    // A cgroup that has processes gives none of its controllers on, unless it is the root.
    let root = Path::new(ROOT);
    let control = root.join("cgroup.subtree_control");
    fs::write(&control, "+memory").with_context(|| format!("cannot write {}", control.display()))?;
    Ok((root.to_owned(), "memory.max"))
}

/// The path of the memory controller of version 1.
fn own_path(own: &str) -> Option<&str> {
    own.lines().find_map(|line| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        controllers.split(',').any(|controller| controller == "memory").then_some(path)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_controller_is_found_where_it_is() {
        assert_eq!(own_path("9:name=systemd:/\n4:cpu,memory:/a/b\n0::/\n"), Some("/a/b"));
        assert_eq!(own_path("0::/system.slice\n"), None);
    }
}
