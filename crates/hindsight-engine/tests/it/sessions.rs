//! Working memory (M1, L8) over the engine: what crosses no namespace, what a closed session becomes, what a restart loses.

use hindsight_core::draft::RecordDraft;
use hindsight_core::{Kind, Session, SessionDraft, SessionId, Status, TurnDraft};
use hindsight_engine::{
    AppendTurnsRequest, CloseSessionRequest, DropRequest, EngineError, GetSessionRequest,
    ListSessionsRequest, OpenSessionRequest, SessionClosed, SessionRecord,
};

use crate::support::{Db, ns};

fn session(name: &str) -> SessionId {
    name.parse().unwrap()
}

fn open(db: &Db, namespace: &str, name: &str) -> Session {
    let draft = SessionDraft { session_id: Some(session(name)), ..SessionDraft::default() };
    db.engine.open_session(&ns(namespace), &OpenSessionRequest { draft, request_id: None }).unwrap().session
}

fn turn(role: &str, content: &str, tool: Option<&str>) -> TurnDraft {
    TurnDraft { role: role.to_owned(), content: content.to_owned(), tool: tool.map(str::to_owned), at: None }
}

fn append(db: &Db, namespace: &str, name: &str, turns: Vec<TurnDraft>) {
    let (session_id, agent_id, request_id) = (session(name), None, None);
    let append = AppendTurnsRequest { session_id, agent_id, turns, request_id };
    db.engine.append_turns(&ns(namespace), append).unwrap();
}

fn turns(db: &Db, namespace: &str, name: &str) -> Result<Vec<String>, EngineError> {
    let get = GetSessionRequest { session_id: session(name), agent_id: None, last: None };
    let got = db.engine.get_session(&ns(namespace), &get)?;
    Ok(got.turns.into_iter().map(|turn| turn.content).collect())
}

fn record(summary: &str) -> SessionRecord {
    let record = RecordDraft {
        task_type: "deploy".to_owned(),
        status: Some(Status::Failure),
        summary: summary.to_owned(),
        ..RecordDraft::default()
    };
    SessionRecord { record, ..SessionRecord::default() }
}

fn close(
    db: &Db,
    name: &str,
    record: Option<SessionRecord>,
    request_id: Option<&str>,
) -> Result<SessionClosed, EngineError> {
    let request_id = request_id.map(str::to_owned);
    let close = CloseSessionRequest { session_id: session(name), agent_id: None, record, request_id };
    let write = |episode| db.engine.write_episode(&ns("ops"), episode);
    db.engine.close_session(&ns("ops"), close, write)?.wait()
}

#[test]
fn l8_sessions_of_one_name_in_two_namespaces_share_nothing() {
    let db = Db::new();
    for namespace in ["ops", "dev"] {
        open(&db, namespace, "chat");
        append(&db, namespace, "chat", vec![turn("user", &format!("canary of {namespace}"), None)]);
    }
    assert_eq!(turns(&db, "ops", "chat").unwrap(), ["canary of ops"]);
    assert_eq!(turns(&db, "dev", "chat").unwrap(), ["canary of dev"]);
    let list = ListSessionsRequest { page_size: 10, ..ListSessionsRequest::default() };
    let (listed, more) = db.engine.list_sessions(&ns("ops"), &list).unwrap();
    assert!(!more && listed.len() == 1 && listed[0].namespace == ns("ops"));
    assert_eq!(db.engine.list_sessions(&ns("other"), &list).unwrap().0, []);
    assert_eq!(db.engine.namespace_count(), 0, "an open session is no memory");
    close(&db, "chat", None, None).unwrap();
    assert!(turns(&db, "dev", "chat").is_ok());
}

