//! Rules and summaries over both fronts (L5, L6).

use hindsight_client::{
    Condition, ConsolidateOptions, Draft, Entity, EpisodeDraft, Error, Feedback, Kind, Memory, MemoryId,
    NamespaceHandle, Outcome, Polarity, RuleChange, RuleEventKind, RuleKey, RulePatch, RuleProposal,
    RuleQuery, RuleState, SettingsPatch, State, Status, SummarizeOptions, Verdict,
};
use serde_json::{Value, json};

use crate::support::{TestServer, draft};

async fn fail(ops: &NamespaceHandle, number: u32) {
    let episode = EpisodeDraft {
        root_cause: Some("api_token_expired".into()),
        resolution: Some("refresh the token, then retry".into()),
        ..EpisodeDraft::default()
    };
    let draft = Draft {
        kind: Some(Kind::Episode),
        task_type: Some("order_processing".into()),
        status: Some(Status::Failure),
        episode: Some(episode),
        ..draft(&format!("order {number} could not be updated"))
    };
    ops.write(draft).await.unwrap();
}

#[tokio::test]
async fn l5_over_grpc_from_episodes_to_an_active_rule() {
    let server = TestServer::start().await;
    let ops = server.ops().await;
    for number in 0..5 {
        fail(&ops, number).await;
    }
    let dry = ConsolidateOptions { validate_only: true, ..ConsolidateOptions::default() };
    assert_eq!(
        (
            ops.consolidate(dry).await.unwrap().created,
            ops.rules(RuleQuery::default()).await.unwrap().rules.len()
        ),
        (1, 0)
    );
    let done = ops.consolidate(ConsolidateOptions::default()).await.unwrap();
    let found = &done.rules[0];
    assert_eq!(
        (found.change, found.agreeing, found.episodes, found.rule.confidence),
        (RuleChange::Created, 5, 5, 0.9)
    );
    // The server lends its embedder: the rule has a vector.
    assert!(found.rule.embedding_model.is_some());
    let id = found.rule.id;
    let recalled = async || ops.recall("order processing token expired").observe().await.unwrap();
    let has = |hits: &[hindsight_client::Hit]| hits.iter().any(|hit| hit.memory.id == id);
    assert!(!has(&recalled().await.hits));
    let used = Feedback {
        items: vec![(id, Verdict::Used)],
        task_status: Some(Status::Success),
        ..Feedback::default()
    };
    ops.feedback(used.clone()).await.unwrap();
    ops.feedback(used).await.unwrap();
    assert_eq!(recalled().await.hits[0].memory.id, id);
    let active = RuleQuery { rule_states: vec![RuleState::Active], page_size: 1, ..RuleQuery::default() };
    let page = ops.rules(active).await.unwrap();
    assert_eq!((page.rules.len(), page.next_page_token), (1, None));
    let to = |state| RulePatch { rule_state: Some(state), ..RulePatch::default() };
    let version = page.rules[0].version;
    let stale = ops.update_rule(id, to(RuleState::Deprecated), Some(1)).await.unwrap_err();
    assert!(
        matches!(stale, Error::VersionMismatch { current: Some(current), .. } if current == version),
        "{stale:?}"
    );
    ops.update_rule(id, to(RuleState::Deprecated), Some(version)).await.unwrap();
    let again = ops.update_rule(id, to(RuleState::Deprecated), None).await.unwrap_err();
    assert!(matches!(&again, Error::Conflict { reason, .. } if reason == "RULE_IS_SO"), "{again:?}");
    let history = ops.rule_history(id, None).await.unwrap();
    let kinds: Vec<RuleEventKind> = history.events.iter().map(|happening| happening.event.what).collect();
    assert_eq!(kinds, [RuleEventKind::Found, RuleEventKind::Confirmed, RuleEventKind::ByHand]);
    assert!(ops.rule(MemoryId::from_u128(1), None).await.is_err());
    let other = ops.write(draft("the sky is blue")).await.unwrap().memory.id;
    let none = ops.rule(other, None).await.unwrap_err();
    assert!(matches!(&none, Error::Invalid { reason, .. } if reason == "NOT_A_RULE"), "{none:?}");
    let bad = ConsolidateOptions { min_episodes: Some(1), ..ConsolidateOptions::default() };
    assert!(matches!(ops.consolidate(bad).await.unwrap_err(), Error::Invalid { .. }));
}

