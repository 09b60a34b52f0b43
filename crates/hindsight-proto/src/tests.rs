//! Properties of the whole crate, and the rules of the proto files themselves.

mod descriptor;
mod hostile;
mod round_trip;
mod strategies;
