//! Who may do what, and the record of who did what.
//!
//! What it does: makes and reads tokens, keeps what each of them allows in one file of the data directory, says whose token
//! a caller brings, and writes the audit trail, whose entries are chained so that a changed one is found. What it does not:
//! it speaks no protocol and reads no clock; the server asks it, and hands in the time.
//!
//! A token is `hs_<id>_<secret and check>`: the id is public, the secret has 256 random bits, the check tells a slip of the
//! pen from a wrong token. Only a keyed hash of the secret is stored, and it is compared in constant time.
//!
//! Reading order: [`token`] (the text), [`right`], [`grant`] and [`credential`] (what one allows), [`keyring`] (all of them in memory),
//! [`store`] (the file), [`audit`].
#![forbid(unsafe_code)]

pub mod audit;
pub mod credential;
mod file;
pub mod grant;
pub mod keyring;
pub mod right;
pub mod store;
pub mod token;

pub use credential::{Credential, CredentialState, Wish};
pub use grant::{Grant, Pattern};
pub use keyring::{Keyring, Rejected};
pub use right::{Right, Rights};
pub use store::{StoreError, TokenStore};
pub use token::{Token, TokenId};

/// The folder below the data directory that the files of this crate are in, apart from the audit trail's.
pub const FOLDER: &str = "auth";
