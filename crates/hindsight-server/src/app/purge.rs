//! Calls that take away for good.

use hindsight_core::Namespace;
use hindsight_engine::{Affected, DropRequest, ErasureFile, PurgeDone, PurgeRequest, PurgeTarget};
use hindsight_proto::call;

use super::{App, AppError};
use crate::access;

/// Most files that each list of a receipt names in an answer.
const FILES_MAX: usize = 1_000;

impl App {
    /// Purges, and answers when no byte is left.
    pub(crate) async fn purge(&self, purge: call::PurgeCall) -> Result<PurgeDone, AppError> {
        let call::PurgeCall { namespace, target, with_derived, validate_only, request_id } = purge;
        let target = match target {
            call::PurgeTarget::Ids(ids) => PurgeTarget::Ids(ids),
            call::PurgeTarget::Matching { filter, expected_count } => {
                PurgeTarget::Matching { filter: *filter, expected_count }
            }
            call::PurgeTarget::Namespace { expected_count } => PurgeTarget::Namespace { expected_count },
        };
        match &target {
            PurgeTarget::Ids(ids) if !with_derived => self.reaches(&namespace, ids).await?,
            _ => access::no_agent("purges what it names by its id, and nothing else")?,
        }
        let request = PurgeRequest { target, validate_only, request_id, with_derived };
        let purged = self.on_worker(move |worker| Ok(worker.engine.purge(&namespace, request)?)).await?;
        access::note(if validate_only { 0 } else { purged.count as usize });
        Ok(purged)
    }

    /// Drops a namespace.
    pub(crate) async fn drop_namespace(
        &self,
        namespace: Namespace,
        request: DropRequest,
    ) -> Result<Affected, AppError> {
        let does = !request.validate_only;
        let dropped = self.run(move |worker| Ok(worker.engine.drop_namespace(&namespace, request)?)).await?;
        access::note(if does { dropped.count as usize } else { 0 });
        Ok(dropped)
    }
}

/// The files that an answer names.
pub(crate) fn shown(files: &[ErasureFile]) -> impl Iterator<Item = &ErasureFile> {
    files.iter().take(FILES_MAX)
}
