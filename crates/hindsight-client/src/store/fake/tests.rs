use hindsight_core::Kind;

use super::*;

fn draft(content: &str) -> Draft {
    Draft { content: content.to_owned(), kind: Some(Kind::Fact), ..Draft::default() }
}

fn asked(query: &str) -> Recall {
    Recall { query: query.to_owned(), ..Recall::default() }
}

#[tokio::test]
async fn what_is_written_is_recalled_changed_forgotten_and_restored() {
    let fake = Fake::new("ops").unwrap();
    let peanuts = fake.write(draft("我对花生过敏")).await.unwrap().memory;
    fake.write(draft("Deploys go through Argo CD")).await.unwrap();
    let hits = fake.recall(asked("花生可以吃吗")).await.unwrap();
    assert_eq!(hits.hits.len(), 1);
    assert_eq!((hits.hits[0].memory.id, hits.allowed), (peanuts.id, 2));
    let patch = Patch { content: Some("我对虾过敏".to_owned()), ..Patch::default() };
    let options = UpdateOptions { version: Some(1), ..UpdateOptions::default() };
    let updated = fake.update(peanuts.id, patch.clone(), options.clone()).await.unwrap().memory;
    assert_eq!(updated.version, 2);
    let stale = fake.update(peanuts.id, patch, options).await.unwrap_err();
    assert!(matches!(stale, Error::VersionMismatch { current: Some(2), .. }), "{stale:?}");
    assert_eq!(fake.forget(vec![peanuts.id]).await.unwrap().count, 1);
    assert!(fake.recall(asked("虾")).await.unwrap().hits.is_empty());
    assert_eq!(fake.list(Filter::default()).await.unwrap().len(), 1);
    assert_eq!(fake.restore(vec![peanuts.id]).await.unwrap().count, 1);
    assert_eq!(fake.list(Filter::default()).await.unwrap().len(), 2);
}

#[tokio::test]
async fn it_refuses_what_the_server_refuses() {
    let fake = Fake::new("ops").unwrap();
    assert!(Fake::new("../etc").is_err());
    let bad = Draft { importance: Some(7.0), ..draft("x") };
    assert_eq!(fake.write(bad).await.unwrap_err().violations()[0].field, "importance");
    let missing = fake.get(MemoryId::from_u128(9)).await.unwrap_err();
    assert_eq!(missing.reason(), "MEMORY_NOT_FOUND");
    let unknown =
        Feedback { recall_id: Some(RecallId::new(Timestamp::from_ms(0), 1)), ..Feedback::default() };
    assert_eq!(fake.feedback(unknown).await.unwrap_err().reason(), "RECALL_NOT_FOUND");
}

#[tokio::test]
async fn an_agent_sees_its_own_and_feedback_counts() {
    let fake = Fake::new("ops").unwrap();
    let own = Draft {
        scope: Some(hindsight_core::Scope::Agent),
        agent_id: Some("a".to_owned()),
        ..draft("my plan")
    };
    let id = fake.write(own).await.unwrap().memory.id;
    assert!(fake.recall(asked("plan")).await.unwrap().hits.is_empty());
    let recall = Recall { agent_id: Some("a".to_owned()), ..asked("plan") };
    let recalled = fake.recall(recall).await.unwrap();
    let feedback = Feedback {
        recall_id: recalled.recall_id,
        items: vec![(id, Verdict::Used)],
        task_status: Some(Status::Success),
        ..Feedback::default()
    };
    let judged = fake.feedback(feedback).await.unwrap().memories.remove(0);
    assert_eq!((judged.usage.used_count, judged.usage.success_after_use), (1, 1));
}
