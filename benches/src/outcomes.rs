//! Whether a recall tells which earlier attempt at a task succeeded and which failed.

use hindsight_core::{Filter, Recall, Recalled, Status};
use hindsight_embed::Embedder;

use crate::dataset::Question;
use crate::store::Store;

/// Hits that are looked at.
const FIRST: usize = 5;

/// How many of how many.
#[derive(Debug, Clone, Copy, Default)]
struct Share {
    yes: u32,
    of: u32,
}

impl Share {
    fn count(&mut self, yes: bool) {
        self.yes += u32::from(yes);
        self.of += 1;
    }
}

/// What was counted over the questions that know how the earlier attempts ended.
#[derive(Debug, Default)]
pub struct Outcomes {
    success: Share,
    failure: Share,
    both: Share,
    told: Share,
    only_success: Share,
    only_failure: Share,
}

/// Asks each question three times: for anything, for successes, for failures.
///
/// # Errors
/// When a recall fails.
pub fn measure(store: &Store, questions: &[Question]) -> anyhow::Result<Outcomes> {
    let mut outcomes = Outcomes::default();
    for question in questions {
        let (well, badly) = (&question.relevant_success, &question.relevant_failure);
        if well.is_empty() && badly.is_empty() {
            continue;
        }
        let any = ask(store, question, None)?;
        let found = |recalled: &Recalled, wanted: &[String]| {
            recalled.hits.iter().any(|hit| wanted.contains(&store.name(hit, wanted)))
        };
        if !well.is_empty() {
            outcomes.success.count(found(&any, well));
            outcomes.only_success.count(found(&ask(store, question, Some(Status::Success))?, well));
        }
        if !badly.is_empty() {
            outcomes.failure.count(found(&any, badly));
            outcomes.only_failure.count(found(&ask(store, question, Some(Status::Failure))?, badly));
        }
        if !well.is_empty() && !badly.is_empty() {
            outcomes.both.count(found(&any, well) && found(&any, badly));
        }
        for hit in &any.hits {
            let name = store.name(hit, &question.relevant);
            let expected = match (well.contains(&name), badly.contains(&name)) {
                (true, false) => Status::Success,
                (false, true) => Status::Failure,
                _ => continue,
            };
            outcomes.told.count(hit.memory.status == Some(expected));
        }
    }
    Ok(outcomes)
}

fn ask(store: &Store, question: &Question, status: Option<Status>) -> anyhow::Result<Recalled> {
    let request = Recall {
        query: question.text.clone(),
        vector: store.embed(&question.text)?,
        embedding_model: Some(store.embedder.model().to_owned()),
        filter: Filter { statuses: status.into_iter().collect(), ..Filter::default() },
        top_k: FIRST,
        now: Some(question.as_of),
        observe: true,
        ..Recall::default()
    };
    Ok(store.engine.recall(&question.namespace.parse()?, &request)?.wait()?)
}

impl Outcomes {
    /// Prints a line a count; nothing where no question knows of outcomes.
    pub fn print(&self) {
        if self.success.of + self.failure.of == 0 {
            return;
        }
        println!("earlier attempts at the task among the first {FIRST}, hybrid:");
        for (what, share) in [
            ("one that succeeded, where there is one", self.success),
            ("one that failed, where there is one", self.failure),
            ("one of each, where there are both", self.both),
            ("asked for successes: one that succeeded", self.only_success),
            ("asked for failures: one that failed", self.only_failure),
            ("hits of the task that tell the right outcome", self.told),
        ] {
            println!("  {what:<46}{:>4} of {:>4}", share.yes, share.of);
        }
        println!();
    }
}
