//! Recall, and why a memory is in its answer or not.

use hindsight_core::{Explanation, Invalid, MemoryId, Namespace, Recall, Recalled, Timestamp};
use hindsight_query::When;
use hindsight_storage::io::Io;
use hindsight_storage::sabotage::{Sabotage, has};

use crate::decide::{fits, now};
use crate::engine::EngineOver;
use crate::error::EngineError;
use crate::namespaces::Cell;
use crate::state::NamespaceState;
use crate::unsynced::Unsynced;
use crate::view::View;

impl<I: Io> EngineOver<I> {
    /// The few memories that matter now, each with the reason why. An unknown namespace recalls nothing.
    ///
    /// # Errors
    /// When a field is wrong, `as_of` lies before the first memory, or the vector is not of the namespace's model.
    pub fn recall(
        &self,
        namespace: &Namespace,
        recall: &Recall,
    ) -> Result<Unsynced<Recalled, I>, EngineError> {
        self.asked(namespace, recall, |view, clock, cell| {
            let timer = || self.io.elapsed_us();
            let when = if recall.explain { When::timed(clock, &timer) } else { clock.into() };
            let mut recalled = hindsight_query::recall(view, recall, when)?;
            if let Some(cell) = cell.filter(|_| !recall.observe) {
                self.returned(cell, &mut recalled)?;
            }
            Ok(recalled)
        })
    }

    /// What becomes of one memory in a recall, and why. The recall is carried out for it, and nothing is counted.
    ///
    /// # Errors
    /// As [`EngineOver::recall`].
    pub fn explain(
        &self,
        namespace: &Namespace,
        recall: &Recall,
        id: MemoryId,
    ) -> Result<Unsynced<Explanation, I>, EngineError> {
        self.asked(namespace, recall, |view, clock, _| {
            let timer = || self.io.elapsed_us();
            Ok(hindsight_query::explain(view, recall, When::timed(clock, &timer), id)?)
        })
    }

    /// Puts a question to a namespace as it is now.
    fn asked<T>(
        &self,
        namespace: &Namespace,
        recall: &Recall,
        answer: impl FnOnce(&View<'_>, Timestamp, Option<&Cell>) -> Result<T, EngineError>,
    ) -> Result<Unsynced<T, I>, EngineError> {
        recall.check()?;
        let empty = NamespaceState::default();
        let mut cell = self.loaded(namespace)?;
        if has(Sabotage::RecallElsewhere) {
            cell = self.namespaces.after(None).into_iter().next();
        }
        let guard = cell.as_ref().map(|cell| cell.state.read());
        let state = guard.as_ref().map_or(&empty, |state| &***state);
        if let (Some(vector), Some(_)) = (&recall.vector, &state.model) {
            let given = recall.embedding_model.as_deref().ok_or_else(|| {
                Invalid::one("embedding_model", "is missing: name the model that made the vector")
            })?;
            fits(namespace, state.model.as_ref(), given, vector.dimension())?;
        }
        let answered = answer(&View::new(state, recall), now(&*self.io), cell.as_deref())?;
        self.storage.records().check_vectors(namespace)?;
        Ok(self.answer(state, answered, state.applied))
    }
}
