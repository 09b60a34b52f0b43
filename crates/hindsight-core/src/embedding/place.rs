//! Where the components of a vector are: in memory, or in a file that only its holder can read.
//!
//! A vector of 384 components takes 1,536 bytes, most of what a memory takes, and is looked at once in a while: a search
//! reads copies in eight bits first. So whoever stores a vector may put its components away ([`Embedding::put_away`]) and
//! lends them out again, copied, when someone asks. All clones of a vector share the place, so it is put away for all of
//! them at once, and moved for all of them when its file is replaced.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, PoisonError, RwLock};

use super::Embedding;

/// Reads components that were put away.
pub trait VectorSource: fmt::Debug + Send + Sync {
    /// The components at `offset`, of which `check` was said when they were put there. `None` when they can't be read, or
    /// are others. The source remembers that until its owner asks for it: an answer that was made without them is worth
    /// nothing.
    fn read(&self, offset: u64, dimension: usize, check: u32) -> Option<Vec<f32>>;

    /// As [`VectorSource::read`] failed for good: the vector has not been moved meanwhile.
    fn lost(&self, offset: u64);
}

/// The components of a vector, lent out: a share of those in memory, or a copy.
#[derive(Debug, Clone)]
pub struct Components(Arc<[f32]>);

impl Deref for Components {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        &self.0
    }
}

/// Where components lie that were put away.
#[derive(Debug, Clone)]
struct Away {
    source: Arc<dyn VectorSource>,
    offset: u64,
    check: u32,
}

impl Away {
    fn is(&self, other: &Away) -> bool {
        self.offset == other.offset && Arc::ptr_eq(&self.source, &other.source)
    }
}

#[derive(Debug, Clone)]
enum Place {
    Here(Arc<[f32]>),
    Away(Away),
}

/// What all clones of a vector share.
#[derive(Debug)]
pub(super) struct Shared {
    dimension: usize,
    place: RwLock<Place>,
}

impl Shared {
    pub(super) fn new(components: Arc<[f32]>) -> Shared {
        Shared { dimension: components.len(), place: RwLock::new(Place::Here(components)) }
    }

    fn place(&self) -> Place {
        // What a panic of another thread leaves behind is a whole place, the old one or the new one.
        self.place.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Embedding {
    /// How many components there are.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.0.dimension
    }

    /// The components; `None` when they were put away and can't be read back, which the source remembers.
    #[must_use]
    pub fn get(&self) -> Option<Components> {
        let mut place = self.0.place();
        loop {
            let away = match place {
                Place::Here(components) => return Some(Components(components)),
                Place::Away(away) => away,
            };
            if let Some(components) = away.source.read(away.offset, self.0.dimension, away.check) {
                return Some(Components(components.into()));
            }
            // Its file may have been replaced since: then it lies elsewhere.
            place = self.0.place();
            if matches!(&place, Place::Away(now) if now.is(&away)) {
                away.source.lost(away.offset);
                return None;
            }
        }
    }

    /// As [`Embedding::get`]; none at all where that has none.
    #[must_use]
    pub fn components(&self) -> Components {
        self.get().unwrap_or_else(|| Components(Arc::from([])))
    }

    /// From here on the components lie in `source` at `offset`; for all clones of this vector. To be called when they are
    /// there to stay. `check` is handed to the source with every reading.
    pub fn put_away(&self, source: Arc<dyn VectorSource>, offset: u64, check: u32) {
        let mut place = self.0.place.write().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *place, Place::Away(Away { source, offset, check }));
        drop(place);
        // Freed outside of the lock.
        drop(before);
    }

    /// Whether the components are in memory.
    #[must_use]
    pub fn is_here(&self) -> bool {
        matches!(self.0.place(), Place::Here(_))
    }

    /// Whether both are clones of one vector. Others may be equal all the same.
    #[must_use]
    pub fn is_same(&self, other: &Embedding) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl PartialEq for Embedding {
    fn eq(&self, other: &Embedding) -> bool {
        self.is_same(other) || self.get().zip(other.get()).is_some_and(|(one, other)| one.0 == other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    /// Two vectors one after the other, of which the first can get lost.
    #[derive(Debug, Default)]
    struct Shelf(Mutex<(bool, Vec<u64>)>);

    impl VectorSource for Shelf {
        fn read(&self, offset: u64, _: usize, check: u32) -> Option<Vec<f32>> {
            let is_there = offset == 1 || !self.0.lock().unwrap().0;
            (is_there && check == 7).then(|| vec![0.6, 0.8])
        }

        fn lost(&self, offset: u64) {
            self.0.lock().unwrap().1.push(offset);
        }
    }

    #[test]
    fn what_is_put_away_is_read_back_for_all_clones_and_a_loss_is_told() {
        let shelf = Arc::new(Shelf::default());
        let vector = Embedding::new(&[3.0, 4.0]).unwrap();
        let (clone, equal) = (vector.clone(), Embedding::new(&[3.0, 4.0]).unwrap());
        assert!(clone.is_here() && clone.is_same(&vector) && !equal.is_same(&vector));
        vector.put_away(Arc::clone(&shelf) as Arc<dyn VectorSource>, 0, 7);
        assert!(!clone.is_here());
        assert_eq!((clone.dimension(), &clone.components()[..]), (2, &[0.6, 0.8][..]));
        assert_eq!(clone, equal);
        shelf.0.lock().unwrap().0 = true;
        assert!(clone.get().is_none() && clone.components().is_empty() && clone != equal);
        assert_eq!(shelf.0.lock().unwrap().1, [0, 0, 0]);
        // It is moved to where it can be read.
        clone.put_away(shelf, 1, 7);
        assert_eq!(vector, equal);
    }
}
