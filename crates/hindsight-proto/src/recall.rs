//! The question of a recall.

use hindsight_core::limits::{TOP_K_DEFAULT, TOP_K_MAX};
use hindsight_core::{AsOf, Decay, Fusion, Invalid, Mode, Recall, Weights};

use crate::gather::Gather;
use crate::words::{self, Word};
use crate::{filter, text, time, v1, vectors};

/// Reads the question of a recall request; its namespace is left to the caller.
///
/// # Errors
/// Every field that can't be read.
pub(crate) fn from_wire(wire: v1::RecallRequest) -> Result<Recall, Invalid> {
    let mut gather = Gather::default();
    let (vector, embedding_model) = gather.keep(vectors::query_from_wire(&wire.vector, wire.embedding_model));
    let top_k = if wire.top_k == 0 { TOP_K_DEFAULT } else { usize_of(wire.top_k) };
    let recall = Recall {
        query: wire.query,
        vector,
        embedding_model,
        mode: gather.keep(words::optional("mode", wire.mode)).unwrap_or(Mode::Hybrid),
        filter: gather.keep(filter::optional(wire.filter)),
        include_archived: wire.include_archived,
        include_history: wire.include_history,
        as_of: gather.keep(as_of_from_wire(wire.as_of.as_ref(), wire.as_of_axis)),
        top_k,
        token_budget: (wire.token_budget != 0).then(|| usize_of(wire.token_budget)),
        min_score: wire.min_score,
        weights: weights_from_wire(wire.weights),
        fusion: gather.keep(words::optional("fusion", wire.fusion)).unwrap_or(Fusion::Weighted),
        decay: gather.keep(decay_from_wire(wire.decay)),
        diversity: wire.diversity,
        keep_alike: wire.keep_alike,
        policy: gather.keep(words::list("policy", &wire.policy)),
        agent_id: text::optional(wire.agent_id),
        time_zone: text::optional(wire.time_zone),
        now: gather.keep(time::optional("now", wire.now.as_ref())),
        as_text: wire.as_text,
        explain: wire.explain,
        exact: wire.exact,
        observe: wire.observe,
    };
    gather.finish().map(|()| recall)
}

/// The request for a question; its namespace is left empty.
///
/// # Errors
/// What core can hold and the wire can't say: zero means "the default" there.
pub(crate) fn to_wire(recall: Recall) -> Result<v1::RecallRequest, Invalid> {
    let mut gather = Gather::default();
    gather.unless(recall.top_k != 0, "top_k", &format!("is 0: expected 1 to {TOP_K_MAX}"));
    let budget = "is 0: expected at least 1, or leave it out";
    gather.unless(recall.token_budget != Some(0), "token_budget", budget);
    gather.finish()?;
    let (vector, embedding_model) = match recall.vector {
        Some(vector) => (vector.components().to_vec(), text::or_empty(recall.embedding_model)),
        None => (Vec::new(), String::new()),
    };
    let Weights { vector: by_vector, keyword, window, entity, neighbour } = recall.weights;
    Ok(v1::RecallRequest {
        namespace: String::new(),
        query: recall.query,
        vector,
        embedding_model,
        mode: recall.mode.number(),
        filter: (recall.filter != hindsight_core::Filter::default()).then(|| recall.filter.into()),
        include_archived: recall.include_archived,
        include_history: recall.include_history,
        top_k: u32_of(recall.top_k),
        token_budget: u32_of(recall.token_budget.unwrap_or(0)),
        min_score: recall.min_score,
        weights: Some(v1::Weights {
            vector: Some(by_vector),
            keyword: Some(keyword),
            window: Some(window),
            neighbour: Some(neighbour),
            entity: Some(entity),
        }),
        fusion: recall.fusion.number(),
        decay: recall.decay.map(decay_to_wire),
        agent_id: text::or_empty(recall.agent_id),
        time_zone: text::or_empty(recall.time_zone),
        now: recall.now.map(time::to_wire),
        explain: recall.explain,
        exact: recall.exact,
        observe: recall.observe,
        as_of: recall.as_of.map(|as_of| time::to_wire(as_of.at)),
        as_of_axis: words::number(recall.as_of.map(|as_of| as_of.axis)),
        diversity: recall.diversity,
        keep_alike: recall.keep_alike,
        policy: words::numbers(&recall.policy),
        as_text: recall.as_text,
    })
}

