//! Writing one memory, and many.

use hindsight_core::limits::BATCH_ITEMS_MAX;
use hindsight_core::{Draft, Invalid, Namespace, OnDuplicate, RawVectors};

use crate::gather::Gather;
use crate::{draft, text, v1, vectors, words};

/// A memory to write, with its vectors.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WriteEntry {
    /// The memory, unchecked.
    pub draft: Draft,
    /// Vectors that the client made, unchecked; without them the server embeds the texts.
    pub vectors: Option<RawVectors>,
}

impl WriteEntry {
    fn from_wire(
        memory: Option<v1::Memory>,
        vectors: Vec<v1::Vector>,
        embedding_model: String,
        namespace: &str,
    ) -> Result<WriteEntry, Invalid> {
        let mut gather = Gather::default();
        let memory = memory.ok_or_else(|| text::missing("memory"));
        let entry = WriteEntry {
            draft: gather.keep(memory.and_then(|memory| draft::from_wire(memory, namespace))),
            vectors: gather.keep(vectors::from_wire(vectors, embedding_model)),
        };
        gather.finish().map(|()| entry)
    }
}

/// A request to store one memory.
#[derive(Debug, Clone, PartialEq)]
pub struct WriteCall {
    /// Where it goes.
    pub namespace: Namespace,
    /// What is stored.
    pub entry: WriteEntry,
    /// Check and answer, but store nothing.
    pub validate_only: bool,
    /// What happens when the same is known already.
    pub on_duplicate: Option<OnDuplicate>,
    /// Store it though what it says was forgotten or purged.
    pub allow_forgotten: bool,
    /// The caller's own id of the request.
    pub request_id: Option<String>,
}

impl WriteCall {
    /// Reads a request. Fields of the memory are named as they stand in it (`importance`, `episode.ended_at`).
    ///
    /// # Errors
    /// Every field that can't be read.
    pub fn from_wire(wire: v1::WriteRequest) -> Result<WriteCall, Invalid> {
        let mut gather = Gather::default();
        let entry = WriteEntry::from_wire(wire.memory, wire.vectors, wire.embedding_model, &wire.namespace);
        let entry = gather.keep(entry);
        let request_id = gather.keep(super::request_id(wire.request_id));
        let on_duplicate = gather.keep(words::optional("on_duplicate", wire.on_duplicate));
        let namespace = gather.keep_some(super::namespace(&wire.namespace));
        let (validate_only, allow_forgotten) = (wire.validate_only, wire.allow_forgotten);
        super::finish(gather, namespace, |namespace| WriteCall {
            namespace,
            entry,
            validate_only,
            on_duplicate,
            allow_forgotten,
            request_id,
        })
    }

    /// The request for the wire.
    ///
    /// # Errors
    /// When a number would lose digits there.
    pub fn into_wire(self) -> Result<v1::WriteRequest, Invalid> {
        draft::check_exact(&self.entry.draft)?;
        let (vectors, embedding_model) = vectors::to_wire(self.entry.vectors);
        Ok(v1::WriteRequest {
            namespace: self.namespace.to_string(),
            memory: Some(self.entry.draft.into()),
            vectors,
            embedding_model,
            validate_only: self.validate_only,
            on_duplicate: words::number(self.on_duplicate),
            allow_forgotten: self.allow_forgotten,
            request_id: text::or_empty(self.request_id),
        })
    }
}

/// A request to store many memories, as a server reads it.
#[derive(Debug, Clone, PartialEq)]
pub struct BatchWriteCall {
    /// Where they go.
    pub namespace: Namespace,
    /// The items in their order; one that can't be read is refused by itself.
    pub items: Vec<Result<WriteEntry, Invalid>>,
    /// Store nothing when any item is bad.
    pub all_or_nothing: bool,
    /// What happens with an item that says what is known already.
    pub on_duplicate: Option<OnDuplicate>,
    /// Store what was forgotten or purged, too.
    pub allow_forgotten: bool,
    /// The caller's own id of the request.
    pub request_id: Option<String>,
}

impl BatchWriteCall {
    /// Reads a request.
    ///
    /// # Errors
    /// What is wrong with the request as a whole; a bad item is an `Err` in its place.
    pub fn from_wire(wire: v1::BatchWriteRequest) -> Result<BatchWriteCall, Invalid> {
        check_count(wire.items.len())?;
        let mut gather = Gather::default();
        let request_id = gather.keep(super::request_id(wire.request_id));
        let on_duplicate = gather.keep(words::optional("on_duplicate", wire.on_duplicate));
        let namespace = gather.keep_some(super::namespace(&wire.namespace));
        let (all_or_nothing, allow_forgotten) = (wire.all_or_nothing, wire.allow_forgotten);
        let (items, place) = (wire.items.into_iter(), wire.namespace);
        let items = items
            .map(|item| WriteEntry::from_wire(item.memory, item.vectors, item.embedding_model, &place))
            .collect();
        super::finish(gather, namespace, |namespace| BatchWriteCall {
            namespace,
            items,
            all_or_nothing,
            on_duplicate,
            allow_forgotten,
            request_id,
        })
    }
}

/// The request to store many memories, for the wire.
///
/// # Errors
/// When there are too many, or a number would lose digits there.
pub fn batch_to_wire(
    namespace: &Namespace,
    entries: Vec<WriteEntry>,
    all_or_nothing: bool,
    on_duplicate: Option<OnDuplicate>,
    allow_forgotten: bool,
    request_id: Option<String>,
) -> Result<v1::BatchWriteRequest, Invalid> {
    check_count(entries.len())?;
    let entries = entries.into_iter().enumerate();
    let items = entries.map(|(index, entry)| {
        draft::check_exact(&entry.draft).map_err(|invalid| invalid.under(&format!("items[{index}].")))?;
        let (vectors, embedding_model) = vectors::to_wire(entry.vectors);
        Ok(v1::BatchItem { memory: Some(entry.draft.into()), vectors, embedding_model })
    });
    Ok(v1::BatchWriteRequest {
        namespace: namespace.to_string(),
        items: items.collect::<Result<_, Invalid>>()?,
        all_or_nothing,
        on_duplicate: words::number(on_duplicate),
        allow_forgotten,
        request_id: text::or_empty(request_id),
    })
}

fn check_count(items: usize) -> Result<(), Invalid> {
    if items > BATCH_ITEMS_MAX {
        return Err(Invalid::one("items", format!("has {items} items: at most {BATCH_ITEMS_MAX}")));
    }
    Ok(())
}