#[tokio::test]
async fn l5_a_proposed_rule_is_observed_unless_agents_are_trusted() {
    let proposal = |advice: &str| RuleProposal {
        condition: Condition { task_type: Some("deploy".into()), ..Condition::default() },
        advice: advice.to_owned(),
        polarity: Some(Polarity::Avoid),
        ..RuleProposal::default()
    };
    let state = |rule: &Memory| rule.rule.as_ref().unwrap().rule_state;
    let server = TestServer::start().await;
    let ops = server.ops().await;
    let written = ops.propose_rule(proposal("deploying on Friday")).await.unwrap();
    assert_eq!((written.outcome, state(&written.memory)), (Outcome::Created, RuleState::Observing));
    assert_eq!(written.memory.content, "In deploy, when a step fails: avoid: deploying on Friday");
    let again = ops.propose_rule(proposal("Deploying on Friday.")).await.unwrap();
    assert_eq!((again.outcome, again.memory.id), (Outcome::Reinforced, written.memory.id));
    let empty = ops.propose_rule(RuleProposal::default()).await.unwrap_err();
    let Error::Invalid { violations, .. } = empty else { panic!("{empty:?}") };
    assert_eq!(
        violations.iter().map(|violation| violation.field.as_str()).collect::<Vec<_>>(),
        ["condition", "advice"]
    );
    assert_eq!(ops.check_rule(proposal("deploying at night")).await.unwrap().memory.version, 0);
    // One namespace trusts its agents, the others of the server do not.
    let trust = SettingsPatch { rules: [(RuleKey::TrustAgents, Some(1))].into(), ..SettingsPatch::default() };
    let near = server.client().await.namespace("near").unwrap();
    assert_eq!(near.set(trust).await.unwrap().settings.rules, [(RuleKey::TrustAgents, 1)].into());
    assert_eq!(
        state(&near.propose_rule(proposal("deploying on Friday")).await.unwrap().memory),
        RuleState::Active
    );
    let bad = SettingsPatch { rules: [(RuleKey::MinEpisodes, Some(1))].into(), ..SettingsPatch::default() };
    assert!(matches!(near.set(bad).await.unwrap_err(), Error::Invalid { .. }));
    let trusting = TestServer::with(|config| config.rules.trust_agents = 1).await;
    let written = trusting.ops().await.propose_rule(proposal("deploying on Friday")).await.unwrap();
    assert_eq!(state(&written.memory), RuleState::Active);
}

