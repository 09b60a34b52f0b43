//! `write` that knows, `history`, `rollback`, `feedback` (W6, W7, L1).

use serde_json::json;

use crate::program::Served;

#[test]
fn w6_w7_l1_what_is_known_replaced_taken_back_and_judged() {
    let served = Served::start();
    let write = |text: &str, city: &str| {
        let claim = format!("user/city/{city}");
        served.run(&["write", text, "--single-claim", &claim, "-o", "json"]).ok().json()
    };
    let bern = write("I live in Bern", "Bern");
    let again = write("I live in Bern.", "Bern");
    assert_eq!((&again["outcome"], &again["memory"]["id"]), (&json!("reinforced"), &bern["memory"]["id"]));
    let id = bern["memory"]["id"].as_str().unwrap();
    served
        .run(&["write", "I live in Bern", "--on-duplicate", "reject", "--single-claim", "user/city/Bern"])
        .refused(4, &[id]);
    let told =
        served.run(&["write", "I moved to Rome", "--single-claim", "user/city/Rome", "-o", "table"]).ok();
    assert!(told.stdout.contains(&format!("supersedes {id}: user / city: \"Bern\" / \"Rome\"")), "{told:#?}");
    let history = served.run(&["history", id, "-o", "json"]).ok().json();
    assert_eq!(history["memories"].as_array().unwrap().len(), 2);
    let done = served.run(&["rollback", id, "-o", "json"]).ok().json();
    assert_eq!(done["restored"][0]["id"], json!(id));
    let recalled = served.run(&["recall", "where do I live", "-o", "json"]).ok().json();
    let recall_id = recalled["recall_id"].as_str().unwrap();
    let judged =
        served.run(&["feedback", recall_id, "--used", id, "--task", "success", "-o", "json"]).ok().json();
    assert_eq!(judged["memories"][0]["usage"]["success_after_use"], json!(1));
    served.run(&["feedback", "rcl_nonsense", "--used", id]).refused(2, &["rcl_"]);
    let observed = served.run(&["recall", "where do I live", "--observe", "-o", "json"]).ok().json();
    assert_eq!(observed.get("recall_id"), None);
}
