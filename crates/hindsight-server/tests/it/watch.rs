//! The change feed (L9) over gRPC and as server-sent events: complete, in order, durable, resumable, and nobody else's.

use std::collections::BTreeSet;
use std::time::Duration;

use hindsight_client::{
    BatchOptions, Change, ChangeKind, Draft, Error, Kind, Lsn, NamespaceHandle, Scope, Told, Watch,
    WatchFrom, WriteEntry,
};
use hindsight_proto::v1;
use hindsight_proto::v1::watch_service_client::WatchServiceClient;
use hindsight_server::Server;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tonic::Code;

use crate::support::{TestServer, config, draft};

const START: WatchFrom = WatchFrom::After(Lsn(0));

async fn change(watch: &mut Watch) -> Change {
    loop {
        if let Told::Change(change) = watch.next().await.unwrap() {
            return *change;
        }
    }
}

async fn changes(watch: &mut Watch, count: usize) -> Vec<Change> {
    let mut all = Vec::with_capacity(count);
    while all.len() < count {
        all.push(change(watch).await);
    }
    all
}

fn content(change: &Change) -> &str {
    &change.event.memory.as_ref().unwrap().content
}

/// Notes that say nothing alike, so that each is a memory of its own.
fn note(number: usize) -> Draft {
    draft(&format!("note {number} about subject{} and object{}", number * 7, number * 13))
}

#[tokio::test]
async fn l9_every_watcher_is_told_the_same_in_the_same_order_without_a_gap() {
    const WRITERS: usize = 8;
    const EACH: usize = 25;
    let server = TestServer::start().await;
    let ops = server.ops().await;
    let mut watchers = tokio::task::JoinSet::new();
    for _ in 0..3 {
        let mut watch = ops.watch(START).start().await.unwrap();
        let ops = ops.clone();
        watchers.spawn(async move {
            let mut all = Vec::new();
            while all.len() < WRITERS * EACH {
                let seen = change(&mut watch).await;
                if all.len() % 40 == 0 {
                    // What is told can be read: it is durable and applied.
                    ops.get(seen.event.id.unwrap()).await.unwrap();
                }
                all.push(seen);
            }
            all
        });
    }
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..WRITERS {
        let client = server.client().await;
        writers.spawn(async move {
            let (ops, other) = (client.namespace("ops").unwrap(), client.namespace("other").unwrap());
            let mut written = Vec::new();
            for number in 0..EACH {
                let done = ops.write(note(writer * 1_000 + number)).await.unwrap();
                written.push((done.revision, done.memory.id));
                other.write(note(writer * 1_000 + number)).await.unwrap();
            }
            written
        });
    }
    let mut written = BTreeSet::new();
    while let Some(done) = writers.join_next().await {
        written.extend(done.unwrap().into_iter().map(|(revision, id)| (revision, id.to_string())));
    }
    let mut told = Vec::new();
    while let Some(done) = watchers.join_next().await {
        told.push(done.unwrap());
    }
    let first = &told[0];
    assert!(first.windows(2).all(|pair| pair[0].revision < pair[1].revision), "in the order of the log");
    let seen: BTreeSet<_> =
        first.iter().map(|change| (change.revision, change.event.id.unwrap().to_string())).collect();
    assert_eq!(seen, written, "each write once, at its revision");
    assert!(told.iter().all(|other| other == first));
}

