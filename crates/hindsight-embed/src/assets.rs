//! The bytes of the built-in model, part of the binary. NOTICE beside them says where they come from.

/// Name, dimension and limit of the model.
pub(crate) const CONFIG: &[u8] = include_bytes!("../assets/static-embedding/config.json");

/// `vectors` (int8, one row per piece) and `scales` (f32, one per piece).
pub(crate) const MODEL: &[u8] = include_bytes!("../assets/static-embedding/model.safetensors");

/// The automaton of all pieces, made from `tokenizer.json` by `build.rs`.
pub(crate) const AUTOMATON: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/automaton.bin"));

/// The score of each piece, little-endian f64, made from `tokenizer.json` by `build.rs`.
pub(crate) const SCORES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/scores.bin"));
