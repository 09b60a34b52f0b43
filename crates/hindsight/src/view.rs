//! How memories and hits look on a screen.

pub(crate) mod breakdown;
pub(crate) mod memory;
pub(crate) mod recalled;
