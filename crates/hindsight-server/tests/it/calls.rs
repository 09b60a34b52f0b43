//! What agents do, over the client crate.

use hindsight_client::{
    Action, BatchOptions, Error, Filter, ForgetMode, Kind, Mode, Patch, RecordDraft, State, Status,
    UpdateOptions, WriteEntry, WriteOptions,
};

use crate::support::{TestServer, draft};

#[tokio::test]
async fn what_was_written_is_recalled_at_once_in_both_languages() {
    let server = TestServer::start().await;
    let ops = server.ops().await;
    for content in
        ["The user is allergic to peanuts", "用户对花生过敏", "Deploys go out on Tuesday", "会议室在三楼"]
    {
        let written = ops.write(draft(content)).await.unwrap();
        assert_eq!((written.memory.version, written.replayed), (1, false));
        assert!(written.memory.embedding_model.is_some());
    }
    for (question, expected) in
        [("what am I allergic to", "The user is allergic to peanuts"), ("我对什么过敏", "用户对花生过敏")]
    {
        for mode in [Mode::Hybrid, Mode::Vector] {
            let recalled = ops.recall(question).mode(mode).send().await.unwrap();
            let first = &recalled.hits[0];
            assert_eq!(first.memory.content, expected, "{mode:?}");
            assert!(
                first.breakdown.parts.iter().any(|part| part.name == "vector" && part.raw > 0.2),
                "{first:?}"
            );
        }
    }
}

#[tokio::test]
async fn an_episode_is_recorded_and_found_by_its_conditions() {
    let server = TestServer::start().await;
    let ops = server.ops().await;
    let record = RecordDraft {
        task_type: "order_processing".into(),
        status: Some(Status::Failure),
        summary: "Updating the status of an order".into(),
        actions: vec![Action {
            step: 1,
            tool: "update_status".into(),
            error_code: Some("permission_denied".into()),
            ..Action::default()
        }],
        root_cause: Some("api_token_expired".into()),
        resolution: Some("refresh_token_then_retry".into()),
        ..RecordDraft::default()
    };
    let written = ops.record(record).await.unwrap();
    assert_eq!(written.memory.kind, Kind::Episode);
    assert!((written.memory.importance - 0.8).abs() < 1e-6 && (written.memory.confidence - 0.5).abs() < 1e-6);
    let filter = Filter {
        task_types: vec!["order_processing".into()],
        statuses: vec![Status::Failure],
        error_codes: vec!["permission_denied".into()],
        last: Some("7d".parse().unwrap()),
        ..Filter::default()
    };
    let found = ops.recall("order status").filter(filter.clone()).explain().send().await.unwrap();
    assert_eq!(found.hits[0].memory.id, written.memory.id);
    assert!(found.plan.is_some());
    let none = Filter { statuses: vec![Status::Success], ..filter };
    assert_eq!(ops.recall("order status").filter(none).send().await.unwrap().hits, []);
}

#[tokio::test]
async fn a_request_id_acts_once() {
    let server = TestServer::start().await;
    let ops = server.ops().await;
    let options = || WriteOptions { request_id: Some("r-1".into()), ..WriteOptions::default() };
    let first = ops.write_with(draft("once"), None, options()).await.unwrap();
    let second = ops.write_with(draft("once"), None, options()).await.unwrap();
    assert_eq!((first.replayed, second.replayed), (false, true));
    assert_eq!(second.memory.id, first.memory.id);
    let other = ops.write_with(draft("twice"), None, options()).await.unwrap_err();
    assert_eq!(other.reason(), "REQUEST_ID_REUSED");
    assert_eq!(server.contents().await, ["once"]);
}

#[tokio::test]
async fn a_batch_refuses_a_bad_item_by_itself_unless_all_or_nothing() {
    let server = TestServer::start().await;
    let ops = server.ops().await;
    let entry = |content: &str, importance| WriteEntry {
        draft: hindsight_client::Draft { importance, ..draft(content) },
        vectors: None,
    };
    let entries = || vec![entry("first", None), entry("bad", Some(2.0)), entry("第三", None)];
    let all = BatchOptions { all_or_nothing: true, ..BatchOptions::default() };
    let refused = ops.batch_write(entries(), all).await.unwrap_err();
    assert_eq!(refused.violations()[0].field, "items[1].importance");
    assert_eq!(server.contents().await, [""; 0]);
    let written = ops.batch_write(entries(), BatchOptions::default()).await.unwrap();
    let error = written.results[1].as_ref().unwrap_err();
    assert_eq!((error.reason.as_str(), error.violations[0].field.as_str()), ("FIELD_INVALID", "importance"));
    assert!(written.results[0].is_ok() && written.results[2].is_ok());
    assert_eq!(server.contents().await, ["first", "第三"]);
    let found = ops.recall("第三").send().await.unwrap();
    assert_eq!(found.hits[0].memory.content, "第三");
}

