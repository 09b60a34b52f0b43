//! Measuring HindsightDB: how good recall is, and how fast.
//!
//! What it does: `quality` imports a dataset of memories and questions and says how often the right memory comes back; `tune`
//! chooses weights on one half of the datasets and reports on the other, `ablation` leaves out a channel or a signal at a time;
//! `speed` measures the engine on seeded synthetic memories, `storage` its way to the disk and back, `vectors` the
//! search for the nearest vectors, exact and through the graph, `rounds` whether it stays as good. All print what they measured and nothing else. What it
//! does not: it holds no dataset and sets no target; the figures in `docs/` name the command that gave them.
//!
//! Reading order: [`dataset`] (the files), [`store`] (how they become memories), [`metrics`], [`half`], [`asking`], [`quality`], [`tune`], [`ablation`], [`outcomes`] (who succeeded, who failed), [`synthetic`] (memories
//! that nobody wrote), [`speed`], [`storage`], [`npy`], [`vectors`], [`rounds`].
#![forbid(unsafe_code)]

pub mod ablation;
pub mod asking;
pub mod dataset;
pub mod half;
pub mod metrics;
pub mod npy;
pub mod outcomes;
pub mod quality;
pub mod rounds;
pub mod speed;
pub mod storage;
pub mod store;
pub mod synthetic;
pub mod tune;
pub mod vectors;
