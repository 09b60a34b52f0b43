//! The loop of an agent: recall before acting, record after.
//!
//! `cargo run -p hindsight-client --example agent_loop` against a server on this machine. The first run fails as it
//! would for anybody; every later run finds in the memory what helped.

use hindsight_client::{Action, Client, Error, Filter, RecordDraft, Status};

/// Does one task, and tells which advice it followed.
pub(crate) async fn run(client: &Client) -> Result<Option<String>, Error> {
    let ops = client.namespace("ops")?;

    // Before acting: how did such tasks end, and what helped?
    let same = Filter { task_types: vec!["order_processing".to_owned()], ..Filter::default() };
    let past = ops.recall("update the status of an order").filter(same).top_k(3).await?;
    let advice = past.hits.iter().find_map(|hit| hit.memory.episode.as_ref()?.resolution.clone());

    // Acting: without the advice, the order service refuses a token that is too old.
    let failed = advice.is_none();
    let error_code = failed.then(|| "permission_denied".to_owned());

    // After acting: what happened, why, and what helps.
    ops.record(RecordDraft {
        task_type: "order_processing".to_owned(),
        status: Some(if failed { Status::Failure } else { Status::Success }),
        summary: "Updating the status of order 1042".to_owned(),
        actions: vec![Action { step: 1, tool: "update_status".to_owned(), error_code, ..Action::default() }],
        root_cause: failed.then(|| "api_token_expired".to_owned()),
        resolution: Some("refresh the token, then retry".to_owned()),
        ..RecordDraft::default()
    })
    .await?;
    Ok(advice)
}

/// Runs the task once against a server on this machine.
#[tokio::main]
async fn main() -> Result<(), Error> {
    let client = Client::connect("http://127.0.0.1:7420").await?;
    match run(&client).await? {
        Some(advice) => println!("recalled what helped before: {advice}"),
        None => println!("nothing recalled: this failure is new, and now it is recorded"),
    }
    Ok(())
}
