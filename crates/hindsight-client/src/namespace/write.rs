//! Storing: one memory, a finished task, many memories.

use hindsight_core::draft::RecordDraft;
use hindsight_core::{Draft, OnDuplicate, RawVectors};
use hindsight_proto::call::{RecordCall, WriteCall, WriteEntry, batch_to_wire};

use super::NamespaceHandle;
use crate::{BatchWritten, Error, Written};

/// How a write or a record is carried out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WriteOptions {
    /// Check and answer, but store nothing.
    pub validate_only: bool,
    /// What happens when the same is known already: it becomes surer, unless said otherwise. A draft that brings its own
    /// id is stored in any case, unless said otherwise.
    pub on_duplicate: Option<OnDuplicate>,
    /// Store it though what it says was forgotten or purged; without this such a write is refused with
    /// `TOMBSTONED_VALUE`.
    pub allow_forgotten: bool,
    /// The caller's own id of the request; the client makes one when absent.
    pub request_id: Option<String>,
}

/// How a batch is carried out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BatchOptions {
    /// Store nothing when any memory is bad; otherwise a bad one is refused by itself.
    pub all_or_nothing: bool,
    /// What happens with a memory that says what is known already.
    pub on_duplicate: Option<OnDuplicate>,
    /// Store what was forgotten or purged, too.
    pub allow_forgotten: bool,
    /// The caller's own id of the request; the client makes one when absent.
    pub request_id: Option<String>,
}

impl NamespaceHandle {
    /// Stores a memory, unless the same is known: then that becomes surer. What it contradicts by its claims becomes
    /// history. It is durable and recallable when this returns.
    ///
    /// ```no_run
    /// # async fn example(home: hindsight_client::NamespaceHandle) -> Result<(), hindsight_client::Error> {
    /// use hindsight_client::{Draft, Kind};
    ///
    /// let draft = Draft { kind: Some(Kind::Preference), content: "Mei 喜欢靠窗的座位".to_owned(), ..Draft::default() };
    /// let written = home.write(draft).await?;
    /// println!("{}", written.memory.id);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Invalid`] with every wrong field, what else the server answers, or that it can't be reached.
    pub async fn write(&self, draft: Draft) -> Result<Written, Error> {
        self.write_with(draft, None, WriteOptions::default()).await
    }

    /// As [`NamespaceHandle::write`], with vectors that the caller made, and options.
    ///
    /// ```no_run
    /// # async fn example(home: hindsight_client::NamespaceHandle) -> Result<(), hindsight_client::Error> {
    /// use hindsight_client::{Draft, RawVector, RawVectors, VectorRole, WriteOptions};
    ///
    /// let draft = Draft { content: "The office is on the third floor".to_owned(), ..Draft::default() };
    /// let vector = RawVector { role: VectorRole::Content, values: vec![0.1, 0.2, 0.3] };
    /// let vectors = RawVectors { model: "my-model".to_owned(), vectors: vec![vector] };
    /// home.write_with(draft, Some(vectors), WriteOptions { validate_only: true, ..Default::default() }).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`NamespaceHandle::write`].
    pub async fn write_with(
        &self,
        draft: Draft,
        vectors: Option<RawVectors>,
        options: WriteOptions,
    ) -> Result<Written, Error> {
        let (how, request_id) = self.how(options.request_id, options.validate_only);
        let call = WriteCall {
            namespace: self.namespace.clone(),
            entry: WriteEntry { draft, vectors },
            validate_only: options.validate_only,
            on_duplicate: options.on_duplicate,
            allow_forgotten: options.allow_forgotten,
            request_id,
        };
        let send = |request| {
            let mut service = self.transport.memories();
            async move { service.write(request).await }
        };
        let answer = self.transport.call(how, call.into_wire()?, send).await?;
        Written::from_wire(answer).map_err(Error::unreadable)
    }

    /// Stores a finished task as an episode.
    ///
    /// ```no_run
    /// # async fn example(ops: hindsight_client::NamespaceHandle) -> Result<(), hindsight_client::Error> {
    /// use hindsight_client::{RecordDraft, Status};
    ///
    /// ops.record(RecordDraft {
    ///     task_type: "deploy".to_owned(),
    ///     status: Some(Status::Failure),
    ///     summary: "Deploying the billing service".to_owned(),
    ///     root_cause: Some("image_pull_denied".to_owned()),
    ///     ..RecordDraft::default()
    /// })
    /// .await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`NamespaceHandle::write`].
    pub async fn record(&self, record: RecordDraft) -> Result<Written, Error> {
        self.record_with(record, None, WriteOptions::default()).await
    }

    /// As [`NamespaceHandle::record`], with vectors that the caller made, and options.
    ///
    /// # Errors
    /// As [`NamespaceHandle::write`].
    pub async fn record_with(
        &self,
        record: RecordDraft,
        vectors: Option<RawVectors>,
        options: WriteOptions,
    ) -> Result<Written, Error> {
        let (how, request_id) = self.how(options.request_id, options.validate_only);
        let call = RecordCall {
            namespace: self.namespace.clone(),
            record,
            vectors,
            validate_only: options.validate_only,
            on_duplicate: options.on_duplicate,
            allow_forgotten: options.allow_forgotten,
            request_id,
        };
        let send = |request| {
            let mut service = self.transport.memories();
            async move { service.record(request).await }
        };
        let answer = self.transport.call(how, call.into_wire()?, send).await?;
        Written::of_record(answer).map_err(Error::unreadable)
    }

    /// Stores many memories with one sync, at most 1,000 and 4 MiB at a time.
    ///
    /// ```no_run
    /// # async fn example(home: hindsight_client::NamespaceHandle) -> Result<(), hindsight_client::Error> {
    /// use hindsight_client::{BatchOptions, Draft, WriteEntry};
    ///
    /// let entry = |text: &str| WriteEntry {
    ///     draft: Draft { content: text.to_owned(), ..Draft::default() },
    ///     vectors: None,
    /// };
    /// let written = home.batch_write(vec![entry("one"), entry("two")], BatchOptions::default()).await?;
    /// for refused in written.results.iter().filter_map(|result| result.as_ref().err()) {
    ///     println!("{refused}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// What is wrong with the batch as a whole; a bad memory is an `Err` among the results, unless all or nothing was
    /// asked for.
    pub async fn batch_write(
        &self,
        entries: Vec<WriteEntry>,
        options: BatchOptions,
    ) -> Result<BatchWritten, Error> {
        let items = entries.len();
        let (how, request_id) = self.how(options.request_id, false);
        let BatchOptions { all_or_nothing, on_duplicate, allow_forgotten, .. } = options;
        let request = batch_to_wire(
            &self.namespace,
            entries,
            all_or_nothing,
            on_duplicate,
            allow_forgotten,
            request_id,
        )?;
        let send = |request| {
            let mut service = self.transport.memories();
            async move { service.batch_write(request).await }
        };
        let answer = self.transport.call(how, request, send).await?;
        BatchWritten::from_wire(answer, items).map_err(Error::unreadable)
    }
}
