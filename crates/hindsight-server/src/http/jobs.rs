//! `/jobs`: what the database does by itself.

use axum::extract::{Request, State};
use hindsight_core::{Invalid, Job, JobStatus};
use hindsight_proto::call::RunJobCall;
use serde::Serialize;

use super::{Http, Reply, answer};

#[derive(Serialize)]
struct JobsReply {
    jobs: Vec<JobReply>,
}

#[derive(Serialize)]
struct JobReply {
    about: &'static str,
    #[serde(flatten)]
    status: JobStatus,
}

/// All jobs, and how they stand.
pub(super) async fn list(State(http): State<Http>, request: Request) -> Reply {
    http.call(request).await?.fields.finish()?;
    let jobs = http.app.jobs().await?.into_iter();
    let jobs = jobs.map(|status| JobReply { about: status.job.about(), status }).collect();
    answer(&JobsReply { jobs })
}

/// Runs one, in one namespace or in all that are in memory.
pub(super) async fn run(State(http): State<Http>, request: Request) -> Reply {
    let mut call = http.call(request).await?;
    let namespace = call.optional_namespace()?;
    let job: Option<Job> = call.fields.take("job")?;
    let validate_only = call.fields.take("validate_only")?.unwrap_or(false);
    call.fields.finish()?;
    let job = job.ok_or_else(|| {
        let names: Vec<&str> = Job::ALL.iter().map(|job| job.as_str()).collect();
        Invalid::one("job", format!("is missing: expected one of {}", names.join(", ")))
    })?;
    answer(&http.app.run_job(RunJobCall { job, namespace, validate_only }).await?)
}
