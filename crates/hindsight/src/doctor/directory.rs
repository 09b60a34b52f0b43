//! The data directory: whose it is, whether it can be written, how much room there is, on what it lies, which format it has
//! and who has it open.

use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::time::UNIX_EPOCH;

use hindsight_server::Config;
use hindsight_storage::RealIo;
use hindsight_storage::io::Io as _;
use hindsight_storage::store::FORMAT_VERSION;

use super::finding::Finding;
use crate::screen::grouped;

/// File systems on which a sync may not mean what it says.
const DOUBTFUL: [&str; 8] = ["nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs", "overlay", "tmpfs"];
/// Room below which a disk counts as nearly full, in segments of the log.
const SEGMENTS_LEAST: u64 = 4;

/// Everything about the directory, as far as it is there.
pub(crate) fn look(config: &Config) -> Vec<Finding> {
    const CHECK: &str = "data directory";
    let data = &config.data;
    let shown = data.display();
    match std::fs::metadata(data) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let mut found =
                vec![Finding::ok(CHECK, format!("{shown} is not there; `hindsight serve` makes it"))];
            found.extend(existing_parent(data).map(|parent| room(parent, config)));
            found
        }
        Err(error) => vec![Finding::wrong(
            CHECK,
            format!("{shown} can't be looked at: {error}"),
            "run this as the user that the server runs as, or name another directory with --data",
        )],
        Ok(about) if !about.is_dir() => vec![Finding::wrong(
            CHECK,
            format!("{shown} is no directory"),
            "name a directory with --data, or in the configuration as `data`",
        )],
        Ok(about) => {
            vec![owner(data, &about), format_of(data), lock(data), file_system(data), room(data, config)]
        }
    }
}

/// When the newest file of the directory was changed, in milliseconds since 1970.
pub(crate) fn newest_ms(data: &Path) -> Option<i64> {
    let times = std::fs::read_dir(data).ok()?.flatten().filter_map(|entry| {
        let changed = entry.metadata().ok()?.modified().ok()?;
        i64::try_from(changed.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()
    });
    times.max()
}

fn existing_parent(data: &Path) -> Option<&Path> {
    data.ancestors()
        .skip(1)
        .map(|path| if path.as_os_str().is_empty() { Path::new(".") } else { path })
        .find(|path| path.is_dir())
}

fn owner(data: &Path, about: &std::fs::Metadata) -> Finding {
    const CHECK: &str = "owner";
    let shown = data.display();
    let mode = about.permissions().mode() & 0o777;
    // Files of /proc/self are the process's own.
    let me = std::fs::metadata("/proc/self").map(|about| about.uid()).ok();
    match me {
        Some(me) if me != about.uid() => {
            let detail = format!("{shown} is user {}'s, and this is user {me}", about.uid());
            // Root may open it; but what root makes in it the server's user can't.
            let fix = format!(
                "`chown -R {me} {shown}`, or run as user {}: `sudo -u '#{}' hindsight …`",
                about.uid(),
                about.uid()
            );
            if me == 0 { Finding::warning(CHECK, detail, fix) } else { Finding::wrong(CHECK, detail, fix) }
        }
        _ if mode & 0o300 != 0o300 => Finding::wrong(
            CHECK,
            format!("{shown} has mode {mode:o} and can't be written"),
            format!("`chmod 700 {shown}`"),
        ),
        _ if mode & 0o077 != 0 => Finding::warning(
            CHECK,
            format!("{shown} has mode {mode:o}: others of this machine may see what is in it"),
            format!("`chmod 700 {shown}`"),
        ),
        _ => Finding::ok(CHECK, format!("{shown} is this user's, mode {mode:o}")),
    }
}

fn format_of(data: &Path) -> Finding {
    const CHECK: &str = "format";
    let text = match std::fs::read(data.join("FORMAT")) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let is_empty = std::fs::read_dir(data).is_ok_and(|mut entries| entries.next().is_none());
            return if is_empty {
                Finding::ok(CHECK, "the directory is empty; `hindsight serve` fills it")
            } else {
                let detail = format!("{} holds files and no FORMAT: it is no database", data.display());
                Finding::wrong(CHECK, detail, "name another directory with --data")
            };
        }
        Err(error) => {
            return Finding::wrong(
                CHECK,
                format!("FORMAT can't be read: {error}"),
                "run this as the server's user",
            );
        }
    };
    let json: serde_json::Value = serde_json::from_slice(&text).unwrap_or_default();
    let number = |name: &str| json.get(name).and_then(serde_json::Value::as_u64);
    match (number("format"), number("min_reader")) {
        (Some(format), Some(least)) if least > u64::from(FORMAT_VERSION) => Finding::wrong(
            CHECK,
            format!("format {format} wants a reader of {least}; this program reads up to {FORMAT_VERSION}"),
            "use the newer program that wrote it",
        ),
        (Some(format), Some(_)) => Finding::ok(CHECK, format!("format {format}, which this program reads")),
        _ => Finding::wrong(
            CHECK,
            "FORMAT can't be understood",
            "`hindsight verify --data DIR` says what is damaged",
        ),
    }
}

