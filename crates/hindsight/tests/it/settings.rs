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
}
