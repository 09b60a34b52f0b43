//! The matrix: one contiguous block of rows in full precision and one in eight bits, addressed by row number.
//!
//! A row belongs to one memory; the rows of a memory form a chain from its ordinal. Freed rows are zeroed and used again,
//! unless a graph still has a node for them ([`Coverage`]).

use roaring::RoaringBitmap;

use super::coverage::Coverage;
use super::quantised::{RowScale, quantise_row};
use crate::Ordinal;

/// Stands where no row is.
const NONE: u32 = u32::MAX;

/// A row of the matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Row(pub(crate) u32);

impl Row {
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

/// All rows of one shelf.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    /// Components of each row; 0 until the first one comes.
    dimension: usize,
    full: Vec<f32>,
    quick: Vec<i8>,
    scales: Vec<RowScale>,
    /// The next row of the same memory.
    next: Vec<u32>,
    /// The ordinal of the memory that each row belongs to; [`NONE`] for a freed row.
    owner: Vec<u32>,
    /// The first row of each ordinal.
    first: Vec<u32>,
    free: Vec<u32>,
    /// Which rows graphs have nodes for.
    coverage: Coverage,
}

impl Rows {
    /// Components of each row; none until the first row comes.
    pub(crate) fn dimension(&self) -> Option<usize> {
        (self.dimension > 0).then_some(self.dimension)
    }

    /// How many rows are in use.
    pub(crate) fn len(&self) -> usize {
        self.next.len() - self.free.len() - self.coverage.held()
    }

    /// The memory that a row belongs to; none when it was freed.
    pub(crate) fn owner(&self, row: Row) -> Option<Ordinal> {
        self.owner.get(row.index()).filter(|owner| **owner != NONE).map(|owner| Ordinal(*owner))
    }

    /// Which rows graphs have nodes for.
    pub(crate) fn coverage(&self) -> &Coverage {
        &self.coverage
    }

