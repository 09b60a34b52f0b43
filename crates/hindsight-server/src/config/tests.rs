use super::*;

fn load(text: &str, environment: &[(&str, &str)], flags: &Overrides) -> Result<Config, ConfigError> {
    let environment = environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Config::of(Some((Path::new("h.toml"), text)), environment, flags)
}

fn message(text: &str, environment: &[(&str, &str)]) -> String {
    load(text, environment, &Overrides::default()).unwrap_err().to_string()
}

#[test]
fn nothing_set_is_the_default() {
    assert_eq!(load("", &[], &Overrides::default()).unwrap(), Config::default());
}

#[test]
fn a_flag_wins_over_the_environment_over_the_file() {
    let file = "data = '/a'\nlisten = '127.0.0.1:1'\n[log]\nlevel = 'warn'\n[limits]\nconnections = 5";
    let environment = [
        ("HINDSIGHT__LISTEN", "127.0.0.1:2"),
        ("HINDSIGHT__LOG__LEVEL", "debug"),
        ("HINDSIGHT__TIMEOUTS__DRAIN_MS", "77"),
        ("HINDSIGHT_NAMESPACE", "ops"),
    ];
    let flags = Overrides { listen: Some("localhost:3".to_owned()), ..Overrides::default() };
    let config = load(file, &environment, &flags).unwrap();
    assert_eq!(config.data, Path::new("/a"));
    assert_eq!(config.listen.to_string(), "127.0.0.1:3");
    assert_eq!(
        (config.log.level.as_str(), config.timeouts.drain_ms, config.limits.connections),
        ("debug", 77, 5)
    );
}

#[test]
fn an_unknown_key_is_named_with_its_line_and_its_neighbour() {
    let text = "data = 'x'\n\n[limits]\nconnexions = 5";
    assert_eq!(
        message(text, &[]),
        "h.toml:4: there is no key \"limits.connexions\": did you mean \"limits.connections\"?"
    );
    assert_eq!(message("dta = 'x'", &[]), "h.toml:1: there is no key \"dta\": did you mean \"data\"?");
    assert_eq!(
        message("", &[("HINDSIGHT__LOG__LEVLE", "info")]),
        "HINDSIGHT__LOG__LEVLE: there is no key \"log.levle\": did you mean \"log.level\"?"
    );
    assert_eq!(message("[zzz]\nq = 1", &[]), "h.toml:1: there is no key \"zzz\"");
}

#[test]
fn a_wrong_value_is_named_with_its_place() {
    let error = message("[limits]\nconnections = 'many'", &[]);
    assert!(error.starts_with("h.toml:2: limits.connections: ") && error.contains("usize"), "{error}");
    let error = message("[log]\nformat = 'xml'", &[]);
    assert!(error.starts_with("h.toml:2: log.format: ") && error.contains("auto"), "{error}");
    let error = message("[log]\nlevel = 'a=b=c'", &[]);
    assert!(
        error.starts_with("h.toml:2: log.level: ") && error.contains("expected one such as info"),
        "{error}"
    );
    let error = message("limits = 5", &[]);
    assert!(error.starts_with("h.toml:1: limits: "), "{error}");
    assert_eq!(
        message("", &[("HINDSIGHT__LIMITS__CONNECTIONS", "many")]),
        "HINDSIGHT__LIMITS__CONNECTIONS: limits.connections: \"many\" is not a whole number"
    );
    assert_eq!(
        message("[limits]\nconnections = 0", &[]),
        "h.toml:2: limits.connections is 0: expected 1 to 65536"
    );
    let error = message("listen = 'here'", &[]);
    assert!(error.contains("expected one such as 127.0.0.1:7420"), "{error}");
    let error = message("data = 'x'\nlisten = oops", &[]);
    assert!(error.starts_with("h.toml:2: "), "{error}");
}

#[test]
fn s6_locks_are_set_by_file_environment_and_flag() {
    let file = "insecure = true\n[tls]\ncert = 'c.pem'\nkey = 'k.pem'\n[audit]\nlevel = 'changes'";
    let flags = Overrides { auth_token_file: Some("t".into()), ..Overrides::default() };
    let config = load(file, &[("HINDSIGHT__AUTH__REQUIRED", "true")], &flags).unwrap();
    assert!(config.insecure && config.auth.required && config.audit.level == AuditLevel::Changes);
    assert_eq!((config.tls.cert, config.tls.key), ("c.pem".into(), "k.pem".into()));
    assert_eq!(config.auth.token_file, std::path::PathBuf::from("t"));
    let error = message("", &[("HINDSIGHT__AUTH__REQUIRED", "yes")]);
    assert!(error.contains("neither true nor false"), "{error}");
}

