//! What `doctor` looks at, one file a place: this machine (`machine`), the data directory (`directory`), the two ports
//! (`ports`). It looks and changes nothing; each finding that is not well carries the line that mends it.

pub(crate) mod directory;
pub(crate) mod finding;
mod http;
pub(crate) mod machine;
pub(crate) mod ports;
