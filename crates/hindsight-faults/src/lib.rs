//! Proves from outside that an acknowledged write survives: the server as it ships is killed, cut from its power,
//! left without disk, and given failing system calls, and is then asked for everything it had promised.
//!
//! What it does: starts `hindsight serve` ([`server`]), lets eight clients write over gRPC while each keeps a ledger of
//! what was acknowledged ([`model`]), does something terrible, starts the server again, and holds what it answers
//! against the ledgers ([`trial`]). What it does not: it reads none of the server's files, knows none of its structures
//! and trusts none of its counters, beyond the one promise that a batch takes one log position. Only [`memory`] uses the
//! engine, to write a log that no server would let grow so long.
//!
//! What is compared (rows A5 to A9, B1 and S10 of the test matrix): nothing acknowledged is missing, nor anything a reader
//! was shown; nothing is there that was refused or never sent; a batch is there whole or not at all; the log positions
//! have no hole; a request that is repeated with its id after the crash is carried out once.
//!
//! Every run prints its seed. Which requests are made follows from the seed; when exactly the crash comes does not.
//!
//! Reading order: [`model`] (what is written and what must be found), [`server`], [`trial`] (load, crash, compare),
//! then one file for each way to fail: [`kill`], [`lag`], [`history`], [`backup`], [`terminate`], [`power`] (with [`volume`] and
//! [`shutdown`]), [`full`], [`syscalls`] (with [`strace`]); [`memory`] breaks nothing and looks what a start takes. [`verdict`]
//! counts.
// Not `forbid`: the one call that cuts a file system off has no safe form. It stands in `shutdown`, and nowhere else.
#![deny(unsafe_code)]

pub mod backup;
pub mod full;
pub mod history;
pub mod kill;
pub mod lag;
pub mod memory;
pub mod model;
pub mod power;
pub mod server;
pub mod setting;
pub mod shutdown;
pub mod strace;
pub mod syscalls;
pub mod terminate;
pub mod trial;
pub mod verdict;
pub mod volume;

pub use setting::Setting;
pub use verdict::Verdict;
