//! Reading a matrix of eight-bit numbers from a NumPy file (`.npy`, version 1).

use std::path::Path;

use anyhow::{Context as _, ensure};
use hindsight_core::Embedding;

/// Reads the rows of an `int8` matrix as unit vectors, at most `limit` of them.
///
/// # Errors
/// When the file can't be read or is something else.
pub fn embeddings(path: &Path, limit: usize) -> anyhow::Result<Vec<Embedding>> {
    let bytes = std::fs::read(path).with_context(|| format!("reading {}", path.display()))?;
    let what = format!("{}: expected a NumPy file of int8 [rows, components]", path.display());
    ensure!(bytes.starts_with(b"\x93NUMPY\x01\x00"), what);
    let header = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let text = String::from_utf8_lossy(bytes.get(10..10 + header).unwrap_or_default()).into_owned();
    ensure!(text.contains("'|i1'") && text.contains("'fortran_order': False"), what);
    let shape = text.split_once("'shape': (").and_then(|(_, rest)| rest.split_once(')'));
    let shape = shape.with_context(|| what.clone())?.0;
    let numbers: Vec<usize> = shape.split(',').filter_map(|number| number.trim().parse().ok()).collect();
    let [rows, components] = numbers[..] else { anyhow::bail!(what) };
    let data = bytes.get(10 + header..).unwrap_or_default();
    ensure!(data.len() == rows * components && components > 0, what);
    let row = |row: &[u8]| {
        let values: Vec<f32> = row.iter().map(|byte| f32::from(byte.cast_signed())).collect();
        Embedding::new(&values).map_err(|error| anyhow::anyhow!("{}: {error}", path.display()))
    };
    data.chunks(components).take(limit).map(row).collect()
}
