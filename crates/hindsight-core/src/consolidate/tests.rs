use serde_json::json;

use super::*;
use crate::draft::{EpisodeDraft, Moment};
use crate::{
    Action, Draft, Kind, Memory, MemoryId, Polarity, RuleState, Scope, SourceKind, State, Status, Timestamp,
    Verdict, change::Standing, learn,
};

mod properties;

const NOW: Timestamp = Timestamp::from_ms(1_700_000_000_000);

/// An episode of a case: who fails how, and what helped.
#[derive(Debug, Clone)]
struct Story {
    number: u128,
    status: Status,
    resolution: Option<&'static str>,
    transient: bool,
}

fn story(number: u128, resolution: Option<&'static str>) -> Story {
    Story { number, status: Status::Failure, resolution, transient: false }
}

fn stored_as(draft: Draft, number: u128) -> Memory {
    let id = MemoryId::from_u128(number);
    let moment = Moment { namespace: "ops".parse().unwrap(), id, now: NOW, embedding_model: None };
    draft.check().unwrap().into_memory(moment)
}

fn episode(story: &Story) -> Memory {
    let failed = Action {
        step: 2,
        tool: "update_status".into(),
        error_code: Some("permission_denied".into()),
        ..Action::default()
    };
    let draft = Draft {
        kind: Some(Kind::Episode),
        content: "Updating an order".into(),
        task_type: Some("order_processing".into()),
        status: Some(story.status),
        occurred_at: Some(NOW.plus_ms(i64::try_from(story.number).unwrap() * 1_000 - 1_000_000)),
        episode: Some(EpisodeDraft {
            actions: vec![failed],
            root_cause: Some("api_token_expired".into()),
            resolution: story.resolution.map(str::to_owned),
            transient: Some(story.transient),
            ..EpisodeDraft::default()
        }),
        ..Draft::default()
    };
    stored_as(draft, story.number)
}

/// A run over all memories, as the engine does it: evidence only, by case; what is decided becomes true.
fn run(memories: &mut Vec<Memory>, tuning: &RuleTuning) -> Vec<Ruling> {
    let mut cases: Vec<Case> = memories.iter().filter_map(Case::of).collect();
    cases.sort();
    cases.dedup();
    let mut done = Vec::new();
    for case in &cases {
        let of_case = |memory: &&Memory| Case::of(memory).as_ref() == Some(case);
        let episodes: Vec<&Memory> =
            memories.iter().filter(of_case).filter(|memory| is_evidence(memory, tuning)).collect();
        let task = (case.agent.clone(), case.task_type.clone());
        let successes: Vec<&Memory> = memories
            .iter()
            .filter(|memory| {
                is_success_without_cause(memory, tuning)
                    && Case::task_of(memory, &mut Keys::default()) == Some(task.clone())
            })
            .collect();
        let rules: Vec<&Memory> = memories.iter().filter(|m| m.kind == Kind::Rule).filter(of_case).collect();
        done.extend(rulings(case, (&episodes, &successes), &rules, NOW, tuning));
    }
    for ruling in &done {
        match ruling {
            Ruling::Create { draft, replaces, .. } => {
                let number = 1_000_000 + memories.len() as u128;
                let rule = stored_as((**draft).clone(), number);
                for old in memories.iter_mut().filter(|memory| replaces.contains(&memory.id)) {
                    learn::superseded(old, &rule, NOW).give_to(old);
                }
                memories.push(rule);
            }
            Ruling::Revise { memory, .. } => {
                let old = memories.iter_mut().find(|old| old.id == memory.id).unwrap();
                assert_eq!(memory.version, old.version + 1);
                *old = (**memory).clone();
            }
        }
    }
    done
}

fn rules(memories: &[Memory]) -> Vec<Memory> {
    memories
        .iter()
        .filter(|memory| memory.kind == Kind::Rule && memory.state == State::Active)
        .cloned()
        .collect()
}

fn five(resolution: Option<&'static str>) -> Vec<Memory> {
    (1..=5).map(|number| episode(&story(number, resolution))).collect()
}