fn as_of_from_wire(at: Option<&prost_types::Timestamp>, axis: i32) -> Result<Option<AsOf>, Invalid> {
    let (at, axis) = (time::optional("as_of", at)?, words::optional("as_of_axis", axis)?);
    match (at, axis) {
        (Some(at), axis) => Ok(Some(AsOf { at, axis: axis.unwrap_or_default() })),
        (None, None) => Ok(None),
        (None, Some(_)) => {
            Err(Invalid::one("as_of", "is missing: as_of_axis says what it means; send both or none"))
        }
    }
}

fn weights_from_wire(wire: Option<v1::Weights>) -> Weights {
    let default = Weights::default();
    let wire = wire.unwrap_or_default();
    Weights {
        vector: wire.vector.unwrap_or(default.vector),
        keyword: wire.keyword.unwrap_or(default.keyword),
        window: wire.window.unwrap_or(default.window),
        entity: wire.entity.unwrap_or(default.entity),
        neighbour: wire.neighbour.unwrap_or(default.neighbour),
    }
}

fn decay_from_wire(wire: Option<v1::Decay>) -> Result<Option<Decay>, Invalid> {
    Ok(match wire.and_then(|wire| wire.decay) {
        None => None,
        Some(v1::decay::Decay::HalfLifeDays(days)) => Some(Decay::HalfLifeDays(days)),
        Some(v1::decay::Decay::FactorPerDay(factor)) => Some(Decay::FactorPerDay(factor)),
        Some(v1::decay::Decay::Off(true)) => Some(Decay::Off),
        Some(v1::decay::Decay::Off(false)) => {
            return Err(Invalid::one("decay.off", "is false: expected true, or leave decay out"));
        }
    })
}

fn decay_to_wire(decay: Decay) -> v1::Decay {
    let decay = match decay {
        Decay::HalfLifeDays(days) => v1::decay::Decay::HalfLifeDays(days),
        Decay::FactorPerDay(factor) => v1::decay::Decay::FactorPerDay(factor),
        Decay::Off => v1::decay::Decay::Off(true),
    };
    v1::Decay { decay: Some(decay) }
}

fn usize_of(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Past the wire's range every number is far past the limits too, and the server refuses it.
fn u32_of(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_request_is_the_default_recall() {
        assert_eq!(from_wire(v1::RecallRequest::default()), Ok(Recall::default()));
    }

    #[test]
    fn every_bad_field_is_named_at_once() {
        let wire = v1::RecallRequest {
            vector: vec![0.0],
            embedding_model: "m".to_owned(),
            mode: 9,
            fusion: -1,
            filter: Some(v1::Filter { layers: vec![9], ..Default::default() }),
            decay: Some(v1::Decay { decay: Some(v1::decay::Decay::Off(false)) }),
            now: Some(prost_types::Timestamp { seconds: i64::MAX, nanos: 0 }),
            as_of_axis: 1,
            policy: vec![1, 9],
            ..Default::default()
        };
        let fields: Vec<String> =
            from_wire(wire).unwrap_err().violations.into_iter().map(|v| v.field).collect();
        assert_eq!(
            fields,
            ["vector", "mode", "filter.layers[0]", "as_of", "fusion", "decay.off", "policy[1]", "now"]
        );
    }

    #[test]
    fn a_weight_that_is_left_out_keeps_its_default() {
        let weights = v1::Weights { keyword: Some(0.9), ..Default::default() };
        let recall = from_wire(v1::RecallRequest { weights: Some(weights), ..Default::default() }).unwrap();
        assert_eq!(recall.weights, Weights { keyword: 0.9, ..Weights::default() });
    }

    #[test]
    fn what_the_wire_cannot_say_is_refused_before_it_is_sent() {
        let recall = Recall { top_k: 0, token_budget: Some(0), ..Recall::default() };
        let fields: Vec<String> =
            to_wire(recall).unwrap_err().violations.into_iter().map(|v| v.field).collect();
        assert_eq!(fields, ["top_k", "token_budget"]);
    }
}
