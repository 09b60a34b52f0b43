//! Every call reaches the server with what was asked, and gives back what it answered.

use futures_util::TryStreamExt as _;
use hindsight_client::{
    BatchOptions, Draft, Error, Feedback, Filter, ForgetMode, NamespaceHandle, Outcome, Patch, Prohibition,
    Reason, Recall, State, Status, Verdict, WriteEntry,
};

use crate::mock::{Mock, Running};

fn fact(content: &str) -> Draft {
    Draft { content: content.to_owned(), tags: vec![content.to_owned()], ..Draft::default() }
}

fn tagged(tag: &str) -> Filter {
    Filter { tags: vec![tag.to_owned()], ..Filter::default() }
}

async fn ops_with(contents: &[&str]) -> (Running, NamespaceHandle) {
    let server = Mock::default().start().await;
    let ops = server.client().await.namespace("ops").unwrap();
    for content in contents {
        ops.write(fact(content)).await.unwrap();
    }
    (server, ops)
}

#[tokio::test]
async fn what_is_written_can_be_read_changed_forgotten_and_restored() {
    let (_server, ops) = ops_with(&[]).await;
    let written = ops.write(fact("旧的")).await.unwrap();
    assert_eq!((written.outcome, written.replayed, written.memory.version), (Outcome::Created, false, 1));
    let id = written.memory.id;
    assert_eq!(ops.get(id).await.unwrap(), written.memory);
    let patch = Patch { content: Some("新的".to_owned()), tags: Some(Vec::new()), ..Patch::default() };
    let updated = ops.update(id, patch).await.unwrap();
    assert_eq!(
        (updated.memory.content.as_str(), updated.memory.tags.len(), updated.memory.version),
        ("新的", 0, 2)
    );
    assert_eq!(ops.forget_ids(&[id]).await.unwrap().ids, [id]);
    assert_eq!(ops.get(id).await.unwrap().state, State::Forgotten);
    assert_eq!(ops.restore(&[id]).await.unwrap().count, 1);
    assert_eq!(ops.get(id).await.unwrap().state, State::Active);
}

#[tokio::test]
async fn l1_w7_feedback_history_and_rollback_reach_the_server() {
    let (server, ops) = ops_with(&["one", "two"]).await;
    let recalled = ops.recall("anything").await.unwrap();
    let id = recalled.hits[0].memory.id;
    let feedback = Feedback {
        recall_id: recalled.recall_id,
        items: vec![(id, Verdict::Used)],
        task_status: Some(Status::Success),
        ..Feedback::default()
    };
    let judged = ops.feedback(feedback).await.unwrap();
    assert_eq!((judged.memories[0].id, judged.memories[0].usage.success_after_use), (id, 1));
    assert_eq!(ops.history(id, None).await.unwrap().memories.len(), 2);
    let done = ops.rollback(id).await.unwrap();
    assert_eq!((done.restored[0].id, done.invalidated.is_some()), (id, true));
    assert_eq!(ops.recall("anything").observe().await.unwrap().recall_id, None);
    drop(server);
}

#[tokio::test]
async fn a_batch_tells_the_fate_of_each_item() {
    let (_server, ops) = ops_with(&[]).await;
    let entry = |content: &str| WriteEntry {
        draft: Draft { content: content.to_owned(), ..Draft::default() },
        vectors: None,
    };
    let written = ops.batch_write(vec![entry("good"), entry("")], BatchOptions::default()).await.unwrap();
    assert_eq!((written.results.len(), written.replayed, written.revision.0), (2, true, 8));
    assert_eq!(ops.get(written.results[0].clone().unwrap()).await.unwrap().content, "good");
    let refused = written.results[1].clone().unwrap_err();
    assert_eq!((refused.reason.as_str(), refused.violations[0].field.as_str()), ("FIELD_INVALID", "content"));
}

#[tokio::test]
async fn a_forget_by_filter_is_counted_first() {
    let (_server, ops) = ops_with(&["scratch", "keep", "scratch"]).await;
    let counted = ops.forget_where(tagged("scratch"), ForgetMode::DryRun).await.unwrap();
    assert_eq!((counted.count, counted.ids.len()), (2, 2));
    assert_eq!(ops.get(counted.ids[0]).await.unwrap().state, State::Active);
    ops.forget_where(tagged("scratch"), ForgetMode::Expect(2)).await.unwrap();
    assert_eq!(ops.get(counted.ids[1]).await.unwrap().state, State::Forgotten);
}

