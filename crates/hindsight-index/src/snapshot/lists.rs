//! What the indexes share in their bytes: sets of slots, and which lists a memory stands in.

use std::io::Cursor;

use roaring::RoaringBitmap;

use super::wire::{Reader, Writer};
use super::{SnapshotError, unsound};
use crate::bitmap::OrdinalSet;

/// A list as twice its length, short, and its slots; a bitmap as twice the length of its bytes and one, short, and those.
pub(crate) fn save_set(out: &mut Writer, set: &OrdinalSet) {
    match set {
        OrdinalSet::List(list) => {
            out.short(u32::try_from(list.len() * 2).unwrap_or(u32::MAX));
            list.iter().for_each(|slot| out.u32(*slot));
        }
        OrdinalSet::Bitmap(bitmap) => {
            let bytes = bitmap_bytes(bitmap);
            out.short(u32::try_from(bytes.len() * 2 + 1).unwrap_or(u32::MAX));
            out.bytes(&bytes);
        }
    }
}

/// A set of slots below `slots`.
pub(crate) fn load_set(from: &mut Reader<'_>, slots: u32) -> Result<OrdinalSet, SnapshotError> {
    let size = from.short()?;
    let length = usize::try_from(size / 2).unwrap_or(usize::MAX);
    if size % 2 == 1 {
        return Ok(OrdinalSet::Bitmap(parse_bitmap(from.take(length)?, slots)?));
    }
    let set = OrdinalSet::of_list(from.numbers(length)?).ok_or(unsound("the order of a list"))?;
    if set.newest(1).next().is_some_and(|last| last >= slots) {
        return Err(unsound("a slot beyond the last"));
    }
    Ok(set)
}

/// The sets of the numbers from 0 to `numbers`, without a count of them.
pub(crate) fn save_sets(out: &mut Writer, sets: &[OrdinalSet], numbers: u32) {
    let none = OrdinalSet::default();
    (0..numbers).for_each(|number| save_set(out, sets.get(number as usize).unwrap_or(&none)));
}

/// What [`save_sets`] wrote.
pub(crate) fn load_sets(
    from: &mut Reader<'_>,
    numbers: u32,
    slots: u32,
) -> Result<Vec<OrdinalSet>, SnapshotError> {
    (0..numbers).map(|_| load_set(from, slots)).collect()
}

/// Its length in bytes, then its portable form.
pub(crate) fn save_bitmap(out: &mut Writer, bitmap: &RoaringBitmap) {
    let bytes = bitmap_bytes(bitmap);
    out.count(bytes.len());
    out.bytes(&bytes);
}

/// A bitmap of slots below `slots`.
pub(crate) fn load_bitmap(from: &mut Reader<'_>, slots: u32) -> Result<RoaringBitmap, SnapshotError> {
    let length = from.count(1)?;
    parse_bitmap(from.take(length)?, slots)
}

fn bitmap_bytes(bitmap: &RoaringBitmap) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(bitmap.serialized_size());
    // Writing to memory does not fail; what would be missing is noticed when it is read.
    let _ = bitmap.serialize_into(&mut bytes);
    bytes
}

fn parse_bitmap(bytes: &[u8], slots: u32) -> Result<RoaringBitmap, SnapshotError> {
    let mut cursor = Cursor::new(bytes);
    let bitmap = RoaringBitmap::deserialize_from(&mut cursor).map_err(|_| unsound("a bitmap"))?;
    let is_whole = cursor.position() == bytes.len() as u64;
    if !is_whole || bitmap.max().is_some_and(|last| last >= slots) {
        return Err(unsound("a slot beyond the last"));
    }
    Ok(bitmap)
}

/// Of lists of slots, by number: which numbers each slot is under, ascending. `make` gets those of one slot after the other.
pub(crate) fn invert<S: Iterator<Item = u32>, T>(
    slots: u32,
    lists: impl Iterator<Item = S> + Clone,
    make: impl Fn(&[u32]) -> T,
) -> Vec<T> {
    // Where the numbers of each slot begin, counted first: one block for all instead of a list for each.
    let mut ends = vec![0_usize; slots as usize];
    for slot in lists.clone().flatten() {
        if let Some(end) = ends.get_mut(slot as usize) {
            *end += 1;
        }
    }
    let mut sum = 0;
    for end in &mut ends {
        let count = std::mem::replace(end, sum);
        sum += count;
    }
    let mut all = vec![0_u32; sum];
    for (number, list) in (0_u32..).zip(lists) {
        for slot in list {
            let Some(end) = ends.get_mut(slot as usize) else { continue };
            if let Some(place) = all.get_mut(*end) {
                *place = number;
            }
            *end += 1;
        }
    }
    let mut begin = 0;
    let one = |end: usize| make(all.get(std::mem::replace(&mut begin, end)..end).unwrap_or_default());
    ends.into_iter().map(one).collect()
}
