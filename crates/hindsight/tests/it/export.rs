//! What is exported can be imported again, and is the same.

use serde_json::{Value, json};

use crate::program::Served;

fn fill(served: &Served) {
    let rule = json!({"content": "retry refunds once", "kind": "rule",
        "rule": {"polarity": "do", "advice": "retry once", "condition": {"task_type": "refund"}}});
    served.run_with(rule.to_string().as_bytes(), &["write", "--json", "-"]).ok();
    let action = r#"{"tool":"payment_api","params":{"amount":12.5,"tags":["a"]},"error_code":"E_CARD"}"#;
    served
        .run(&[
            "record",
            "--task-type",
            "refund",
            "--status",
            "failure",
            "--summary",
            "退款失败",
            "--action",
            action,
        ])
        .ok();
    let lines: String = (0..1_200)
        .map(|index| format!("{}\n", json!({"content": format!("note {index} 第{index}条")})))
        .collect();
    served.run_with(lines.as_bytes(), &["import", "-"]).ok();
}

/// The memories without what only the database sets.
fn essence(lines: Vec<Value>) -> Vec<Value> {
    lines
        .into_iter()
        .map(|mut memory| {
            for field in ["namespace", "created_at", "updated_at"] {
                memory.as_object_mut().unwrap().remove(field).unwrap();
            }
            memory
        })
        .collect()
}

#[test]
fn an_export_comes_back_equal_in_another_namespace() {
    let served = Served::start();
    fill(&served);
    let path = served.data.parent().unwrap().join("out.jsonl");
    let file = path.to_str().unwrap();
    let ran = served.run(&["export", "--out", file]).ok();
    assert_eq!(ran.stdout, "");
    assert!(ran.stderr.contains("1,202 memories"), "{ran:?}");
    let exported = std::fs::read_to_string(&path).unwrap();
    assert_eq!(exported, served.run(&["export"]).ok().stdout);
    assert_eq!(exported.lines().count(), 1_202);

    let counts = served.run(&["import", file, "-n", "copy", "-o", "json"]).ok().json();
    assert_eq!(counts["namespaces"], json!({"copy": 1_202}));
    let lines =
        |text: &str| text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>();
    let copy = served.run(&["export", "-n", "copy"]).ok();
    assert_eq!(essence(lines(&copy.stdout)), essence(lines(&exported)));

    let again = served.run(&["import", file, "-o", "json"]).ok().json();
    assert_eq!((&again["stored"], &again["already_there"]), (&json!(0), &json!(1_202)));
}

#[test]
fn a_file_that_can_not_be_written_leaves_nothing_behind() {
    let served = Served::start();
    served.write("a", &[]);
    let folder = served.data.parent().unwrap().join("missing");
    let file = folder.join("out.jsonl");
    served.run(&["export", "--out", file.to_str().unwrap()]).refused(1, &["out.jsonl"]);
    assert!(!folder.exists());
    served.run(&["export", "-n", "nobody"]).refused(3, &["nobody"]);
}
