//! Each line of the golden file is a query and the window it has. `UPDATE_GOLDEN=1 cargo test -p hindsight-core` writes
//! the answers of the code into the file; the difference is to be read, not only committed.

use hindsight_core::timewords::window;
use hindsight_core::{Timestamp, time::DAY_MS};
use jiff::tz::TimeZone;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/timewords.txt");

/// A moment as the zone's clock shows it, without what is zero.
fn shown(time: Timestamp, zone: &TimeZone) -> String {
    let text = zone.to_datetime(time.to_jiff()).to_string();
    let text = text.strip_suffix("T00:00:00").unwrap_or(&text);
    text.strip_suffix(":00").filter(|text| text.contains('T')).unwrap_or(text).to_owned()
}

fn answered(query: &str, now: Timestamp, zone: &TimeZone) -> String {
    match window(query, now, zone) {
        None => "none".to_owned(),
        Some(found) => format!("{} .. {} | {}", shown(found.from, zone), shown(found.to, zone), found.words),
    }
}

#[test]
fn r3_golden() {
    let golden = std::fs::read_to_string(FILE).unwrap();
    let (mut now, mut zone) = (Timestamp::MIN, TimeZone::UTC);
    let (mut wrong, mut cases, mut written) = (Vec::new(), 0, String::new());
    for line in golden.lines() {
        let mut as_is = line.to_owned();
        if let Some(setting) = line.strip_prefix("@ ") {
            let (time, name) = setting.split_once(' ').unwrap();
            (now, zone) = (time.parse().unwrap(), TimeZone::get(name).unwrap());
        } else if !line.is_empty() && !line.starts_with('#') {
            let query = line.split_once(" => ").map_or(line, |(query, _)| query);
            as_is = format!("{query} => {}", answered(query, now, &zone));
            cases += 1;
            if as_is != line {
                wrong.push(format!("expected: {line}\n   found: {as_is}"));
            }
        }
        written.push_str(&as_is);
        written.push('\n');
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(FILE, written).unwrap();
        return;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(cases >= 120, "only {cases} cases");
}

/// Whatever the text and the moment, there is an answer, and a window is never empty.
#[test]
fn r3_any_text_at_any_time() {
    let pieces = [
        "last",
        "9999",
        "years",
        "ago",
        "since",
        "may",
        "31",
        "8",
        "2023",
        "去年",
        "二〇二三年",
        "99",
        "月",
        "31号",
        "前",
        "上",
        "周",
        "一",
        "最近",
        "半年",
        " ",
        ",",
        "-",
        "to",
        "friday",
        "the",
        "of",
        "'s",
        "离",
        "到",
        "以来",
        "９",
        "the past",
    ];
    let times =
        [Timestamp::MIN, Timestamp::MAX, Timestamp::from_ms(0), Timestamp::from_ms(1_709_164_800_000)];
    let zones = ["UTC", "Asia/Shanghai", "America/Sao_Paulo", "Pacific/Apia"]
        .map(|name| TimeZone::get(name).unwrap());
    for (at, first) in pieces.iter().enumerate() {
        for second in pieces {
            for third in pieces {
                let query = [*first, second, third].join(if third.is_ascii() { " " } else { "" });
                let found = window(&query, times[at % 4], &zones[at % 4]);
                assert!(
                    found.is_none_or(|found| found.from < found.to && !found.words.is_empty()),
                    "{query:?}"
                );
            }
        }
    }
}

/// A time zone decides where a day begins, and a day may have 23 or 25 hours.
#[test]
fn r3_days_follow_the_zone() {
    let zone = TimeZone::get("America/New_York").unwrap();
    let now: Timestamp = "2026-11-02T12:00:00Z".parse().unwrap();
    let found = window("yesterday", now, &zone).unwrap();
    assert_eq!(found.from.to_string(), "2026-11-01T04:00:00Z");
    assert_eq!(found.to.as_ms() - found.from.as_ms(), DAY_MS + 3_600_000);
}
