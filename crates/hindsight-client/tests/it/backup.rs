//! What a client believes of a backup: only what arrived whole.

use std::io;

use hindsight_client::Error;
use hindsight_proto::v1;
use hindsight_proto::v1::backup_response::Part;
use tonic::Status;

use crate::mock::Mock;

fn data(bytes: &[u8]) -> Result<v1::BackupResponse, Status> {
    Ok(v1::BackupResponse { part: Some(Part::Data(bytes.to_vec().into())) })
}

fn summary(of: &[u8]) -> Result<v1::BackupResponse, Status> {
    let summary = v1::BackupSummary {
        revision: 7,
        entries: 2,
        bytes: of.len() as u64,
        blake3: blake3::hash(of).as_bytes().to_vec().into(),
    };
    Ok(v1::BackupResponse { part: Some(Part::Summary(summary)) })
}

async fn take(parts: Vec<Result<v1::BackupResponse, Status>>) -> (Result<u64, Error>, Vec<u8>) {
    let running = Mock::with_backup(parts).start().await;
    let mut out = Vec::new();
    let result = running.client().await.backup(&mut out).await.map(|summary| summary.revision.0);
    running.stop().await;
    (result, out)
}

#[tokio::test]
async fn a_whole_backup_is_written_as_it_comes() {
    let (revision, out) = take(vec![data(b"one "), data(b"two"), summary(b"one two")]).await;
    assert_eq!((revision.unwrap(), &out[..]), (7, &b"one two"[..]));
}

#[tokio::test]
async fn a_backup_without_its_end_and_one_with_other_bytes_are_errors() {
    let (cut, _) = take(vec![data(b"one ")]).await;
    assert!(matches!(cut, Err(Error::Unavailable { reason, .. }) if reason == "CUT_OFF"));
    let (broken, _) = take(vec![data(b"one "), Err(Status::data_loss("file 3 is damaged"))]).await;
    assert!(matches!(broken, Err(Error::Server { message, .. }) if message.contains("file 3")));
    for other in [&b"one twO"[..], b"one tw", b"one two "] {
        let (other, _) = take(vec![data(other), summary(b"one two")]).await;
        assert!(matches!(other, Err(Error::Server { reason, .. }) if reason == "CHECKSUM_MISMATCH"));
    }
}

#[tokio::test]
async fn a_full_disk_is_told_as_such() {
    struct Full;
    impl io::Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let running = Mock::with_backup(vec![data(b"one "), summary(b"one ")]).start().await;
    let error = running.client().await.backup(&mut Full).await.unwrap_err();
    assert!(matches!(error, Error::Sink { kind: io::ErrorKind::StorageFull, .. }), "{error:?}");
    running.stop().await;
}
