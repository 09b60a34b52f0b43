//! Plays a session over a front, and counts what that front did itself.

use std::collections::BTreeMap;

use hindsight_core::Timestamp;
use serde_json::Value;

use crate::call::{BEGINNING, Call, Names, moment};
use crate::fronts::{Front, Place, grpc::Grpc};
use crate::render::outcome;
use crate::script::{Line, Script};
use crate::stage::Stage;

/// Steps of a front: its own, and those that it can't do, by the reason why. They are done over gRPC instead, so that
/// the story goes on.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) own: usize,
    pub(crate) others: BTreeMap<&'static str, usize>,
}

/// How long a step takes, in milliseconds.
const STEP_MS: i64 = 1_000;

/// Where a scene stands.
struct Scene {
    now: Timestamp,
    number: usize,
    namespace: String,
    names: Names,
    /// The revision up to which the feed was told.
    watched: u64,
}

impl Scene {
    fn begin(stage: &Stage, number: usize) -> Scene {
        let now = moment(BEGINNING);
        stage.set_clock(now);
        Scene { now, number, namespace: format!("scene-{number}"), names: Names::default(), watched: 0 }
    }
}

/// Plays a session; returns it with the outcomes that there were.
pub(crate) fn play(script: &Script, stage: &mut Stage, front: &mut dyn Front, counts: &mut Counts) -> Script {
    let mut played = script.clone();
    let mut scene = Scene::begin(stage, 0);
    for line in &mut played.lines {
        match line {
            Line::Scene(_) => scene = Scene::begin(stage, scene.number + 1),
            Line::Step { text, outcome } => *outcome = step(text, &mut scene, stage, front, counts),
            Line::Prose(_) => {}
        }
    }
    played
}

fn step(
    text: &str,
    scene: &mut Scene,
    stage: &mut Stage,
    front: &mut dyn Front,
    counts: &mut Counts,
) -> Vec<String> {
    let mut call = Call::parse(text, &scene.names);
    if call.verb == "watch" {
        call.fields.entry("after_revision").or_insert_with(|| scene.watched.into());
    }
    let word = || call.fields.get("at").and_then(Value::as_str).unwrap_or_else(|| panic!("{text}: what?"));
    match call.verb.as_str() {
        "clock" => {
            scene.now = moment(word());
            stage.set_clock(scene.now);
            return Vec::new();
        }
        "restart" => {
            stage.restart();
            front.restarted();
            return Vec::new();
        }
        // Another namespace, for the steps that follow.
        "in" => {
            scene.namespace = format!("scene-{}-{}", scene.number, word());
            return Vec::new();
        }
        _ => {}
    }
    scene.now = scene.now.plus_ms(STEP_MS);
    stage.set_clock(scene.now);
    let place = Place { stage, namespace: &scene.namespace };
    let answer = match front.cannot(&call) {
        None => {
            counts.own += 1;
            front.call(&place, &call)
        }
        Some(reason) => {
            *counts.others.entry(reason).or_default() += 1;
            Grpc.call(&place, &call)
        }
    };
    match answer {
        Ok(answer) if call.verb == "watch" => {
            scene.watched = answer["revision"].as_u64().unwrap_or_else(|| panic!("{answer}"));
            outcome(&call, &answer, &mut scene.names)
        }
        Ok(answer) => outcome(&call, &answer, &mut scene.names),
        Err(sentence) => vec![format!("refused: {}", scene.names.over(&sentence))],
    }
}
