//! A data directory that is to be made where there is no room for it (S12).

use super::{VOLUME_BYTES, fill_up};
use crate::server::Start;
use crate::trial::{Trial, WRITERS, outcome};
use crate::volume::Volume;
use crate::{Setting, Verdict};

/// A place that can't be written, or a disk that fails.
const CODES: [i32; 2] = [73, 74];

/// Starts the server on a full file system, where it refuses in one clear line, and again when there is room.
pub(super) fn run(
    setting: &Setting,
    random: &mut fastrand::Rng,
    verdict: &mut Verdict,
) -> anyhow::Result<()> {
    let mut volume = Volume::create(&setting.images, VOLUME_BYTES)?;
    volume.mount("ordered")?;
    let filler = volume.path().join("filler");
    fill_up(&filler, u64::MAX)?;
    let mut trial = Trial::new(volume.path().join("data"), volume.beside(), WRITERS, random);
    let refused = match trial.launch(setting).spawn()?.wait()? {
        Start::Served(_) => Err("it starts on a file system without a free byte".to_owned()),
        Start::Ended(status, words) => {
            let has_code = status.code().is_some_and(|code| CODES.contains(&code));
            let is_clear = words.lines().count() == 1 && words.to_lowercase().contains("no space");
            if has_code && is_clear { Ok(()) } else { Err(format!("{status}: {words}")) }
        }
    };
    verdict.check("a new data directory on a full disk is refused in one clear line", refused);
    std::fs::remove_file(&filler)?;
    let served = trial.launch(setting).start()?;
    let mut findings = super::write(setting, &mut trial, &served, crate::trial::Mix::default())?;
    served.stop()?;
    findings.extend(trial.settle(setting)?);
    verdict.check("it is made when there is room", outcome(&findings));
    Ok(())
}