#[tokio::test]
async fn l9_a_watch_goes_on_over_a_restart_and_misses_nothing() {
    let server = TestServer::start().await;
    let ops = server.ops().await;
    let mut watch = ops.watch(WatchFrom::Now).start().await.unwrap();
    ops.write(draft("before the stop")).await.unwrap();
    assert_eq!(content(&change(&mut watch).await), "before the stop");
    ops.write(draft("told by nobody before the stop")).await.unwrap();
    let address = server.running.grpc_addr();
    let TestServer { running, dir } = server;
    running.shutdown().await.unwrap();
    let mut again = config(dir.path());
    again.listen = address;
    let running = Server::start(&again).await.unwrap();
    let server = TestServer { running, dir };
    server.ops().await.write(draft("after the start")).await.unwrap();
    let two: Vec<String> =
        changes(&mut watch, 2).await.iter().map(|change| content(change).to_owned()).collect();
    assert_eq!(two, ["told by nobody before the stop", "after the start"]);
    // A crash is the same to whoever watches.
    let TestServer { running, dir } = server;
    running.abort().await;
    let running = Server::start(&again).await.unwrap();
    let server = TestServer { running, dir };
    server.ops().await.write(draft("after the crash")).await.unwrap();
    assert_eq!(content(&change(&mut watch).await), "after the crash");
}

#[tokio::test]
async fn l9_a_stop_ends_watches_at_once_and_says_so() {
    let server = TestServer::start().await;
    let mut feed = WatchServiceClient::new(server.channel().await)
        .watch(v1::WatchRequest { namespace: "ops".to_owned(), ..v1::WatchRequest::default() })
        .await
        .unwrap()
        .into_inner();
    assert!(feed.message().await.unwrap().unwrap().at.is_none(), "the first message says where it begins");
    let stop = tokio::spawn(server.running.shutdown());
    let status = feed.message().await.unwrap_err();
    assert_eq!(
        (status.code(), status.message().contains("stopping")),
        (Code::Unavailable, true),
        "{status:?}"
    );
    stop.await.unwrap().unwrap();
}

#[tokio::test]
async fn s1_l9_nothing_of_another_namespace_or_agent_is_told() {
    let server = TestServer::start().await;
    let client = server.client().await;
    let (ops, other) = (client.namespace("ops").unwrap(), client.namespace("other").unwrap());
    let own = |agent: &str, text: &str| Draft {
        agent_id: Some(agent.to_owned()),
        scope: Some(Scope::Agent),
        ..draft(text)
    };
    other.write(draft("canary of another namespace")).await.unwrap();
    ops.write(own("a1", "canary of a1")).await.unwrap();
    ops.write(own("a2", "the plan of a2")).await.unwrap();
    other.write(draft("another canary")).await.unwrap();
    ops.write(Draft { kind: Some(Kind::Preference), ..draft("everybody may know") }).await.unwrap();
    let texts = async |mut watch: Watch, count| -> Vec<String> {
        changes(&mut watch, count).await.iter().map(|change| content(change).to_owned()).collect()
    };
    let shared = ops.watch(START).start().await.unwrap();
    assert_eq!(texts(shared, 1).await, ["everybody may know"]);
    let agent = ops.watch(START).agent("a2").start().await.unwrap();
    assert_eq!(texts(agent, 2).await, ["the plan of a2", "everybody may know"]);
    let kind = ops.watch(START).agent("a2").kind(Kind::Preference).start().await.unwrap();
    assert_eq!(texts(kind, 1).await, ["everybody may know"]);
}

#[tokio::test]
async fn l9_what_happens_to_a_memory_is_told() {
    let server = TestServer::start().await;
    let ops = server.ops().await;
    let mut watch = ops.watch(WatchFrom::Now).start().await.unwrap();
    let id = ops.write(draft("the first text")).await.unwrap().memory.id;
    assert_eq!(
        (change(&mut watch).await.event.change, watch.revision()),
        (ChangeKind::Created, Some(Lsn(1)))
    );
    ops.forget_ids(&[id]).await.unwrap();
    let forgotten = change(&mut watch).await.event;
    assert_eq!((forgotten.change, forgotten.id, forgotten.memory), (ChangeKind::Forgotten, Some(id), None));
    ops.restore(&[id]).await.unwrap();
    assert_eq!(content(&change(&mut watch).await), "the first text");
    ops.purge_ids(&[id]).await.unwrap();
    let purged = change(&mut watch).await.event;
    assert_eq!((purged.change, purged.id, purged.count), (ChangeKind::Purged, None, Some(1)));
}

