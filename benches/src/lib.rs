//! Measuring HindsightDB: how good recall is, and how fast.
//!
//! What it does: `quality` imports a dataset of memories and questions and says how often the right memory comes back;
//! `speed` measures the engine on seeded synthetic memories, `storage` its way to the disk and back, `vectors` the
//! search for the nearest vectors, exact and through the graph. `recall`, `tenants` and `ingest` set figures beside what is aimed
//! at, as JSON too. All print what they measured and nothing else. What it
//! does not: it holds no dataset and fails for no figure; the figures in `docs/` name the command that gave them.
//!
//! Reading order: [`dataset`] (the files), [`store`] (how they become memories), [`metrics`], [`quality`], [`outcomes`] (who succeeded, who failed), [`synthetic`] (memories
//! that nobody wrote), [`speed`], [`storage`], [`npy`], [`vectors`]; then [`workload`], [`figures`], [`recall`], [`tenants`], [`ingest`].
#![forbid(unsafe_code)]

pub mod dataset;
pub mod figures;
pub mod ingest;
pub mod metrics;
pub mod npy;
pub mod outcomes;
pub mod quality;
pub mod recall;
pub mod speed;
pub mod storage;
pub mod store;
pub mod synthetic;
pub mod tenants;
pub mod vectors;
pub mod workload;
