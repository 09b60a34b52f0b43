//! Which texts get a vector from the server's embedder, and what to do where they can't.

use hindsight_core::{MemoryId, Namespace, RawVector, RawVectors, VectorRole};
use hindsight_engine::{Maker, WriteItem};

use super::{AppError, Worker};

/// The texts of a memory that vectors stand for.
pub(super) struct Texts<'a> {
    pub(super) content: &'a str,
    pub(super) summary: &'a str,
}

impl Texts<'_> {
    fn with_roles(&self) -> [(VectorRole, &str); 2] {
        [(VectorRole::Content, self.content), (VectorRole::Summary, self.summary)]
    }
}

impl Worker {
    /// Whether vectors of this server's model fit the namespace: it has that model, or none yet.
    pub(super) fn fits(&self, namespace: &Namespace) -> bool {
        self.engine.model(namespace).is_none_or(|model| {
            model.name == self.embedder.model() && model.dimension == self.embedder.dimension()
        })
    }

    /// Vectors for each set of texts: none where nothing can be embedded.
    pub(super) fn vectors_of(&self, all: &[Texts<'_>]) -> Result<Vec<Option<RawVectors>>, AppError> {
        let mut made: Vec<Vec<RawVector>> = all.iter().map(|_| Vec::new()).collect();
        let wanted: Vec<(usize, VectorRole, &str)> = all
            .iter()
            .enumerate()
            .flat_map(|(index, texts)| texts.with_roles().map(|(role, text)| (index, role, text)))
            .filter(|(_, _, text)| self.deserves_a_vector(text))
            .collect();
        for chunk in wanted.chunks(hindsight_embed::limits::BATCH_TEXTS_MAX) {
            let texts: Vec<&str> = chunk.iter().map(|(_, _, text)| *text).collect();
            for ((index, role, _), values) in chunk.iter().zip(self.embedder.embed(&texts)?) {
                if let (Some(values), Some(vectors)) = (values, made.get_mut(*index)) {
                    vectors.push(RawVector { role: *role, values });
                }
            }
        }
        let model = || self.embedder.model().to_owned();
        Ok(made
            .into_iter()
            .map(|vectors| (!vectors.is_empty()).then(|| RawVectors { model: model(), vectors }))
            .collect())
    }

    /// Gives vectors to items that came without; says which got some.
    pub(super) fn embed_items(
        &self,
        namespace: &Namespace,
        items: &mut [WriteItem],
    ) -> Result<Vec<usize>, AppError> {
        if !self.fits(namespace) {
            return Ok(Vec::new());
        }
        let bare: Vec<usize> = items
            .iter()
            .enumerate()
            .filter(|(_, item)| item.vectors.is_none())
            .map(|(index, _)| index)
            .collect();
        let texts: Vec<Texts<'_>> = bare
            .iter()
            .filter_map(|index| items.get(*index))
            .map(|item| Texts { content: &item.draft.content, summary: &item.draft.summary })
            .collect();
        let made = self.vectors_of(&texts)?;
        for (index, vectors) in bare.iter().zip(made) {
            if let Some(item) = items.get_mut(*index) {
                item.vectors = vectors;
                item.maker = Maker::Server;
            }
        }
        Ok(bare)
    }

    /// The texts that a memory has now, if it can be read.
    pub(super) fn present_texts(&self, namespace: &Namespace, id: MemoryId) -> Option<(String, String)> {
        self.engine.texts(namespace, id)
    }

    fn deserves_a_vector(&self, text: &str) -> bool {
        let text = text.trim();
        !text.is_empty() && text.chars().nth(self.min_chars.saturating_sub(1)).is_some()
    }
}
