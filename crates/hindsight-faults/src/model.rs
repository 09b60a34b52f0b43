//! What is written, and what must be found.
//!
//! Each writer has its own memories and works through one request after the other. So its [`Ledger`] knows for each
//! of them what it must be, with one exception: the request that was open when the server went away. That one may have
//! been carried out, whole, or not at all; [`compare`] finds out which, and everything else is a [`Finding`].

mod compare;
mod ledger;
mod text;

pub use compare::{Fault, Finding, Found, compare};
pub use ledger::{Acknowledged, Item, Ledger, Open, Request};
pub use text::{Key, ballast, content, draft, tag};
