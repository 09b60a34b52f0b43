//! The wire: gRPC messages, and the one place where they become words of the database.
//!
//! What it does: holds the code generated from `proto/` ([`v1`]), and turns messages into the types of
//! `hindsight-core` and back. A request is parsed once, here: an unknown enum number, a time out of range or a
//! field that only the database sets is refused with the field's name as the caller wrote it. What it does not:
//! it opens no connection, and it leaves the limits and rules of a memory to `hindsight_core::Draft::check`.
//!
//! Two tongues meet here. On the wire an empty text, an empty list and a zero enum all mean "absent";
//! in core that is an `Option`. Numbers of metadata are doubles on the wire, so whole ones come back as integers.
//!
//! Reading order: [`call`] (one request each, both ways: what servers and clients use), [`memory`], [`draft`],
//! [`episode`], [`rule`], [`session`] (the nouns), [`watch`] (the change feed), [`filter`], [`recall`], [`hit`] (question and answer), [`patch`], [`settings`] (the field
//! mask), and underneath [`words`], [`time`], [`struct_json`], [`vectors`].
#![forbid(unsafe_code)]

pub mod call;
pub mod draft;
pub mod episode;
pub mod filter;
mod gather;
pub mod hit;
pub mod memory;
pub mod patch;
pub mod recall;
pub mod rule;
pub mod session;
pub mod settings;
pub mod struct_json;
mod text;
pub mod time;
pub mod vectors;
pub mod watch;
pub mod words;

/// The generated messages, clients and service traits of package `hindsight.v1`.
#[rustfmt::skip]
#[allow(
    missing_docs,
    unreachable_pub,
    clippy::all,
    clippy::needless_pass_by_value,
    clippy::large_types_passed_by_value,
    reason = "generated code follows its generator's style; its docs are those of the proto files"
)]
pub mod v1 {
    include!("generated/hindsight.v1.rs");
}

/// The encoded `FileDescriptorSet` of every proto file and its imports, for server reflection.
pub const DESCRIPTOR_SET: &[u8] = include_bytes!("generated/descriptor.bin");

/// The domain of every `ErrorInfo` that the server sends.
pub const ERROR_DOMAIN: &str = "hindsight";

/// The key of `ErrorInfo.metadata` that holds the version a memory has, after an update with a stale one.
pub const CURRENT_VERSION_KEY: &str = "current_version";

/// The key of `ErrorInfo.metadata` that holds the oldest revision after which a watch can begin, when it asked for an older one.
pub const OLDEST_REVISION_KEY: &str = "oldest_revision";

#[cfg(test)]
mod tests;