#[test]
fn sizes_of_the_storage_are_set_and_held_to_their_ranges() {
    let file = "[storage]\nsegment_bytes = 8388608\nreserve_bytes = 0";
    let environment = [("HINDSIGHT__STORAGE__CHECKPOINT_BYTES", "2097152")];
    let storage = load(file, &environment, &Overrides::default()).unwrap().storage;
    let options = storage.options();
    assert_eq!(
        (options.log.segment_bytes, options.checkpoint_bytes, options.reserve_bytes),
        (8 << 20, 2 << 20, 0)
    );
    assert_eq!(options.log.pending_frames_max, 10_000);
    assert_eq!(
        message("[storage]\nsegment_bytes = 5", &[]),
        "h.toml:2: storage.segment_bytes is 5: expected 1048576 to 1073741824"
    );
    assert!(message("[storage]\nsegmnt_bytes = 5", &[]).contains("did you mean \"storage.segment_bytes\"?"));
}

#[test]
fn l5_a_schedule_that_never_comes_or_a_zone_that_is_none_is_named_at_the_start() {
    let error = message("[jobs]\npurge = '0 0 30 2 *'", &[]);
    assert!(error.starts_with("h.toml:2: jobs.purge: ") && error.contains("it never comes"), "{error}");
    let error = message("", &[("HINDSIGHT__JOBS__ARCHIVE", "nightly")]);
    assert!(error.contains("expected minute hour day month weekday"), "{error}");
    let error = message("[jobs]\ntime_zone = 'Mars/Olympus'", &[]);
    assert!(error.starts_with("h.toml:2: jobs.time_zone: ") && error.contains("Europe/Berlin"), "{error}");
    let config = load("[jobs]\npurge = ''\ntime_zone = 'Asia/Shanghai'", &[], &Overrides::default()).unwrap();
    let schedules = config.jobs.schedules();
    let shown: Vec<String> = schedules.values().map(hindsight_core::Schedule::shown).collect();
    assert_eq!(shown, ["30 3 * * * Asia/Shanghai", "0 3 * * * Asia/Shanghai"], "archive and consolidate");
}

#[test]
fn l2_life_is_set_in_days() {
    let text = "[life]\nepisode_days = 7\nforgotten_days = 0\nepisodes_per_task_type = 20";
    let rules = load(text, &[("HINDSIGHT__LIFE__UNRECALLED_FACT_DAYS", "9")], &Overrides::default()).unwrap();
    let rules = rules.life.rules();
    assert_eq!((rules.keep.episode, rules.keep_unrecalled.fact, rules.forgotten), (7, 9, 0));
    assert_eq!((rules.episodes_per_task_type, rules.keep_unrecalled.episode), (20, 60));
}

/// Every key with its default, as TOML has it.
fn keys(prefix: &str, table: &toml::Table, found: &mut std::collections::BTreeMap<String, String>) {
    for (name, value) in table {
        let key = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        match value {
            toml::Value::Table(inner) => keys(&key, inner, found),
            value => drop(found.insert(key, value.to_string())),
        }
    }
}

#[test]
fn i7_the_table_of_the_docs_has_every_key_with_its_unit_and_default_and_no_other() {
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operations.md");
    let text = std::fs::read_to_string(docs).unwrap();
    let table = text.split("\n## Configuration\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let mut written = std::collections::BTreeMap::new();
    for row in table.lines().filter_map(|line| line.strip_prefix("| `")) {
        let cells: Vec<&str> = row.split(" | ").collect();
        assert!(cells.len() >= 4 && cells[1].trim() != "" && cells[3].len() > 10, "{row}");
        let unquote = |text: &str| text.trim().trim_matches('`').to_owned();
        let names: Vec<String> = cells[0].split(", ").map(unquote).collect();
        let defaults: Vec<String> = cells[2].split("`, `").map(unquote).collect();
        assert_eq!(names.len(), defaults.len(), "{row}");
        written.extend(names.into_iter().zip(defaults));
    }
    let mut there = std::collections::BTreeMap::new();
    keys("", &toml::Table::try_from(Config::default()).unwrap(), &mut there);
    assert_eq!(written, there);
}
