use hindsight_core::Timestamp;

use super::*;

fn event(number: u64) -> Event {
    Event {
        at: Timestamp::from_ms(1_000 + i64::try_from(number).unwrap()),
        token: "aaaaaaaa".to_owned(),
        name: "嗨 \"x\"".to_owned(),
        peer: "10.0.0.1".to_owned(),
        call: if number.is_multiple_of(3) { "MemoryService/Write" } else { "MemoryService/Recall" }
            .to_owned(),
        namespace: (!number.is_multiple_of(5)).then(|| format!("team-{}", number % 4)),
        count: number,
        result: "OK".to_owned(),
        request_id: format!("req_{number}"),
    }
}

/// A trail of `count` entries over several files.
fn written(data: &Path, count: u64) -> Anchor {
    let mut trail = Trail::open_with(data, 2_000).unwrap();
    for number in 1..=count {
        trail.append([event(number)]).unwrap();
    }
    trail.sync().unwrap();
    trail.head().unwrap()
}

fn images(data: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let files = files(&data.join(AUDIT_FOLDER)).unwrap();
    files.into_iter().map(|(_, path)| (path.clone(), std::fs::read(path).unwrap())).collect()
}

#[test]
fn s7_what_was_written_is_found_newest_first_and_whole() {
    let dir = tempfile::tempdir().unwrap();
    let head = written(dir.path(), 40);
    assert!(images(dir.path()).len() > 3);
    let report = verify(dir.path(), Some(&head)).unwrap();
    assert_eq!((report.entries, report.faults.len(), report.head.as_ref()), (40, 0, Some(&head)));
    assert_eq!(head.to_string().parse(), Ok(head));

    let search = |query: Query, limit| -> Vec<u64> {
        super::search(dir.path(), &query, limit).unwrap().into_iter().map(|entry| entry.seq).collect()
    };
    assert_eq!(search(Query::default(), 3), [40, 39, 38]);
    assert_eq!(search(Query { before: Some(3), ..Query::default() }, 9), [2, 1]);
    let writes = Query { call: Some("Write".to_owned()), ..Query::default() };
    assert_eq!(search(writes, 2), [39, 36]);
    let team = Query { namespace: Some("team-1".to_owned()), ..Query::default() };
    assert_eq!(search(team, 100), [37, 33, 29, 21, 17, 13, 9, 1]);
    let span = Query {
        since: Some(Timestamp::from_ms(1_010)),
        until: Some(Timestamp::from_ms(1_012)),
        ..Query::default()
    };
    assert_eq!(search(span, 9), [11, 10]);
    assert!(search(Query { token: Some("b".to_owned()), ..Query::default() }, 9).is_empty());
}

#[test]
fn s7_a_trail_goes_on_after_a_crash_in_the_middle_of_a_line() {
    let dir = tempfile::tempdir().unwrap();
    written(dir.path(), 7);
    let (path, bytes) = images(dir.path()).pop().unwrap();
    for half in [&b"{\"seq\":8,\"at\":"[..], b"{"] {
        std::fs::write(&path, [&bytes, half].concat()).unwrap();
        assert_eq!(verify(dir.path(), None).unwrap().faults, []);
        let mut trail = Trail::open_with(dir.path(), 2_000).unwrap();
        trail.append([event(8)]).unwrap();
        let report = verify(dir.path(), None).unwrap();
        assert_eq!((report.entries, report.faults), (8, Vec::new()));
        std::fs::write(&path, &bytes).unwrap();
        for (other, _) in images(dir.path()) {
            if other > path {
                std::fs::remove_file(other).unwrap();
            }
        }
    }
}

/// One change that somebody could make to hide something.
fn tamper(images: &mut Vec<(PathBuf, Vec<u8>)>, foreign: &[u8], random: &mut fastrand::Rng) -> &'static str {
    let file = random.usize(..images.len());
    let mut lines: Vec<Vec<u8>> =
        images[file].1.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let (one, other) = (random.usize(..lines.len()), random.usize(..lines.len()));
    let what = match random.u8(..7) {
        0 => {
            let place = random.usize(..lines[one].len());
            lines[one][place] ^= 1 << random.u8(..7);
            "edited"
        }
        1 => {
            lines.remove(one);
            "dropped"
        }
        2 => {
            if lines[one] == lines[other] {
                lines.remove(one);
            } else {
                lines.swap(one, other);
            }
            "swapped"
        }
        3 => {
            let line = lines[one].clone();
            lines.insert(other, line);
            "doubled"
        }
        4 => {
            let last = images.len() - 1;
            if file == last && one == 0 {
                images.pop();
                return "the last file taken away";
            }
            lines.truncate(one);
            images.truncate(file + 1);
            "cut off"
        }
        5 => {
            lines[one] = foreign.to_vec();
            "taken from another database"
        }
        _ => {
            images.remove(file);
            return "a file taken away";
        }
    };
    images[file].1 = lines.concat();
    what
}

#[test]
fn s7_a_thousand_changes_are_found() {
    let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let head = written(dir.path(), 30);
    written(other.path(), 30);
    let good = images(dir.path());
    let foreign = images(other.path())[0].1.split_inclusive(|byte| *byte == b'\n').next().unwrap().to_vec();
    let mut random = fastrand::Rng::with_seed(7);
    for round in 0..1_000 {
        let mut bad = good.clone();
        let what = tamper(&mut bad, &foreign, &mut random);
        assert_ne!(bad, good, "{round}: {what}");
        for (path, _) in &good {
            std::fs::remove_file(path).ok();
        }
        for (path, bytes) in &bad {
            std::fs::write(path, bytes).unwrap();
        }
        let report = verify(dir.path(), Some(&head)).unwrap();
        assert!(!report.faults.is_empty(), "{round}: {what} was not found");
    }
}

#[test]
fn s7_a_trail_written_anew_is_found_by_its_anchor() {
    let dir = tempfile::tempdir().unwrap();
    let head = written(dir.path(), 10);
    std::fs::remove_dir_all(dir.path().join(AUDIT_FOLDER)).unwrap();
    let mut trail = Trail::open(dir.path()).unwrap();
    trail.append((1..=12).filter(|number| *number != 4).map(event)).unwrap();
    assert_eq!(verify(dir.path(), None).unwrap().faults, []);
    assert_eq!(verify(dir.path(), Some(&head)).unwrap().faults.len(), 1);
}
