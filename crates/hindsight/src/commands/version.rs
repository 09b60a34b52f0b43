//! `version`: which program this is.

use serde::Serialize;

use crate::failure::Failure;
use crate::output::Out;

#[derive(Debug, Serialize)]
struct Version {
    name: &'static str,
    version: &'static str,
}

/// Prints the version.
pub(crate) fn run(out: &mut Out) -> Result<(), Failure> {
    let version = Version { name: env!("CARGO_PKG_NAME"), version: env!("CARGO_PKG_VERSION") };
    out.single(&version, |_, _| format!("{} {}", version.name, version.version))
}