#[test]
fn l5_k_of_n_give_this_confidence() {
    let close = |k, n, expected: f64| assert!((confidence(k, n) - expected).abs() < 1e-9, "{k} of {n}");
    close(5, 5, 0.9);
    close(3, 3, 5.0 / 6.0);
    close(9, 10, 0.85);
    close(4, 5, 0.7);
    close(1, 1, 0.5);
    close(0, 5, 0.0);
}

#[test]
fn l5_five_alike_make_a_rule_under_observation() {
    let mut memories = five(Some("refresh_token_then_retry"));
    let tuning = RuleTuning::default();
    assert_eq!(run(&mut memories, &tuning).len(), 1);
    let [rule] = &rules(&memories)[..] else { panic!("one rule") };
    let what = rule.rule.as_deref().unwrap();
    assert_eq!((rule.confidence, what.support, what.rule_state), (0.9, 5, RuleState::Observing));
    assert_eq!((what.polarity, what.advice.as_str()), (Polarity::Do, "refresh_token_then_retry"));
    assert_eq!(
        rule.content,
        "In order_processing, when update_status fails with permission_denied (cause: api_token_expired): refresh_token_then_retry"
    );
    assert_eq!(rule.derived_from, (1..=5).rev().map(MemoryId::from_u128).collect::<Vec<_>>());
    assert_eq!(rule.valid_to, Some(NOW.plus_ms(180 * crate::time::DAY_MS)));
    assert_eq!(events(rule)[0].what, RuleEventKind::Found);
    // Nothing new: nothing is decided again.
    assert_eq!(run(&mut memories, &tuning), []);
}

#[test]
fn l5_two_are_too_few_and_four_of_five_are_not_sure_enough() {
    let tuning = RuleTuning::default();
    let mut two: Vec<Memory> = five(Some("refresh the token")).into_iter().take(2).collect();
    assert_eq!(run(&mut two, &tuning), []);
    let mut split = five(Some("refresh the token"));
    split[4] = episode(&story(5, Some("ask the owner for a role")));
    assert_eq!(run(&mut split, &tuning), []);
    let bold = RuleTuning { min_confidence: 0.7, ..tuning };
    assert_eq!(run(&mut split, &bold).len(), 1);
    assert_eq!((rules(&split)[0].confidence, rules(&split)[0].rule.as_ref().unwrap().support), (0.7, 4));
}

#[test]
fn l5_the_same_told_again_counts_again() {
    let mut memories = vec![episode(&story(1, Some("refresh the token")))];
    memories[0].usage.verified_count = 2;
    run(&mut memories, &RuleTuning::default());
    assert_eq!(rules(&memories)[0].rule.as_ref().unwrap().support, 3);
}

#[test]
fn m4_l5_what_passes_by_itself_teaches_no_never() {
    let tuning = RuleTuning::default();
    let transient = |number, resolution| episode(&Story { transient: true, ..story(number, resolution) });
    let mut silent: Vec<Memory> = (1..=6).map(|number| transient(number, None)).collect();
    assert_eq!(run(&mut silent, &tuning), []);
    let mut told: Vec<Memory> =
        (1..=3).map(|number| transient(number, Some("wait 30 s, then retry"))).collect();
    assert_eq!(run(&mut told, &tuning).len(), 1);
}

#[test]
fn l5_without_a_remedy_there_is_a_warning_until_one_is_known() {
    let tuning = RuleTuning::default();
    let mut memories = five(None);
    run(&mut memories, &tuning);
    let warning = rules(&memories).remove(0);
    let what = warning.rule.as_deref().unwrap();
    assert_eq!((what.polarity, what.support, warning.confidence), (Polarity::Avoid, 5, 0.9));
    assert_eq!(
        warning.content,
        "In order_processing, when update_status fails with permission_denied (cause: api_token_expired): \
         do not call update_status the same way again: no remedy is known. Take another way, or ask first."
    );
    // One remedy makes the warning less sure; three that agree take its place.
    memories.push(episode(&story(6, Some("refresh the token"))));
    run(&mut memories, &tuning);
    assert_eq!((rules(&memories)[0].id, rules(&memories)[0].confidence), (warning.id, 0.75));
    memories.extend([7, 8].map(|number| episode(&story(number, Some("refresh the token")))));
    run(&mut memories, &tuning);
    let [remedy] = &rules(&memories)[..] else { panic!("one rule") };
    assert_eq!(remedy.rule.as_ref().unwrap().polarity, Polarity::Do);
    let old = memories.iter().find(|memory| memory.id == warning.id).unwrap();
    assert_eq!((old.state, old.superseded_by), (State::Superseded, Some(remedy.id)));
    assert_eq!(run(&mut memories, &tuning), []);
}

