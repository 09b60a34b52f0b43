//! `sessions` and `watch` (M1, L8, L9).

use serde_json::json;

use crate::program::Served;

#[test]
fn l8_a_session_is_opened_shown_and_becomes_an_episode() {
    let served = Served::start();
    let opened = served.run(&["sessions", "open", "chat", "--max-turns", "2", "-o", "json"]).ok().json();
    assert_eq!((&opened["session"]["session_id"], &opened["resumed"]), (&json!("chat"), &json!(false)));
    served.run(&["sessions", "append", "chat", "deploy billing"]).ok();
    served.run(&["sessions", "append", "chat", "--role", "tool", "--tool", "kubectl", "forbidden"]).ok();
    served.run(&["sessions", "append", "chat", "--role", "assistant", "it is \u{1b}[2J forbidden"]).ok();
    let shown = served.run(&["sessions", "show", "chat", "-o", "table"]).ok().stdout;
    assert!(shown.starts_with("chat holds 2 turns (1 fell out)"), "{shown}");
    assert!(shown.contains("tool [kubectl]: forbidden") && !shown.contains('\u{1b}'), "{shown}");
    let listed = served.run(&["sessions", "list", "-o", "json"]).ok().json();
    assert_eq!(listed[0]["turns_held"], 2);
    served.run(&["sessions", "close", "chat", "--task-type", "deploy"]).refused(2, &["record.status"]);
    let close = [
        "sessions",
        "close",
        "chat",
        "--task-type",
        "deploy",
        "--status",
        "failure",
        "--summary",
        "Deploying",
    ];
    let closed = served.run(&[&close[..], &["-o", "json"]].concat()).ok().json();
    assert_eq!(closed["memory"]["episode"]["actions"][0]["tool"], "kubectl");
    served.run(&close).refused(3, &["chat", "was closed"]);
    served.run(&["sessions", "show", "other"]).refused(3, &["no session other", "restart"]);
    served.run(&["sessions", "open", "--idle", "1ms"]).refused(2, &["1ms"]);
}

#[test]
fn l9_a_watch_prints_a_line_an_event() {
    let served = Served::start();
    let written = served.run(&["write", "the office is in Bern", "-o", "json"]).ok().json();
    let id = written["memory"]["id"].as_str().unwrap();
    served.run(&["forget", id]).ok();
    served.run(&["write", "tea is better than coffee", "--kind", "preference"]).ok();
    let told =
        served.run(&["watch", "--from", "0", "--kind", "preference", "--count", "1", "--json"]).ok().lines();
    assert_eq!(told.len(), 1);
    assert_eq!(
        (&told[0]["change"], &told[0]["memory"]["content"]),
        (&json!("created"), &json!("tea is better than coffee"))
    );
    assert!(told[0]["revision"].is_u64() && told[0]["index"].is_u64());
    let table = served.run(&["watch", "--from", "0", "--count", "1", "-o", "table"]).ok().stdout;
    assert!(table.starts_with("1 ") && table.contains(&format!("created {id} fact")), "{table}");
    served.run(&["watch", "--from", "99999999"]).refused(4, &["revision 99999999 is not there"]);
    served.run(&["watch", "--change", "lost"]).refused(2, &["created"]);
}
