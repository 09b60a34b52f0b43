//! `write`: one memory, from a text, standard input or JSON.

use std::path::{Path, PathBuf};

use clap::Args;
use hindsight_core::{Claim, Draft, Kind, MemoryId, RawVectors, Status, Timestamp};

use crate::connection::Connection;
use crate::document;
use crate::failure::Failure;
use crate::flags::{FieldFlags, SendFlags, print_written};
use crate::output::Out;

/// What to store.
#[derive(Debug, Args)]
pub(crate) struct WriteArgs {
    /// The text, or - to read it from standard input
    #[arg(required_unless_present_any = ["json", "uri"], conflicts_with = "json")]
    text: Option<String>,
    /// A whole memory as JSON, from a file or - for standard input; flags win over its fields
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// What it is: episode, fact, preference, procedure, rule [default: fact]
    #[arg(long, value_name = "KIND")]
    kind: Option<Kind>,
    /// The kind of task it is about
    #[arg(long, value_name = "TYPE")]
    task_type: Option<String>,
    /// How the task ended: success, failure, partial
    #[arg(long, value_name = "STATUS")]
    status: Option<Status>,
    /// The id it shall have [default: a new one]
    #[arg(long, value_name = "ID")]
    id: Option<MemoryId>,
    /// Where the image, recording or document lies that it is about
    #[arg(long, value_name = "URI")]
    uri: Option<String>,
    /// What it states; may be repeated
    #[arg(long = "claim", value_name = "SUBJECT/ATTRIBUTE/VALUE", value_parser = claim)]
    claims: Vec<Claim>,
    /// As --claim, of a property that has one value at a time: a newer value supersedes an older one
    #[arg(long = "single-claim", value_name = "SUBJECT/ATTRIBUTE/VALUE", value_parser = claim)]
    single_claims: Vec<Claim>,
    /// From when on it is true
    #[arg(long, value_name = "TIME")]
    valid_from: Option<Timestamp>,
    /// Until when it is true
    #[arg(long, value_name = "TIME")]
    valid_to: Option<Timestamp>,
    #[command(flatten)]
    fields: FieldFlags,
    #[command(flatten)]
    send: SendFlags,
}

/// A text that is not a claim.
#[derive(Debug, thiserror::Error)]
#[error("expected SUBJECT/ATTRIBUTE/VALUE, such as user/allergic to/peanuts")]
struct BadClaim;

fn claim(text: &str) -> Result<Claim, BadClaim> {
    let mut parts = text.splitn(3, '/').map(|part| part.trim().to_owned());
    // One that is empty is refused by its name, as over every other front.
    let mut part = || parts.next().ok_or(BadClaim);
    Ok(Claim { subject: part()?, attribute: part()?, value: part()?, single_valued: false })
}

impl WriteArgs {
    fn into_draft(self) -> Result<(Draft, Option<RawVectors>, SendFlags), Failure> {
        let (mut draft, vectors) = match &self.json {
            Some(path) => {
                let mut object = document::object(document::read_text(path)?.as_bytes())?;
                let vectors = document::take_vectors(&mut object)?;
                (document::typed(object)?, vectors)
            }
            None => (Draft::default(), None),
        };
        match self.text.as_deref() {
            Some("-") => draft.content = document::read_text(Path::new("-"))?.trim_end().to_owned(),
            Some(text) => text.clone_into(&mut draft.content),
            None => {}
        }
        draft.kind = self.kind.or(draft.kind);
        draft.task_type = self.task_type.or(draft.task_type);
        draft.status = self.status.or(draft.status);
        draft.id = self.id.map(|id| id.to_string()).or(draft.id);
        draft.uri = self.uri.or(draft.uri);
        draft.valid_from = self.valid_from.or(draft.valid_from);
        draft.valid_to = self.valid_to.or(draft.valid_to);
        let single = self.single_claims.into_iter();
        let single = single.map(|claim| Claim { single_valued: true, ..claim });
        let claims: Vec<Claim> = self.claims.into_iter().chain(single).collect();
        if !claims.is_empty() {
            draft.claims = claims;
        }
        self.fields.put_over_draft(&mut draft);
        Ok((draft, vectors, self.send))
    }
}

/// Stores it and prints what it became.
pub(crate) async fn run(connection: &Connection, args: WriteArgs, out: &mut Out) -> Result<(), Failure> {
    let memories = connection.memories()?;
    let (draft, vectors, send) = args.into_draft()?;
    let written = memories.write_with(draft, vectors, send.into_options()).await?;
    print_written(&written, out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_has_three_parts_and_the_value_may_hold_slashes() {
        let read = claim("user / allergic to / peanuts/nuts").unwrap();
        assert_eq!((read.subject.as_str(), read.attribute.as_str()), ("user", "allergic to"));
        assert_eq!(read.value, "peanuts/nuts");
        for bad in ["user", "user/name", ""] {
            assert!(claim(bad).is_err(), "{bad:?}");
        }
    }
}
