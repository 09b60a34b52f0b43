//! Damaged folders: whatever is done to the files, opening ends with a directory that is equal to its source, and
//! nothing that it answers is wrong. Every failure prints its seed.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use hindsight_core::Lsn;
use tempfile::TempDir;

use super::{
    contract::{Place, all, batch, entry, key, place, stamp_of},
    mirror::copy,
    *,
};

/// Images of this test. `HINDSIGHT_DAMAGED_DIRECTORIES` sets another number, for a longer run.
const IMAGES: u64 = 300;
const MEMORIES: u64 = 2_000;

type Entries = Vec<(MemoryKey, Place)>;

/// SplitMix64 (Steele, Lea, Flood 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % (end.max(1) as u64)).unwrap()
    }
}

/// The files of a folder, by their path inside it.
type Image = BTreeMap<PathBuf, Vec<u8>>;

fn read(folder: &Path, inside: &Path, image: &mut Image) {
    for entry in std::fs::read_dir(folder.join(inside)).unwrap() {
        let entry = entry.unwrap();
        let path = inside.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => read(folder, &path, image),
            false => drop(image.insert(path.clone(), std::fs::read(folder.join(path)).unwrap())),
        }
    }
}

fn image_of(folder: &Path) -> Image {
    let mut image = Image::new();
    read(folder, Path::new(""), &mut image);
    image
}

fn write(image: &Image, folder: &Path) {
    std::fs::create_dir_all(folder.join("blobs")).unwrap();
    for (path, bytes) in image {
        std::fs::write(folder.join(path), bytes).unwrap();
    }
}

/// Intact folders of one database, and what the newest of them holds.
struct Originals {
    older: Image,
    newest: [Image; 2],
    foreign: Image,
    entries: Entries,
    expected: Stamp,
}

/// The checkpoint `lsn` moves a part of the memories into a new file, as checkpoints do.
fn apply_checkpoint(directory: &dyn Directory, lsn: u32, entries: &mut BTreeMap<MemoryKey, Place>) {
    let mut random = Random(lsn.into());
    let (mut puts, mut removes) = (Vec::new(), Vec::new());
    for offset in 0..400 {
        let id = key(u32::try_from(random.next() % 3).unwrap(), u128::from(random.next() % MEMORIES));
        match random.next() % 8 {
            0 => removes.push(id),
            _ => puts.push((id, place(lsn, offset * 64))),
        }
    }
    for id in &removes {
        entries.remove(id);
    }
    entries.extend(puts.iter().copied());
    directory.apply(&batch(lsn.into(), &puts, &removes)).unwrap();
    directory.put_job(b"compact", &lsn.to_be_bytes()).unwrap();
}

fn originals() -> Originals {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("directory");
    let mut entries = BTreeMap::new();
    let open = |path| SledDirectory::open(path, Default::default()).unwrap();
    let mut older = Image::new();
    let mut directory = open(&path);
    for lsn in 1..=60 {
        apply_checkpoint(&directory, lsn, &mut entries);
        if lsn == 20 || lsn == 40 {
            drop(directory);
            directory = open(&path);
        }
        if lsn == 55 {
            older = image_of(&path);
        }
    }
    drop(directory);
    // sled notes at every open where its pages lie: once its log has to be read from there on, once it need not.
    let written = image_of(&path);
    drop(open(&path));
    let opened = image_of(&path);
    assert!(written != opened);
    let foreign = dir.path().join("foreign");
    apply_checkpoint(&open(&foreign), 60, &mut BTreeMap::new());
    let entries: Entries = entries.into_iter().collect();
    let expected = stamp_of(60, &entries);
    Originals { older, newest: [written, opened], foreign: image_of(&foreign), entries, expected }
}

/// Does one thing to the files, and says what.
fn damage(image: &mut Image, originals: &Originals, random: &mut Random) -> String {
    let names: Vec<PathBuf> = image.keys().cloned().collect();
    let name = names[random.below(names.len())].clone();
    let bytes = image.get_mut(&name).unwrap();
    let len = bytes.len();
    // Half of the places are sought among the bytes that sled has written something to.
    let mut at = random.below(len);
    if random.below(2) == 0 {
        at = (0..len).map(|step| (at + step) % len).find(|&at| bytes[at] != 0).unwrap_or(at);
    }
    match random.below(10) {
        0..=3 => {
            let flips = 1 + random.below(3) * random.below(20);
            for flip in 0..flips {
                let at = if flip == 0 { at } else { random.below(len) };
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << random.below(8);
                }
            }
            format!("{flips} flips in {name:?}, the first at {at} of {len}")
        }
        4 => {
            bytes.truncate(at);
            format!("{name:?} cut to {at} of {len}")
        }
        5 => {
            let end = len.min(at + (512 << random.below(9)));
            let value = if random.below(2) == 0 { 0 } else { u8::try_from(random.below(256)).unwrap() };
            bytes[at..end].fill(value);
            format!("{value} over {at}..{end} of {name:?}")
        }
        6 => {
            let (from, len) = (random.below(len), 512 << random.below(11));
            let part: Vec<u8> = bytes.iter().skip(from).take(len).copied().collect();
            let end = bytes.len().min(at + part.len());
            bytes[at..end].copy_from_slice(&part[..end - at]);
            format!("{}..{} of {name:?} again at {at}", from, from + part.len())
        }
        7 => {
            image.remove(&name);
            format!("{name:?} deleted")
        }
        8 => {
            *image = originals.older.clone();
            if random.below(2) == 0 {
                image.insert(
                    name.clone(),
                    originals.newest[random.below(2)].get(&name).cloned().unwrap_or_default(),
                );
                return format!("an older folder with the newest {name:?}");
            }
            "an older folder".to_owned()
        }
        _ => {
            let name = ["db", "conf"][random.below(2)];
            image.insert(name.into(), originals.foreign[Path::new(name)].clone());
            format!("{name} of another database")
        }
    }
}

