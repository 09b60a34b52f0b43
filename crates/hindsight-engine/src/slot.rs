//! Where a namespace's state is, while it is in memory: a namespace that is not takes a pointer.

use std::ops::{Deref, DerefMut};
use std::sync::LazyLock;

use crate::state::NamespaceState;

/// What is seen of a namespace that holds nothing.
static NOTHING: LazyLock<NamespaceState> = LazyLock::new(NamespaceState::default);

/// A namespace's state; empty until something is put into it.
#[derive(Debug, Default)]
pub(crate) struct Slot(Option<Box<NamespaceState>>);

impl Slot {
    /// Empties it.
    pub(crate) fn take(&mut self) -> Slot {
        Slot(self.0.take())
    }
}

impl From<NamespaceState> for Slot {
    fn from(state: NamespaceState) -> Slot {
        Slot(Some(Box::new(state)))
    }
}

impl Deref for Slot {
    type Target = NamespaceState;

    fn deref(&self) -> &NamespaceState {
        self.0.as_deref().unwrap_or(&NOTHING)
    }
}

impl DerefMut for Slot {
    fn deref_mut(&mut self) -> &mut NamespaceState {
        self.0.get_or_insert_with(Box::default)
    }
}
