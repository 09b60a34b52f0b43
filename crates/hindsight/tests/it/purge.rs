//! `purge` and `namespaces drop`: nothing goes without a word, and what went is gone.

use serde_json::json;

use crate::program::Served;

#[test]
fn l3_a_purge_counts_first_and_needs_a_yes() {
    let served = Served::start();
    let write = |text: &str| {
        let written = served.run(&["write", text, "--tag", "old", "-o", "json"]).ok().json();
        written["memory"]["id"].as_str().unwrap().to_owned()
    };
    let (first, _second, _third) = (write("one"), write("two"), write("three"));
    served.run(&["purge"]).refused(2, &["--id", "--whole-namespace"]);
    served.run(&["purge", "--id", &first, "--tag", "old", "--yes"]).refused(2, &["name one of"]);
    served.run(&["purge", "--id", &first]).refused(2, &["1 memory", "--yes"]);
    let purged = served.run(&["purge", "--id", &first, "--yes", "-o", "json"]).ok().json();
    assert_eq!((&purged["count"], &purged["receipt"]["memories"]), (&json!(1), &json!(1)));
    served.run(&["get", &first]).refused(3, &["no memory"]);
    assert_eq!(
        served.run(&["purge", "--tag", "old", "--dry-run", "-o", "json"]).ok().json()["count"],
        json!(2)
    );
    served.run(&["purge", "--tag", "old"]).refused(2, &["2 memories", "--yes"]);
    assert_eq!(served.run(&["list"]).ok().lines().len(), 2);
    let purged = served.run(&["purge", "--tag", "old", "--yes", "-o", "json"]).ok().json();
    assert_eq!(purged["count"], json!(2));
    let all = served.run(&["purge", "--whole-namespace", "--yes", "-o", "json"]).ok().json();
    assert_eq!(all["count"], json!(0));
    served.run(&["stats"]).refused(3, &["no namespace"]);
}

#[test]
fn a_drop_needs_a_yes() {
    let served = Served::start();
    served.run(&["write", "one"]).ok();
    let name = served.run(&["namespaces"]).ok().lines()[0]["name"].as_str().unwrap().to_owned();
    served.run(&["namespaces", "drop", &name]).refused(2, &["1 memory", "--yes"]);
    let dropped = served.run(&["namespaces", "drop", &name, "--yes", "-o", "json"]).ok().json();
    assert_eq!(dropped["count"], json!(1));
    assert!(served.run(&["namespaces"]).ok().lines().is_empty());
    served.run(&["namespaces", "drop", &name, "--yes"]).refused(3, &["no namespace"]);
}
