//! gRPC, through the client crate.

use hindsight_client::{
    BatchOptions, Client, ConsolidateOptions, Error, Feedback, Filter, ForgetMode, MemoryId, NamespaceHandle,
    Recall, SummarizeOptions, UpdateOptions, Verdict, WriteEntry, WriteOptions,
};
use hindsight_core::AsOf;
use hindsight_core::recall::Decay;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::{Front, Place};
use crate::call::Call;

pub(crate) struct Grpc;

/// Fields by name; each is taken once.
struct Fields(Map<String, Value>);

impl Fields {
    fn take<T: DeserializeOwned>(&mut self, name: &str) -> Option<T> {
        let value = self.0.remove(name)?;
        Some(serde_json::from_value(value.clone()).unwrap_or_else(|bad| panic!("{name}={value}: {bad}")))
    }

    fn rest<T: DeserializeOwned>(self) -> T {
        let text = Value::Object(self.0.clone());
        serde_json::from_value(Value::Object(self.0)).unwrap_or_else(|bad| panic!("{text}: {bad}"))
    }

    fn filter(&mut self) -> Option<Filter> {
        self.take("filter")
    }

    /// A filter, and conditions beside it.
    fn conditions(mut self) -> Filter {
        let nested = self.filter();
        let mut filter: Filter = self.rest();
        filter.all.extend(nested);
        filter
    }

    fn write_options(&mut self) -> WriteOptions {
        WriteOptions {
            allow_forgotten: self.take("allow_forgotten").unwrap_or(false),
            validate_only: self.take("validate_only").unwrap_or(false),
            on_duplicate: self.take("on_duplicate"),
            request_id: self.take("request_id"),
        }
    }
}

impl Front for Grpc {
    fn cannot(&self, call: &Call) -> Option<&'static str> {
        let by_id = matches!(call.verb.as_str(), "forget" | "restore" | "purge" | "rollback" | "drop");
        (by_id && call.fields.contains_key("request_id"))
            .then_some("the client gives these calls their request ids itself")
    }

    fn call(&mut self, place: &Place<'_>, call: &Call) -> Result<Value, String> {
        if call.verb == "watch" {
            return super::feed::grpc(place, call);
        }
        let url = place.stage.grpc();
        let done = async {
            let client = Client::connect(&url).await?;
            let memories = client.namespace(place.namespace)?;
            if matches!(call.verb.as_str(), "open" | "append" | "turns" | "close") {
                return session(&memories, call).await;
            }
            if matches!(call.verb.as_str(), "consolidate" | "summarize") {
                return lesson(&memories, call).await;
            }
            if call.verb != "job" {
                return answer(&memories, call).await;
            }
            let mut fields = Fields(call.fields.clone());
            let is_dry = fields.take("validate_only").unwrap_or(false);
            Ok(shown(&client.run_job(fields.take("job").unwrap(), Some(memories.name()), is_dry).await?))
        };
        place.stage.runtime.block_on(done).map_err(|error: Error| error.to_string())
    }
}

async fn answer(memories: &NamespaceHandle, call: &Call) -> Result<Value, Error> {
    let mut fields = Fields(call.fields.clone());
    let answer = match call.verb.as_str() {
        "write" => {
            let options = fields.write_options();
            shown(&memories.write_with(fields.rest(), None, options).await?)
        }
        "record" => {
            let options = fields.write_options();
            shown(&memories.record_with(fields.rest(), None, options).await?)
        }
        "batch" => return batch(memories, fields).await,
        "recall" => shown(&memories.recall(recall(fields, !call.learns)).await?),
        "explain" => {
            let id = fields.take("id").unwrap();
            shown(&memories.recall(recall(fields, true)).why(id).await?)
        }
        "set" => json!({"settings": memories.set(fields.rest()).await?.settings}),
        "get" => {
            let id: MemoryId = fields.take("id").unwrap();
            let memory = match fields.take::<String>("agent_id") {
                Some(agent) => memories.get_as(id, &agent).await?,
                None => memories.get(id).await?,
            };
            json!({"memory": memory})
        }
        "list" => {
            let agent: Option<String> = fields.take("agent_id");
            let list = memories.list(fields.conditions());
            shown(&match agent {
                Some(agent) => list.agent(agent).await?,
                None => list.await?,
            })
        }
        "update" => {
            let id = fields.take("id").unwrap();
            let (version, request_id) = (fields.take("version"), fields.take("request_id"));
            let allow_forgotten = fields.take("allow_forgotten").unwrap_or(false);
            let options = UpdateOptions { version, vectors: None, allow_forgotten, request_id };
            shown(&memories.update_with(id, fields.rest(), options).await?)
        }
        "forget" => match mode(&mut fields) {
            (Some(filter), mode) => shown(&memories.forget_where(filter, mode).await?),
            (None, _) => shown(&memories.forget_ids(&ids(&mut fields)).await?),
        },
        "restore" => shown(&memories.restore(&ids(&mut fields)).await?),
        "purge" => {
            let whole = fields.take("whole_namespace").unwrap_or(false);
            match mode(&mut fields) {
                (_, mode) if whole => shown(&memories.purge_all(mode).await?),
                (Some(filter), mode) => shown(&memories.purge_where(filter, mode).await?),
                (None, _) => shown(&memories.purge_ids(&ids(&mut fields)).await?),
            }
        }
        "drop" => shown(&memories.drop_namespace(mode(&mut fields).1).await?),
        "feedback" => shown(&memories.feedback(feedback(fields)).await?),
        "history" => {
            let (id, agent): (MemoryId, Option<String>) =
                (fields.take("id").unwrap(), fields.take("agent_id"));
            shown(&memories.history(id, agent.as_deref()).await?)
        }
        "rollback" => shown(&memories.rollback(fields.take("id").unwrap()).await?),
        verb => panic!("gRPC has no {verb}"),
    };
    Ok(answer)
}

