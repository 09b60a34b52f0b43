//! Everything that is derived of one namespace's memories, in memory: which match a filter, which are nearest to a
//! vector, which hold a query's words, which name whom it names.
//!
//! A [`NamespaceIndex`] has two [`Shelf`]s, one for the active memories and one for the superseded, archived and
//! quarantined ones. A shelf numbers its memories ([`Ordinal`]) and keeps, by that number, their hot facts ([`Hot`]), the
//! sets behind every filter value, their words ([`LexicalIndex`]), whom they name ([`EntityIndex`]) and their vectors
//! ([`VectorIndex`]). One function, [`NamespaceIndex::apply`], brings all of them to what a record says; live writes and
//! replay both call it.
//!
//! A query narrows first: [`Shelf::select`] makes a [`Selection`] that equals `Filter::matches` exactly. Then it ranks
//! inside: [`Shelf::vector_top`], [`Shelf::keyword_top`] and [`Shelf::entity_top`] give the best of a selection, and the
//! same scores can be asked of any single memory. All are exact, and their order is total, so the same data gives the same
//! answer, bit for bit. Over the active memories of a large namespace there may be a graph besides, built from outside step
//! by step (`graph`); [`Shelf::vector_top_by_graph`] goes through it where that is cheaper, and may miss a memory then.
//!
//! Unsafe code stands in two files: `vector/graph/native.rs`, the door to the C++ library that keeps the graph's links, and
//! `vector/kernel.rs`, the call of a loop that was compiled for AVX2, after asking the CPU.
//!
//! What it does not: no I/O, no clock, no randomness; no fusion of channels and no ranking (hindsight-query), no
//! namespaces, locks or log (hindsight-engine). Nothing here is the truth: any of it can be dropped and built again.
//!
//! Reading order: `namespace`, `shelf`; then `ordinal`, `selection`, `hot`; then one index at a time: `bitmap`,
//! `lexical`, `entity`, `vector`; `meeting` (what a new memory may repeat or contradict); `graph`; last `snapshot` (all of it as bytes).

mod bitmap;
mod dictionary;
mod entity;
mod error;
mod graph;
mod hot;
mod lexical;
mod meeting;
mod namespace;
mod ordinal;
mod packed;
mod selection;
mod shelf;
mod snapshot;
mod stats;
mod top;
mod vector;

pub use entity::{EntityIndex, EntityPart, EntityQuery, EntitySearch};
pub use error::IndexError;
pub use hot::Hot;
pub use lexical::{KeywordQuery, KeywordSearch, LexicalIndex, QueryTerm, Texts, Token, each_text, tokenise};
pub use meeting::MeetingIndex;
pub use namespace::{NamespaceIndex, Shelves};
pub use ordinal::Ordinal;
pub use selection::Selection;
pub use shelf::{Neighbours, Shelf};
pub use snapshot::{SNAPSHOT_VERSION, SnapshotError};
pub use stats::{GraphStats, LexicalStats, NamespaceStats, ShelfStats};
pub use top::Scored;
pub use vector::{
    BuiltGraph, GraphBuild, GraphError, GraphNeed, GraphRule, VectorIndex, VectorQuery, VectorWay,
};
