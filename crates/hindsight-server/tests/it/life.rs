//! What is archived, purged and kept from coming back, over both fronts (L2–L4, L7).

use hindsight_client::{
    BatchOptions, Draft, Error, Job, LifeKey, SettingsPatch, UpdateOptions, WriteEntry, WriteOptions,
};
use serde_json::{Value, json};

use crate::support::TestServer;

fn fact(text: &str) -> Draft {
    Draft { content: text.to_owned(), ..Draft::default() }
}

#[tokio::test]
async fn l2_jobs_are_listed_and_run_over_grpc() {
    let server = TestServer::with(|config| config.jobs.purge = String::new()).await;
    let client = server.client().await;
    let jobs = client.jobs().await.unwrap();
    let shown: Vec<_> = jobs.iter().map(|status| (status.job, status.schedule.as_deref())).collect();
    assert_eq!(shown[0], (Job::Archive, Some("30 3 * * * UTC")));
    assert!(shown.contains(&(Job::Purge, None)) && jobs[0].next_run_at.is_some());
    let ops = server.ops().await;
    let refused = client.run_job(Job::Archive, Some(ops.name()), false).await;
    assert!(matches!(refused, Err(Error::NotFound { .. })));
    let expired = Draft { expires_at: Some("2026-01-02".parse().unwrap()), ..fact("the old badge") };
    ops.write(expired).await.unwrap();
    let dry = client.run_job(Job::Archive, Some(ops.name()), true).await.unwrap();
    assert_eq!((dry.is_dry, dry.changed(), dry.counts["expired"]), (true, 1, 1));
    let report = client.run_job(Job::Archive, None, false).await.unwrap();
    assert_eq!((report.is_dry, report.changed(), report.namespaces), (false, 1, 1));
    let last = client.jobs().await.unwrap()[0].last.clone().unwrap();
    assert_eq!(last, report);
}

#[tokio::test]
async fn l7_jobs_are_listed_and_run_over_http_under_the_settings_of_the_namespace() {
    let server = TestServer::start().await;
    let set = server.http("PATCH", "/namespaces/ops", json!({"life": {"episodes_per_task_type": 2}})).await;
    assert_eq!((set.status, &set.body["settings"]["life"]), (200, &json!({"episodes_per_task_type": 2})));
    for build in 0..5 {
        let body = json!({"namespace": "ops", "task_type": "deploy", "status": "success",
            "summary": format!("deployed build {build}")});
        assert_eq!(server.http("POST", "/memory/record", body).await.status, 200);
    }
    let run = json!({"job": "archive", "namespace": "ops"});
    let report = server.http("POST", "/jobs/run", run).await;
    assert_eq!((report.status, &report.body["counts"]), (200, &json!({"beyond_cap": 3})), "{report:?}");
    assert!(report.body["hints"][0].as_str().unwrap().contains("\"deploy\" has 5 episodes"));
    let jobs = server.http("GET", "/jobs", Value::Null).await;
    assert_eq!(jobs.body["jobs"][0]["last"]["counts"], json!({"beyond_cap": 3}), "{jobs:?}");
    for (body, field) in [
        (json!({}), "job"),
        (json!({"job": "vacuum"}), "job"),
        (json!({"job": "purge", "namespace": "-"}), "namespace"),
        (json!({"job": "purge", "dry_run": true}), "dry_run"),
    ] {
        let refused = server.http("POST", "/jobs/run", body.clone()).await;
        assert_eq!((refused.status, refused.fields()[0]), (400, field), "{body}");
    }
    let wrong = server.http("PATCH", "/namespaces/ops", json!({"life": {"fact_days": 9_000_000}})).await;
    assert_eq!((wrong.status, wrong.fields()[0]), (400, "life.fact_days"), "{wrong:?}");
}

