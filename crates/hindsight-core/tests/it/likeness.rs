//! Each line of the golden file is a pair of memories and what is to be made of it. The expectations are written by hand.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests may stop at the first thing that is not as expected"
)]

use hindsight_core::draft::Moment;
use hindsight_core::likeness::{Aspect, Conflict, Duplicate, Thresholds, conflict, duplicate};
use hindsight_core::{Draft, Memory, MemoryId, Timestamp};

const GOLDEN: &str = include_str!("../golden/likeness.txt");

/// The cosine that nominates them all; what a vector says is not what is tested here.
const NEAR: f64 = 0.97;

/// One line of the file.
struct Case<'a> {
    line: &'a str,
    expected: &'a str,
    old: &'a str,
    new: &'a str,
}

fn cases() -> Vec<Case<'static>> {
    let lines = GOLDEN.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let (expected, pair) = line.split_once(": ").unwrap_or_else(|| panic!("no expectation: {line}"));
            let (old, new) = pair.split_once(" ## ").unwrap_or_else(|| panic!("no pair: {line}"));
            Case { line, expected, old, new }
        })
        .collect()
}

fn memory(text: &str) -> Memory {
    let (content, fields) = text.split_once(" @ ").unwrap_or((text, "{}"));
    let mut draft: Draft = serde_json::from_str(fields).unwrap_or_else(|error| panic!("{text}: {error}"));
    content.clone_into(&mut draft.content);
    let now = Timestamp::from_ms(1_714_600_000_000);
    let namespace = "test".parse().unwrap();
    let moment = Moment { namespace, id: MemoryId::new(now, 1), now, embedding_model: None };
    draft.check().unwrap_or_else(|invalid| panic!("{text}: {invalid}")).into_memory(moment)
}

fn found(old: &str, new: &str) -> String {
    match duplicate(&memory(old), &memory(new), NEAR, Thresholds::default()) {
        Duplicate::Same => "same".to_owned(),
        Duplicate::Different(difference) => format!("not {}", difference.aspect),
    }
}

/// Precision and recall of the merges, and no false merge at all.
#[test]
fn w6_duplicates() {
    let (mut wrong, mut merged, mut kept, mut false_merges, mut missed) = (Vec::new(), 0, 0, 0, 0);
    for case in cases().iter().filter(|case| case.expected == "same" || case.expected.starts_with("not")) {
        let plain = !case.line.contains(" @ ");
        let mut answers = vec![found(case.old, case.new)];
        answers.extend(plain.then(|| found(case.new, case.old)));
        let (must_merge, merges) = (case.expected == "same", answers.iter().any(|answer| answer == "same"));
        *(if must_merge { &mut merged } else { &mut kept }) += 1;
        false_merges += u32::from(!must_merge && merges);
        missed += u32::from(must_merge && answers.iter().any(|answer| answer != "same"));
        let any_aspect = case.expected == "not";
        let fits = |answer: &String| answer == case.expected || any_aspect && answer.starts_with("not");
        if !answers.iter().all(fits) {
            wrong.push(format!("{}\n   found: {}", case.line, answers.join(", ")));
        }
    }
    assert_eq!(false_merges, 0, "{}", wrong.join("\n"));
    assert!(wrong.is_empty(), "{missed} of {merged} missed\n{}", wrong.join("\n"));
    assert!(merged >= 80 && kept >= 80, "{merged} must merge, {kept} must not");
}

#[test]
fn w7_conflicts() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for case in cases().iter().filter(|case| matches!(case.expected, "claim" | "polarity" | "none")) {
        let answer = match conflict(&memory(case.old), &memory(case.new), NEAR, Thresholds::default()) {
            None => "none",
            Some(found) if found.is_decided() => "claim",
            Some(_) => "polarity",
        };
        count += 1;
        if answer != case.expected {
            wrong.push(format!("{}\n   found: {answer}", case.line));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count >= 40, "only {count} pairs");
}

/// What the golden file calls the same by its text alone has one wording, and what it calls two has two, apart from
/// capitals, which a wording leaves out.
#[test]
fn w6_wordings() {
    use hindsight_core::likeness::wording;
    for case in cases().iter().filter(|case| !case.line.contains(" @ ") && !case.expected.ends_with("name")) {
        match case.expected {
            "same" => assert_eq!(wording(case.old), wording(case.new), "{}", case.line),
            expected if expected.starts_with("not") => {
                assert_ne!(wording(case.old), wording(case.new), "{}", case.line);
            }
            _ => {}
        }
    }
}

