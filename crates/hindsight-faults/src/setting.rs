//! Where and with what a command runs: the program under test, a place for its data, a seed.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, ensure};
use hindsight_storage::sabotage::MARK;

/// The flags that every command has.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The server to break [default: `hindsight` beside this program]
    #[arg(long, value_name = "FILE", global = true)]
    program: Option<PathBuf>,
    /// A folder for data directories [default: the system's folder for temporary files]
    #[arg(long, value_name = "DIR", global = true)]
    scratch: Option<PathBuf>,
    /// A folder for images of file systems; it should lie in memory
    #[arg(long, value_name = "DIR", default_value = "/dev/shm", global = true)]
    images: PathBuf,
    /// Makes the same requests again [default: from the clock]
    #[arg(long, global = true)]
    seed: Option<u64>,
}

/// What every command needs.
#[derive(Debug)]
pub struct Setting {
    /// The server's program.
    pub program: PathBuf,
    /// Where data directories are made.
    pub scratch: PathBuf,
    /// Where images of file systems are made.
    pub images: PathBuf,
    /// Everything random comes from it.
    pub seed: u64,
    /// Runs the clients.
    pub runtime: tokio::runtime::Runtime,
}

impl Setting {
    /// Reads the flags.
    ///
    /// # Errors
    /// When the program is not there, or the clients' runtime does not start.
    pub fn new(args: Args) -> anyhow::Result<Setting> {
        let program = match args.program {
            Some(program) => program,
            None => std::env::current_exe()?.with_file_name("hindsight"),
        };
        ensure!(
            program.is_file(),
            "{} is not there: build it with `cargo build --release -p hindsight`, or name it with --program",
            program.display()
        );
        is_as_released(&program)?;
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        Ok(Setting {
            // A command changes no folder, but strace matches paths by their letters.
            program: program.canonicalize()?,
            scratch: args.scratch.unwrap_or_else(std::env::temp_dir).canonicalize()?,
            images: args.images,
            seed: args.seed.unwrap_or_else(seed_of_the_clock),
            runtime,
        })
    }

    /// A new folder below the place for data directories, removed when it is dropped.
    ///
    /// # Errors
    /// When it can't be made.
    pub fn folder(&self) -> anyhow::Result<tempfile::TempDir> {
        temporary(&self.scratch)
    }

    /// Random numbers for one part of a command.
    #[must_use]
    pub fn random(&self, part: u64) -> fastrand::Rng {
        fastrand::Rng::with_seed(self.seed ^ part.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }
}

/// A server in which tests can plant bugs is not the one that is shipped (A13).
fn is_as_released(program: &Path) -> anyhow::Result<()> {
    let bytes = std::fs::read(program).with_context(|| format!("cannot read {}", program.display()))?;
    let mark = MARK.as_bytes();
    ensure!(
        !bytes.windows(mark.len()).any(|window| window == mark),
        "{} was built with the bugs that tests plant: build it with `cargo build --release -p hindsight`",
        program.display()
    );
    Ok(())
}

/// A new folder below `place`, removed when it is dropped.
///
/// # Errors
/// When it can't be made.
pub fn temporary(place: &Path) -> anyhow::Result<tempfile::TempDir> {
    let made = tempfile::Builder::new().prefix("hindsight-faults-").tempdir_in(place);
    made.with_context(|| format!("cannot make a folder in {}", place.display()))
}

fn seed_of_the_clock() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    // Few digits, so that it is easily typed again.
    u64::from(since.subsec_nanos())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a13_a_server_with_planted_bugs_is_refused() {
        let folder = temporary(&std::env::temp_dir()).unwrap();
        let program = folder.path().join("hindsight");
        std::fs::write(&program, b"ELF, and a bug that nobody has planted").unwrap();
        assert!(is_as_released(&program).is_ok());
        std::fs::write(&program, format!("ELF {MARK} and more")).unwrap();
        let error = is_as_released(&program).unwrap_err();
        assert!(error.to_string().contains("cargo build --release"), "{error}");
    }
}