    /// Rows that the graph in use was built from and that are freed.
    pub(crate) fn freed_of_graph(&self) -> impl Iterator<Item = Row> + '_ {
        self.coverage.freed_of_graph().map(Row)
    }

    /// Every row in use, as a graph that is begun now would cover them.
    pub(crate) fn plan_graph(&mut self) -> RoaringBitmap {
        let mut used = RoaringBitmap::new();
        used.insert_range(0..u32::try_from(self.next.len()).unwrap_or(NONE));
        used -= self.free.iter().copied().collect::<RoaringBitmap>();
        self.coverage.plan(used)
    }

    /// The planned graph is in use, and the one before it is gone.
    pub(crate) fn graph_installed(&mut self) {
        self.free.extend(self.coverage.install());
    }

    /// The planned graph will not come.
    pub(crate) fn graph_refused(&mut self) {
        self.free.extend(self.coverage.refuse());
    }

    /// The graph in use is gone.
    pub(crate) fn graph_dropped(&mut self) {
        let held_by = |(_, first): &(u32, &u32)| **first != NONE;
        let all = (0..).zip(&self.first).filter(held_by).map(|(ordinal, _)| ordinal).collect();
        self.free.extend(self.coverage.drop_graph(all));
    }

    /// The rows of a memory, in the order they were given.
    pub(crate) fn of(&self, ordinal: Ordinal) -> impl Iterator<Item = Row> + '_ {
        let mut at = self.first.get(ordinal.index()).copied().unwrap_or(NONE);
        std::iter::from_fn(move || {
            let row = Row(at);
            at = *self.next.get(row.index())?;
            Some(row)
        })
    }

    /// A row in full precision.
    pub(crate) fn full(&self, row: Row) -> &[f32] {
        let start = row.index() * self.dimension;
        self.full.get(start..start + self.dimension).unwrap_or_default()
    }

    /// A row in eight bits.
    pub(crate) fn quick(&self, row: Row) -> (&[i8], RowScale) {
        let start = row.index() * self.dimension;
        let levels = self.quick.get(start..start + self.dimension).unwrap_or_default();
        (levels, self.scales.get(row.index()).copied().unwrap_or_default())
    }

    /// No rows, and room for some; `dimension` is 0 only without any.
    pub(super) fn with_room(dimension: usize, rows: usize, slots: u32) -> Rows {
        Rows {
            dimension,
            full: vec![0.0; rows * dimension],
            quick: Vec::with_capacity(rows * dimension),
            scales: Vec::with_capacity(rows),
            next: Vec::with_capacity(rows),
            owner: Vec::with_capacity(rows),
            first: vec![NONE; slots as usize],
            free: Vec::new(),
            coverage: Coverage::default(),
        }
    }

    /// Adds a row as it stands in bytes, behind those before it of the same memory.
    pub(super) fn push_quick(&mut self, ordinal: Ordinal, is_first: bool, levels: &[u8], scale: RowScale) {
        let row = u32::try_from(self.next.len()).unwrap_or(NONE);
        let link = if is_first { self.first.get_mut(ordinal.index()) } else { self.next.last_mut() };
        if let Some(link) = link {
            *link = row;
        }
        self.next.push(NONE);
        self.owner.push(ordinal.0);
        self.scales.push(scale);
        self.quick.extend(levels.iter().map(|level| i8::from_le_bytes([*level])));
        self.coverage.added(ordinal);
    }

    /// Takes the rows of a memory in full. False when there are not as many, or of another dimension.
    pub(super) fn take_full<'v>(
        &mut self,
        ordinal: Ordinal,
        vectors: impl ExactSizeIterator<Item = &'v [f32]>,
    ) -> bool {
        if self.of(ordinal).count() != vectors.len() {
            return false;
        }
        let mut at = self.first.get(ordinal.index()).copied().unwrap_or(NONE);
        for vector in vectors {
            let start = at as usize * self.dimension;
            let Some(place) = self.full.get_mut(start..start + self.dimension) else { return false };
            if place.len() != vector.len() {
                return false;
            }
            place.copy_from_slice(vector);
            at = self.next.get(at as usize).copied().unwrap_or(NONE);
        }
        true
    }

    /// Adds the rows of a memory that has none.
    pub(crate) fn insert<'v>(&mut self, ordinal: Ordinal, vectors: impl Iterator<Item = &'v [f32]>) {
        if self.first.len() <= ordinal.index() {
            self.first.resize(ordinal.index() + 1, NONE);
        }
        let mut last: Option<Row> = None;
        for vector in vectors {
            let row = self.add(vector);
            if let Some(owner) = self.owner.get_mut(row.index()) {
                *owner = ordinal.0;
            }
            let link = match last {
                Some(row) => self.next.get_mut(row.index()),
                None => self.first.get_mut(ordinal.index()),
            };
            if let Some(link) = link {
                *link = row.0;
            }
            last = Some(row);
        }
        if last.is_some() {
            self.coverage.added(ordinal);
        }
    }

    fn add(&mut self, vector: &[f32]) -> Row {
        if self.dimension == 0 {
            self.dimension = vector.len();
        }
        let row = Row(self.free.pop().unwrap_or_else(|| self.grow()));
        let start = row.index() * self.dimension;
        let place = start..start + self.dimension;
        if let (Some(full), Some(quick), Some(scale)) =
            (self.full.get_mut(place.clone()), self.quick.get_mut(place), self.scales.get_mut(row.index()))
        {
            full.copy_from_slice(vector);
            *scale = quantise_row(vector, quick);
        }
        row
    }

    fn grow(&mut self) -> u32 {
        self.next.push(NONE);
        self.owner.push(NONE);
        self.scales.push(RowScale::default());
        self.full.resize(self.next.len() * self.dimension, 0.0);
        self.quick.resize(self.next.len() * self.dimension, 0);
        #[expect(
            clippy::cast_possible_truncation,
            reason = "2^26 ordinals of at most 8 vectors stay below 2^32"
        )]
        let last = (self.next.len() - 1) as u32;
        last
    }

    /// Drops the rows of a memory and zeroes them: a forgotten text's vector does not stay in memory.
    pub(crate) fn remove(&mut self, ordinal: Ordinal) {
        let Some(first) = self.first.get_mut(ordinal.index()) else { return };
        let mut at = std::mem::replace(first, NONE);
        while let Some(next) = self.next.get_mut(at as usize) {
            let row = Row(at);
            at = std::mem::replace(next, NONE);
            let place = row.index() * self.dimension..(row.index() + 1) * self.dimension;
            if let (Some(full), Some(quick)) = (self.full.get_mut(place.clone()), self.quick.get_mut(place)) {
                full.fill(0.0);
                quick.fill(0);
            }
            if let Some(owner) = self.owner.get_mut(row.index()) {
                *owner = NONE;
            }
            // A row that a graph has a node for may not come to hold another vector: its links would lead astray.
            if !self.coverage.freed(row) {
                self.free.push(row.0);
            }
        }
        self.coverage.removed(ordinal);
    }

    /// Estimated bytes on the heap.
    pub(crate) fn bytes(&self) -> usize {
        self.full.capacity() * size_of::<f32>()
            + self.quick.capacity()
            + self.scales.capacity() * size_of::<RowScale>()
            + (self.next.capacity() + self.owner.capacity() + self.first.capacity() + self.free.capacity())
                * size_of::<u32>()
            + self.coverage.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_go_and_are_used_again() {
        let mut rows = Rows::default();
        rows.insert(Ordinal(3), [&[1.0, 0.0][..], &[0.0, 1.0]].into_iter());
        rows.insert(Ordinal(0), [&[0.6, 0.8][..]].into_iter());
        assert_eq!((rows.len(), rows.dimension()), (3, Some(2)));
        let of =
            |rows: &Rows, slot| rows.of(Ordinal(slot)).map(|row| rows.full(row).to_vec()).collect::<Vec<_>>();
        assert_eq!(of(&rows, 3), [[1.0, 0.0], [0.0, 1.0]]);
        rows.remove(Ordinal(3));
        rows.remove(Ordinal(3));
        assert_eq!(of(&rows, 3), Vec::<Vec<f32>>::new());
        assert_eq!(rows.len(), 1);
        assert_eq!(&rows.full[..4], [0.0; 4], "the bytes of a dropped vector are gone");
        rows.insert(Ordinal(1), [&[0.8, 0.6][..]].into_iter());
        assert_eq!(of(&rows, 1), [[0.8, 0.6]]);
        assert_eq!(rows.full.len(), 6, "no new row was needed");
        assert_eq!(of(&rows, 9), Vec::<Vec<f32>>::new());
    }
}
