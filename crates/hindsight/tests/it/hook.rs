//! The hooks of agents' programs: what they print, and that they are never in the way.

use serde_json::{Value, json};

use crate::program::{Ran, Served, program};

fn without_server(input: &str, args: &[&str]) -> Ran {
    use std::io::Write as _;
    use std::process::Stdio;
    let mut command = program();
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    Ran::of(child.wait_with_output().unwrap())
}

#[test]
fn i3_a_prompt_gets_what_is_known_before_it() {
    let served = Served::start();
    let prompt =
        json!({"session_id": "s1", "hook_event_name": "UserPromptSubmit", "prompt": "how do we deploy"})
            .to_string();
    let nothing = served.run_with(prompt.as_bytes(), &["hook", "recall"]).ok();
    assert_eq!(
        (nothing.stdout.as_str(), nothing.stderr.as_str()),
        ("", ""),
        "a namespace that is not there is no trouble"
    );
    served.write("Deploys go through Argo CD", &[]);
    let answer: Value = served.run_with(prompt.as_bytes(), &["hook", "recall"]).ok().json();
    let output = &answer["hookSpecificOutput"];
    assert_eq!(output["hookEventName"], "UserPromptSubmit");
    assert!(output["additionalContext"].as_str().unwrap().contains("Argo CD"), "{answer}");
    let plain = served.run_with(prompt.as_bytes(), &["hook", "recall", "--format", "plain"]).ok();
    assert!(plain.stdout.contains("<memory") && plain.stdout.contains("Argo CD"), "{plain:?}");
    let other = json!({"hook_event_name": "Stop"}).to_string();
    assert_eq!(served.run_with(other.as_bytes(), &["hook", "recall"]).ok().stdout, "");
}

#[test]
fn i3_what_was_said_is_kept_once_however_often_it_is_told() {
    let served = Served::start();
    let transcript = served.data.parent().unwrap().join("transcript.jsonl");
    let said = |kind: &str, uuid: &str, text: &str| {
        let at = format!("2026-11-30T10:0{}:00Z", &uuid[1..]);
        json!({"type": kind, "uuid": uuid, "timestamp": at, "message": {"role": kind, "content": [{"type": "text", "text": text}]}}).to_string() + "\n"
    };
    let mut lines = said("user", "u1", "怎么部署订单服务?") + &said("assistant", "a1", "用 Argo CD 部署。");
    std::fs::write(&transcript, &lines).unwrap();
    let stop =
        json!({"session_id": "s1", "hook_event_name": "Stop", "transcript_path": transcript}).to_string();
    served.run_with(stop.as_bytes(), &["hook", "retain"]).ok();
    lines += &(said("user", "u2", "and roll back?") + &said("assistant", "a2", "Revert the commit."));
    std::fs::write(&transcript, &lines).unwrap();
    for _ in 0..2 {
        let ran = served.run_with(stop.as_bytes(), &["hook", "retain"]).ok();
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""));
    }
    let kept = served.run(&["list"]).ok().lines();
    assert_eq!(kept.len(), 2);
    let first = &kept[0];
    assert!(
        first["content"].as_str().unwrap().contains("Asked: 怎么部署订单服务?\nAnswered: 用 Argo CD 部署。"),
        "{first}"
    );
    assert_eq!(
        (&first["kind"], &first["status"], &first["session_id"]),
        (&json!("episode"), &json!("partial"), &json!("s1"))
    );
    let codex = json!({"type": "agent-turn-complete", "turn-id": "t1", "input-messages": ["fix the test"], "last-assistant-message": "done"});
    served.run(&["hook", "retain", &codex.to_string()]).ok();
    assert_eq!(served.count("test"), 3);
}

#[test]
fn i3_a_hook_never_stops_the_agent() {
    let prompt = json!({"prompt": "x"}).to_string();
    let away = ["-n", "test", "--server", "http://127.0.0.1:9", "hook", "recall"];
    let cases: [(&str, &[&str]); 4] = [
        (&prompt, &away),
        ("no json", &away),
        (&prompt, &["hook", "recall"]),
        (&prompt, &["-n", "test", "--use-profile", "nobody", "hook", "recall"]),
    ];
    for (input, args) in cases {
        let ran = without_server(input, args).ok();
        assert!(ran.stdout.is_empty() && ran.stderr.contains("memory was left out"), "{ran:?}");
    }
    // Exit code 2 would stop some programs; wrong usage is told with another.
    assert_eq!(without_server(&prompt, &["-n", "no/name", "hook", "recall"]).code, 1);
    assert_eq!(without_server(&prompt, &["-n", "no/name", "recall", "x"]).code, 2);
}
