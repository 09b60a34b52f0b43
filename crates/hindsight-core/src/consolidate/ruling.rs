//! What becomes of the rules of one case.

use serde_json::Map;

use super::case::{remedy, weight};
use super::life::is_below;
use super::note::{self, Basis, RuleEvent, basis, set_basis};
use super::weigh::{Lesson, confidence, weigh};
use super::wording::{Wording, mark};
use super::{Case, RuleTuning};
use crate::draft::{RuleDraft, SourceDraft};
use crate::kind::RuleEventKind;
use crate::likeness::Gist;
use crate::limits::REFERENCES_MAX;
use crate::scoring::confidence::trust;
use crate::{
    Draft, Entity, Kind, Memory, MemoryId, Polarity, RuleState, Scope, SourceKind, State, Status, Timestamp,
};

/// A change to the rules of a case.
#[derive(Debug, Clone, PartialEq)]
pub enum Ruling {
    /// There is a new rule.
    Create {
        /// The rule, to be written like any other memory.
        draft: Box<Draft>,
        /// k and n.
        counts: (u32, u32),
        /// The rules of the same case that it takes the place of: they were found in episodes and teach otherwise.
        replaces: Vec<MemoryId>,
    },
    /// A rule that is there has a new version.
    Revise {
        /// The rule as it is then, one version on.
        memory: Box<Memory>,
        /// k and n.
        counts: (u32, u32),
    },
}

/// What becomes of the rules of a case. `episodes` are its evidence, `successes` those of the same task that name no cause,
/// `rules` all rules of the case in whatever state. The order of none of them makes a difference, and what was decided once
/// is not decided again: without new episodes there is no ruling.
///
/// A rule that somebody deprecated, forgot, or rolled back does not come back by itself.
#[must_use]
pub fn rulings(
    case: &Case,
    (episodes, successes): (&[&Memory], &[&Memory]),
    rules: &[&Memory],
    at: Timestamp,
    tuning: &RuleTuning,
) -> Vec<Ruling> {
    let lessons = weigh(episodes, successes);
    let winner = lessons.iter().find(|lesson| lesson.holds(tuning));
    let fresh = winner.filter(|lesson| is_new(lesson, rules));
    let lives = |rule: &&&Memory| {
        rule.state == State::Active
            && rule.rule.as_deref().is_some_and(|rule| rule.rule_state != RuleState::Deprecated)
    };
    let mut rulings = Vec::new();
    if let Some(lesson) = fresh
        && let Some(draft) = draft(case, lesson, tuning, at)
    {
        let ours = rules.iter().filter(|rule| rule.state == State::Active && basis(rule).is_some());
        let replaces = ours.map(|rule| rule.id).collect();
        let counts = (lesson.agreeing, lesson.of);
        rulings.push(Ruling::Create { draft: Box::new(draft), counts, replaces });
        return rulings;
    }
    // Of rules that were not found in episodes the oldest that says it is adopted.
    let mut adopted: Vec<&Lesson<'_>> = Vec::new();
    let mut living: Vec<&&Memory> = rules.iter().filter(lives).collect();
    living.sort_by_key(|rule| (basis(rule).is_none(), rule.id));
    for rule in living {
        let lesson = lessons.iter().find(|lesson| says(rule, lesson));
        let is_ours = basis(rule).is_some();
        let taken = lesson.is_some_and(|lesson| adopted.iter().any(|other| std::ptr::eq(*other, lesson)));
        let revised = match lesson {
            Some(lesson) if is_ours || (lesson.holds(tuning) && !taken) => {
                adopted.push(lesson);
                let shown = shown_since(lesson, successes, rule.created_at);
                revised(rule, Some((lesson, shown)), (lesson.agreeing, lesson.of), at, tuning)
            }
            None if is_ours => {
                // Nothing is left to judge it by, or all that is left says otherwise.
                let polarity = rule.rule.as_deref().map(|rule| rule.polarity);
                let of =
                    lessons.iter().filter(|lesson| Some(lesson.polarity) == polarity).map(|l| l.of).max();
                of.and_then(|of| revised(rule, None, (0, of), at, tuning))
            }
            _ => None,
        };
        rulings.extend(revised.map(|(memory, counts)| Ruling::Revise { memory: Box::new(memory), counts }));
    }
    rulings
}

