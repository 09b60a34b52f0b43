//! The rows of a shelf as bytes: in eight bits. In full they lie in the records.

use hindsight_core::limits::{DIMENSION_MAX, VECTORS_MAX};
use roaring::RoaringBitmap;

use super::VectorIndex;
use super::quantised::RowScale;
use super::rows::Rows;
use crate::Ordinal;
use crate::snapshot::wire::{Reader, Writer};
use crate::snapshot::{SnapshotError, unsound};

impl VectorIndex {
    /// The dimension; how many rows each memory has, in the order of slots; the scales of all rows, then their levels.
    pub(crate) fn save(&self, out: &mut Writer, live: &RoaringBitmap) {
        let rows = &self.rows;
        out.count(rows.dimension().unwrap_or(0));
        let all = || live.iter().flat_map(|slot| rows.of(Ordinal(slot)));
        live.iter().for_each(|slot| out.u8(u8::try_from(rows.of(Ordinal(slot)).count()).unwrap_or(u8::MAX)));
        for row in all() {
            let (_, RowScale { scale, lost }) = rows.quick(row);
            out.f32(scale);
            out.f32(lost);
        }
        all().for_each(|row| out.signed(rows.quick(row).0));
    }

    pub(crate) fn load(
        from: &mut Reader<'_>,
        slots: u32,
        live: &RoaringBitmap,
    ) -> Result<VectorIndex, SnapshotError> {
        let dimension = usize::try_from(from.u32()?).unwrap_or(usize::MAX);
        let counts = from.take(usize::try_from(live.len()).unwrap_or(usize::MAX))?;
        let rows: usize = counts.iter().map(|count| usize::from(*count)).sum();
        let is_one = dimension <= DIMENSION_MAX
            && (dimension > 0 || rows == 0)
            && counts.iter().all(|count| usize::from(*count) <= VECTORS_MAX);
        if !is_one {
            return Err(unsound("the dimension or number of vectors"));
        }
        let mut scales = from.take(rows.checked_mul(8).ok_or(SnapshotError::CutOff)?).map(Reader::new)?;
        let levels = from.take(rows.checked_mul(dimension).ok_or(SnapshotError::CutOff)?)?;
        let mut loaded = Rows::with_room(dimension, rows, slots);
        let mut levels = levels.chunks_exact(dimension.max(1));
        for (slot, count) in live.iter().zip(counts) {
            for at in 0..*count {
                let scale = RowScale { scale: scales.f32()?, lost: scales.f32()? };
                let levels = levels.next().ok_or(SnapshotError::CutOff)?;
                if scale.scale < 0.0 || scale.lost < 0.0 {
                    return Err(unsound("a scale below nothing"));
                }
                loaded.push_quick(Ordinal(slot), at == 0, levels, scale);
            }
        }
        Ok(VectorIndex { rows: loaded, ..VectorIndex::default() })
    }

    /// Takes the rows of a memory in full. False when there are not as many, or of another dimension.
    pub(crate) fn take_full<'v>(
        &mut self,
        ordinal: Ordinal,
        vectors: impl ExactSizeIterator<Item = &'v [f32]>,
    ) -> bool {
        self.rows.take_full(ordinal, vectors)
    }
}