#[tokio::test]
async fn l5_over_http() {
    let server = TestServer::start().await;
    let post = async |path: &str, body: Value| server.http("POST", path, body).await;
    for number in 0..3 {
        let body = json!({"namespace": "ops", "task_type": "order_processing", "status": "failure",
            "summary": format!("order {number}"), "root_cause": "api_token_expired", "resolution": "refresh_token_then_retry",
            "actions": [{"step": 1, "tool": "update_status", "error_code": "permission_denied"}]});
        post("/memory/record", body).await;
    }
    let done = post("/memory/consolidate", json!({"namespace": "ops"})).await.body;
    assert_eq!((&done["created"], &done["rules"][0]["change"]), (&json!(1), &json!("created")), "{done}");
    let id = done["rules"][0]["rule"]["id"].as_str().unwrap().to_owned();
    let get = async |path: String| server.http("GET", &path, Value::Null).await;
    let listed = async |status: &str| {
        let path = format!("/memory/rules?namespace=ops&status={status}");
        get(path).await.body["rules"].as_array().unwrap().len()
    };
    assert_eq!((listed("observing").await, listed("active").await), (1, 0));
    let patch =
        async |id: &str, body: Value| server.http("PATCH", &format!("/memory/rules/{id}"), body).await;
    let active =
        patch(&id, json!({"namespace": "ops", "status": "active", "version": 1, "valid_to": null})).await;
    assert_eq!(
        (active.status, &active.body["rule"]["rule"]["rule_state"]),
        (200, &json!("active")),
        "{active:?}"
    );
    assert_eq!(active.body["rule"].get("valid_to"), None);
    let found =
        post("/memory/search", json!({"namespace": "ops", "query": "order permission_denied"})).await.body;
    assert_eq!(found["hits"][0]["memory"]["id"], json!(id), "{found}");
    let again = patch(&id, json!({"namespace": "ops", "status": "active"})).await;
    assert_eq!((again.status, &again.body["reason"]), (412, &json!("RULE_IS_SO")));
    assert_eq!(patch(&id, json!({"namespace": "ops", "state": "asleep"})).await.status, 400);
    assert_eq!(patch(&id, json!({"namespace": "ops", "advice": "x"})).await.fields(), ["advice"]);
    assert_eq!(patch("mem_x", json!({"namespace": "ops", "status": "active"})).await.fields(), ["id"]);
    let history = get(format!("/memory/rules/{id}/history?namespace=ops")).await.body;
    assert_eq!(history["events"].as_array().unwrap().len(), 2);
    assert_eq!(get(format!("/memory/rules/{id}?namespace=ops")).await.body["rule"]["id"], json!(id));
    let proposed =
        post("/memory/rules", json!({"namespace": "ops", "task_type": "deploy", "advice": "Ask first"}))
            .await
            .body;
    assert_eq!(proposed["rule"]["rule"]["condition"]["task_type"], json!("deploy"), "{proposed}");
    assert_eq!(
        post("/memory/rules", json!({"namespace": "ops", "advice": "x"})).await.fields(),
        ["condition"]
    );
    assert_eq!(listed("observing").await, 1);
    assert_eq!(get("/memory/rules?namespace=ops&status=asleep".into()).await.fields(), ["status"]);
    assert_eq!(post("/memory/consolidate", json!({"namespace": "nowhere"})).await.status, 404);
}

#[tokio::test]
async fn l6_over_both_fronts() {
    let server = TestServer::start().await;
    let ops = server.ops().await;
    let about = |text: &str| Draft {
        entities: vec![Entity { name: "billing".into(), kind: "service".into() }],
        ..draft(text)
    };
    for text in ["billing listens on port 8443", "billing answers E1042 above 500 requests"] {
        ops.write(about(text)).await.unwrap();
    }
    let dry = SummarizeOptions { validate_only: true, ..SummarizeOptions::default() };
    assert_eq!(ops.summarize("billing", dry).await.unwrap().summary.version, 0);
    let done = ops.summarize("billing", SummarizeOptions::default()).await.unwrap();
    assert_eq!((done.parts.len(), done.summary.embedding_model.is_some()), (2, true));
    let hits = ops.recall("billing port").observe().await.unwrap().hits;
    assert_eq!(hits.iter().map(|hit| hit.memory.id).collect::<Vec<_>>(), [done.summary.id]);
    ops.rollback(done.summary.id).await.unwrap();
    assert_eq!(ops.get(done.parts[0]).await.unwrap().state, State::Active);
    let body = json!({"namespace": "ops", "entity": "billing", "kind": "fact"});
    let again = server.http("POST", "/memory/summarize", body).await;
    assert_eq!((again.status, again.body["parts"].as_array().unwrap().len()), (200, 2), "{again:?}");
    let none =
        server.http("POST", "/memory/summarize", json!({"namespace": "ops", "entity": "nobody"})).await;
    assert_eq!((none.status, none.fields()), (400, vec!["entity"]));
    let rule = server
        .http("POST", "/memory/summarize", json!({"namespace": "ops", "entity": "x", "kinds": ["rule"]}))
        .await;
    assert_eq!(rule.fields(), ["kinds"]);
}
