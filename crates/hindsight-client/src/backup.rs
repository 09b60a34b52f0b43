//! A backup of a server, written wherever the caller wishes.

use std::io::Write;
use std::time::Duration;

use hindsight_core::Lsn;
use hindsight_proto::v1;
use hindsight_proto::v1::backup_response::Part;
use serde::Serialize;
use tonic::Status;

use crate::status::Failure;
use crate::transport::How;
use crate::{Client, Error};

/// What a backup holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct BackupSummary {
    /// Everything up to this log position is in it, and nothing after it.
    pub revision: Lsn,
    /// How many entries it has.
    pub entries: u64,
    /// How many bytes it has.
    pub bytes: u64,
    /// The BLAKE3 of these bytes, in hex.
    pub blake3: String,
}

impl Client {
    /// Takes a backup of the whole database and writes it to `out`, which may block. The database is written to
    /// meanwhile; the backup is its state at the one log position that the answer names. It may take as long as it
    /// takes: the deadline is that for its beginning. When this fails, what was written is no backup.
    ///
    /// ```no_run
    /// # async fn example(client: hindsight_client::Client) -> Result<(), Box<dyn std::error::Error>> {
    /// let mut file = std::fs::File::create("monday.hindsight.tmp")?;
    /// let backup = client.backup(&mut file).await?;
    /// file.sync_all()?;
    /// std::fs::rename("monday.hindsight.tmp", "monday.hindsight")?;
    /// println!("everything up to {}", backup.revision);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Sink`] when `out` fails; [`Error::Server`] with the reason `CHECKSUM_MISMATCH` when what arrived is not
    /// what was sent; [`Error::Unavailable`] when the stream ends before the backup does; and what the server answers.
    pub async fn backup(&self, out: &mut (dyn Write + Send)) -> Result<BackupSummary, Error> {
        let timeout = self.timeout();
        let mut parts = self
            .transport()
            .call(How::read(timeout), v1::BackupRequest {}, |request| {
                let mut service = self.transport().admin();
                async move { service.backup(request).await }
            })
            .await?;
        let (mut hasher, mut bytes, mut summary) = (blake3::Hasher::new(), 0_u64, None);
        while let Some(message) = parts.message().await.map_err(|status| broken(&status, timeout))? {
            match message.part {
                Some(Part::Data(data)) => {
                    hasher.update(&data);
                    bytes += data.len() as u64;
                    out.write_all(&data).map_err(|error| Error::sink(&error))?;
                }
                Some(Part::Summary(last)) => summary = Some(last),
                None => {}
            }
        }
        out.flush().map_err(|error| Error::sink(&error))?;
        let Some(v1::BackupSummary { revision, entries, bytes: sent, blake3 }) = summary else {
            return Err(cut_off("the backup ended before its summary".to_owned()));
        };
        let found = hasher.finalize();
        if found.as_bytes()[..] != blake3[..] || bytes != sent {
            let reason = "CHECKSUM_MISMATCH".to_owned();
            let message =
                format!("{bytes} bytes of the backup arrived, and they are not the {sent} that were sent");
            return Err(Error::Server { reason, message });
        }
        Ok(BackupSummary { revision: Lsn(revision), entries, bytes, blake3: found.to_hex().to_string() })
    }
}

/// The error of a stream that ended with a status.
fn broken(status: &Status, timeout: Duration) -> Error {
    // Only this side attaches sources: the connection broke, and the server said nothing.
    if std::error::Error::source(status).is_some() {
        return cut_off(format!("the backup broke off: {}", status.message()));
    }
    Failure::of(status, timeout).error
}

fn cut_off(message: String) -> Error {
    Error::Unavailable { reason: "CUT_OFF".to_owned(), message, retry_after: None }
}
