//! Dropping a namespace: from then on it is as if it had never been written to.

use hindsight_core::{Batch, Change, Namespace};
use hindsight_storage::io::Io;

use crate::decide::next_time;
use crate::engine::EngineOver;
use crate::error::EngineError;
use crate::reply::Affected;
use crate::request::DropRequest;
use crate::requests::key;
use crate::unsynced::Unsynced;

impl<I: Io> EngineOver<I> {
    /// Drops a namespace with all memories, forgotten ones too. Its record files go with the next checkpoint, what the log
    /// has of it with the segments that hold it: who needs every byte gone now purges it.
    ///
    /// # Errors
    /// When it is not there, the count is not the expected one, or the log fails.
    pub fn drop_namespace(
        &self,
        namespace: &Namespace,
        request: DropRequest,
    ) -> Result<Unsynced<Affected, I>, EngineError> {
        let asked = (request.expected_count, request.validate_only);
        let request_key = key(request.request_id.as_deref(), "drop_namespace", &asked)?;
        let not_found = || EngineError::NamespaceNotFound { namespace: namespace.clone() };
        // The request of the drop itself outlives the namespace for a while: until a checkpoint.
        let cell = self.namespaces.get(namespace).ok_or_else(not_found)?;
        self.namespaces.load(&cell, self.storage.records())?;
        let _writer = cell.lock_writer();
        let (count, at) = {
            let state = cell.state.read();
            if let Some(seen) = state.requests.seen(request_key.as_ref())? {
                let (lsn, ids) = (seen.lsn, Vec::new());
                return Ok(self.answer(
                    &state,
                    Affected { count: 0, ids, derived: Vec::new(), replayed: true, revision: lsn },
                    lsn,
                ));
            }
            if !state.is_there() {
                return Err(not_found());
            }
            (u32::try_from(state.records.len()).unwrap_or(u32::MAX), next_time(&*self.io, &state))
        };
        if let Some(expected) = request.expected_count
            && expected != count
        {
            return Err(EngineError::CountMismatch { expected, found: count });
        }
        let revision = if request.validate_only {
            cell.state.read().applied
        } else {
            let changes = vec![Change::DropNamespace];
            let batch = Batch { namespace: namespace.clone(), at, request: request_key, changes };
            let lsn = self.commit(&cell, batch)?;
            cell.accesses.lock().clear();
            self.namespaces.note_drop(lsn);
            self.sessions.lock().drop_namespace(namespace);
            lsn
        };
        let dropped = Affected { count, ids: Vec::new(), derived: Vec::new(), replayed: false, revision };
        Ok(self.unsynced(dropped, revision))
    }
}
