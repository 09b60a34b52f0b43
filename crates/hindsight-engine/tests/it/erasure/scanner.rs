//! Looks for anything of the canaries in every byte of every file.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use super::canary::Canary;

/// Bytes that must not be the same by chance.
const WINDOW: usize = 16;
const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Every window of every encoding of every canary.
pub(super) struct Scanner {
    windows: HashSet<[u8; WINDOW]>,
    /// Whether a window begins with these two bytes: most places are done with after this look.
    begins: Vec<bool>,
}

impl Scanner {
    pub(super) fn new(canaries: &[Canary]) -> Scanner {
        let mut scanner = Scanner { windows: HashSet::new(), begins: vec![false; 1 << 16] };
        for canary in canaries {
            let text = canary.text.as_bytes();
            let vector: Vec<u8> = canary.vector().iter().flat_map(|number| number.to_le_bytes()).collect();
            for plain in [text, vector.as_slice()] {
                scanner.add(plain);
                scanner.add(hex(plain).as_bytes());
                scanner.add(hex(plain).to_uppercase().as_bytes());
                (0..3).for_each(|skipped| scanner.add(&base64(&plain[skipped..])));
            }
            scanner.add(&text.iter().flat_map(|byte| [*byte, 0]).collect::<Vec<u8>>());
            scanner.add(&text.iter().flat_map(|byte| [0, *byte]).collect::<Vec<u8>>());
        }
        scanner
    }

    fn add(&mut self, encoded: &[u8]) {
        for window in encoded.windows(WINDOW) {
            self.begins[usize::from(u16::from_le_bytes([window[0], window[1]]))] = true;
            self.windows.insert(window.try_into().unwrap());
        }
    }

    /// The files below a path, or the one file, in which anything of a canary is.
    pub(super) fn scan(&self, path: &Path) -> Vec<String> {
        if path.is_dir() {
            let mut names: Vec<_> = fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
            names.sort();
            return names.iter().flat_map(|path| self.scan(path)).collect();
        }
        let bytes = fs::read(path).unwrap();
        let is_found = bytes.windows(WINDOW).any(|window| {
            self.begins[usize::from(u16::from_le_bytes([window[0], window[1]]))]
                && self.windows.contains(window)
        });
        if is_found { vec![path.display().to_string()] } else { Vec::new() }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whole groups of three only.
fn base64(bytes: &[u8]) -> Vec<u8> {
    let (groups, _) = bytes.as_chunks::<3>();
    groups
        .iter()
        .flat_map(|[a, b, c]| {
            let bits = u32::from(*a) << 16 | u32::from(*b) << 8 | u32::from(*c);
            [18, 12, 6, 0].map(|shift| BASE64[(bits >> shift & 63) as usize])
        })
        .collect()
}