#[tokio::test]
async fn an_update_is_embedded_anew_and_a_stale_one_refused() {
    let server = TestServer::start().await;
    let ops = server.ops().await;
    let written = ops
        .write(hindsight_client::Draft { summary: "a note on food".into(), ..draft("The user likes tea") })
        .await
        .unwrap();
    let id = written.memory.id;
    let patch = Patch { content: Some("The office has moved to Berlin".into()), ..Patch::default() };
    let stale = UpdateOptions { version: Some(7), ..UpdateOptions::default() };
    let refused = ops.update_with(id, patch.clone(), stale).await.unwrap_err();
    assert!(matches!(refused, Error::VersionMismatch { current: Some(1), .. }), "{refused:?}");
    let updated = ops.update(id, patch).await.unwrap();
    assert_eq!(updated.memory.version, 2);
    assert_eq!(updated.memory.embedding_model, written.memory.embedding_model);
    // Both vectors are there: the new content's and the old summary's.
    for question in ["where is the office", "food"] {
        let found = ops.recall(question).mode(Mode::Vector).send().await.unwrap();
        assert!(found.hits[0].similarity > 0.3, "{question}: {}", found.hits[0].similarity);
    }
}

#[tokio::test]
async fn an_update_of_a_memory_that_only_its_agent_sees_keeps_its_vectors() {
    let server = TestServer::start().await;
    let ops = server.ops().await;
    let private = hindsight_client::Draft {
        summary: "a note on food".into(),
        agent_id: Some("a1".into()),
        scope: Some(hindsight_client::Scope::Agent),
        ..draft("The user likes tea")
    };
    let id = ops.write(private).await.unwrap().memory.id;
    let patch = Patch { content: Some("The office has moved to Berlin".into()), ..Patch::default() };
    ops.update(id, patch).await.unwrap();
    for question in ["where is the office", "food"] {
        let found = ops.recall(question).mode(Mode::Vector).agent("a1").send().await.unwrap();
        assert!(found.hits[0].similarity > 0.3, "{question}: {}", found.hits[0].similarity);
    }
}

#[tokio::test]
async fn forgetting_by_filter_counts_first() {
    let server = TestServer::start().await;
    let ops = server.ops().await;
    for number in 0..3 {
        let tagged = hindsight_client::Draft { tags: vec!["old".into()], ..draft(&format!("note {number}")) };
        ops.write(tagged).await.unwrap();
    }
    ops.write(draft("kept")).await.unwrap();
    let old = || Filter { tags: vec!["old".into()], ..Filter::default() };
    assert_eq!(ops.forget_where(old(), ForgetMode::DryRun).await.unwrap().count, 3);
    let refused = ops.forget_where(old(), ForgetMode::Expect(2)).await.unwrap_err();
    assert_eq!(refused.reason(), "COUNT_MISMATCH");
    let forgotten = ops.forget_where(old(), ForgetMode::Expect(3)).await.unwrap();
    assert_eq!((forgotten.count, forgotten.ids.len()), (3, 3));
    let shown = ops.list(Filter::default()).send().await.unwrap();
    assert_eq!(shown.memories.iter().map(|memory| memory.content.as_str()).collect::<Vec<_>>(), ["kept"]);
    assert_eq!(ops.get(forgotten.ids[0]).await.unwrap().state, State::Forgotten);
    assert_eq!(ops.restore(&forgotten.ids[..1]).await.unwrap().count, 1);
    assert_eq!(ops.recall("note").mode(Mode::Keyword).send().await.unwrap().hits.len(), 1);
}

#[tokio::test]
async fn a_list_comes_in_pages() {
    let server = TestServer::start().await;
    let ops = server.ops().await;
    for number in 0..7 {
        ops.write(draft(&format!("{number}"))).await.unwrap();
    }
    let first = ops.list(Filter::default()).page_size(3).send().await.unwrap();
    let token = first.next_page_token.clone().unwrap();
    let other = Filter { kinds: vec![Kind::Rule], ..Filter::default() };
    let refused = ops.list(other).page_token(token.clone()).send().await.unwrap_err();
    assert_eq!(refused.violations()[0].field, "page_token");
    let mut all = ops.list(Filter::default()).page_size(3).all();
    let mut seen = Vec::new();
    while let Some(memory) = all.next().await.unwrap() {
        seen.push(memory.content);
    }
    seen.sort();
    assert_eq!(seen, ["0", "1", "2", "3", "4", "5", "6"]);
    let stats = ops.stats().await.unwrap();
    assert_eq!(stats.by_kind, [("fact".to_owned(), 7)]);
    let client = server.client().await;
    assert_eq!(client.namespaces().await.unwrap()[0].memories, 7);
    assert_eq!(client.server_info().await.unwrap().namespaces, 1);
}

#[tokio::test]
async fn sixty_four_writers_on_one_connection_are_all_served() {
    let server = TestServer::start().await;
    let ops = server.ops().await;
    let mut writers = tokio::task::JoinSet::new();
    for number in 0..64 {
        let ops = ops.clone();
        writers.spawn(async move {
            ops.write(draft(&format!("writer {number}"))).await.map(|written| written.revision)
        });
    }
    let mut revisions = Vec::new();
    while let Some(written) = writers.join_next().await {
        revisions.push(written.unwrap().unwrap().0);
    }
    revisions.sort_unstable();
    revisions.dedup();
    assert_eq!(revisions.len(), 64);
    assert_eq!(ops.stats().await.unwrap().by_kind, [("fact".to_owned(), 64)]);
}