/// Writes until the log does not reach back to its beginning, and returns the error of whoever asks for that.
async fn until_given_up(ops: &NamespaceHandle) -> Error {
    let long = "many words ".repeat(2_000);
    for number in 0.. {
        ops.write(draft(&format!("{number} {long}"))).await.unwrap();
        if let Err(error) = ops.watch(START).start().await {
            return error;
        }
    }
    unreachable!("the log grows for ever")
}

#[tokio::test]
async fn l9_too_old_is_an_error_that_says_where_one_can_begin() {
    let server = TestServer::with(|config| {
        config.storage.segment_bytes = 1 << 20;
        config.storage.checkpoint_bytes = 1 << 20;
    })
    .await;
    let ops = server.ops().await;
    let error = until_given_up(&ops).await;
    let Error::OutOfRange { reason, oldest: Some(oldest), .. } = &error else { panic!("{error:?}") };
    assert_eq!(reason, "WATCH_COMPACTED");
    assert!(error.to_string().contains(&format!("watch after revision {oldest}")), "{error}");
    let http = server.http("GET", "/v1/namespaces/ops/watch?after_revision=0", Value::Null).await;
    assert_eq!((http.status, &http.body["reason"]), (410, &json!("WATCH_COMPACTED")), "{http:?}");
    let path = format!("/v1/namespaces/ops/watch?after_revision={}", u64::MAX);
    let ahead = server.http("GET", &path, Value::Null).await;
    assert_eq!((ahead.status, &ahead.body["reason"]), (400, &json!("WATCH_AHEAD")), "{ahead:?}");
    let mut watch = ops.watch(*oldest).start().await.unwrap();
    assert!(change(&mut watch).await.revision > *oldest);
}

#[tokio::test]
async fn l9_a_slow_reader_is_waited_for_without_holding_anybody_up() {
    let server = TestServer::start().await;
    let ops = server.ops().await;
    let mut slow = server.ops().await.watch(WatchFrom::Now).start().await.unwrap();
    let mut quick = ops.watch(WatchFrom::Now).start().await.unwrap();
    // More than a connection buffers, and than is kept in memory for all who watch.
    let long = "word ".repeat(1_500);
    for number in 0..40 {
        let entry = |item| WriteEntry { draft: draft(&format!("{number}/{item} {long}")), vectors: None };
        ops.batch_write((0..20).map(entry).collect(), BatchOptions::default()).await.unwrap();
        changes(&mut quick, 20).await;
    }
    let all = changes(&mut slow, 800).await;
    let expected = (0..40).flat_map(|number| (0..20).map(move |item| format!("{number}/{item} ")));
    assert!(all.iter().zip(expected).all(|(change, begins)| content(change).starts_with(&begins)));
}

