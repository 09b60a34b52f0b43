//! `/memory/search`: recall; `/memory/explain`: why a memory is in its answer or not.

use axum::extract::{Request, State};
use hindsight_core::time::Span;
use hindsight_core::{AsOf, Decay, Embedding, Filter, Invalid, Recall, Timestamp};
use serde::Deserialize;
use serde_json::Value;

use super::{Http, Reply, answer, call, fields::Fields};
use crate::app::{AppError, Refusal};

/// A span of time with both ends.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct TimeRange {
    from: Option<Timestamp>,
    to: Option<Timestamp>,
}

/// What the fields of a recall are called here, where that differs from the model's own words.
const NAMES: [(&str, &str); 2] =
    [("decay.half_life_days", "half_life"), ("decay.factor_per_day", "time_decay_factor")];

/// Returns the few memories that matter now, each with the reason why.
pub(super) async fn search(State(http): State<Http>, request: Request) -> Reply {
    let mut call = http.call(request).await?;
    let namespace = call.namespace()?;
    let filter = call.filter()?;
    let recall = recall_of(call.fields, filter)?;
    let recalled = http.app.recall(namespace, recall).await.map_err(with_names)?;
    answer(&recalled)
}

/// Says what becomes of the memory `id` in a recall, and why.
pub(super) async fn explain(State(http): State<Http>, request: Request) -> Reply {
    let mut call = http.call(request).await?;
    let namespace = call.namespace()?;
    let id = call.fields.take("id")?;
    let id = id.ok_or_else(|| Invalid::one("id", "is missing: name the memory to explain"))?;
    let filter = call.filter()?;
    let recall = recall_of(call.fields, filter)?;
    answer(&http.app.explain(namespace, recall, id).await.map_err(with_names)?)
}

fn recall_of(mut fields: Fields, filter: Option<Filter>) -> Result<Recall, Invalid> {
    let vector: Option<Vec<f32>> = fields.take("vector")?;
    let embedding_model: Option<String> = fields.take("embedding_model")?;
    if vector.is_none() && embedding_model.is_some() {
        let problem = "is missing: embedding_model names the model that made it; send both or none";
        return Err(Invalid::one("vector", problem));
    }
    let decay = decay_of(&mut fields)?;
    let range: TimeRange = fields.take("time_range")?.unwrap_or_default();
    let default = Recall::default();
    let recall = Recall {
        query: fields.take("query")?.unwrap_or_default(),
        vector: vector.map(|values| embedding(&values)).transpose()?,
        embedding_model,
        mode: fields.take("mode")?.unwrap_or_default(),
        filter: Filter::default(),
        include_archived: fields.take("include_archived")?.unwrap_or(false),
        include_history: fields.take("include_history")?.unwrap_or(false),
        as_of: as_of_of(&mut fields)?,
        top_k: fields.take("top_k")?.unwrap_or(default.top_k),
        token_budget: fields.take("token_budget")?,
        min_score: fields.take("min_score")?,
        weights: fields.take("weights")?.unwrap_or_default(),
        fusion: fields.take("fusion")?.unwrap_or_default(),
        decay,
        diversity: fields.take("diversity")?,
        keep_alike: fields.take("keep_alike")?.unwrap_or(false),
        policy: fields.take("policy")?.unwrap_or_default(),
        agent_id: fields.take("agent_id")?,
        time_zone: fields.take("time_zone")?,
        now: fields.take("now")?,
        as_text: fields.take("as_text")?.unwrap_or(false),
        explain: fields.take("explain")?.unwrap_or(false),
        exact: fields.take("exact")?.unwrap_or(false),
        observe: fields.take("observe")?.unwrap_or(false),
    };
    // Conditions may stand beside the query, in singular or plural.
    let mut flat: Filter = fields.without_nulls().rest()?;
    flat.from = flat.from.max(range.from);
    flat.to = match (flat.to, range.to) {
        (Some(flat), Some(range)) => Some(flat.min(range)),
        (flat, range) => flat.or(range),
    };
    Ok(Recall { filter: call::both(filter, flat), ..recall })
}

fn embedding(values: &[f32]) -> Result<Embedding, Invalid> {
    Embedding::new(values).map_err(|bad| Invalid::one("vector", bad.to_string()))
}

