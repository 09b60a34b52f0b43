//! Tokens and the audit trail as whoever runs a server uses them.

use std::path::Path;

use crate::program::{Served, run};

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn s6_the_first_token_is_made_on_the_directory_and_opens_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let made = run(&["token", "create", "--data", text(&data), "--name", "admin", "--right", "admin"]).ok();
    let token = made.stdout.trim().to_owned();
    assert!(token.starts_with("hs_") && !made.stderr.contains(&token), "{made:?}");
    assert!(made.stderr.contains("*=admin"), "{made:?}");
    let file = folder.path().join("admin.token");
    std::fs::write(&file, &made.stdout).unwrap();

    let served = Served::start_on(&data, Some(folder));
    served.run(&["write", "a secret place"]).refused(5, &["needs a token", "HINDSIGHT_TOKEN_FILE"]);
    served.run(&["--token", "hs_wrong", "list"]).refused(5, &["not valid"]);
    let with = |args: &[&str]| {
        let mut all = vec!["--token-file", text(&file)];
        all.extend(args);
        served.run(&all)
    };
    with(&["write", "a secret place"]).ok();
    let agent = with(&[
        "token",
        "create",
        "--name",
        "agent",
        "--right",
        "read,write",
        "--on",
        "test",
        "--expires",
        "1d",
    ])
    .ok();
    let agent = agent.stdout.trim();
    assert!(served.run(&["--token", agent, "recall", "secret place"]).ok().stdout.contains("a secret place"));
    served.run(&["--token", agent, "forget", "--tag", "x", "--yes"]).refused(5, &["forget"]);
    served.run(&["--token", agent, "-n", "other", "list"]).refused(5, &["not for namespace other"]);

    let listed = with(&["token", "list"]).ok().lines();
    assert_eq!(listed.len(), 2);
    assert!(listed.iter().any(|one| one["name"] == "agent" && one["expires_at"].is_string()), "{listed:?}");
    let id = agent.split('_').nth(1).unwrap();
    assert!(with(&["token", "revoke", id]).ok().json()["revoked_at"].is_string());
    served.run(&["--token", agent, "list"]).refused(5, &["not valid"]);
    with(&["token", "revoke", "aaaaaaaa"]).refused(3, &["no token aaaaaaaa"]);
    with(&["token", "create", "--name", "x", "--right", "root", "--on", "test"])
        .refused(2, &["no right", "observe"]);

    let search = with(&["-n", "other", "audit", "search", "--result", "NAMESPACE_DENIED"]).ok().lines();
    assert_eq!(
        (search.len(), &search[0]["namespace"], &search[0]["token_id"]),
        (1, &"other".into(), &id.into())
    );
    let (status, log, _folder) = served.signal("TERM");
    assert_eq!(status.code(), Some(0));
    assert!(!log.contains(&token) && !log.contains(agent), "{log}");

    let checked = run(&["audit", "verify", "--data", text(&data)]).ok().json();
    let anchor = checked["anchor"].as_str().unwrap().to_owned();
    assert!(log.contains(&anchor) && checked["entries"].as_u64().unwrap() >= 8, "{checked}");
    run(&["verify", "--data", text(&data)]).ok();
    let trail = std::fs::read_dir(data.join("audit")).unwrap().next().unwrap().unwrap().path();
    let whole = std::fs::read_to_string(&trail).unwrap();
    let (cut, _) = whole.trim_end().rsplit_once('\n').unwrap();
    std::fs::write(&trail, format!("{cut}\n")).unwrap();
    run(&["audit", "verify", "--data", text(&data)]).ok();
    let missing = run(&["audit", "verify", "--data", text(&data), "--anchor", &anchor]);
    assert_eq!((missing.code, missing.json()["faults"].as_array().unwrap().len()), (8, 1), "{missing:?}");
}

#[test]
fn s6_a_token_file_is_the_administrator_s() {
    let folder = tempfile::tempdir().unwrap();
    let (data, file) = (folder.path().join("data"), folder.path().join("token"));
    std::fs::write(&file, "hs_short").unwrap();
    let serve = ["serve", "--data", text(&data), "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0"];
    let with = |path: &Path| {
        let mut all = serve.to_vec();
        all.extend(["--auth-token-file", text(path)]);
        run(&all)
    };
    with(&file).refused(65, &["is no token"]);
    with(&folder.path().join("absent")).refused(78, &["absent"]);
    assert!(!data.exists());
    let token = run(&["token", "generate"]).ok().stdout;
    assert_ne!(token, run(&["token", "generate"]).ok().stdout);
}
