//! One value at a time, also when an older one becomes true again (W7, L3).

use hindsight_core::{Draft, Memory, MemoryId, State};

use crate::topics::{TOPICS, Topic};
use crate::world::{DAY, World, draft, ns};

const NS: &str = "one-at-a-time";

fn topic() -> &'static Topic {
    &TOPICS[2]
}

fn get(world: &World, id: MemoryId) -> Memory {
    world.engine().get(&ns(NS), id, None).unwrap().wait().unwrap().memory
}

/// What is true, by the numbers of the topic's values.
fn heads(world: &World, all: &[&Memory]) -> Vec<usize> {
    let active = |at: &usize| get(world, all[*at].id).state == State::Active;
    (0..all.len()).filter(active).collect()
}

#[test]
fn l3_a_value_that_is_restored_after_another_one_was_learned_is_history() {
    let mut world = World::new();
    let first = world.say(NS, topic(), 0);
    world.forget(NS, first.id);
    let second = world.say(NS, topic(), 1);
    world.restore(NS, first.id);
    assert_eq!(heads(&world, &[&first, &second]), [1]);
    let first = get(&world, first.id);
    assert_eq!((first.state, first.superseded_by), (State::Superseded, Some(second.id)));
    assert_eq!(first.valid_to, Some(second.occurred_at));
    // What was decided stands in the log.
    world.reopen();
    assert_eq!(get(&world, first.id), first);
}

#[test]
fn l3_a_value_that_holds_from_later_on_replaces_what_was_learned_meanwhile() {
    let mut world = World::new();
    let newer = world.say(NS, topic(), 1);
    world.forget(NS, newer.id);
    let earlier = Some(world.now().plus_ms(-30 * DAY));
    let older = world.write(NS, Draft { occurred_at: earlier, ..draft(topic(), 0) }).memory;
    world.restore(NS, newer.id);
    assert_eq!(heads(&world, &[&older, &newer]), [1]);
    assert_eq!(get(&world, older.id).superseded_by, Some(newer.id));
}

/// Two values lie behind the one that is taken back: the later of them is true again, the other one stays its history.
#[test]
fn w7_a_rollback_brings_one_value_back_and_not_all_that_were_before() {
    let mut world = World::new();
    let first = world.say(NS, topic(), 0);
    let second = world.say(NS, topic(), 1);
    let long_ago = Some(world.now().plus_ms(-365 * DAY));
    let ancient = world.write(NS, Draft { occurred_at: long_ago, ..draft(topic(), 2) }).memory;
    assert_eq!(get(&world, ancient.id).superseded_by, Some(second.id));
    world.roll_back(NS, second.id);
    assert_eq!(heads(&world, &[&first, &second, &ancient]), [0]);
    let ancient = get(&world, ancient.id);
    assert_eq!((ancient.state, ancient.superseded_by), (State::Superseded, Some(second.id)));
}

/// Somebody decides that an older value is true: what was learned since gives way to it.
#[test]
fn w7_a_rollback_wins_over_what_was_learned_since() {
    let mut world = World::new();
    let first = world.say(NS, topic(), 0);
    let second = world.say(NS, topic(), 1);
    world.forget(NS, second.id);
    let third = world.say(NS, topic(), 2);
    world.roll_back(NS, first.id);
    assert_eq!(heads(&world, &[&first, &second, &third]), [0]);
    assert_eq!(get(&world, third.id).superseded_by, Some(first.id));
    // And that is undone like any other rollback.
    world.roll_back(NS, first.id);
    assert_eq!(heads(&world, &[&first, &second, &third]), [2]);
}
