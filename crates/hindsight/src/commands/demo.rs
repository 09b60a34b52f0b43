//! `demo`: store, ask, stop hard, start again, ask again.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use hindsight_client::NamespaceHandle;
use hindsight_core::{Recalled, Timestamp, time::Span};

use crate::clock;
use crate::connection;
use crate::demo::child::ServerProcess;
use crate::demo::page::Page;
use crate::demo::questions::{self, Question};
use crate::demo::sample;
use crate::failure::Failure;
use crate::output::Out;

/// The namespace of the sample.
const NAMESPACE: &str = "demo";
/// How long one call may take.
const TIMEOUT: Span = Span::from_ms(30_000);

/// How the demonstration runs.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Keep the data in this directory, which must be new, to look at it with `hindsight serve --data DIR`
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Pretend that it is this time
    #[arg(long, value_name = "TIME")]
    now: Option<Timestamp>,
}

/// Runs it; whatever ends it early, no server and no temporary directory stay behind.
pub(crate) async fn run(args: DemoArgs, out: &mut Out) -> Result<(), Failure> {
    tokio::select! {
        outcome = show(args, out) => outcome,
        _ = tokio::signal::ctrl_c() => Err(Failure::Interrupted),
    }
}

async fn show(args: DemoArgs, out: &mut Out) -> Result<(), Failure> {
    let started = Instant::now();
    let folder = tempfile::Builder::new().prefix("hindsight-demo-").tempdir()?;
    let data = args.keep.clone().unwrap_or_else(|| folder.path().join("data"));
    if data.exists() {
        let source = std::io::ErrorKind::AlreadyExists.into();
        return Err(Failure::Create { path: data, source });
    }
    // Whole seconds, so that the times on the screen are the times that count.
    let now = args.now.unwrap_or_else(|| Timestamp::from_ms(clock::now().as_ms() / 1000 * 1000));
    let questions = questions::all().map_err(Failure::Sample)?;
    let mut page = Page::new(out);
    page.title(&data, now)?;

    let server = start(&data, folder.path(), &mut page).await?;
    let memories = connect(&server)?;
    let loading = Instant::now();
    let count = sample::load(&memories, now).await?;
    page.loaded(count, loading.elapsed())?;

    let first = ask_all(&memories, &questions, now).await?;
    let mut wrong = 0;
    for (number, (question, answer)) in questions.iter().zip(&first).enumerate() {
        let faults = question.faults(answer, now);
        wrong += u64::from(!faults.is_empty());
        page.answer(number + 1, question, answer, &faults)?;
    }

    server.kill()?;
    page.killed()?;
    let server = start(&data, folder.path(), &mut page).await?;
    let second = ask_all(&connect(&server)?, &questions, now).await?;
    let differing = first.iter().zip(&second).filter(|(before, after)| !is_same(before, after)).count();
    wrong += u64::try_from(differing).unwrap_or(u64::MAX);
    let hits = first.iter().map(|answer| answer.hits.len()).sum();
    page.compared(questions.len(), hits, differing)?;
    server.kill()?;

    page.end(args.keep.as_deref(), started.elapsed())?;
    if wrong == 0 { Ok(()) } else { Err(Failure::DemoFailed { wrong }) }
}

async fn start(data: &Path, beside: &Path, page: &mut Page<'_>) -> Result<ServerProcess, Failure> {
    let server = ServerProcess::start(data, beside).await?;
    page.started(&server)?;
    Ok(server)
}

fn connect(server: &ServerProcess) -> Result<NamespaceHandle, Failure> {
    let client = connection::client(&format!("http://{}", server.ready.grpc), TIMEOUT)?;
    Ok(client.namespace(NAMESPACE)?)
}

async fn ask_all(
    memories: &NamespaceHandle,
    questions: &[Question],
    now: Timestamp,
) -> Result<Vec<Recalled>, Failure> {
    let mut answers = Vec::new();
    for question in questions {
        answers.push(memories.recall(question.recall(now)).await?);
    }
    Ok(answers)
}

/// The same memories in the same order with the same scores, to the last bit.
fn is_same(before: &Recalled, after: &Recalled) -> bool {
    let essence = |answer: &Recalled| {
        let hits = answer.hits.iter();
        hits.map(|hit| (hit.memory.id, hit.score.to_bits(), hit.similarity.to_bits())).collect::<Vec<_>>()
    };
    essence(before) == essence(after)
}
