//! The ways in which files are damaged.

use std::path::{Path, PathBuf};

use hindsight_storage::io::Io;
use hindsight_storage::testing::MemIo;

use super::place::Place;

/// One damage.
#[derive(Debug, Clone)]
pub(super) enum Harm {
    Flip {
        path: PathBuf,
        bit: u64,
    },
    Truncate {
        path: PathBuf,
        to: usize,
    },
    Fill {
        path: PathBuf,
        from: usize,
        bytes: usize,
        with: u8,
    },
    Delete(PathBuf),
    /// A second copy under a name that the next file of its kind would have.
    Double {
        from: PathBuf,
        to: PathBuf,
    },
    Swap(PathBuf, PathBuf),
    /// The file of another database in its place.
    Foreign(PathBuf),
    /// The file as it was some time before.
    Older {
        path: PathBuf,
        version: usize,
    },
}

struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mixed = (self.0 ^ (self.0 >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        usize::try_from((mixed >> 32) % bound.max(1) as u64).unwrap()
    }
}

/// A file, chosen so that each kind comes up as often, and its bytes.
fn pick(place: &Place, dice: &mut Dice) -> (PathBuf, Vec<u8>) {
    let files = place.files();
    let kinds: [fn(&Path) -> bool; 4] = [
        |path| path.extension().is_some_and(|name| name == "log"),
        |path| path.extension().is_some_and(|name| name == "rec"),
        |path| path.to_string_lossy().contains("MANIFEST"),
        |path| path.ends_with("FORMAT"),
    ];
    loop {
        // FORMAT is small: seldom.
        let kind = kinds[[0, 0, 0, 1, 1, 1, 2, 2, 3][dice.below(9)]];
        let of_kind: Vec<&PathBuf> = files.iter().filter(|path| kind(path)).collect();
        if !of_kind.is_empty() {
            let path = of_kind[dice.below(of_kind.len())].clone();
            let bytes = place.disk.read_file(&path).unwrap();
            return (path, bytes);
        }
    }
}

/// Where what was written ends; behind it are zeros.
fn written(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1)
}

impl Harm {
    pub(super) fn flip(place: &Place, seed: u64) -> Harm {
        let mut dice = Dice(seed);
        let (path, bytes) = pick(place, &mut dice);
        // Mostly where something stands.
        let len = if dice.below(8) == 0 { bytes.len() } else { written(&bytes) };
        Harm::Flip { path, bit: dice.below(len * 8) as u64 }
    }

    pub(super) fn truncation(place: &Place, seed: u64) -> Harm {
        let mut dice = Dice(seed);
        let (path, bytes) = pick(place, &mut dice);
        let to = if dice.below(4) == 0 { dice.below(bytes.len()) } else { dice.below(written(&bytes)) };
        Harm::Truncate { path, to }
    }

    pub(super) fn range(place: &Place, seed: u64) -> Harm {
        let mut dice = Dice(seed);
        let (path, bytes) = pick(place, &mut dice);
        let with = [0, 0, 0xff, 0xa5][dice.below(4)];
        // Half a kilobyte to a megabyte.
        let count = 512 << dice.below(12);
        Harm::Fill { path, from: dice.below(written(&bytes)), bytes: count, with }
    }

    pub(super) fn file(place: &Place, seed: u64) -> Harm {
        let mut dice = Dice(seed);
        let (path, _) = pick(place, &mut dice);
        let alike: Vec<PathBuf> = place
            .files()
            .into_iter()
            .filter(|other| *other != path && other.extension() == path.extension())
            .collect();
        match dice.below(4) {
            0 => Harm::Foreign(path),
            1 if !alike.is_empty() => Harm::Swap(path, alike[dice.below(alike.len())].clone()),
            2 => match next_name(&path) {
                Some(to) => Harm::Double { from: path, to },
                None => Harm::Delete(path),
            },
            _ => Harm::Delete(path),
        }
    }

    pub(super) fn older(place: &Place, seed: u64) -> Harm {
        let mut dice = Dice(seed);
        let path = place.earlier.keys().nth(dice.below(place.earlier.len())).unwrap().clone();
        let version = dice.below(place.earlier[&path].len());
        Harm::Older { path, version }
    }

    /// The directory with this damage.
    pub(super) fn done_to(&self, place: &Place) -> MemIo {
        let disk = place.disk.after_kill();
        let read = |path: &PathBuf| disk.read_file(path).unwrap();
        match self {
            Harm::Flip { path, bit } => {
                let mut bytes = read(path);
                bytes[usize::try_from(bit / 8).unwrap()] ^= 1 << (bit % 8);
                disk.put_file(path, &bytes);
            }
            Harm::Truncate { path, to } => disk.put_file(path, &read(path)[..*to]),
            Harm::Fill { path, from, bytes: count, with } => {
                let mut bytes = read(path);
                let end = bytes.len().min(from + count);
                bytes[*from..end].fill(*with);
                disk.put_file(path, &bytes);
            }
            Harm::Delete(path) => disk.unlink(path).unwrap(),
            Harm::Double { from, to } => disk.put_file(to, &read(from)),
            Harm::Swap(one, other) => {
                let bytes = read(one);
                disk.put_file(one, &read(other));
                disk.put_file(other, &bytes);
            }
            Harm::Foreign(path) => match place.other.read_file(path) {
                Some(bytes) => disk.put_file(path, &bytes),
                None => disk.unlink(path).unwrap(),
            },
            Harm::Older { path, version } => disk.put_file(path, &place.earlier[path][*version]),
        }
        disk
    }

    /// Whether the log ends as it once did. No reader can tell that from a log that was never longer, unless the manifest
    /// names a later position.
    pub(super) fn is_of_an_earlier_end(&self, place: &Place) -> bool {
        matches!(self, Harm::Older { path, .. } if place.segments().last() == Some(path))
    }

    /// Whether it touched a manifest.
    pub(super) fn is_of_manifest(&self) -> bool {
        let is_one = |path: &PathBuf| path.to_string_lossy().contains("MANIFEST");
        match self {
            Harm::Flip { path, .. } | Harm::Truncate { path, .. } | Harm::Fill { path, .. } => is_one(path),
            Harm::Delete(path) | Harm::Foreign(path) | Harm::Older { path, .. } => is_one(path),
            Harm::Double { from, .. } => is_one(from),
            Harm::Swap(one, other) => is_one(one) || is_one(other),
        }
    }
}

/// The name with a number that is one higher.
fn next_name(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let start = name.find(|c: char| c.is_ascii_digit())?;
    let digits: String = name[start..].chars().take_while(char::is_ascii_digit).collect();
    let next = digits.parse::<u64>().ok()? + 1;
    let width = digits.len();
    Some(path.with_file_name(format!("{}{next:0width$}{}", &name[..start], &name[start + width..])))
}
