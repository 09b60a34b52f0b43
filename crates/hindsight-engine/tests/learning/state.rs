//! Questions of state: what was superseded, forgotten, expired, not yet true, purged, restored, rolled back, another
//! agent's or another namespace's. There is no "mostly right" here: every answer has what is true now in the first place,
//! and nothing that is not to be told anywhere.

use hindsight_core::{Draft, Recall, Scope, State, Timestamp};

use crate::topics::{TOPICS, Topic};
use crate::world::{DAY, World, draft};

/// What brings a topic into a state, and what has to be answered then.
type Situation = (&'static str, fn(&mut World, &'static str, &Topic) -> Expected);

/// The right answer, by the numbers of a topic's values.
struct Expected {
    /// What comes first; nothing of the topic at all when absent.
    first: Option<usize>,
    /// What must be there too, in this state, because it was asked for.
    beside: Vec<(usize, State)>,
    ask: Ask,
}

/// How it is asked, beyond the question.
#[derive(Clone, Default)]
struct Ask {
    agent: Option<&'static str>,
    history: bool,
    archived: bool,
    now: Option<Timestamp>,
}

fn only(first: usize) -> Expected {
    Expected { first: Some(first), beside: Vec::new(), ask: Ask::default() }
}

fn nothing() -> Expected {
    Expected { first: None, beside: Vec::new(), ask: Ask::default() }
}

impl Expected {
    fn asked(self, ask: Ask) -> Expected {
        Expected { ask, ..self }
    }
}

const SITUATIONS: &[Situation] = &[
    ("known", |world, ns, topic| {
        world.say(ns, topic, 0);
        only(0)
    }),
    ("superseded", |world, ns, topic| {
        world.say(ns, topic, 0);
        world.say(ns, topic, 1);
        only(1)
    }),
    ("superseded-twice", |world, ns, topic| {
        for which in 0..3 {
            world.say(ns, topic, which);
        }
        only(2)
    }),
    ("superseded-history", |world, ns, topic| {
        world.say(ns, topic, 0);
        world.say(ns, topic, 1);
        let beside = vec![(0, State::Superseded), (1, State::Active)];
        let ask = Ask { history: true, ..Ask::default() };
        Expected { first: None, beside, ask }
    }),
    ("back-again", |world, ns, topic| {
        world.say(ns, topic, 0);
        world.say(ns, topic, 1);
        world.say(ns, topic, 0);
        only(0)
    }),
    ("late-news", |world, ns, topic| {
        world.say(ns, topic, 1);
        // Told later, of an earlier time.
        let earlier = world.now().plus_ms(-400 * DAY);
        world.write(ns, Draft { occurred_at: Some(earlier), ..draft(topic, 0) });
        only(1)
    }),
    ("rolled-back", |world, ns, topic| {
        world.say(ns, topic, 0);
        let newer = world.say(ns, topic, 1);
        world.roll_back(ns, newer.id);
        only(0)
    }),
    ("rolled-back-twice", |world, ns, topic| {
        let older = world.say(ns, topic, 0);
        world.say(ns, topic, 1);
        world.roll_back(ns, older.id);
        world.roll_back(ns, older.id);
        only(1)
    }),
    ("forgotten", |world, ns, topic| {
        let memory = world.say(ns, topic, 0);
        world.forget(ns, memory.id);
        // Not even for whoever asks for everything.
        nothing().asked(Ask { history: true, archived: true, ..Ask::default() })
    }),
    ("forgotten-head", |world, ns, topic| {
        world.say(ns, topic, 0);
        let newer = world.say(ns, topic, 1);
        world.forget(ns, newer.id);
        // What it replaced was not true any more, and is not made true by that.
        nothing()
    }),
    ("restored", |world, ns, topic| {
        let memory = world.say(ns, topic, 0);
        world.forget(ns, memory.id);
        world.restore(ns, memory.id);
        only(0)
    }),
    ("restored-history", |world, ns, topic| {
        let older = world.say(ns, topic, 0);
        world.say(ns, topic, 1);
        world.forget(ns, older.id);
        world.restore(ns, older.id);
        only(1)
    }),
    ("purged", |world, ns, topic| {
        let memory = world.say(ns, topic, 0);
        world.purge(ns, vec![memory.id]);
        nothing().asked(Ask { history: true, archived: true, ..Ask::default() })
    }),
    ("expired", |world, ns, topic| {
        let end = world.now().plus_ms(DAY);
        world.write(ns, Draft { expires_at: Some(end), ..draft(topic, 0) });
        nothing().asked(Ask { now: Some(end), ..Ask::default() })
    }),
    ("expires-later", |world, ns, topic| {
        let end = world.now().plus_ms(DAY);
        world.write(ns, Draft { expires_at: Some(end), ..draft(topic, 0) });
        only(0).asked(Ask { now: Some(end.plus_ms(-1)), ..Ask::default() })
    }),
    ("not-yet", |world, ns, topic| {
        world.say(ns, topic, 0);
        let begins = world.now().plus_ms(30 * DAY);
        world.write(ns, Draft { valid_from: Some(begins), ..draft(topic, 1) });
        only(0)
    }),
    ("over", |world, ns, topic| {
        let (from, to) = (world.now().plus_ms(-30 * DAY), world.now().plus_ms(-DAY));
        world.write(ns, Draft { valid_from: Some(from), valid_to: Some(to), ..draft(topic, 0) });
        nothing()
    }),
    ("other-agent", |world, ns, topic| {
        let own = Draft { scope: Some(Scope::Agent), agent_id: Some("cook".to_owned()), ..draft(topic, 0) };
        world.write(ns, own);
        nothing().asked(Ask { agent: Some("guest"), history: true, ..Ask::default() })
    }),
    ("own-agent", |world, ns, topic| {
        let own = |which: usize| Draft {
            scope: Some(Scope::Agent),
            agent_id: Some(["cook", "guest"][which].to_owned()),
            ..draft(topic, which)
        };
        world.write(ns, own(0));
        world.write(ns, own(1));
        only(0).asked(Ask { agent: Some("cook"), ..Ask::default() })
    }),
    ("other-namespace", |world, _, topic| {
        world.say("elsewhere", topic, 0);
        nothing().asked(Ask { history: true, archived: true, ..Ask::default() })
    }),
];

