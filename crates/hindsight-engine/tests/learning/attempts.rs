//! Tasks of agents with a user and tools, as benchmarks of such agents record them: several attempts at each task, with
//! their calls, their errors and a reward. Whoever is given such a task again must learn from its attempts which way
//! worked, and what failed at the others. The tasks are our own; two shops, in the shape of retail and airline desks.

use hindsight_core::draft::RecordDraft;
use hindsight_core::{Action, Filter, Hit, Kind, Recall, Status};

use crate::world::{World, ns};

const NS: &str = "attempts";

/// A call of an attempt: tool, what it was about, and the error it ended with.
type Step = (&'static str, &'static str, Option<&'static str>);

/// One attempt: its reward, 1 when the task was solved, and its calls.
struct Attempt {
    reward: f64,
    steps: &'static [Step],
}

struct Task {
    domain: &'static str,
    /// What the user wants, as the agent is told.
    wish: &'static str,
    /// The same wish in another user's words.
    again: &'static str,
    attempts: &'static [Attempt],
}

const TASKS: &[Task] = &[
    Task {
        domain: "retail",
        wish: "Exchange the blue water bottle of order W317 for a green one of the same size",
        again: "I would like the green water bottle in place of the blue one I ordered",
        attempts: &[
            Attempt {
                reward: 0.0,
                steps: &[
                    ("find_user", "by name and zip", None),
                    ("exchange_items", "bottle blue to green", Some("order_not_delivered")),
                ],
            },
            Attempt {
                reward: 1.0,
                steps: &[
                    ("find_user", "by name and zip", None),
                    ("get_order", "W317", None),
                    ("modify_pending_items", "bottle blue to green, same size", None),
                ],
            },
        ],
    },
    Task {
        domain: "retail",
        wish: "Return the desk lamp and get the money back on a gift card",
        again: "the lamp for my desk goes back, refund to my gift card please",
        attempts: &[
            Attempt {
                reward: 0.0,
                steps: &[("return_items", "lamp, to gift card", Some("payment_method_not_allowed"))],
            },
            Attempt { reward: 0.0, steps: &[("transfer_to_human", "refund", None)] },
            Attempt {
                reward: 1.0,
                steps: &[("get_order", "lamp", None), ("return_items", "lamp, to the original card", None)],
            },
        ],
    },
    Task {
        domain: "airline",
        wish: "Cancel the basic economy flight to Denver after the airline changed its time",
        again: "my basic economy trip to Denver was moved by the airline, I want it cancelled",
        attempts: &[
            Attempt { reward: 0.0, steps: &[("cancel_reservation", "Denver", Some("fare_not_refundable"))] },
            Attempt {
                reward: 1.0,
                steps: &[
                    ("get_flight_status", "Denver", None),
                    ("cancel_reservation", "Denver, reason: changed by airline", None),
                ],
            },
        ],
    },
    Task {
        domain: "airline",
        wish: "把去深圳的航班改到第二天，并加一件托运行李",
        again: "我去深圳的航班想推迟一天，再多带一件托运行李",
        attempts: &[
            Attempt { reward: 0.0, steps: &[("update_baggage", "一件", Some("flight_changed_meanwhile"))] },
            Attempt {
                reward: 1.0,
                steps: &[("update_flights", "深圳，第二天", None), ("update_baggage", "一件", None)],
            },
        ],
    },
    Task {
        domain: "airline",
        wish: "Upgrade all three passengers of the Lisbon flight to business and pay by certificate",
        again: "three of us to Lisbon, please put everyone in business, I pay with my certificate",
        attempts: &[Attempt {
            reward: 0.0,
            steps: &[("update_cabin", "business, certificate", Some("certificate_not_accepted"))],
        }],
    },
];

fn episode(task: &Task, number: usize, attempt: &Attempt) -> RecordDraft {
    let action = |(at, (tool, about, error)): (usize, &Step)| Action {
        step: u32::try_from(at + 1).unwrap(),
        tool: (*tool).to_owned(),
        params: serde_json::json!({"about": about}).as_object().unwrap().clone(),
        result: error.is_none().then(|| "ok".to_owned()),
        error_code: error.map(str::to_owned),
        ..Action::default()
    };
    RecordDraft {
        task_type: task.domain.to_owned(),
        status: Some(if attempt.reward >= 1.0 { Status::Success } else { Status::Failure }),
        summary: format!("{} (attempt {})", task.wish, number + 1),
        actions: attempt.steps.iter().enumerate().map(action).collect(),
        metadata: serde_json::json!({"reward": attempt.reward}).as_object().unwrap().clone(),
        ..RecordDraft::default()
    }
}

fn ask(world: &World, task: &Task, status: Option<Status>) -> Vec<Hit> {
    let filter = Filter {
        kinds: vec![Kind::Episode],
        task_types: vec![task.domain.to_owned()],
        statuses: status.into_iter().collect(),
        ..Filter::default()
    };
    let recall = Recall { query: task.again.to_owned(), filter, observe: true, ..Recall::default() };
    world.engine().recall(&ns(NS), &recall).unwrap().wait().unwrap().hits
}

#[test]
fn r1_w8_earlier_attempts_tell_which_way_worked_and_what_failed() {
    let mut world = World::new();
    for task in TASKS {
        for (number, attempt) in task.attempts.iter().enumerate() {
            world.write(NS, episode(task, number, attempt).into_draft().unwrap());
            world.pass_days(1);
        }
    }
    for task in TASKS {
        let solved = task.attempts.iter().find(|attempt| attempt.reward >= 1.0);
        let hits = ask(&world, task, None);
        let of_task: Vec<&Hit> =
            hits.iter().filter(|hit| hit.memory.summary.starts_with(task.wish)).collect();
        assert_eq!(of_task.len(), task.attempts.len(), "{}", task.again);
        // The attempts at this task come before all others.
        assert!(
            hits[..of_task.len()].iter().all(|hit| hit.memory.summary.starts_with(task.wish)),
            "{}",
            task.again
        );
        // Each says how it ended, and whoever asks for what worked gets that way first.
        let statuses = |status| of_task.iter().filter(|hit| hit.memory.status == Some(status)).count();
        assert_eq!(statuses(Status::Success), usize::from(solved.is_some()), "{}", task.again);
        let worked = ask(&world, task, Some(Status::Success));
        let is_of_task = |hit: &Hit| hit.memory.summary.starts_with(task.wish);
        assert_eq!(worked.iter().any(is_of_task), solved.is_some(), "{}", task.again);
        if let Some(solved) = solved {
            let first = &worked[0].memory;
            let actions = first.episode.as_ref().unwrap().actions.iter();
            let tools: Vec<&str> = actions.map(|action| action.tool.as_str()).collect();
            let wanted: Vec<&str> = solved.steps.iter().map(|(tool, ..)| *tool).collect();
            assert_eq!((tools, &first.metadata["reward"]), (wanted, &1.0.into()), "{}", task.again);
        }
        // What failed is told with its error code, which the text keeps.
        let failed = ask(&world, task, Some(Status::Failure));
        for (tool, _, error) in task.attempts.iter().flat_map(|attempt| attempt.steps) {
            let Some(error) = error else { continue };
            let tells = |hit: &Hit| hit.memory.content.contains(&format!("{tool} failed with {error}"));
            assert!(failed.iter().any(tells), "{error} of {}", task.again);
        }
    }
}