#[tokio::test]
async fn a_list_is_paged_and_all_of_it_can_be_had() {
    let (server, ops) = ops_with(&["1", "2", "3", "4", "5"]).await;
    let page = ops.list(Filter::default()).page_size(2).await.unwrap();
    assert_eq!((page.memories.len(), page.next_page_token.as_deref()), (2, Some("2")));
    let before = server.mock.seen().len();
    let mut all = ops.list(Filter::default()).page_size(2).all();
    let mut contents = Vec::new();
    while let Some(memory) = all.next().await.unwrap() {
        contents.push(memory.content);
    }
    assert_eq!(contents, ["1", "2", "3", "4", "5"]);
    assert_eq!(all.next().await.unwrap(), None);
    assert_eq!(server.mock.seen().len() - before, 3);
    let found: Vec<_> = ops.list(tagged("4")).page_size(1).all().into_stream().try_collect().await.unwrap();
    assert_eq!(found.len(), 1);
    assert!(matches!(ops.list(Filter::default()).page_size(0).await, Err(Error::Invalid { .. })));
}

#[tokio::test]
async fn a_recall_carries_its_choices() {
    let (_server, ops) = ops_with(&["a", "b", "a"]).await;
    let answer = ops.recall("什么").filter(tagged("a")).top_k(1).vector(&[0.0, 2.0], "m").await.unwrap();
    assert_eq!((answer.hits.len(), answer.allowed), (1, 2));
    let hit = &answer.hits[0];
    assert_eq!((hit.score, hit.similarity, hit.age_days), (0.5, 0.75, 1.5));
    assert_eq!(hit.breakdown.matched_terms, ["什么"]);
    assert_eq!(answer.plan.as_deref(), Some("[0.0, 1.0] by Some(\"m\")"));
    let whole =
        ops.recall(Recall { query: "x".to_owned(), top_k: 2, ..Recall::default() }).send().await.unwrap();
    assert_eq!((whole.hits.len(), whole.plan), (2, None));
    let text = ops.recall("x").policy([Prohibition::NoMoney]).as_text().await.unwrap();
    assert_eq!((text.text.as_deref(), text.text_tokens), (Some("[NoMoney]"), Some(7)));
    let why = ops.recall("什么").why(whole.hits[0].memory.id).await.unwrap();
    assert_eq!((why.reason, why.detail.as_str(), why.rank), (Reason::Returned, "什么", Some(1)));
}

#[tokio::test]
async fn what_can_not_be_sent_is_refused_here() {
    let (server, ops) = ops_with(&[]).await;
    let error = ops.recall("x").vector(&[f32::NAN], "m").await.unwrap_err();
    assert_eq!(error.violations()[0].field, "vector");
    let error = ops.recall("x").top_k(0).await.unwrap_err();
    assert_eq!(error.violations()[0].field, "top_k");
    let metadata = serde_json::json!({"order": u64::MAX - 1}).as_object().unwrap().clone();
    let error = ops.write(Draft { metadata, ..fact("x") }).await.unwrap_err();
    assert_eq!(error.violations()[0].field, "metadata.order");
    let id = hindsight_client::MemoryId::from_u128(1);
    assert_eq!(ops.update(id, Patch::default()).await.unwrap_err().violations()[0].field, "patch");
    assert_eq!(server.mock.seen(), []);
}

#[tokio::test]
async fn a_server_tells_about_itself() {
    let server = Mock::default().start().await;
    let client = server.client().await;
    let info = client.server_info().await.unwrap();
    assert_eq!((info.version.as_str(), info.format, info.namespaces), ("0.1.0", 1, 3));
    assert_eq!((info.started_at.as_ms(), info.embedding_model), (1_700_000_000_000, None));
    let names: Vec<String> =
        client.namespaces().await.unwrap().into_iter().map(|each| each.name.to_string()).collect();
    assert_eq!(names, ["a", "b", "c"]);
    let stats = client.namespace("ops").unwrap().stats().await.unwrap();
    assert_eq!((stats.namespace.as_str(), stats.by_kind), ("ops", vec![("fact".to_owned(), 2)]));
    let model = stats.embedding_model.unwrap();
    assert_eq!((model.name.as_str(), model.dimension), ("m", 3));
}

#[test]
fn calls_can_be_spawned() {
    fn sendable<T: Send + 'static>(_: T) {}
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let _inside = runtime.enter();
    let client = hindsight_client::Client::connect_lazy("http://127.0.0.1:1").unwrap();
    let ops = client.namespace("ops").unwrap();
    sendable(async move {
        let _ = ops.write(Draft::default()).await;
        let _ = ops.recall("x").await;
        let _ = ops.list(Filter::default()).all().next().await;
        let _ = client.namespaces().await;
    });
}
