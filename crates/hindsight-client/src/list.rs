//! Memories in the order of their ids: page by page, or all of them.

use std::collections::VecDeque;
use std::future::IntoFuture;
use std::pin::Pin;

use futures_util::Stream;
use hindsight_core::limits::PAGE_SIZE_DEFAULT;
use hindsight_core::{Filter, Invalid, Lsn, Memory};
use hindsight_proto::v1;
use serde::Serialize;

use crate::{Error, NamespaceHandle};

/// One page.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Page {
    /// Its memories, in the order of their ids.
    pub memories: Vec<Memory>,
    /// What the next page is asked for with; none on the last.
    pub next_page_token: Option<String>,
    /// The log position that the answer reflects.
    pub revision: Lsn,
}

impl Page {
    pub(crate) fn from_wire(wire: v1::ListResponse) -> Result<Page, Invalid> {
        let memories = wire.memories.into_iter().enumerate();
        let memories = memories.map(|(index, memory)| {
            Memory::try_from(memory).map_err(|bad| bad.under(&format!("memories[{index}].")))
        });
        Ok(Page {
            memories: memories.collect::<Result<_, Invalid>>()?,
            next_page_token: (!wire.next_page_token.is_empty()).then_some(wire.next_page_token),
            revision: Lsn(wire.revision),
        })
    }
}

/// A list that is fetched with [`ListBuilder::send`] or by awaiting it (one page), or with [`ListBuilder::all`].
///
/// ```no_run
/// # async fn example(ops: hindsight_client::NamespaceHandle) -> Result<(), hindsight_client::Error> {
/// use hindsight_client::Filter;
///
/// let first = ops.list(Filter::default()).page_size(100).await?;
/// if let Some(token) = first.next_page_token {
///     let second = ops.list(Filter::default()).page_size(100).page_token(token).await?;
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "a list does nothing until it is sent or awaited"]
pub struct ListBuilder {
    pub(crate) handle: NamespaceHandle,
    pub(crate) filter: Filter,
    pub(crate) page_size: usize,
    pub(crate) page_token: String,
    pub(crate) agent_id: Option<String>,
}

impl ListBuilder {
    pub(crate) fn new(handle: NamespaceHandle, filter: Filter) -> ListBuilder {
        ListBuilder {
            handle,
            filter,
            page_size: PAGE_SIZE_DEFAULT,
            page_token: String::new(),
            agent_id: None,
        }
    }

    /// Most memories of a page, 1–1,000; 50 unless said.
    pub fn page_size(self, page_size: usize) -> ListBuilder {
        ListBuilder { page_size, ..self }
    }

    /// What the page before gave; the filter must be the same.
    pub fn page_token(self, token: impl Into<String>) -> ListBuilder {
        ListBuilder { page_token: token.into(), ..self }
    }

    /// The agent that asks; it sees its own memories beside the shared ones.
    pub fn agent(self, agent_id: impl Into<String>) -> ListBuilder {
        ListBuilder { agent_id: Some(agent_id.into()), ..self }
    }

    /// Fetches one page.
    ///
    /// # Errors
    /// What the server answers, or that it can't be reached.
    pub async fn send(self) -> Result<Page, Error> {
        let handle = self.handle.clone();
        handle.page(self).await
    }

    /// Every memory from here on; pages are fetched as they are needed.
    ///
    /// ```no_run
    /// # async fn example(ops: hindsight_client::NamespaceHandle) -> Result<(), hindsight_client::Error> {
    /// let mut memories = ops.list(hindsight_client::Filter::default()).all();
    /// while let Some(memory) = memories.next().await? {
    ///     println!("{} {}", memory.id, memory.content);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn all(self) -> Memories {
        Memories { next: Some(self), fetched: VecDeque::new() }
    }
}

impl IntoFuture for ListBuilder {
    type Output = Result<Page, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}

/// Memories, fetched page by page as they are taken.
#[derive(Debug)]
#[must_use = "nothing is fetched until a memory is asked for"]
pub struct Memories {
    /// The page to fetch next; none after the last.
    next: Option<ListBuilder>,
    fetched: VecDeque<Memory>,
}

impl Memories {
    /// The next memory; none after the last. A call that fails may be made again and goes on where it stood.
    ///
    /// # Errors
    /// What the server answers, or that it can't be reached.
    pub async fn next(&mut self) -> Result<Option<Memory>, Error> {
        while self.fetched.is_empty() {
            let Some(request) = &self.next else { return Ok(None) };
            let page = request.clone().send().await?;
            self.next = match page.next_page_token {
                // The same page again and again would never end.
                Some(token) if token == request.page_token => {
                    let same = Invalid::one("next_page_token", "is the token of the page itself");
                    return Err(Error::unreadable(same));
                }
                token => token.and_then(|token| Some(self.next.take()?.page_token(token))),
            };
            self.fetched = page.memories.into();
        }
        Ok(self.fetched.pop_front())
    }

    /// The same as a stream; it ends after the first error.
    pub fn into_stream(self) -> impl Stream<Item = Result<Memory, Error>> + Send {
        futures_util::stream::try_unfold(self, |mut memories| async move {
            Ok(memories.next().await?.map(|memory| (memory, memories)))
        })
    }
}
