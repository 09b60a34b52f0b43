//! A backup over the wire, while the server is written to.

use std::sync::Arc;

use hindsight_client::{BatchOptions, Error, WriteEntry};
use hindsight_proto::v1::{self, admin_service_client::AdminServiceClient, backup_response::Part};
use hindsight_server::Server;
use hindsight_storage::{RealIo, backup};

use crate::support::{TestServer, config, draft};

#[tokio::test]
async fn d10_a_backup_over_the_wire_comes_back_as_the_same_memories() {
    let server = TestServer::start().await;
    let ops = server.ops().await;
    for number in 0..40 {
        ops.write(draft(&format!("note {number} 第{number}条"))).await.unwrap();
    }
    let mut bytes = Vec::new();
    let summary = server.client().await.backup(&mut bytes).await.unwrap();
    let before = server.contents().await;
    ops.write(draft("after the backup")).await.unwrap();
    assert_eq!(summary.blake3, blake3::hash(&bytes).to_hex().to_string());
    let report = backup::verify(&bytes[..]).unwrap();
    assert_eq!((report.lsn, report.entries), (summary.revision, summary.entries));

    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("restored");
    backup::restore(&Arc::new(RealIo), &bytes[..], &target).unwrap();
    let restored = TestServer { running: Server::start(&config(&target)).await.unwrap(), dir: folder };
    assert_eq!(restored.contents().await, before);
    assert_eq!(server.contents().await.len(), 41);
}

#[tokio::test]
async fn one_backup_at_a_time_and_a_client_that_leaves_makes_room() {
    let server = TestServer::start().await;
    let ops = server.ops().await;
    // More than the queues between the two ends hold, so that a backup that nobody reads stands still.
    for round in 0..4 {
        let entries = (0..60).map(|number| WriteEntry {
            draft: draft(&format!("{round} {number} {}", "long ".repeat(6_000))),
            vectors: None,
        });
        ops.batch_write(entries.collect::<Vec<_>>(), BatchOptions::default()).await.unwrap();
    }
    let mut wire = AdminServiceClient::new(server.channel().await);
    let mut first = wire.backup(v1::BackupRequest {}).await.unwrap().into_inner();
    let part = first.message().await.unwrap().unwrap().part.unwrap();
    assert!(matches!(part, Part::Data(data) if !data.is_empty() && data.len() <= 1 << 20));
    let client = server.client().await;
    match client.backup(&mut Vec::new()).await {
        Err(Error::Unavailable { reason, retry_after, .. }) => {
            assert_eq!(reason, "OVERLOADED");
            assert!(retry_after.is_some());
        }
        other => panic!("{other:?}"),
    }
    // Writes go on meanwhile.
    ops.write(draft("meanwhile")).await.unwrap();
    drop(first);
    drop(wire);
    let mut bytes = Vec::new();
    let summary = loop {
        match client.backup(&mut bytes).await {
            Ok(summary) => break summary,
            Err(Error::Unavailable { .. }) => bytes.clear(),
            Err(other) => panic!("{other}"),
        }
    };
    assert_eq!(backup::verify(&bytes[..]).unwrap().lsn, summary.revision);
}