/// Whether a rule says what a lesson teaches.
fn says(memory: &Memory, lesson: &Lesson<'_>) -> bool {
    memory.rule.as_deref().is_some_and(|rule| {
        let advice = || lesson.remedy.as_ref().is_some_and(|remedy| remedy.agrees(&Gist::of(&rule.advice)));
        rule.polarity == lesson.polarity && (rule.polarity == Polarity::Avoid || advice())
    })
}

/// Whether no rule says it. One that was replaced counts as long as no more episodes speak for it than did then: a lesson
/// that was taken back stays taken back until it is learnt anew.
fn is_new(lesson: &Lesson<'_>, rules: &[&Memory]) -> bool {
    rules.iter().filter(|rule| says(rule, lesson)).all(|rule| {
        let support = rule.rule.as_deref().map_or(0, |rule| rule.support);
        rule.state == State::Superseded && support < lesson.agreeing
    })
}

fn draft(case: &Case, lesson: &Lesson<'_>, tuning: &RuleTuning, at: Timestamp) -> Option<Draft> {
    let wording = Wording::of(lesson)?;
    let mut metadata = Map::new();
    let (agreeing, episodes) = (lesson.agreeing, lesson.of);
    set_basis(&mut metadata, &Basis { agreeing, episodes, wording: format!("{:016x}", wording.mark()) });
    let confidence = stored(confidence(agreeing, episodes));
    let rule_state = if tuning.trust_agents { RuleState::Active } else { RuleState::Observing };
    let what = RuleEventKind::Found;
    let found = RuleEvent { at, what, version: 1, rule_state, confidence, support: agreeing };
    note::begin(&mut metadata, &found);
    let named = |name: &Option<String>, kind: &str| {
        name.as_ref().map(|name| Entity { name: name.clone(), kind: kind.to_owned() })
    };
    let Wording { condition, advice, content } = wording;
    let entities = [named(&condition.tool, "tool"), named(&condition.error_code, "error_code")];
    Some(Draft {
        kind: Some(Kind::Rule),
        content,
        task_type: condition.task_type.clone(),
        entities: entities.into_iter().flatten().collect(),
        metadata,
        rule: Some(RuleDraft {
            polarity: Some(lesson.polarity),
            advice,
            condition,
            rule_state: Some(rule_state),
            support: Some(agreeing),
        }),
        source: Some(SourceDraft { kind: Some(least_trusted(lesson)), ..SourceDraft::default() }),
        agent_id: case.agent.clone(),
        scope: Some(if case.agent.is_some() { Scope::Agent } else { Scope::Shared }),
        confidence: Some(confidence),
        occurred_at: lesson.last_at(),
        valid_to: tuning.valid_to(at),
        derived_from: lesson.newest(REFERENCES_MAX).iter().map(ToString::to_string).collect(),
        ..Draft::default()
    })
}

/// A rule is trusted as far as the least trusted of the episodes that it rests on.
fn least_trusted(lesson: &Lesson<'_>) -> SourceKind {
    let kinds = lesson.episodes.iter().map(|memory| memory.source.kind);
    kinds
        .min_by(|one, other| trust(*one).total_cmp(&trust(*other)).then(other.cmp(one)))
        .unwrap_or(SourceKind::Agent)
}

