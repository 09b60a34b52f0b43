//! The demonstration is a check of the whole way; it has to pass at any hour and on any day of the week.

use crate::program::{program, run};

#[test]
fn it_passes_today_and_leaves_nothing_behind() {
    let temporary = tempfile::tempdir().unwrap();
    let output = program().arg("demo").env("TMPDIR", temporary.path()).output().unwrap();
    let (stdout, stderr) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(0), "{stdout}\n{stderr}");
    for words in ["6. ", "the same to the last bit", "= 0.", "vector", "SIGKILL", "青霉素", "peanuts"] {
        assert!(stdout.contains(words), "{words:?} is not in {stdout}");
    }
    assert!(!stdout.contains("WRONG") && !stdout.contains('\u{1b}'), "{stdout}");
    assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 0);
}

#[test]
fn it_passes_on_each_day_of_a_week() {
    // A Monday to a Sunday, early and late: "last week" must find what it means on each.
    for day in 7..14 {
        let hour = if day % 2 == 0 { "00:30" } else { "23:30" };
        let ran = run(&["demo", "--now", &format!("2026-12-{day:02}T{hour}:00Z")]);
        assert_eq!(ran.code, 0, "{ran:#?}");
    }
}

#[test]
fn it_keeps_the_data_where_it_is_told_to_and_overwrites_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("kept");
    let data = data.to_str().unwrap();
    run(&["demo", "--keep", data]).ok();
    let served = crate::program::Served::start_on(std::path::Path::new(data), None);
    assert_eq!(served.count("demo"), served.ready["memories"].as_u64().unwrap());
    drop(served);
    let again = run(&["demo", "--keep", data]);
    assert_eq!((again.code, again.stdout.as_str()), (1, ""), "{again:?}");
}