fn lock(data: &Path) -> Finding {
    const CHECK: &str = "lock";
    let path = data.join("LOCK");
    let Ok(file) = File::open(&path) else { return Finding::ok(CHECK, "nobody has the directory open") };
    match file.try_lock_shared() {
        Ok(()) => Finding::ok(CHECK, "nobody has the directory open"),
        Err(TryLockError::WouldBlock) => {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            let pid = text.lines().find_map(|line| line.strip_prefix("pid "));
            let holder = pid.map_or_else(|| "a process".to_owned(), |pid| format!("process {pid}"));
            Finding::ok(CHECK, format!("{holder} has the directory open; a second server would be refused"))
        }
        Err(TryLockError::Error(error)) => Finding::warning(
            CHECK,
            format!("the lock can't be tried: {error}"),
            "put the data directory on a local disk: without locks two servers could open it",
        ),
    }
}

fn file_system(data: &Path) -> Finding {
    const CHECK: &str = "file system";
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let Ok(path) = data.canonicalize() else { return Finding::skipped(CHECK, "the path can't be resolved") };
    let Some(kind) = kind_of(&mounts, &path) else {
        return Finding::skipped(CHECK, "this system does not say what the directory lies on");
    };
    if DOUBTFUL.contains(&kind.as_str()) {
        return Finding::warning(
            CHECK,
            format!("{} lies on {kind}, where a sync may not reach a disk of this machine", data.display()),
            "put the data directory on a local disk or a mounted volume",
        );
    }
    Finding::ok(CHECK, kind)
}

/// The kind of the mount with the longest path above `path`.
fn kind_of(mounts: &str, path: &Path) -> Option<String> {
    let mounted = mounts.lines().filter_map(|line| {
        let mut words = line.split(' ').skip(1);
        let (place, kind) = (words.next()?, words.next()?);
        path.starts_with(place).then_some((place.len(), kind))
    });
    // Of two at one place the later one is on top.
    mounted.max_by_key(|(length, _)| *length).map(|(_, kind)| kind.to_owned())
}

fn room(place: &Path, config: &Config) -> Finding {
    const CHECK: &str = "room on disk";
    let free = match RealIo.free_bytes(place) {
        Ok(free) => free,
        Err(error) => return Finding::skipped(CHECK, format!("can't be looked at: {error}")),
    };
    let least = config.storage.segment_bytes.saturating_mul(SEGMENTS_LEAST);
    let detail = format!("{} MiB free", grouped(free >> 20));
    if free < least {
        let fix = format!(
            "free {} MiB more: on a full disk writes are refused",
            grouped((least - free).div_ceil(1 << 20))
        );
        return Finding::warning(CHECK, detail, fix);
    }
    Finding::ok(CHECK, detail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding::Grade;

    #[test]
    fn the_nearest_mount_says_the_kind() {
        let mounts =
            "/dev/vda / ext4 rw 0 0\nserver:/x /srv/data nfs4 rw 0 0\ntmpfs /srv/data tmpfs rw 0 0\n";
        assert_eq!(kind_of(mounts, Path::new("/home/a")).unwrap(), "ext4");
        assert_eq!(kind_of(mounts, Path::new("/srv/data/db")).unwrap(), "tmpfs");
        assert_eq!(kind_of(mounts, Path::new("/srv/database")).unwrap(), "ext4");
    }

    #[test]
    fn each_thing_that_is_wrong_with_a_directory_has_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let config = Config { data: data.clone(), ..Config::default() };
        assert_eq!(look(&config)[0].grade, Grade::Ok);
        std::fs::create_dir(&data).unwrap();
        std::fs::set_permissions(&data, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::write(data.join("notes.txt"), "x").unwrap();
        let found = look(&config);
        let of = |name: &str| found.iter().find(|finding| finding.check == name).unwrap();
        assert_eq!(of("owner").fix.clone().unwrap(), format!("`chmod 700 {}`", data.display()));
        assert_eq!(
            (of("format").grade, of("format").fix.clone().unwrap().as_str()),
            (Grade::Wrong, "name another directory with --data")
        );
        std::fs::write(data.join("FORMAT"), r#"{"format":9,"min_reader":9}"#).unwrap();
        assert!(look(&config)[1].detail.contains("format 9 wants a reader of 9"));
        std::fs::write(data.join("LOCK"), "pid 77\nsince_ms 1\n").unwrap();
        let held = File::open(data.join("LOCK")).unwrap();
        held.lock().unwrap();
        assert!(look(&config)[2].detail.contains("process 77 has the directory open"));
    }
}