fn recall(topic: &Topic, ask: &Ask) -> Recall {
    Recall {
        query: topic.question.to_owned(),
        agent_id: ask.agent.map(str::to_owned),
        include_history: ask.history,
        include_archived: ask.archived,
        now: ask.now,
        ..Recall::default()
    }
}

/// What is wrong with an answer, if anything is.
fn judge(topic: &Topic, expected: &Expected, answer: &[(String, State)]) -> Option<String> {
    let said = |which: usize| topic.said[which].1;
    if let Some(first) = expected.first
        && answer.first().map(|(content, _)| content.as_str()) != Some(said(first))
    {
        return Some(format!("{:?} does not come first", said(first)));
    }
    for (which, state) in &expected.beside {
        if !answer.iter().any(|(content, found)| content == said(*which) && found == state) {
            return Some(format!("{:?} is not there as {state}", said(*which)));
        }
    }
    let allowed = |which: usize| {
        expected.first == Some(which) || expected.beside.iter().any(|(beside, _)| *beside == which)
    };
    let foreign =
        (0..3).find(|which| !allowed(*which) && answer.iter().any(|(content, _)| content == said(*which)));
    if let Some(which) = foreign {
        return Some(format!("{:?} is told", said(which)));
    }
    let once =
        answer.iter().filter(|(content, _)| expected.first.is_some_and(|first| content == said(first)));
    (expected.first.is_some() && once.count() != 1).then(|| "the answer is there more than once".to_owned())
}

/// The topics of each situation share a namespace, so every question has all other topics against it.
#[test]
fn r13_w7_l3_every_question_of_state_is_answered_rightly() {
    let mut world = World::new();
    let mut questions = Vec::new();
    for (name, situation) in SITUATIONS {
        for topic in TOPICS {
            questions.push((*name, topic, situation(&mut world, name, topic)));
        }
    }
    assert!(questions.len() >= 200, "only {} questions", questions.len());
    for round in ["as it stands", "after a restart"] {
        let wrong: Vec<String> = questions
            .iter()
            .filter_map(|(name, topic, expected)| {
                let answer = world.ask(name, recall(topic, &expected.ask));
                let problem = judge(topic, expected, &answer)?;
                Some(format!("{name}: {} — {problem}: {answer:?}", topic.question))
            })
            .collect();
        assert!(wrong.is_empty(), "{round}, {} of {}:\n{}", wrong.len(), questions.len(), wrong.join("\n"));
        world.reopen();
    }
}

/// Facts that nobody asked for in a year are archived: out of recall, and there for whoever asks for the archive.
#[test]
fn l2_r13_every_question_of_the_archive_is_answered_rightly() {
    let mut world = World::new();
    let (ns, fresh) = ("archive", "fresh");
    let all: Vec<_> = TOPICS.iter().map(|topic| world.say(ns, topic, 0).id).collect();
    world.pass_days(400);
    assert_eq!(world.archive(ns), u64::try_from(TOPICS.len()).unwrap());
    // Of every third one there are news since, and every fourth was forgotten out of the archive.
    let (has_news, is_forgotten) = (|at: usize| at.is_multiple_of(3), |at: usize| at.is_multiple_of(4));
    for (at, topic) in TOPICS.iter().enumerate() {
        if is_forgotten(at) {
            world.forget(ns, all[at]);
        }
        if has_news(at) {
            world.say(ns, topic, 1);
        }
        world.say(fresh, topic, 2);
    }
    for round in ["as it stands", "after a restart"] {
        for (at, topic) in TOPICS.iter().enumerate() {
            let first = has_news(at).then_some(1);
            let active = Expected { first, beside: Vec::new(), ask: Ask::default() };
            let ask = Ask { archived: true, ..Ask::default() };
            let archived = if is_forgotten(at) { Vec::new() } else { vec![(0, State::Archived)] };
            let news = has_news(at).then_some((1, State::Active));
            let beside = archived.into_iter().chain(news).collect();
            let with_archive = Expected { first: None, beside, ask };
            for expected in [active, with_archive] {
                let answer = world.ask(ns, recall(topic, &expected.ask));
                let problem = judge(topic, &expected, &answer);
                assert_eq!(problem, None, "{round}: {}: {answer:?}", topic.question);
            }
        }
        world.reopen();
    }
}

#[test]
fn a_wrong_answer_is_seen() {
    let topic = &TOPICS[0];
    let say = |which: usize| (topic.said[which].1.to_owned(), State::Active);
    let expected = only(1);
    assert_eq!(judge(topic, &expected, &[say(1)]), None);
    for wrong in [vec![], vec![say(0)], vec![say(1), say(0)], vec![say(2), say(1)], vec![say(1), say(1)]] {
        assert!(judge(topic, &expected, &wrong).is_some(), "{wrong:?}");
    }
    let with_history = Expected { first: None, beside: vec![(0, State::Superseded)], ask: Ask::default() };
    assert!(judge(topic, &with_history, &[say(0)]).is_some(), "in the wrong state");
    assert!(judge(topic, &nothing(), &[say(2)]).is_some());
}
