//! What the hooks of an agent's program need: reading what it tells (`input`, `transcript`), and never being in its way.
//!
//! A hook must not hold up the agent: whatever goes wrong is said on standard error and ends with exit code 0, within
//! seconds. Exit code 2 means "stop the agent" to some programs, so wrong usage of a hook ends with 1.

pub(crate) mod input;
pub(crate) mod transcript;

use std::ffi::OsString;

/// The exit code of wrong usage: 2, or 1 where the command is a hook.
pub(crate) fn code_of_usage(code: i32, mut args: impl Iterator<Item = OsString>) -> u8 {
    if code == 0 {
        return 0;
    }
    if args.any(|arg| arg == "hook") { 1 } else { 2 }
}