#[tokio::test]
async fn l2_life_is_set_over_grpc() {
    let server = TestServer::start().await;
    let ops = server.ops().await;
    let set = |key, value| SettingsPatch { life: [(key, value)].into(), ..SettingsPatch::default() };
    ops.set(set(LifeKey::EpisodeDays, Some(7))).await.unwrap();
    let info = ops.set(set(LifeKey::ForgottenDays, Some(0))).await.unwrap();
    assert_eq!(info.settings.life, [(LifeKey::EpisodeDays, 7), (LifeKey::ForgottenDays, 0)].into());
    let info = ops.set(set(LifeKey::EpisodeDays, None)).await.unwrap();
    assert_eq!(info.settings.life, [(LifeKey::ForgottenDays, 0)].into());
}

#[tokio::test]
async fn l4_a_forgotten_value_is_refused_over_grpc_unless_the_caller_insists() {
    let server = TestServer::start().await;
    let ops = server.ops().await;
    let memory = ops.write(fact("The alarm code is 4417")).await.unwrap().memory;
    ops.forget_ids(&[memory.id]).await.unwrap();
    let is_refused = |error: Error| {
        let told = error.to_string();
        assert_eq!(error.reason(), "TOMBSTONED_VALUE", "{told}");
        assert!(
            told.contains(&format!("restore {}", memory.id)) && told.contains("allow_forgotten"),
            "{told}"
        );
    };
    is_refused(ops.write(fact("the alarm code is 4417.")).await.unwrap_err());
    let entry = || vec![WriteEntry { draft: fact("The alarm code is 4417"), vectors: None }];
    let batch = ops.batch_write(entry(), BatchOptions::default()).await.unwrap();
    assert_eq!(batch.results[0].as_ref().unwrap_err().reason, "TOMBSTONED_VALUE");
    let other = ops.write(fact("The door is green")).await.unwrap().memory;
    let patch =
        hindsight_client::Patch { content: Some("The alarm code is 4417".into()), ..Default::default() };
    is_refused(ops.update(other.id, patch.clone()).await.unwrap_err());
    let insist = UpdateOptions { allow_forgotten: true, ..UpdateOptions::default() };
    ops.update_with(other.id, patch, insist).await.unwrap();
    let insist = WriteOptions { allow_forgotten: true, ..WriteOptions::default() };
    ops.write_with(fact("The alarm code is 4417"), None, insist).await.unwrap();
    let insist = BatchOptions { allow_forgotten: true, ..BatchOptions::default() };
    assert!(ops.batch_write(entry(), insist).await.unwrap().results[0].is_ok());
}

#[tokio::test]
async fn l4_a_purged_value_is_refused_over_http_and_what_was_made_of_it_goes_too() {
    let server = TestServer::start().await;
    let write = async |body: Value| server.http("POST", "/memory/write", body).await;
    let told = write(json!({"namespace": "ops", "content": "Ada said that she moves to Lyon"})).await;
    let id = told.body["memory"]["id"].clone();
    let made = json!({"namespace": "ops", "content": "Ada lives in Lyon", "derived_from": [id]});
    let made = write(made).await.body["memory"]["id"].clone();
    let dry = json!({"namespace": "ops", "ids": [id], "validate_only": true});
    let dry = server.http("POST", "/memory/forget", dry).await;
    assert_eq!((&dry.body["count"], &dry.body["derived"]), (&json!(1), &json!([made])), "{dry:?}");
    let purge = json!({"namespace": "ops", "ids": [id], "with_derived": true});
    let purged = server.http("POST", "/memory/purge", purge).await;
    assert_eq!((purged.status, &purged.body["count"]), (200, &json!(2)), "{purged:?}");
    let again = json!({"namespace": "ops", "content": "ada lives in lyon"});
    let refused = write(again.clone()).await;
    assert_eq!((refused.status, &refused.body["reason"]), (412, &json!("TOMBSTONED_VALUE")), "{refused:?}");
    let mut insist = again;
    insist["allow_forgotten"] = json!(true);
    assert_eq!(write(insist).await.status, 200);
}
