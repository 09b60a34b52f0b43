//! `namespaces show` and `namespaces set`.

use serde_json::json;

use crate::program::Served;

#[test]
fn durability_is_set_and_shown() {
    let served = Served::start();
    served.run(&["namespaces", "show", "logs"]).refused(3, &["no namespace"]);
    served.run(&["namespaces", "set", "logs"]).refused(2, &["durability"]);
    served.run(&["namespaces", "set", "logs", "--durability", "maybe"]).refused(2, &["sync, async"]);
    let set = served.run(&["namespaces", "set", "logs", "--durability", "async", "-o", "json"]).ok().json();
    assert_eq!((&set["name"], &set["settings"]["durability"]), (&json!("logs"), &json!("async")));
    let shown = served.run(&["namespaces", "show", "logs", "-o", "json"]).ok().json();
    assert_eq!((&shown["settings"], &shown["memories"]), (&json!({"durability": "async"}), &json!(0)));
    served
        .run(&["namespaces", "set", "logs", "--likeness", "duplicate=101"])
        .refused(2, &["likeness.duplicate", "at most 100"]);
    served
        .run(&["namespaces", "set", "logs", "--likeness", "duplicate=99", "--likeness", "conflict=60"])
        .ok();
    served.run(&["namespaces", "set", "logs", "--likeness", "conflict=default"]).ok();
    let shown = served.run(&["namespaces", "show", "logs", "-o", "json"]).ok().json();
    assert_eq!(shown["settings"], json!({"durability": "async", "likeness": {"duplicate": 99}}));
}
