//! `jobs`: what the server does by itself, and running it now.

use clap::{Args, Subcommand};
use comfy_table::Cell;
use hindsight_core::{Job, JobReport, JobStatus};

use crate::connection::Connection;
use crate::failure::Failure;
use crate::output::Out;
use crate::screen::{counted, text_of};

/// What to do with the jobs; without an action they are listed.
#[derive(Debug, Args)]
pub(crate) struct JobsArgs {
    #[command(subcommand)]
    action: Option<JobsAction>,
}

/// What to do.
#[derive(Debug, Subcommand)]
enum JobsAction {
    /// Show when each runs, and what its last run came to
    List,
    /// Run one now: in the namespace of -n, or in all that the server has in memory
    Run(RunArgs),
}

/// Which job to run.
#[derive(Debug, Args)]
struct RunArgs {
    /// archive or purge
    #[arg(value_name = "NAME")]
    job: Job,
    /// In all namespaces that the server has in memory, also where -n or HINDSIGHT_NAMESPACE names one
    #[arg(long)]
    all_namespaces: bool,
    /// Only count what it would do
    #[arg(long)]
    dry_run: bool,
}

/// Lists the jobs, or runs one.
pub(crate) async fn run(connection: &Connection, args: JobsArgs, out: &mut Out) -> Result<(), Failure> {
    match args.action {
        None | Some(JobsAction::List) => {
            let jobs = connection.client().jobs().await?;
            out.list(&jobs, |paint, width| {
                let mut table = paint.table(width, &["job", "schedule", "next run", "last run"]);
                for status in &jobs {
                    table.add_row(row(status));
                }
                text_of(&mut table)
            })
        }
        Some(JobsAction::Run(RunArgs { job, all_namespaces, dry_run })) => {
            let namespace = connection.namespace().ok().filter(|_| !all_namespaces);
            let report = connection.client().run_job(job, namespace, dry_run).await?;
            out.single(&report, |_, _| told(&report))
        }
    }
}

fn row(status: &JobStatus) -> Vec<Cell> {
    let next = status.next_run_at.map_or_else(|| "on demand".to_owned(), |next| next.to_string());
    let last = match (&status.last, status.is_running) {
        (_, true) => "running".to_owned(),
        (None, _) => "not since the start".to_owned(),
        (Some(report), _) => {
            let (at, memories) = (report.started_at, counted(report.changed(), "memory", "memories"));
            format!("{at}: {memories}")
        }
    };
    let schedule = status.schedule.clone().unwrap_or_default();
    vec![Cell::new(status.job), Cell::new(schedule), Cell::new(next), Cell::new(last)]
}

fn told(report: &JobReport) -> String {
    let place = counted(report.namespaces, "namespace", "namespaces");
    let verb = if report.is_dry { "would change" } else { "changed" };
    let mut lines =
        vec![format!("{} {verb} {} in {place}", report.job, counted(report.changed(), "memory", "memories"))];
    lines.extend(report.counts.iter().map(|(reason, count)| format!("  {reason}: {count}")));
    lines.extend(report.hints.iter().map(|hint| format!("hint: {hint}")));
    lines.extend(report.errors.iter().map(|error| format!("error: {error}")));
    lines.join("\n")
}
