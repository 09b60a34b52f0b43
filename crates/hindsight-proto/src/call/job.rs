//! Running a job, and what it came to.

use hindsight_core::{Invalid, Job, JobReport, JobStatus, Namespace};

use crate::gather::Gather;
use crate::{text, time, v1};

/// A request to run a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunJobCall {
    /// Which.
    pub job: Job,
    /// Where; in every namespace that is in memory when none is named.
    pub namespace: Option<Namespace>,
    /// Count, and change nothing.
    pub validate_only: bool,
}

impl RunJobCall {
    /// Reads a request.
    ///
    /// # Errors
    /// Every field that can't be read.
    pub fn from_wire(wire: &v1::RunJobRequest) -> Result<RunJobCall, Invalid> {
        let mut gather = Gather::default();
        let job = gather.keep_some(text::parsed("job", &wire.job));
        let named = (!wire.namespace.is_empty()).then(|| super::namespace(&wire.namespace)).transpose();
        let namespace = gather.keep(named);
        let validate_only = wire.validate_only;
        super::finish(gather, job, |job| RunJobCall { job, namespace, validate_only })
    }

    /// The request for the wire.
    #[must_use]
    pub fn into_wire(self) -> v1::RunJobRequest {
        v1::RunJobRequest {
            job: self.job.to_string(),
            namespace: self.namespace.map(|namespace| namespace.to_string()).unwrap_or_default(),
            validate_only: self.validate_only,
        }
    }
}

/// A report for the wire.
#[must_use]
pub fn report_to_wire(report: JobReport) -> v1::JobReport {
    v1::JobReport {
        job: report.job.to_string(),
        validate_only: report.is_dry,
        started_at: Some(time::to_wire(report.started_at)),
        ended_at: report.ended_at.map(time::to_wire),
        namespaces: report.namespaces,
        counts: report.counts.into_iter().map(|(name, count)| v1::Count { name, count }).collect(),
        hints: report.hints,
        errors: report.errors,
    }
}

/// A report from the wire.
///
/// # Errors
/// When a field can't be read.
pub fn report_from_wire(wire: v1::JobReport) -> Result<JobReport, Invalid> {
    Ok(JobReport {
        job: text::parsed("job", &wire.job)?,
        is_dry: wire.validate_only,
        started_at: time::required("started_at", wire.started_at.as_ref())?,
        ended_at: time::optional("ended_at", wire.ended_at.as_ref())?,
        namespaces: wire.namespaces,
        counts: wire.counts.into_iter().map(|count| (count.name, count.count)).collect(),
        hints: wire.hints,
        errors: wire.errors,
    })
}

/// How a job stands, for the wire.
#[must_use]
pub fn status_to_wire(status: JobStatus) -> v1::JobStatus {
    v1::JobStatus {
        job: status.job.to_string(),
        about: status.job.about().to_owned(),
        schedule: status.schedule.unwrap_or_default(),
        next_run_at: status.next_run_at.map(time::to_wire),
        running: status.is_running,
        last: status.last.map(report_to_wire),
    }
}

/// How a job stands, from the wire.
///
/// # Errors
/// When a field can't be read.
pub fn status_from_wire(wire: v1::JobStatus) -> Result<JobStatus, Invalid> {
    Ok(JobStatus {
        job: text::parsed("job", &wire.job)?,
        schedule: text::optional(wire.schedule),
        next_run_at: time::optional("next_run_at", wire.next_run_at.as_ref())?,
        is_running: wire.running,
        last: wire.last.map(report_from_wire).transpose()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l2_a_job_there_and_back() {
        let mut report = JobReport::begun(Job::Archive, true, hindsight_core::Timestamp::from_ms(7));
        report.count("expired", 3);
        report.hint("consolidate".to_owned());
        report.ended_at = Some(hindsight_core::Timestamp::from_ms(9));
        let status = JobStatus {
            job: Job::Purge,
            schedule: Some("0 4 * * sun UTC".to_owned()),
            next_run_at: Some(hindsight_core::Timestamp::from_ms(12)),
            is_running: true,
            last: Some(report),
        };
        assert_eq!(status_from_wire(status_to_wire(status.clone())), Ok(status));
        let call = RunJobCall { job: Job::Purge, namespace: None, validate_only: true };
        assert_eq!(RunJobCall::from_wire(&call.clone().into_wire()), Ok(call));
        let wire = v1::RunJobRequest { job: "vacuum".to_owned(), ..v1::RunJobRequest::default() };
        let error = RunJobCall::from_wire(&wire).unwrap_err();
        assert!(error.to_string().contains("expected one of archive"), "{error}");
    }
}
