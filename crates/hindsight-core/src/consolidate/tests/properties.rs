//! Whatever the order in which episodes arrive.

use proptest::prelude::*;

use super::*;

const REMEDIES: [Option<&str>; 6] = [
    Some("refresh_token_then_retry"),
    Some("Refresh the token, then retry."),
    Some("refresh token and retry"),
    Some("ask the owner of the token"),
    Some("refresh the token, wait 30 s, retry"),
    None,
];

fn stories() -> impl Strategy<Value = Vec<Story>> {
    let one = (0usize..REMEDIES.len(), 0u32..5, 0u8..4);
    prop::collection::vec(one, 1..24).prop_map(|all| {
        let numbered = all.into_iter().zip(1u128..);
        numbered
            .map(|((remedy, kind, transient), number)| Story {
                number,
                // Most are of one wording, so that rules come into being.
                resolution: REMEDIES[if kind > 1 { 0 } else { remedy }],
                status: if kind == 4 { Status::Partial } else { Status::Failure },
                transient: transient == 0,
            })
            .collect()
    })
}

/// What a rule says and rests on, apart from its id, its version and its history.
fn essence(rule: &Memory) -> serde_json::Value {
    let mut rule = serde_json::to_value(rule).unwrap();
    let fields = rule.as_object_mut().unwrap();
    for name in ["id", "version", "updated_at", "created_at"] {
        fields.remove(name);
    }
    fields["metadata"].as_object_mut().unwrap().remove("rule_history");
    rule
}

proptest! {
    /// The same episodes in any order give the same rules.
    #[test]
    fn l5_any_order_of_arrival_gives_the_same_rules(stories in stories(), seed: u64) {
        let tuning = RuleTuning { min_confidence: 0.6, ..RuleTuning::default() };
        let mut first: Vec<Memory> = stories.iter().map(episode).collect();
        let mut second = first.clone();
        let mut state = seed | 1;
        for at in (1..second.len()).rev() {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            second.swap(at, usize::try_from(state).unwrap_or(7) % (at + 1));
        }
        run(&mut first, &tuning);
        run(&mut second, &tuning);
        let essences = |memories: &[Memory]| rules(memories).iter().map(essence).collect::<Vec<_>>();
        prop_assert_eq!(essences(&first), essences(&second));
    }

    /// Episodes that come one by one, with a run after each, give the rules that all of them at once give; where one lesson
    /// led all the way. There is never a second rule for it, and confidence stays in 0–1.
    #[test]
    fn l5_little_by_little_is_as_all_at_once(stories in stories(), backwards: bool) {
        let mut stories = stories;
        if backwards {
            stories.reverse();
        }
        let tuning = RuleTuning { min_confidence: 0.6, ..RuleTuning::default() };
        let (mut bit_by_bit, mut at_once) = (Vec::new(), Vec::new());
        let mut changed = false;
        for story in &stories {
            bit_by_bit.push(episode(story));
            at_once.push(episode(story));
            let done = run(&mut bit_by_bit, &tuning);
            changed |= done.iter().any(|ruling| matches!(ruling, Ruling::Create { replaces, .. } if !replaces.is_empty()));
            let living = rules(&bit_by_bit);
            prop_assert!(living.len() <= 1, "{}", living.len());
            prop_assert!(living.iter().all(|rule| (0.0..=1.0).contains(&rule.confidence)));
            prop_assert_eq!(run(&mut bit_by_bit, &tuning), vec![]);
        }
        run(&mut at_once, &tuning);
        let deprecated = |memory: &Memory| memory.rule.as_ref().unwrap().rule_state == RuleState::Deprecated;
        if let ([all], [little]) = (&rules(&at_once)[..], &rules(&bit_by_bit)[..])
            && !changed && !deprecated(little)
        {
            prop_assert_eq!(essence(all), essence(little));
        }
        // A rule that all at once give is there, whatever the way to it was.
        prop_assert!(rules(&at_once).len() <= rules(&bit_by_bit).len());
    }
}