#[test]
fn l5_later_successes_with_the_tool_refute_a_warning() {
    let mut memories = five(None);
    let works = |number: u128| {
        let mut success = episode(&Story { status: Status::Success, ..story(number, None) });
        let episode = success.episode.as_deref_mut().unwrap();
        (episode.root_cause, episode.actions[0].error_code) = (None, None);
        success
    };
    memories.push(works(6));
    assert_eq!(run(&mut memories, &RuleTuning::default()), []);
    // One before all failures says nothing.
    memories[5] = works(0);
    assert_eq!(run(&mut memories, &RuleTuning::default()).len(), 1);
}

#[test]
fn l5_s1_s4_what_is_held_back_private_or_untrusted_teaches_nobody_else() {
    let tuning = RuleTuning::default();
    let changed = |change: &dyn Fn(&mut Memory)| {
        let mut memories = five(Some("refresh the token"));
        memories.iter_mut().for_each(change);
        let rulings = run(&mut memories, &tuning).len();
        (rulings, rules(&memories))
    };
    assert_eq!(changed(&|memory| memory.state = State::Quarantined).0, 0);
    assert_eq!(changed(&|memory| memory.state = State::Forgotten).0, 0);
    assert_eq!(changed(&|memory| memory.source.kind = SourceKind::External).0, 0);
    assert_eq!(changed(&|memory| memory.state = State::Archived).0, 1);
    let (count, private) =
        changed(&|memory| (memory.scope, memory.agent_id) = (Scope::Agent, Some("ann".into())));
    assert_eq!((count, private[0].scope, private[0].agent_id.as_deref()), (1, Scope::Agent, Some("ann")));
    // Of two agents with two episodes each nobody learns anything.
    let mut two = five(Some("refresh the token"));
    two.truncate(4);
    for (at, memory) in two.iter_mut().enumerate() {
        (memory.scope, memory.agent_id) = (Scope::Agent, Some(format!("agent {}", at % 2)));
    }
    assert_eq!(run(&mut two, &tuning), []);
    // The rule is trusted as far as its least trusted episode.
    let (_, mixed) = changed(&|memory| {
        if memory.id == MemoryId::from_u128(2) {
            memory.source.kind = SourceKind::UserInput;
        }
    });
    assert_eq!(mixed[0].source.kind, SourceKind::UserInput);
}

#[test]
fn l5_chinese_episodes_make_a_chinese_rule() {
    let mut memories = five(Some("刷新令牌后重试"));
    for memory in &mut memories {
        memory.content = "更新订单状态失败".into();
    }
    run(&mut memories, &RuleTuning::default());
    assert_eq!(
        rules(&memories)[0].content,
        "执行 order_processing 时，若 update_status 报错 permission_denied（原因：api_token_expired）：刷新令牌后重试"
    );
    let mut silent = five(None);
    for memory in &mut silent {
        memory.content = "更新订单状态失败".into();
    }
    run(&mut silent, &RuleTuning::default());
    assert_eq!(
        rules(&silent)[0].content,
        "执行 order_processing 时，若 update_status 报错 permission_denied（原因：api_token_expired）：\
         不要照原样再调用 update_status：目前没有已知的解决办法，请换一种做法，或先询问。"
    );
}

#[test]
fn l5_a_rule_that_was_deprecated_or_forgotten_does_not_come_back() {
    let tuning = RuleTuning::default();
    let change: [fn(&mut Memory); 2] = [
        |rule| rule.rule.as_deref_mut().unwrap().rule_state = RuleState::Deprecated,
        |rule| rule.state = State::Forgotten,
    ];
    for change in change {
        let mut memories = five(Some("refresh the token"));
        run(&mut memories, &tuning);
        change(memories.last_mut().unwrap());
        memories.push(episode(&story(7, Some("refresh the token"))));
        assert_eq!(run(&mut memories, &tuning), []);
    }
}

