//! `backup`: a copy of a whole database as one file, taken from a running server, and a database made of it.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Subcommand};
use hindsight_storage::{BackupReport, RealIo, backup};
use serde::Serialize;

use crate::connection::Connection;
use crate::failure::Failure;
use crate::output::{Out, tell};
use crate::progress::Progress;
use crate::screen::{counted, grouped};

/// Bytes of one read of a backup.
const READ_BYTES: usize = 1 << 20;

/// What to do with backups.
#[derive(Debug, Args)]
pub(crate) struct BackupArgs {
    #[command(subcommand)]
    pub(crate) action: BackupAction,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum BackupAction {
    /// Take a backup of the server's whole database while it is used
    Create(CreateArgs),
    /// Make a data directory of a backup; no server is needed
    Restore(RestoreArgs),
    /// Check that a backup is whole; no server is needed
    Verify(VerifyArgs),
}

/// Where to.
#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    /// The file; it appears whole or not at all (until then it is FILE.tmp)
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

/// From where to where.
#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    /// The backup
    file: PathBuf,
    /// The data directory to make; it must be missing or empty
    #[arg(long, value_name = "DIR")]
    into: PathBuf,
    /// The file ERASED of the database: what was purged since the backup is purged from the copy, too
    #[arg(long, value_name = "FILE")]
    ledger: Option<PathBuf>,
}

/// Which one.
#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// The backup
    file: PathBuf,
}

/// What a backup holds, for programs.
#[derive(Debug, Serialize)]
struct Summary<'a> {
    file: &'a Path,
    revision: u64,
    entries: u64,
    record_files: u64,
    batches: u64,
    bytes: u64,
    blake3: String,
}

/// Takes a backup. What was received is read back from the disk and checked before it gets its name.
pub(crate) async fn create(connection: &Connection, args: CreateArgs, out: &mut Out) -> Result<(), Failure> {
    let path = args.out;
    let mut tmp = path.clone().into_os_string();
    tmp.push(".tmp");
    let tmp = PathBuf::from(tmp);
    let report = match receive(connection, &tmp).await {
        Ok(report) => report,
        Err(failure) => {
            // Half a backup is of no use to anybody.
            let _ = std::fs::remove_file(&tmp);
            return Err(failure);
        }
    };
    publish(&tmp, &path).map_err(|source| Failure::Create { path: path.clone(), source })?;
    print(&path, &report, "backed up", out)
}

async fn receive(connection: &Connection, tmp: &Path) -> Result<BackupReport, Failure> {
    let failed = |source| Failure::Create { path: tmp.to_owned(), source };
    // It holds everything that the database does, so it is for its owner only, as that is.
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    let file = options.open(tmp).map_err(failed)?;
    let progress = Progress::bytes(None);
    let mut counted = Counted { file, bytes: 0, progress: &progress };
    let summary = connection.client().backup(&mut counted).await?;
    counted.file.sync_all().map_err(failed)?;
    progress.finish();
    let report = check(tmp)?;
    if blake3::Hash::from_bytes(report.blake3).to_hex().as_str() != summary.blake3 {
        return Err(Failure::OtherBackup { path: tmp.to_owned() });
    }
    Ok(report)
}

/// IMPORTANT: the bytes were synced before; now the name, or a crash could take it back.
fn publish(tmp: &Path, path: &Path) -> io::Result<()> {
    std::fs::rename(tmp, path)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

/// Makes a data directory of a backup.
pub(crate) fn restore(args: &RestoreArgs, out: &mut Out) -> Result<(), Failure> {
    let RestoreArgs { file, into, ledger } = args;
    let io = Arc::new(RealIo);
    let restored = match ledger {
        None => backup::restore(&io, open(file)?, into),
        Some(path) => {
            let read = |source| Failure::Read { name: path.display().to_string(), source };
            let ledger = std::fs::read(path).map_err(read)?;
            backup::restore_with_ledger(&io, open(file)?, &ledger, into)
        }
    };
    let report =
        restored.map_err(|source| Failure::Backup { path: file.clone(), source: Box::new(source) })?;
    print(file, &report, "restored", out)?;
    tell(&format!("serve it with: hindsight serve --data {}", into.display()));
    Ok(())
}

/// Checks a backup.
pub(crate) fn verify(args: &VerifyArgs, out: &mut Out) -> Result<(), Failure> {
    match check(&args.file) {
        Ok(report) => print(&args.file, &report, "sound", out),
        Err(Failure::Backup { path, source }) if is_damage(&source) => {
            Err(Failure::BackupUnsound { path, source })
        }
        Err(failure) => Err(failure),
    }
}

fn is_damage(error: &hindsight_storage::BackupError) -> bool {
    use hindsight_storage::BackupError::{Damaged, NotABackup};
    matches!(error, Damaged { .. } | NotABackup)
}

fn check(path: &Path) -> Result<BackupReport, Failure> {
    backup::verify(open(path)?)
        .map_err(|source| Failure::Backup { path: path.to_owned(), source: Box::new(source) })
}

fn open(path: &Path) -> Result<BufReader<File>, Failure> {
    let file =
        File::open(path).map_err(|source| Failure::Read { name: path.display().to_string(), source })?;
    Ok(BufReader::with_capacity(READ_BYTES, file))
}

fn print(path: &Path, report: &BackupReport, done: &str, out: &mut Out) -> Result<(), Failure> {
    let summary = Summary {
        file: path,
        revision: report.lsn.0,
        entries: report.entries,
        record_files: report.files,
        batches: report.batches,
        bytes: report.bytes,
        blake3: blake3::Hash::from_bytes(report.blake3).to_hex().to_string(),
    };
    out.single(&summary, |_, _| {
        format!(
            "{done}: {}, everything up to revision {}, {}, blake3 {}",
            path.display(),
            grouped(summary.revision),
            counted(summary.bytes, "byte", "bytes"),
            summary.blake3
        )
    })
}

/// Shows how much has come.
struct Counted<'a> {
    file: File,
    bytes: u64,
    progress: &'a Progress,
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.bytes += written as u64;
        self.progress.set_items(self.bytes);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