/// Whatever is the same or in conflict is found by its marks, from either side; what has nothing to do with it is not.
#[test]
fn w6_w7_marks_bring_together_what_is_compared() {
    use hindsight_core::likeness::marks;
    let mut missed = Vec::new();
    let (mut met, mut strangers) = (0, 0);
    for case in cases() {
        let (old, new) = (marks(&memory(case.old)), marks(&memory(case.new)));
        let seeks = |new: &hindsight_core::likeness::Marks, old: &hindsight_core::likeness::Marks| {
            let holds = |mark: &u32| old.held.binary_search(mark).is_ok();
            new.same.iter().chain(&new.sought).any(holds)
                || new.rarest.iter().any(|group| group.iter().all(holds))
        };
        let sides = [seeks(&new, &old), seeks(&old, &new)];
        match case.expected {
            "same" | "claim" | "polarity" if !sides[0] || (!case.line.contains(" @ ") && !sides[1]) => {
                missed.push(case.line);
            }
            "same" | "claim" | "polarity" => met += 1,
            _ => strangers += u32::from(!sides[0]),
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
    assert!(met > 200 && strangers > 100, "{met} met, {strangers} kept apart");
}

/// What a caller is told.
#[test]
fn w6_the_reason_has_both_values() {
    let old = memory("The quota of Anna is 500 requests.");
    let new = memory("The quota of Anna is 600 requests.");
    let Duplicate::Different(difference) = duplicate(&old, &new, NEAR, Thresholds::default()) else {
        panic!("merged")
    };
    assert_eq!(
        (difference.aspect, difference.old.as_str(), difference.new.as_str()),
        (Aspect::Number, "500", "600")
    );
    assert_eq!(difference.to_string(), "number: \"500\" / \"600\"");
}

#[test]
fn w7_a_decided_conflict_names_both_values() {
    let claim = |value: &str| {
        memory(&format!(
            r#"x @ {{"claims":[{{"subject":"user","attribute":"goal","value":"{value}","single_valued":true}}]}}"#
        ))
    };
    let found = conflict(&claim("lose fat"), &claim("gain muscle"), 0.1, Thresholds::default()).unwrap();
    assert_eq!(
        found,
        Conflict::Claim {
            subject: "user".to_owned(),
            attribute: "goal".to_owned(),
            old: "lose fat".to_owned(),
            new: "gain muscle".to_owned(),
        }
    );
}

/// What is not near is not looked at: neither merged nor nominated.
#[test]
fn w6_w7_the_vector_nominates() {
    let (old, new) = (memory("The user likes tea."), memory("The user dislikes tea."));
    let thresholds = Thresholds::default();
    assert!(conflict(&old, &new, thresholds.conflict, thresholds).is_some());
    assert!(conflict(&old, &new, thresholds.conflict - 0.001, thresholds).is_none());
    assert!(conflict(&old, &new, f64::NAN, thresholds).is_none());
    assert_eq!(duplicate(&old, &old, thresholds.duplicate, thresholds), Duplicate::Same);
    for far in [thresholds.duplicate - 0.001, f64::NAN] {
        let Duplicate::Different(difference) = duplicate(&old, &old, far, thresholds) else {
            panic!("{far}")
        };
        assert_eq!(difference.aspect, Aspect::Similarity);
    }
}

/// Every memory of the file is itself, and agrees with itself.
#[test]
fn w6_w7_a_memory_is_itself() {
    for case in cases() {
        for text in [case.old, case.new] {
            let memory = memory(text);
            let same = duplicate(&memory, &memory, 1.0, Thresholds::default());
            assert_eq!(same, Duplicate::Same, "{text}");
            assert_eq!(conflict(&memory, &memory, 1.0, Thresholds::default()), None, "{text}");
        }
    }
}

proptest::proptest! {
    /// Whatever two texts hold, there is an answer; texts that are one in one direction are one in the other.
    #[test]
    fn w6_any_two_texts(old in "(\\PC|[ .,0-9一二十百万不没年月日点的了]){1,24}", new in "(\\PC|[ .,0-9一二十百万不没年月日点的了]){1,24}") {
        proptest::prop_assume!(!old.trim().is_empty() && !new.trim().is_empty());
        let plain = |text: &str| Memory { content: text.to_owned(), ..memory("x") };
        let (old, new) = (plain(&old), plain(&new));
        let same = |a: &Memory, b: &Memory| duplicate(a, b, 1.0, Thresholds::default()) == Duplicate::Same;
        proptest::prop_assert_eq!(same(&old, &new), same(&new, &old));
        proptest::prop_assert!(same(&old, &old));
        proptest::prop_assert_eq!(
            conflict(&old, &new, 1.0, Thresholds::default()).is_some(),
            conflict(&new, &old, 1.0, Thresholds::default()).is_some()
        );
    }
}
