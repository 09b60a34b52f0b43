//! `jobs`, the life settings, and what does not come back.

use serde_json::json;

use crate::program::Served;

#[test]
fn l2_jobs_are_listed_and_run() {
    let served = Served::start();
    let jobs = served.run(&["jobs", "-o", "json"]).ok().json();
    assert_eq!((&jobs[0]["job"], &jobs[0]["schedule"]), (&json!("archive"), &json!("30 3 * * * UTC")));
    served.run(&["jobs", "run", "vacuum"]).refused(2, &["archive", "purge"]);
    served.run(&["-n", "ops", "jobs", "run", "archive"]).refused(3, &["no namespace"]);
    served.run(&["-n", "ops", "write", "the old badge", "--expires-at", "2026-01-02"]).ok();
    let dry = served.run(&["-n", "ops", "jobs", "run", "archive", "--dry-run", "-o", "json"]).ok().json();
    assert_eq!((&dry["counts"], &dry["validate_only"]), (&json!({"expired": 1}), &json!(true)));
    let report = served.run(&["jobs", "run", "archive", "--all-namespaces", "-o", "table"]).ok();
    assert!(report.stdout.contains("archive changed 1 memory in 1 namespace"), "{}", report.stdout);
    served.run(&["jobs", "list", "-o", "table"]).ok();
}

#[test]
fn l2_life_is_set_and_shown() {
    let served = Served::start();
    served.run(&["namespaces", "set", "ops", "--life", "epoch_days=3"]).refused(2, &["episode_days"]);
    let set =
        ["namespaces", "set", "ops", "--life", "episode_days=30", "--life", "fact_days=0", "-o", "json"];
    let set = served.run(&set).ok().json();
    assert_eq!(set["settings"]["life"], json!({"episode_days": 30, "fact_days": 0}));
    let back = ["namespaces", "set", "ops", "--life", "episode_days=default", "-o", "json"];
    assert_eq!(served.run(&back).ok().json()["settings"]["life"], json!({"fact_days": 0}));
}

#[test]
fn l4_a_forgotten_value_comes_back_only_on_demand() {
    let served = Served::start();
    let written = served.run(&["-n", "ops", "write", "The alarm code is 4417", "-o", "json"]).ok().json();
    let id = written["memory"]["id"].as_str().unwrap();
    served.run(&["-n", "ops", "forget", id]).ok();
    let write = ["-n", "ops", "write", "the alarm code is 4417"];
    served.run(&write).refused(4, &["was forgotten on", "allow_forgotten"]);
    served.run(&[&write[..], &["--allow-forgotten"]].concat()).ok();
}