/// A rule that replaced another and was rolled back stays so, until more episodes speak for it than did then.
#[test]
fn l5_what_was_rolled_back_is_learnt_anew_only_from_more_episodes() {
    let tuning = RuleTuning::default();
    let mut memories = five(None);
    run(&mut memories, &tuning);
    memories.extend((10..=40).map(|number| episode(&story(number, Some("refresh the token")))));
    run(&mut memories, &tuning);
    let (warning, remedy) = (memories[5].id, memories.last().unwrap().id);
    for memory in &mut memories {
        if memory.id == warning {
            learn::valid_again(memory).give_to(memory);
        } else if memory.id == remedy {
            learn::invalidated(memory, warning, NOW).give_to(memory);
        }
    }
    let creates = |rulings: Vec<Ruling>| rulings.iter().any(|ruling| matches!(ruling, Ruling::Create { .. }));
    assert!(!creates(run(&mut memories, &tuning)));
    memories.push(episode(&story(50, Some("refresh the token"))));
    assert!(creates(run(&mut memories, &tuning)));
}

#[test]
fn l5_a_proposed_rule_is_adopted_and_not_stored_again() {
    let tuning = RuleTuning::default();
    let mut memories = five(Some("refresh the token, then retry"));
    let proposal = crate::draft::RuleProposal {
        condition: crate::memory::Condition {
            task_type: Some("order_processing".into()),
            root_cause: Some("API token expired".into()),
            ..crate::memory::Condition::default()
        },
        advice: "Refresh token and retry".into(),
        ..crate::draft::RuleProposal::default()
    };
    let proposed = stored_as(proposal.into_draft(RuleState::Observing).unwrap(), 900);
    memories.push(proposed.clone());
    run(&mut memories, &tuning);
    let [rule] = &rules(&memories)[..] else { panic!("one rule") };
    assert_eq!((rule.id, rule.content.clone()), (proposed.id, proposed.content));
    assert_eq!((rule.rule.as_ref().unwrap().support, rule.confidence), (5, 0.9));
    assert_eq!(events(rule)[0].what, RuleEventKind::Adopted);
    assert_eq!(run(&mut memories, &tuning), []);
}

#[test]
fn l5_a_rule_reworded_by_hand_keeps_its_words() {
    let tuning = RuleTuning::default();
    let mut memories = five(Some("refresh the token"));
    run(&mut memories, &tuning);
    memories.last_mut().unwrap().content = "Refresh it, as Anna says".into();
    memories.push(episode(&story(0, Some("Refresh token"))));
    run(&mut memories, &tuning);
    let rule = rules(&memories).remove(0);
    assert_eq!((rule.content.as_str(), rule.rule.unwrap().support), ("Refresh it, as Anna says", 6));
}

fn judge(rule: &mut Memory, verdict: Verdict, task: Option<Status>, tuning: &RuleTuning) {
    let standing = learn::judged(rule, verdict, task, NOW).unwrap_or_else(|| Standing::of(rule));
    let (standing, changed) = after_feedback(rule, standing, (verdict, task), NOW, tuning);
    match changed {
        Some(changed) => *rule = changed,
        None => standing.give_to(rule),
    }
}

#[test]
fn l5_feedback_confirms_and_falsifies() {
    let tuning = RuleTuning::default();
    let state = |rule: &Memory| rule.rule.as_ref().unwrap().rule_state;
    let mut memories = five(Some("refresh the token"));
    memories.truncate(3);
    run(&mut memories, &tuning);
    let mut rule = rules(&memories).remove(0);
    judge(&mut rule, Verdict::Used, Some(Status::Success), &tuning);
    assert_eq!(state(&rule), RuleState::Observing);
    judge(&mut rule, Verdict::Used, Some(Status::Success), &tuning);
    assert_eq!((state(&rule), rule.version), (RuleState::Active, 2));
    for _ in 0..7 {
        assert_ne!(state(&rule), RuleState::Deprecated, "{}", rule.confidence);
        judge(&mut rule, Verdict::Used, Some(Status::Failure), &tuning);
    }
    judge(&mut rule, Verdict::Used, Some(Status::Failure), &tuning);
    assert_eq!(state(&rule), RuleState::Deprecated);
    assert!(rule.confidence < 0.3);
    let kinds: Vec<RuleEventKind> = events(&rule).iter().map(|event| event.what).collect();
    assert_eq!(kinds, [RuleEventKind::Found, RuleEventKind::Confirmed, RuleEventKind::Falsified]);
    // More episodes do not bring it back to life.
    memories.retain(|memory| memory.kind != Kind::Rule);
    memories.extend([rule.clone(), episode(&story(9, Some("refresh the token")))]);
    assert_eq!(run(&mut memories, &tuning), []);
}

