//! Text to vectors.
//!
//! What it does: says what an embedder is ([`Embedder`]) and brings one along ([`StaticEmbedder`]) that is part of
//! the binary, needs no download, no network and no inference, and reads English and Chinese. A text is cut into
//! pieces, each piece has a vector, the vectors are summed and the sum is brought to unit length.
//!
//! What it does not: it keeps no text and no vector (no cache: a forgotten memory must not live on here), reads no
//! file, starts no thread, and does not decide which texts deserve a vector. It is not cross-lingual: the same
//! sentence in two languages is two directions.
//!
//! The life of a text: [`StaticEmbedder::embed`](Embedder::embed) → `splitter` (clip, NFKC, words) → `pieces`
//! (the most probable cut of each word) → `vectors` (weighted sum) → unit length.
//!
//! Reading order: [`embedder`] (the trait), [`static_embedder`], `splitter`, `pieces`, `vectors`. `assets` holds
//! the bytes of the model, `config` its parameters, [`error`] what can go wrong, [`limits`] what is refused or cut.
//! `build.rs` turns the tokenizer's JSON into the tables `pieces` reads.
#![forbid(unsafe_code)]

mod assets;
mod config;
pub mod embedder;
pub mod error;
pub mod limits;
mod pieces;
mod splitter;
pub mod static_embedder;
mod vectors;

pub use embedder::Embedder;
pub use error::{EmbedError, LoadError};
pub use static_embedder::StaticEmbedder;
