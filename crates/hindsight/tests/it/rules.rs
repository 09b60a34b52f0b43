//! `consolidate`, `rules`, `summarize` (L5, L6).

use serde_json::json;

use crate::program::Served;

#[test]
fn l5_l6_rules_and_summaries_on_the_command_line() {
    let served = Served::start();
    for number in 0..3 {
        let summary = format!("order {number} could not be updated");
        let record =
            ["record", "--summary", &summary, "--task-type", "order_processing", "--status", "failure"];
        let why = ["--root-cause", "api_token_expired", "--resolution", "refresh the token"];
        served.run(&[&record[..], &why[..]].concat()).ok();
    }
    let dry = served.run(&["consolidate", "--dry-run", "-o", "table"]).ok();
    assert!(dry.stdout.contains("3 episodes in 1 case: 1 rule would be created"), "{dry:#?}");
    let done = served.run(&["consolidate", "-o", "json"]).ok().json();
    let id = done["rules"][0]["rule"]["id"].as_str().unwrap().to_owned();
    let listed = served.run(&["rules", "list", "--state", "observing", "-o", "json"]).ok().json();
    assert_eq!(listed[0]["id"], json!(id));
    served.run(&["rules", "activate", &id, "--for-ever"]).ok();
    served.run(&["rules", "activate", &id]).refused(4, &["is active already"]);
    let shown = served.run(&["rules", "show", &id, "-o", "json"]).ok().json();
    assert_eq!((&shown["rule"]["rule_state"], shown.get("valid_to")), (&json!("active"), None));
    let recalled = served.run(&["recall", "order api_token_expired", "-o", "json"]).ok().json();
    assert_eq!(recalled["hits"][0]["memory"]["id"], json!(id));
    served.run(&["rules", "deprecate", &id, "--version", "1"]).refused(4, &["version"]);
    served.run(&["rules", "deprecate", &id]).ok();
    let history = served.run(&["rules", "history", &id, "-o", "table"]).ok();
    assert_eq!(history.stdout.lines().count(), 3, "{history:#?}");
    assert!(history.stdout.contains("by_hand: deprecated"), "{history:#?}");
    served.run(&["rules", "propose", "Ask first"]).refused(2, &["condition"]);
    served.run(&["rules", "propose", "Ask first", "--task-type", "deploy"]).ok();
    served.run(&["rules", "show", "mem_x"]).refused(2, &["mem_"]);
    for text in ["billing is on port 1", "billing has E1042"] {
        served.run(&["write", text, "--entity", "billing"]).ok();
    }
    let dry = served.run(&["summarize", "--entity", "billing", "--dry-run", "-o", "table"]).ok();
    assert!(dry.stdout.contains("2 memories would become one") && dry.stdout.contains("E1042"), "{dry:#?}");
    let summary = served.run(&["summarize", "--entity", "billing", "-o", "json"]).ok().json();
    let summary = summary["summary"]["id"].as_str().unwrap().to_owned();
    let back = served.run(&["rollback", &summary, "-o", "json"]).ok().json();
    assert_eq!(back["restored"].as_array().unwrap().len(), 2);
    served.run(&["summarize", "--entity", "nobody"]).refused(2, &["nobody"]);
}