#[test]
fn every_damaged_folder_ends_as_a_right_directory() {
    let images = std::env::var("HINDSIGHT_DAMAGED_DIRECTORIES").ok().and_then(|text| text.parse().ok());
    let originals = originals();
    let (mut intact, mut taken_back, mut doubts) = (0, 0, BTreeMap::<&str, u32>::new());
    for seed in 0..images.unwrap_or(IMAGES) {
        let mut random = Random(seed);
        let mut image = originals.newest[random.below(2)].clone();
        let what = damage(&mut image, &originals, &mut random);
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("directory");
        write(&image, &path);
        let source = || originals.entries.iter().copied().map(entry).map(Ok);
        let opened = open_or_rebuild(&path, Default::default(), originals.expected, source);
        let (directory, state) = opened.unwrap_or_else(|error| panic!("seed {seed}, {what}: {error:?}"));
        assert_eq!(all(&directory, 10_000), originals.entries, "seed {seed}, {what}");
        match &state {
            DirectoryState::Intact => {
                intact += 1;
                assert_eq!(directory.jobs().unwrap(), [(b"compact".to_vec(), 60_u32.to_be_bytes().to_vec())]);
            }
            DirectoryState::Rebuilt { why } => *doubts.entry(name_of(why)).or_default() += 1,
        }
        // It can be used and opened again. Damage that a check can't see, in what sled reads only at the next open,
        // may take back what was written since: the stamp is then that of an older checkpoint.
        let mut entries = originals.entries.iter().copied().collect();
        apply_checkpoint(&directory, 61, &mut entries);
        let entries: Entries = entries.into_iter().collect();
        drop(directory);
        let source = || entries.iter().copied().map(entry).map(Ok);
        let opened = open_or_rebuild(&path, Default::default(), stamp_of(61, &entries), source);
        let (again, later) = opened.unwrap_or_else(|error| panic!("seed {seed}, {what}: {error:?}"));
        assert_eq!(all(&again, 10_000), entries, "seed {seed}, {what}");
        match (state, later) {
            (_, DirectoryState::Intact) => {}
            (DirectoryState::Intact, DirectoryState::Rebuilt { .. }) => taken_back += 1,
            (first, second) => panic!("seed {seed}, {what}: {first:?}, then {second:?}"),
        }
    }
    println!("{intact} intact, {taken_back} of them not later; rebuilt: {doubts:?}");
    assert!(intact > 0, "{doubts:?}");
    for doubt in ["different", "failed", "panicked"] {
        assert!(doubts.contains_key(doubt), "no image was found {doubt}: {doubts:?}");
    }
}

fn name_of(doubt: &Doubt) -> &'static str {
    match doubt {
        Doubt::Missing => "missing",
        Doubt::Unnamed => "unnamed",
        Doubt::Unstamped => "unstamped",
        Doubt::Different { .. } => "different",
        Doubt::Entries { .. } => "entries",
        Doubt::Jobs => "jobs",
        Doubt::Unreadable(DirectoryError::Panicked { .. }) => "panicked",
        Doubt::Unreadable(_) => "failed",
    }
}

/// What goes bad after the directory was checked: each answer is right or an error.
#[test]
fn damage_under_an_open_directory_never_gives_a_wrong_place() {
    let originals = originals();
    let mut errors = 0;
    for seed in 0..20 {
        let mut random = Random(seed);
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("directory");
        write(&originals.newest[1], &path);
        let directory = SledDirectory::open(&path, DirectoryOptions { cache_bytes: 1 }).unwrap();
        assert_eq!(directory.stamp().unwrap(), Some(originals.expected));
        let db = path.join("db");
        let mut bytes = std::fs::read(&db).unwrap();
        for _ in 0..2_000 {
            let at = random.below(bytes.len());
            bytes[at] ^= 1 << random.below(8);
        }
        std::fs::write(&db, &bytes).unwrap();
        for &(key, place) in &originals.entries {
            match directory.get(key) {
                Ok(found) => assert_eq!(found, Some(entry((key, place)).1), "seed {seed}"),
                Err(error) => {
                    assert!(error.needs_rebuild());
                    errors += 1;
                    break;
                }
            }
        }
    }
    assert!(errors > 0);
}

#[test]
fn a_folder_that_is_copied_at_any_moment_opens_right() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("directory");
    let mut entries = BTreeMap::new();
    let directory = SledDirectory::open(&path, Default::default()).unwrap();
    for lsn in 1..=30 {
        apply_checkpoint(&directory, lsn, &mut entries);
        let killed = dir.path().join(lsn.to_string());
        copy(&path, &killed);
        let expected = stamp_of(lsn.into(), &entries.clone().into_iter().collect::<Entries>());
        SledDirectory::open(&killed, Default::default()).unwrap().check(expected).unwrap();
    }
    assert_eq!(directory.stamp().unwrap().unwrap().lsn, Lsn(30));
}