/// `as_of`, and what it means by `as_of_axis`.
fn as_of_of(fields: &mut Fields) -> Result<Option<AsOf>, Invalid> {
    let (at, axis) = (fields.take("as_of")?, fields.take("as_of_axis")?);
    match (at, axis) {
        (None, Some(hindsight_core::Axis::Valid | hindsight_core::Axis::Known)) => {
            Err(Invalid::one("as_of", "is missing: as_of_axis says what it means; send both or none"))
        }
        (at, axis) => Ok(at.map(|at| AsOf { at, axis: axis.unwrap_or_default() })),
    }
}

/// `half_life` as a span (`7d`) or a number of days, or `time_decay_factor` as a factor per day.
fn decay_of(fields: &mut Fields) -> Result<Option<Decay>, Invalid> {
    let half_life: Option<Value> = fields.take("half_life")?;
    let factor: Option<f64> = fields.take("time_decay_factor")?;
    let half_life = match half_life {
        None => None,
        Some(Value::Number(days)) => days.as_f64(),
        Some(Value::String(text)) => {
            let span = text.parse::<Span>().map_err(|bad| Invalid::one("half_life", bad.to_string()))?;
            Some(span.as_days())
        }
        Some(_) => {
            return Err(Invalid::one(
                "half_life",
                "is no length of time: expected one such as \"7d\", or days",
            ));
        }
    };
    match (half_life, factor) {
        (Some(_), Some(_)) => Err(Invalid::one(
            "time_decay_factor",
            "comes with half_life: they say the same, give one of them",
        )),
        (Some(days), None) => Ok(Some(Decay::HalfLifeDays(days))),
        (None, Some(factor)) => Ok(Some(Decay::FactorPerDay(factor))),
        (None, None) => Ok(None),
    }
}

fn with_names(error: AppError) -> Refusal {
    let mut refusal = Refusal::from(error);
    for violation in &mut refusal.violations {
        if let Some((_, name)) = NAMES.iter().find(|(field, _)| *field == violation.field) {
            (*name).clone_into(&mut violation.field);
        }
    }
    refusal
}

#[cfg(test)]
mod tests {
    use super::*;
    use hindsight_core::{Mode, Status};

    fn read(text: &str) -> Result<Recall, Invalid> {
        recall_of(Fields::of_body(text.as_bytes()).unwrap(), None)
    }

    #[test]
    fn conditions_may_stand_beside_the_query() {
        let recall = read(
            r#"{"query":"订单","task_type":"order","status":["failure","partial"],"last":"30d","mode":"keyword",
                "top_k":5,"time_decay_factor":0.95,"time_range":{"from":"2026-11-01"},"tags":null}"#,
        )
        .unwrap();
        assert_eq!((recall.query.as_str(), recall.mode, recall.top_k), ("订单", Mode::Keyword, 5));
        assert_eq!(recall.filter.task_types, ["order"]);
        assert_eq!(recall.filter.statuses, [Status::Failure, Status::Partial]);
        assert_eq!(recall.filter.last, Some("30d".parse().unwrap()));
        assert_eq!(recall.filter.from, Some("2026-11-01".parse().unwrap()));
        assert_eq!(recall.decay, Some(Decay::FactorPerDay(0.95)));
        assert_eq!(read("{}").unwrap(), Recall::default());
    }

    #[test]
    fn each_bad_field_is_named() {
        for (text, field) in [
            (r#"{"top_k":-1}"#, "top_k"),
            (r#"{"half_life":"soon"}"#, "half_life"),
            (r#"{"half_life":"7d","time_decay_factor":0.5}"#, "time_decay_factor"),
            (r#"{"vector":[0,0],"embedding_model":"m"}"#, "vector"),
            (r#"{"vector":[1e39],"embedding_model":"m"}"#, "vector"),
            (r#"{"vector":[1,"x"],"embedding_model":"m"}"#, "vector[1]"),
            (r#"{"mode":"hybird"}"#, "mode"),
            (r#"{"time_range":{"frm":"2026-01-01"}}"#, "time_range.frm"),
            (r#"{"embedding_model":"m"}"#, "vector"),
            (r#"{"as_of_axis":"known"}"#, "as_of"),
            (r#"{"as_of":"2026-03-01","as_of_axis":"real"}"#, "as_of_axis"),
            (r#"{"policy":["no_fun"]}"#, "policy[0]"),
            (r#"{"qery":"x"}"#, "qery"),
        ] {
            assert_eq!(read(text).unwrap_err().violations[0].field, field, "{text}");
        }
        let error = read(r#"{"qery":"x"}"#).unwrap_err().to_string();
        assert_eq!(error, "qery: is no field here: did you mean query?");
    }
}