/// What memories are made of others.
async fn lesson(memories: &NamespaceHandle, call: &Call) -> Result<Value, Error> {
    let mut fields = Fields(call.fields.clone());
    let (validate_only, request_id) =
        (fields.take("validate_only").unwrap_or(false), fields.take("request_id"));
    if call.verb == "summarize" {
        let entity: String = fields.take("entity").unwrap();
        let kinds = fields.take("kinds").unwrap_or_default();
        let options =
            SummarizeOptions { kinds, agent_id: fields.take("agent_id"), validate_only, request_id };
        return Ok(shown(&memories.summarize(&entity, options).await?));
    }
    let (min_episodes, min_confidence) = (fields.take("min_episodes"), fields.take("min_confidence"));
    let options = ConsolidateOptions { validate_only, min_episodes, min_confidence, request_id };
    Ok(shown(&memories.consolidate(options).await?))
}

async fn session(memories: &NamespaceHandle, call: &Call) -> Result<Value, Error> {
    let mut fields = Fields(call.fields.clone());
    if call.verb == "open" {
        return Ok(shown(&memories.open_session(fields.rest()).await?));
    }
    let session = memories.session(fields.take("session_id").unwrap());
    Ok(match call.verb.as_str() {
        "append" => shown(&session.append(fields.take("turns").unwrap()).await?),
        "turns" => shown(&session.read(fields.take("last")).await?),
        _ => match fields.take("record") {
            Some(record) => shown(&session.close_as(record).await?),
            None => shown(&session.close().await?),
        },
    })
}

fn shown(answer: &impl Serialize) -> Value {
    serde_json::to_value(answer).unwrap()
}

fn ids(fields: &mut Fields) -> Vec<MemoryId> {
    fields.take("ids").unwrap_or_default()
}

fn mode(fields: &mut Fields) -> (Option<Filter>, ForgetMode) {
    let mode = match (fields.take("validate_only").unwrap_or(false), fields.take("expected_count")) {
        (true, _) => ForgetMode::DryRun,
        (false, Some(count)) => ForgetMode::Expect(count),
        (false, None) => ForgetMode::Unchecked,
    };
    (fields.filter(), mode)
}

async fn batch(memories: &NamespaceHandle, mut fields: Fields) -> Result<Value, Error> {
    let options = BatchOptions {
        allow_forgotten: fields.take("allow_forgotten").unwrap_or(false),
        all_or_nothing: fields.take("all_or_nothing").unwrap_or(false),
        on_duplicate: fields.take("on_duplicate"),
        request_id: fields.take("request_id"),
    };
    let items: Vec<hindsight_client::Draft> = fields.take("items").unwrap();
    let entries = items.into_iter().map(|draft| WriteEntry { draft, vectors: None }).collect();
    let written = memories.batch_write(entries, options).await?;
    let results = written.results.iter().zip(&written.outcomes).map(|(result, outcome)| match result {
        Ok(id) => json!({"id": id, "outcome": outcome}),
        Err(error) => json!({"error": error}),
    });
    Ok(json!({"results": results.collect::<Vec<_>>(), "replayed": written.replayed}))
}

fn feedback(mut fields: Fields) -> Feedback {
    let recall_id = fields.take("recall_id");
    let verdicts = [Verdict::Used, Verdict::Ignored, Verdict::Wrong, Verdict::Outdated];
    let mut items = Vec::new();
    for verdict in verdicts {
        let ids: Vec<MemoryId> = fields.take(verdict.as_str()).unwrap_or_default();
        items.extend(ids.into_iter().map(|id| (id, verdict)));
    }
    let (task_status, request_id) = (fields.take("task_status"), fields.take("request_id"));
    Feedback { recall_id, items, task_status, request_id }
}

fn as_of(fields: &mut Fields) -> Option<AsOf> {
    let axis = fields.take("as_of_axis").unwrap_or_default();
    fields.take("as_of").map(|at| AsOf { at, axis })
}

fn recall(mut fields: Fields, observe: bool) -> Recall {
    let default = Recall::default();
    let half_life = fields.take::<hindsight_core::time::Span>("half_life");
    let factor = fields.take("time_decay_factor");
    let mut recall = Recall {
        query: fields.take("query").unwrap_or_default(),
        mode: fields.take("mode").unwrap_or_default(),
        include_archived: fields.take("include_archived").unwrap_or(false),
        include_history: fields.take("include_history").unwrap_or(false),
        as_of: as_of(&mut fields),
        diversity: fields.take("diversity"),
        keep_alike: fields.take("keep_alike").unwrap_or(false),
        policy: fields.take("policy").unwrap_or_default(),
        as_text: fields.take("as_text").unwrap_or(false),
        top_k: fields.take("top_k").unwrap_or(default.top_k),
        token_budget: fields.take("token_budget"),
        min_score: fields.take("min_score"),
        weights: fields.take("weights").unwrap_or_default(),
        fusion: fields.take("fusion").unwrap_or_default(),
        decay: half_life.map(|span| Decay::HalfLifeDays(span.as_days())).or(factor.map(Decay::FactorPerDay)),
        agent_id: fields.take("agent_id"),
        time_zone: fields.take("time_zone"),
        now: fields.take("now"),
        observe,
        ..default
    };
    recall.filter = fields.conditions();
    recall
}
