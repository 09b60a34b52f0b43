//! `doctor`, `config`, profiles, completions and man pages.

use serde_json::{Value, json};

use crate::program::{Ran, Served, program, run};

fn found<'a>(lines: &'a [Value], check: &str) -> &'a Value {
    lines.iter().find(|line| line["check"] == check).unwrap_or_else(|| panic!("{check} is not in {lines:?}"))
}

/// The program in a folder, with a home of its own.
fn at_home(home: &std::path::Path, args: &[&str]) -> Ran {
    let mut command = program();
    command.args(args).current_dir(home).env("XDG_CONFIG_HOME", home);
    Ran::of(command.output().unwrap())
}

#[test]
fn i4_doctor_finds_nothing_wrong_with_a_server_that_runs() {
    let served = Served::start();
    let http = served.http.trim_start_matches("http://");
    let ran = served.run(&["doctor", "--data", served.data.to_str().unwrap(), "--http", http]).ok();
    let lines = ran.lines();
    for check in [
        "configuration",
        "owner",
        "format",
        "lock",
        "gRPC port",
        "version",
        "embedding model",
        "writes",
        "HTTP port",
        "MCP with initialize",
        "MCP of 2026-07-28",
    ] {
        assert_eq!(found(&lines, check)["grade"], "ok", "{lines:?}");
    }
    let holder = format!("process {}", served.ready["pid"]);
    assert!(found(&lines, "lock")["detail"].as_str().unwrap().contains(&holder));
    assert!(lines.iter().all(|line| line["grade"] != "wrong"));
}

#[test]
fn i4_doctor_says_what_mends_each_thing_that_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("notes.txt"), "x").unwrap();
    let data = folder.path().to_str().unwrap();
    let args =
        ["doctor", "--data", data, "--server", "http://127.0.0.1:9", "--http", "127.0.0.1:9", "-o", "jsonl"];
    let ran = run(&args);
    assert_eq!(ran.code, 8, "{ran:?}");
    let lines = ran.lines();
    for (check, fix) in
        [("format", "--data"), ("gRPC port", "hindsight serve"), ("HTTP port", "hindsight serve")]
    {
        let line = found(&lines, check);
        assert!(line["grade"] == "wrong" && line["fix"].as_str().unwrap().contains(fix), "{line}");
    }
    assert!(ran.stderr.contains("3 things are wrong"), "{}", ran.stderr);
    let config = folder.path().join("wrong.toml");
    std::fs::write(&config, "[limits]\nconections = 5\n").unwrap();
    let ran = run(&["doctor", "--offline", "--config", config.to_str().unwrap(), "-o", "jsonl"]);
    assert!(ran.code == 8 && ran.stdout.contains("connections"), "{ran:?}");
}

#[test]
fn i4_the_configuration_says_where_each_value_comes_from() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("server.toml");
    std::fs::write(&file, "[limits]\nconnections = 77\n").unwrap();
    let ran = at_home(
        home.path(),
        &["config", "show", "--config", "server.toml", "--data", "/x", "-n", "ops", "-o", "jsonl"],
    )
    .ok();
    let line = |key: &str| ran.lines().into_iter().find(|line| line["key"] == key);
    assert_eq!(
        line("limits.connections"),
        Some(json!({"part": "server", "key": "limits.connections", "value": 77, "origin": "server.toml:2"}))
    );
    assert_eq!(line("data").unwrap()["origin"], "--data");
    assert_eq!(line("namespace").unwrap()["origin"], "--namespace");
    assert_eq!(line("timeout"), None, "only what somebody set");
    let ran = at_home(home.path(), &["config", "show", "--effective", "-o", "jsonl"]).ok();
    let timeout = ran.lines().into_iter().find(|line| line["key"] == "timeout").unwrap();
    assert_eq!((&timeout["value"], &timeout["origin"]), (&json!("10s"), &json!("default")));
    std::fs::write(&file, "[limits]\nconections = 77\n").unwrap();
    at_home(home.path(), &["config", "check", "--config", "server.toml"])
        .refused(78, &["server.toml:2", "connections"]);
}

#[test]
fn i4_a_flag_goes_before_the_project_and_the_project_before_the_profile() {
    let served = Served::start();
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join("hindsight")).unwrap();
    let user = home.path().join("hindsight/config.toml");
    std::fs::write(
        &user,
        format!(
            "default = \"work\"\n[profiles.work]\nserver = \"{}\"\nnamespace = \"of-profile\"\n",
            served.grpc
        ),
    )
    .unwrap();
    let stored_in = |args: &[&str]| {
        let ran = at_home(home.path(), &[&["write", "hello there", "-o", "json"], args].concat()).ok();
        ran.json()["memory"]["namespace"].clone()
    };
    assert_eq!(stored_in(&[]), "of-profile");
    std::fs::write(home.path().join("hindsight.toml"), "namespace = \"of-project\"\n").unwrap();
    assert_eq!(stored_in(&[]), "of-project");
    assert_eq!(stored_in(&["-n", "of-flag"]), "of-flag");
    at_home(home.path(), &["stats", "--use-profile", "away"]).refused(2, &["no profile \"away\"", "work"]);
    // A project must not send anyone's token to a server of its own.
    std::fs::write(home.path().join("hindsight.toml"), "server = \"http://elsewhere:7420\"\n").unwrap();
    at_home(home.path(), &["stats"]).refused(2, &["hindsight.toml:1", "server"]);
    // What calls no server does not care.
    at_home(home.path(), &["version"]).ok();
}

#[test]
fn i4_shells_and_man_get_what_they_read() {
    for (shell, word) in
        [("bash", "_hindsight"), ("zsh", "#compdef hindsight"), ("fish", "complete -c hindsight")]
    {
        let ran = run(&["completion", shell]).ok();
        assert!(ran.stdout.contains(word) && ran.stdout.contains("recall"), "{shell}");
    }
    assert!(run(&["man"]).ok().stdout.contains(".TH HINDSIGHT"));
    assert!(run(&["man", "backup", "create"]).ok().stdout.contains(".TH HINDSIGHT-BACKUP-CREATE"));
    run(&["man", "diary"]).refused(2, &["diary", "recall"]);
    let folder = tempfile::tempdir().unwrap();
    run(&["man", "--out", folder.path().to_str().unwrap()]).ok();
    for page in ["hindsight.1", "hindsight-recall.1", "hindsight-mcp-config.1"] {
        assert!(folder.path().join(page).is_file(), "{page}");
    }
}
