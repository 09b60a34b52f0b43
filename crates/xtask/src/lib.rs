//! The project's own tools, run as `cargo xtask <command>`.
//!
//! What it does: writes the Rust code of the wire format ([`codegen`]), holds the house rules that no
//! compiler knows ([`tidy`]), runs the engine's proofs at their amounts ([`proofs`]), breaks a running server
//! ([`faults`]), fuzzes ([`fuzz`]), runs what CI runs ([`ci`]) and what a release needs beyond it ([`soak`]). What it does not: it is no part of the database, and no crate of the house may import it.
//!
//! Reading order: [`tidy`] names the rules, one file each; [`codegen`] is short; [`ci`], [`proofs`], [`faults`], [`fuzz`]
//! and [`soak`] only start others.

#![forbid(unsafe_code)]

pub mod ci;
pub mod codegen;
pub mod faults;
pub mod fuzz;
pub mod proofs;
pub mod soak;
pub mod tidy;

use std::path::Path;

/// The folder of the workspace: where the root `Cargo.toml` is.
#[must_use]
pub fn workspace_root() -> &'static Path {
    let own_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    // This crate lives in `crates/xtask`.
    own_folder.ancestors().nth(2).unwrap_or(own_folder)
}
