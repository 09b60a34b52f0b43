//! A selection: the memories of one shelf that a query may see.

use roaring::RoaringBitmap;

use crate::Ordinal;

/// A set of ordinals of one shelf, exact, ascending.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Selection(pub(crate) RoaringBitmap);

impl Selection {
    /// How many memories are in it.
    #[must_use]
    pub fn len(&self) -> usize {
        usize::try_from(self.0.len()).unwrap_or(usize::MAX)
    }

    /// Whether it holds none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether it holds this one.
    #[must_use]
    pub fn contains(&self, ordinal: Ordinal) -> bool {
        self.0.contains(ordinal.0)
    }

    /// Its members, ascending.
    pub fn iter(&self) -> impl Iterator<Item = Ordinal> + '_ {
        self.0.iter().map(Ordinal)
    }

    /// Keeps what is in `other` too.
    #[must_use]
    pub fn and(mut self, other: &Selection) -> Selection {
        self.0 &= &other.0;
        self
    }

    /// Adds what is in `other`.
    #[must_use]
    pub fn or(mut self, other: &Selection) -> Selection {
        self.0 |= &other.0;
        self
    }

    /// Drops what is in `other`.
    #[must_use]
    pub fn minus(mut self, other: &Selection) -> Selection {
        self.0 -= &other.0;
        self
    }

    /// How many members it shares with `other`, without building the intersection.
    #[must_use]
    pub fn shared_with(&self, other: &Selection) -> usize {
        usize::try_from(self.0.intersection_len(&other.0)).unwrap_or(usize::MAX)
    }

    /// Keeps the members that `keep` says yes to.
    pub fn retain(&mut self, mut keep: impl FnMut(Ordinal) -> bool) {
        self.0.retain(|slot| keep(Ordinal(slot)));
    }
}

impl FromIterator<Ordinal> for Selection {
    fn from_iter<I: IntoIterator<Item = Ordinal>>(ordinals: I) -> Self {
        Selection(ordinals.into_iter().map(|ordinal| ordinal.0).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_combine() {
        let of = |slots: &[u32]| slots.iter().map(|slot| Ordinal(*slot)).collect::<Selection>();
        let (a, b) = (of(&[1, 2, 3]), of(&[3, 4]));
        assert_eq!(a.clone().and(&b), of(&[3]));
        assert_eq!(a.clone().or(&b), of(&[1, 2, 3, 4]));
        assert_eq!(a.clone().minus(&b), of(&[1, 2]));
        assert_eq!(a.shared_with(&b), 1);
        assert!(a.contains(Ordinal(2)) && !b.contains(Ordinal(2)));
        let mut odd = a;
        odd.retain(|ordinal| ordinal.get() % 2 == 1);
        assert_eq!(odd.iter().map(Ordinal::get).collect::<Vec<_>>(), [1, 3]);
    }
}
