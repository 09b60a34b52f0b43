//! The other way to have no room: a limit on the size of a file (`RLIMIT_FSIZE`), which a service manager may set.

use std::os::unix::process::ExitStatusExt as _;

use crate::setting::temporary;
use crate::trial::{Mix, Trial, WRITERS, outcome};
use crate::{Setting, Verdict};

/// More than a new segment of the log has, and less than it grows to.
const FILE_BYTES_MAX: u64 = 6 << 20;
const BALLAST_BYTES: usize = 60_000;

/// Lets the writers write against the limit, and looks whether anything is lost.
pub(super) fn run(
    setting: &Setting,
    random: &mut fastrand::Rng,
    verdict: &mut Verdict,
) -> anyhow::Result<()> {
    let folder = temporary(&setting.scratch)?;
    let mut trial = Trial::new(folder.path().join("data"), folder.path().to_owned(), WRITERS, random);
    let mut launch = trial.launch(setting);
    launch.under = vec!["prlimit".into(), format!("--fsize={FILE_BYTES_MAX}").into()];
    let mut served = launch.start()?;
    let load = trial.load(setting, &served, Mix { ballast_bytes: BALLAST_BYTES, only_large: true })?;
    load.expect_errors();
    load.wait(u64::MAX)?;
    let mut findings = trial.end_load(setting, load)?;
    let refused = match findings.errors.first() {
        _ if served.has_ended()? => {
            let status = served.wait(std::time::Duration::ZERO)?;
            Err(format!("the server ended with {status} (signal {:?})", status.signal()))
        }
        Some(error) if error.reason() == "DISK_FULL" => Ok(()),
        Some(error) => Err(format!("{error} ({})", error.reason())),
        None => Err("no write was refused".to_owned()),
    };
    verdict.check("at the limit of a file's size writes are refused as on a full disk", refused);
    if !served.has_ended()? {
        served.kill()?;
    }
    findings.findings.extend(trial.settle(setting)?);
    verdict.check("nothing is lost at the limit of a file's size", outcome(&findings.findings));
    Ok(())
}