#[test]
fn l8_a_closed_session_becomes_an_episode_with_its_turns_and_tools() {
    let db = Db::new();
    open(&db, "ops", "chat");
    let secret = "the text of a turn stays out of the episode";
    append(
        &db,
        "ops",
        "chat",
        vec![turn("user", secret, None), turn("tool", "403", Some("deploy")), turn("assistant", "no", None)],
    );
    let closed = close(&db, "chat", Some(record("Deploying billing")), Some("c-1")).unwrap();
    let memory = closed.episode.unwrap().memory;
    assert!(!closed.replayed && closed.session.unwrap().turns_total == 3);
    assert_eq!((memory.kind, memory.session_id.as_deref()), (Kind::Episode, Some("chat")));
    assert_eq!(memory.source.conversation_id.as_deref(), Some("chat"));
    assert_eq!(memory.source.turns, ["1", "2", "3"]);
    let episode = memory.episode.clone().unwrap();
    assert_eq!((episode.actions.len(), episode.actions[0].tool.as_str()), (1, "deploy"));
    assert!(episode.started_at.is_some() && episode.ended_at >= episode.started_at);
    assert!(!memory.content.contains(secret) && memory.content.contains("Deploying billing"));
    assert_eq!(db.contents("deploying"), std::slice::from_ref(&memory.content));
    let late = close(&db, "chat", Some(record("Deploying billing")), Some("c-2")).unwrap_err();
    assert!(matches!(late, EngineError::SessionClosed { .. }), "{late}");

    let again = close(&db, "chat", Some(record("Deploying billing")), Some("c-1")).unwrap();
    assert!(again.replayed && again.session.is_some());
    assert_eq!(again.episode.unwrap().memory.id, memory.id);
    let reused = close(&db, "chat", Some(record("Another")), Some("c-1")).unwrap_err();
    assert!(matches!(reused, EngineError::RequestIdReused { .. }), "{reused}");

    // A restart loses sessions, and no episode: the same request is still answered.
    open(&db, "ops", "second");
    let (db, _) = db.reopen();
    assert!(matches!(turns(&db, "ops", "second"), Err(EngineError::SessionNotFound { .. })));
    let again = close(&db, "chat", Some(record("Deploying billing")), Some("c-1")).unwrap();
    assert!(again.replayed && again.session.is_none());
    assert_eq!(again.episode.unwrap().memory.id, memory.id);
}

#[test]
fn l8_a_session_whose_record_is_wrong_goes_on() {
    let db = Db::new();
    open(&db, "ops", "chat");
    append(&db, "ops", "chat", vec![turn("user", "a", None)]);
    let mut wrong = record("");
    wrong.record.session_id = Some("other".to_owned());
    let fields = |error: EngineError| match error {
        EngineError::Invalid(invalid) => invalid.violations[0].field.clone(),
        other => panic!("{other}"),
    };
    assert_eq!(fields(close(&db, "chat", Some(wrong.clone()), None).unwrap_err()), "record.session_id");
    wrong.record.session_id = None;
    wrong.record.status = None;
    assert_eq!(fields(close(&db, "chat", Some(wrong), None).unwrap_err()), "record.status");
    let mut long = record("x");
    long.record.root_cause = Some("x".repeat(5_000));
    assert_eq!(fields(close(&db, "chat", Some(long), None).unwrap_err()), "record.root_cause");
    append(&db, "ops", "chat", vec![turn("user", "b", None)]);
    assert_eq!(turns(&db, "ops", "chat").unwrap(), ["a", "b"]);
    assert_eq!(close(&db, "chat", None, Some("c-1")).unwrap().session.unwrap().turns_total, 2);
    assert!(close(&db, "chat", None, Some("c-1")).unwrap().replayed);
}

#[test]
fn l8_l3_a_dropped_namespace_has_no_sessions() {
    let db = Db::new();
    db.write(crate::support::fact("something"));
    open(&db, "ops", "chat");
    db.engine.drop_namespace(&ns("ops"), DropRequest::default()).unwrap().wait().unwrap();
    assert!(matches!(turns(&db, "ops", "chat"), Err(EngineError::SessionNotFound { .. })));
}
