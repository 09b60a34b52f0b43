//! `health`: whether the server answers, and who it is.

use comfy_table::{Cell, Color};

use hindsight_client::MemoryUse;

use crate::clock;
use crate::connection::Connection;
use crate::failure::Failure;
use crate::output::Out;
use crate::screen::{age_text, grouped, text_of};

/// Asks the server who it is; exit code 6 when nobody answers.
pub(crate) async fn run(connection: &Connection, out: &mut Out) -> Result<(), Failure> {
    let info = connection.client().server_info().await?;
    out.single(&info, |paint, width| {
        let mut table = paint.table(width, &[]);
        let up = age_text(info.started_at.days_until(clock::now()));
        let model = info.embedding_model.as_ref();
        let model =
            model.map_or_else(String::new, |model| format!("{} ({} numbers)", model.name, model.dimension));
        let writes = match info.writes_refused.as_deref() {
            None => "taken".to_owned(),
            Some("DISK_FULL") => "refused: the disk is full; free space there, or forget memories".to_owned(),
            Some("STORAGE_POISONED") => {
                "refused: a write to the disk failed; mend it and start the server again".to_owned()
            }
            Some(reason) => format!("refused: {reason}"),
        };
        let memory = info.memory.map(|memory| {
            let MemoryUse { loaded, unloaded, used_bytes, budget_bytes, evictions, .. } = memory;
            let mib = |bytes: u64| grouped(bytes.div_ceil(1 << 20));
            let most = if budget_bytes == 0 { String::new() } else { format!(" of {}", mib(budget_bytes)) };
            let (loaded, all) = (grouped(loaded), grouped(loaded + unloaded));
            format!(
                "{loaded} of {all} namespaces in {}{most} MiB, {} let go of",
                mib(used_bytes),
                grouped(evictions)
            )
        });
        for (name, value) in [
            ("server", connection.server().to_owned()),
            ("version", info.version.clone()),
            ("up", up),
            ("format", info.format.to_string()),
            ("revision", grouped(info.revision.0)),
            ("namespaces", grouped(info.namespaces)),
            ("embedding model", model),
            ("writes", writes),
            ("in memory", memory.unwrap_or_default()),
        ] {
            table.add_row(vec![Cell::new(name).fg(Color::DarkGrey), Cell::new(value)]);
        }
        text_of(&mut table)
    })
}