#[test]
fn l5_what_feedback_took_stays_taken_when_episodes_come() {
    let tuning = RuleTuning::default();
    let mut memories = five(Some("refresh the token"));
    memories.truncate(3);
    run(&mut memories, &tuning);
    judge(memories.last_mut().unwrap(), Verdict::Wrong, None, &tuning);
    memories.extend([4, 5].map(|number| episode(&story(number, Some("refresh the token")))));
    run(&mut memories, &tuning);
    // 0.833333 − 0.3 + (0.9 − 0.833333)
    assert!((rules(&memories)[0].confidence - 0.6).abs() < 1e-5, "{}", rules(&memories)[0].confidence);
}

#[test]
fn l5_seen_at_work_often_enough_it_is_active() {
    let tuning = RuleTuning::default();
    let mut memories = five(Some("refresh the token"));
    run(&mut memories, &tuning);
    let later =
        |number| episode(&Story { status: Status::Success, ..story(number, Some("refresh the token")) });
    // Before the rule was there nobody can have followed it.
    memories.push(later(20));
    memories.push(later(2_000));
    run(&mut memories, &tuning);
    assert_eq!(rules(&memories)[0].rule.as_ref().unwrap().rule_state, RuleState::Observing);
    // An agent that follows the rule has no failure to tell a cause of.
    let mut followed = later(2_001);
    followed.episode.as_deref_mut().unwrap().root_cause = None;
    memories.push(followed);
    run(&mut memories, &tuning);
    assert_eq!(rules(&memories)[0].rule.as_ref().unwrap().rule_state, RuleState::Active);
}

#[test]
fn l5_a_hand_activates_and_deprecates_what_can_be() {
    let mut memories = five(Some("refresh the token"));
    run(&mut memories, &RuleTuning::default());
    let rule = rules(&memories).remove(0);
    let to = |state| RulePatch { rule_state: Some(state), ..RulePatch::default() };
    let active = to(RuleState::Active).apply(&rule, NOW).unwrap();
    assert_eq!((active.version, active.rule.as_ref().unwrap().rule_state), (2, RuleState::Active));
    assert_eq!(events(&active)[1].what, RuleEventKind::ByHand);
    let field = |patch: RulePatch| patch.apply(&rule, NOW).unwrap_err().violations[0].field.clone();
    assert_eq!(field(RulePatch::default()), "rule_state");
    let over = RulePatch { valid_to: Some(Some(NOW.plus_ms(-1))), ..to(RuleState::Active) };
    assert_eq!(field(over), "valid_to");
    let open: RulePatch = serde_json::from_value(json!({"status": "active", "valid_to": null})).unwrap();
    assert_eq!(open.apply(&rule, NOW).unwrap().valid_to, None);
}

#[test]
fn l5_tuning_says_what_is_right() {
    assert_eq!(RuleTuning::default().check(), Ok(()));
    let bad = RuleTuning {
        min_episodes: 1,
        min_confidence: 1.5,
        activate_after: 0,
        deprecate_below: f64::NAN,
        ..RuleTuning::default()
    };
    let fields: Vec<String> = bad.check().unwrap_err().violations.into_iter().map(|v| v.field).collect();
    assert_eq!(fields, ["min_confidence", "deprecate_below", "min_episodes", "activate_after"]);
}

#[test]
fn an_empty_proposal_is_refused_by_field() {
    let invalid = crate::draft::RuleProposal::default().into_draft(RuleState::Observing).unwrap_err();
    let fields: Vec<&str> = invalid.violations.iter().map(|violation| violation.field.as_str()).collect();
    assert_eq!(fields, ["condition", "advice"]);
}
