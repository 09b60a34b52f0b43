//! What a server does by itself.

use hindsight_core::{Invalid, Job, JobReport, JobStatus, Namespace};
use hindsight_proto::{call, v1};

use crate::transport::How;
use crate::{Client, Error};

impl Client {
    /// The jobs, when they run by themselves, and what their last run came to.
    ///
    /// ```no_run
    /// # async fn example(client: hindsight_client::Client) -> Result<(), hindsight_client::Error> {
    /// for status in client.jobs().await? {
    ///     println!("{}: next at {:?}", status.job, status.next_run_at);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// What the server answers, or that it can't be reached.
    pub async fn jobs(&self) -> Result<Vec<JobStatus>, Error> {
        let answer = self
            .transport()
            .call(How::read(self.timeout()), v1::ListJobsRequest {}, |request| {
                let mut service = self.transport().admin();
                async move { service.list_jobs(request).await }
            })
            .await?;
        let jobs = answer.jobs.into_iter().map(call::job::status_from_wire);
        jobs.collect::<Result<_, Invalid>>().map_err(Error::unreadable)
    }

    /// Runs a job now: in one namespace, or in all that the server has in memory. With `validate_only` it counts what it
    /// would do. To run it twice does no harm.
    ///
    /// ```no_run
    /// # async fn example(client: hindsight_client::Client) -> Result<(), hindsight_client::Error> {
    /// use hindsight_core::Job;
    /// let report = client.run_job(Job::Archive, None, true).await?;
    /// println!("{} memories would be archived", report.changed());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// What the server answers, or that it can't be reached.
    pub async fn run_job(
        &self,
        job: Job,
        namespace: Option<&Namespace>,
        validate_only: bool,
    ) -> Result<JobReport, Error> {
        let request = call::RunJobCall { job, namespace: namespace.cloned(), validate_only }.into_wire();
        let answer = self
            .transport()
            .call(How::read(self.timeout()), request, |request| {
                let mut service = self.transport().admin();
                async move { service.run_job(request).await }
            })
            .await?;
        let report = answer.report.ok_or_else(|| Invalid::one("report", "is missing"));
        report.and_then(call::job::report_from_wire).map_err(Error::unreadable)
    }
}