/// The rule's next version, if there is anything new.
fn revised(
    old: &Memory,
    shown: Option<(&Lesson<'_>, u32)>,
    counts: (u32, u32),
    at: Timestamp,
    tuning: &RuleTuning,
) -> Option<(Memory, (u32, u32))> {
    let (agreeing, episodes) = counts;
    let (lesson, shown) = (shown.map(|(lesson, _)| lesson), shown.map_or(0, |(_, shown)| shown));
    let before = basis(old);
    let old_rule = old.rule.as_deref()?;
    let mut memory = old.clone();
    memory.confidence = next_confidence(old, before.as_ref(), counts);
    let mut words = before.as_ref().map_or_else(String::new, |before| before.wording.clone());
    if let Some(lesson) = lesson {
        let is_as_made = words == format!("{:016x}", mark(&old.content, &old_rule.advice));
        if let (true, Some(wording)) = (is_as_made, Wording::of(lesson)) {
            words = format!("{:016x}", wording.mark());
            reword(&mut memory, wording);
        }
        memory.derived_from = lesson.newest(REFERENCES_MAX);
        memory.occurred_at = lesson.last_at().unwrap_or(old.occurred_at);
        if agreeing > old_rule.support {
            let longer = tuning.valid_to(at);
            memory.valid_to = old.valid_to.map(|to| longer.map_or(to, |longer| to.max(longer)));
        }
    }
    set_basis(&mut memory.metadata, &Basis { agreeing, episodes, wording: words });
    let mut what = if before.is_some() { RuleEventKind::Revised } else { RuleEventKind::Adopted };
    let confidence = memory.confidence;
    let rule = memory.rule.as_deref_mut()?;
    rule.support = agreeing;
    let helped = old.usage.success_after_use.saturating_add(shown);
    let is_confirmed = helped >= tuning.activate_after && helped > old.usage.failure_after_use;
    if is_below(confidence, tuning) {
        (rule.rule_state, what) = (RuleState::Deprecated, RuleEventKind::Falsified);
    } else if rule.rule_state == RuleState::Observing && is_confirmed {
        (rule.rule_state, what) = (RuleState::Active, RuleEventKind::Confirmed);
    }
    if memory == *old {
        return None;
    }
    memory.version += 1;
    memory.updated_at = at;
    note::note(&mut memory, what, at);
    Some((memory, counts))
}

/// What feedback has done to it stays done; what episodes say changes by as much as they changed.
fn next_confidence(old: &Memory, before: Option<&Basis>, (agreeing, episodes): (u32, u32)) -> f32 {
    let now = stored(confidence(agreeing, episodes));
    let Some(before) = before else { return old.confidence.max(now) };
    let was = stored(confidence(before.agreeing, before.episodes));
    let is_untouched = (old.confidence - was).abs() < 1e-6;
    if is_untouched { now } else { stored(f64::from(old.confidence) + f64::from(now) - f64::from(was)) }
}

fn reword(memory: &mut Memory, wording: Wording) {
    let Wording { condition, advice, content } = wording;
    memory.content = content;
    if let Some(rule) = memory.rule.as_deref_mut() {
        rule.advice = advice;
        rule.condition = condition;
    }
}

/// How often the remedy was seen to work after the rule was there: tasks that name it, with the same cause or none, and ended
/// well.
fn shown_since(lesson: &Lesson<'_>, successes: &[&Memory], created_at: Timestamp) -> u32 {
    let Some(gist) = &lesson.remedy else { return 0 };
    let names_it = |memory: &&&Memory| remedy(memory).is_some_and(|text| gist.agrees(&Gist::of(text)));
    let works = |memory: &&&Memory| memory.status == Some(Status::Success) && memory.occurred_at > created_at;
    let shown = successes.iter().filter(works).filter(names_it).chain(lesson.episodes.iter().filter(works));
    shown.fold(0, |count, memory| count.saturating_add(weight(memory)))
}

/// A confidence as it is stored: 0–1, to six decimals.
pub(super) fn stored(confidence: f64) -> f32 {
    #[expect(clippy::cast_possible_truncation, reason = "a number of 0–1 fits an f32")]
    let stored = ((confidence.clamp(0.0, 1.0) * 1e6).round() / 1e6) as f32;
    stored
}
