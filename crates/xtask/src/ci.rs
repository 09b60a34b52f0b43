//! Runs CI's own script, so that "it passed here" and "it passes there" mean the same steps.

use std::path::Path;
use std::process::Command;

use anyhow::Context;

/// Runs `.ci/run` to its end and tells whether every step passed.
///
/// # Errors
/// When bash cannot be started.
pub fn run(root: &Path) -> anyhow::Result<bool> {
    let script = root.join(".ci/run");
    let status = Command::new("bash")
        .arg(&script)
        .current_dir(root)
        .status()
        .with_context(|| format!("cannot start `bash {}`; is bash installed?", script.display()))?;
    Ok(status.success())
}