#[tokio::test]
async fn l9_only_so_many_may_watch_and_places_come_back() {
    let server = TestServer::with(|config| config.limits.watchers = 2).await;
    let ops = server.ops().await;
    let first = ops.watch(WatchFrom::Now).start().await.unwrap();
    let _second = ops.watch(WatchFrom::Now).start().await.unwrap();
    let full = ops.watch(WatchFrom::Now).start().await.unwrap_err();
    assert!(matches!(&full, Error::Exhausted { reason, .. } if reason == "LIMIT_REACHED"), "{full:?}");
    drop(first);
    while ops.watch(WatchFrom::Now).start().await.is_err() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// A reader of server-sent events.
struct Events(BufReader<TcpStream>);

impl Events {
    async fn open(server: &TestServer, path: &str, headers: &str) -> Events {
        let mut stream = TcpStream::connect(server.running.http_addr()).await.unwrap();
        let head = format!("GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n{headers}\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut events = Events(BufReader::new(stream));
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(events.0.read_line(&mut head).await.unwrap() > 0, "{head}");
        }
        assert!(head.starts_with("HTTP/1.1 200") && head.contains("text/event-stream"), "{head}");
        events
    }

    /// Name, id and data of the next event.
    async fn next(&mut self) -> (String, Option<u64>, Value) {
        let (mut name, mut id) = (String::new(), None);
        loop {
            let mut line = String::new();
            assert!(self.0.read_line(&mut line).await.unwrap() > 0, "the feed ended");
            // Lines of lengths stand between pieces of the body.
            match line.trim_end().split_once(": ") {
                Some(("event", text)) => name = text.to_owned(),
                Some(("id", text)) => id = Some(text.parse().unwrap()),
                Some(("data", text)) => return (name, id, serde_json::from_str(text).unwrap()),
                _ => {}
            }
        }
    }
}

#[tokio::test]
async fn l9_server_sent_events_are_resumed_by_their_last_id() {
    let server = TestServer::with(|config| config.timeouts.watch_notice_ms = 50).await;
    let ops = server.ops().await;
    let path = "/v1/namespaces/ops/watch?after_revision=0&kinds=fact&ids_only=false";
    let mut events = Events::open(&server, path, "").await;
    assert_eq!(events.next().await, ("progress".to_owned(), Some(0), json!({"revision": 0})));
    ops.write(draft("first\nline")).await.unwrap();
    let (name, id, data) = loop {
        let event = events.next().await;
        if event.0 == "change" {
            break event;
        }
    };
    assert_eq!((name.as_str(), id), ("change", Some(1)));
    assert_eq!(data["events"][0]["memory"]["content"], "first\nline");
    drop(events);
    ops.write(draft("second")).await.unwrap();
    server.client().await.namespace("other").unwrap().write(draft("canary")).await.unwrap();
    let mut events = Events::open(&server, path, "last-event-id: 1\r\n").await;
    assert_eq!(events.next().await.1, Some(1));
    assert_eq!(events.next().await.2["events"][0]["memory"]["content"], "second");
    // What another namespace wrote moves the notice on, and nothing else.
    loop {
        let (name, id, _) = events.next().await;
        assert_eq!(name, "progress");
        if id == Some(3) {
            break;
        }
    }
    let stop = tokio::spawn(server.running.shutdown());
    loop {
        let (name, id, data) = events.next().await;
        if name == "error" {
            assert_eq!((id, &data["reason"]), (None, &json!("DRAINING")));
            break;
        }
    }
    stop.await.unwrap().unwrap();
}

#[tokio::test]
async fn l9_bad_input_is_named() {
    let server = TestServer::start().await;
    let get = async |path: &str, headers: &[(&str, &str)]| server.http_raw("GET", path, headers, b"").await;
    for (query, field) in [
        ("after_revision=-1", "after_revision"),
        ("after_revision=soon", "after_revision"),
        ("kinds=diary", "kinds[0]"),
        ("changes=created&changes=lost", "changes[1]"),
        ("ids_only=perhaps", "ids_only"),
        ("from=3", "from"),
    ] {
        let answer = get(&format!("/v1/namespaces/ops/watch?{query}"), &[]).await;
        assert!(answer.status == 400 && answer.fields() == [field], "{query}: {answer:?}");
    }
    let bad = get("/v1/namespaces/..%2Fx/watch", &[]).await;
    assert_eq!((bad.status, bad.fields()), (400, vec!["namespace"]));
    let bad = get("/v1/namespaces/ops/watch", &[("last-event-id", "first")]).await;
    assert_eq!((bad.status, bad.fields()), (400, vec!["last-event-id"]));
    let mut wire = WatchServiceClient::new(server.channel().await);
    let watch =
        v1::WatchRequest { namespace: "ops".to_owned(), kinds: vec![1, 77], ..v1::WatchRequest::default() };
    let status = wire.watch(watch).await.unwrap_err();
    assert_eq!(
        (status.code(), status.message().starts_with("kinds[1]")),
        (Code::InvalidArgument, true),
        "{status:?}"
    );
}
