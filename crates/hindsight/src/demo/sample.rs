//! The sample: three weeks of an operations agent and a personal assistant, in English and Chinese.

use hindsight_client::{BatchOptions, NamespaceHandle, WriteEntry};
use hindsight_core::{Draft, Invalid, Timestamp, time::Span};
use serde_json::Value;

use crate::document;
use crate::failure::Failure;

const SAMPLE: &str = include_str!("../../sample/sample.jsonl");

/// Memories of one call.
const BATCH: usize = 100;

/// The memories of the sample, oldest first, as if the last of its days were `now`.
///
/// # Errors
/// The line that can't be read, by its number.
pub(crate) fn drafts(now: Timestamp) -> Result<Vec<Draft>, Invalid> {
    let numbered = SAMPLE.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    numbered
        .map(|(index, line)| {
            draft(line, now).map_err(|invalid| invalid.under(&format!("line {}: ", index + 1)))
        })
        .collect()
}

/// One line: a draft with its `age` beside it, so that the sample is never out of date.
fn draft(line: &str, now: Timestamp) -> Result<Draft, Invalid> {
    let mut object = document::object(line.as_bytes())?;
    let expected = "expected how long ago it happened, such as 3.5d";
    let age: Span = match object.remove("age") {
        Some(Value::String(age)) => {
            age.parse().map_err(|_| Invalid::one("age", format!("is {age:?}: {expected}")))?
        }
        _ => return Err(Invalid::one("age", format!("is missing: {expected}"))),
    };
    let mut draft: Draft = document::typed(object)?;
    draft.occurred_at = Some(now.plus_ms(-age.as_ms()));
    Ok(draft)
}

/// Stores the sample. Returns how many memories it has.
pub(crate) async fn load(memories: &NamespaceHandle, now: Timestamp) -> Result<u64, Failure> {
    let drafts = drafts(now).map_err(Failure::Sample)?;
    let mut stored = 0;
    for batch in drafts.chunks(BATCH) {
        let entries = batch.iter().cloned().map(|draft| WriteEntry { draft, vectors: None }).collect();
        // All or nothing: a line of our own sample that is refused is a fault, not an odd line of somebody's file.
        let options = BatchOptions { all_or_nothing: true, ..BatchOptions::default() };
        let written = memories.batch_write(entries, options).await?;
        stored += u64::try_from(written.results.len()).unwrap_or(u64::MAX);
    }
    Ok(stored)
}

#[cfg(test)]
mod tests {
    use hindsight_core::{Kind, Status};

    use super::*;

    #[test]
    fn every_line_is_a_memory_that_the_door_lets_in() {
        let now: Timestamp = "2026-12-01T12:00:00Z".parse().unwrap();
        let drafts = drafts(now).unwrap();
        assert!((180..=260).contains(&drafts.len()), "{} memories", drafts.len());
        for draft in &drafts {
            let age_days = draft.occurred_at.unwrap().days_until(now);
            assert!((0.0..=22.0).contains(&age_days), "{age_days}: {}", draft.content);
            draft.clone().check().unwrap_or_else(|invalid| panic!("{invalid}: {}", draft.content));
        }
        let count = |wanted: &dyn Fn(&Draft) -> bool| drafts.iter().filter(|draft| wanted(draft)).count();
        let is_chinese =
            |draft: &Draft| draft.content.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
        let chinese = count(&is_chinese);
        assert!(chinese * 3 > drafts.len() && chinese * 3 < drafts.len() * 2, "{chinese} are Chinese");
        for kind in Kind::ALL {
            assert!(count(&|draft| draft.kind == Some(*kind)) > 0, "{kind}");
        }
        for status in Status::ALL {
            assert!(count(&|draft| draft.status == Some(*status)) > 0, "{status}");
        }
    }

    #[test]
    fn a_line_without_an_age_is_named() {
        let now = Timestamp::from_ms(0);
        assert!(draft(r#"{"content":"a"}"#, now).unwrap_err().to_string().starts_with("age: is missing"));
        assert!(draft(r#"{"age":"old","content":"a"}"#, now).unwrap_err().to_string().contains("\"old\""));
    }
}
