//! A shelf: one complete set of indexes over one set of memories.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hindsight_core::{Embedding, Filter, MemoryId, Record, Scope, Timestamp};

use crate::bitmap::{BitmapIndex, Field};
use crate::hot::HotColumns;
use crate::ordinal::Ordinals;
use crate::snapshot::wire::{Reader, Writer};
use crate::snapshot::{SnapshotError, lists, unsound};
use crate::{
    EntityIndex, EntityQuery, EntitySearch, Hot, IndexError, KeywordQuery, LexicalIndex, Ordinal, Scored,
    Selection, ShelfStats, Texts, VectorIndex, VectorQuery, VectorWay, each_text,
};

/// The indexes over one set of memories of a namespace. Reads only; changes come through [`crate::NamespaceIndex`].
#[derive(Debug, Default)]
pub struct Shelf {
    ordinals: Ordinals,
    hot: HotColumns,
    bitmaps: BitmapIndex,
    lexical: LexicalIndex,
    entities: EntityIndex,
    vectors: VectorIndex,
}

/// A session of up to this many memories is walked for neighbours; of a larger one those near in time are.
const SESSION_WALK_MAX: usize = 512;

/// The memories next to one in its session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Neighbours {
    /// The last one before it.
    pub before: Option<Ordinal>,
    /// The first one after it.
    pub after: Option<Ordinal>,
}

/// Which memories: sets, exact.
impl Shelf {
    /// How many memories it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ordinals.len()
    }

    /// Whether it holds none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ordinals.is_empty()
    }

    /// The slot of a memory, if it is here.
    #[must_use]
    pub fn ordinal(&self, id: MemoryId) -> Option<Ordinal> {
        self.ordinals.of(id)
    }

    /// The memory in a slot that a selection or a search of this shelf named.
    #[must_use]
    pub fn id(&self, ordinal: Ordinal) -> MemoryId {
        self.ordinals.id(ordinal)
    }

    /// What ranking needs to know of a memory.
    #[must_use]
    pub fn hot(&self, ordinal: Ordinal) -> Option<&Hot> {
        self.hot.get(ordinal)
    }

    /// Every memory of the shelf.
    #[must_use]
    pub fn all(&self) -> Selection {
        Selection(self.bitmaps.live().clone())
    }

    /// The memories that a filter matches at `now`: exactly those that [`Filter::matches`] says yes to.
    #[must_use]
    pub fn select(&self, filter: &Filter, now: Timestamp) -> Selection {
        Selection(self.bitmaps.select(filter, now, &|slot| self.hot(Ordinal(slot))))
    }

    /// The memories that are true in the world and not expired at `now`.
    #[must_use]
    pub fn current_at(&self, now: Timestamp) -> Selection {
        Selection(self.bitmaps.current_at(now, &|slot| self.hot(Ordinal(slot))))
    }

    /// The memories that an agent may see: the shared ones and its own (S1).
    #[must_use]
    pub fn visible_to(&self, agent: Option<&str>) -> Selection {
        let mut visible = self.bitmaps.with(Field::Scope, Scope::Shared.as_str());
        if let Some(agent) = agent {
            visible |= self.bitmaps.with(Field::Agent, agent);
        }
        Selection(visible)
    }

    /// The memories that happened from `from` on and before `to`; an end that is absent is open.
    #[must_use]
    pub fn occurred_between(&self, from: Option<Timestamp>, to: Option<Timestamp>) -> Selection {
        Selection(self.bitmaps.occurred_between(from, to, None, &|slot| self.hot(Ordinal(slot))))
    }

    /// The memories that the database learned from `from` on and before `to`; an end that is absent is open.
    #[must_use]
    pub fn created_between(&self, from: Option<Timestamp>, to: Option<Timestamp>) -> Selection {
        Selection(self.bitmaps.created_between(from, to, &|slot| self.hot(Ordinal(slot))))
    }

    /// The memories of the same session right before and after this one, at most `within_ms` away.
    /// Of memories with the same time the one with the lower id comes first.
    #[must_use]
    pub fn neighbours(&self, ordinal: Ordinal, within_ms: i64) -> Neighbours {
        let (Some(hot), Some(session)) = (self.hot(ordinal), self.bitmaps.session_of(ordinal)) else {
            return Neighbours::default();
        };
        let at = hot.occurred_at;
        let (from, to) = (at.plus_ms(-within_ms), at.plus_ms(within_ms.saturating_add(1)));
        let place = |other: &Ordinal| (self.hot(*other).map(|hot| hot.occurred_at), self.id(*other));
        let here = place(&ordinal);
        let is_near =
            |other: &Ordinal| self.hot(*other).is_some_and(|hot| (from..to).contains(&hot.occurred_at));
        let others: Vec<Ordinal> = if session.len() <= SESSION_WALK_MAX {
            session.iter().map(Ordinal).filter(is_near).collect()
        } else {
            self.occurred_between(Some(from), Some(to))
                .iter()
                .filter(|other| session.contains(other.0))
                .collect()
        };
        Neighbours {
            before: others.iter().copied().filter(|other| place(other) < here).max_by_key(place),
            after: others.iter().copied().filter(|other| place(other) > here).min_by_key(place),
        }
    }
}

/// Which of them first: searches. Ties go to the newer memory (the higher id).
impl Shelf {
    /// The best `k` of the selection by cosine, best first. A memory counts once, with the best of its vectors; memories
    /// without a vector are not among them. Exact.
    #[must_use]
    pub fn vector_top(&self, selection: &Selection, query: &VectorQuery, k: usize) -> Vec<Scored> {
        self.vectors.top(selection, query, k, &|ordinal| self.tie(ordinal))
    }

    /// As [`Shelf::vector_top`], through the graph where there is one and it is the cheaper way; says which way it went. What
    /// is found has the same scores in the same order; a memory can be missed now and then.
    #[must_use]
    pub fn vector_top_by_graph(
        &self,
        selection: &Selection,
        query: &VectorQuery,
        k: usize,
    ) -> (Vec<Scored>, VectorWay) {
        self.vectors.top_by_graph(selection, query, k, &|ordinal| self.tie(ordinal))
    }

    /// The best `k` of the selection by BM25, best first. Memories that hold no term of the query are not among them.
    #[must_use]
    pub fn keyword_top(&self, selection: &Selection, query: &KeywordQuery, k: usize) -> Vec<Scored> {
        self.lexical.search(query).top(selection, k, &|ordinal| self.tie(ordinal))
    }

    /// As [`Shelf::keyword_top`], where who holds a quotation of the query word for word scores more. `texts` hands over the
    /// texts of a memory, as [`each_text`] does.
    #[must_use]
    pub fn keyword_top_quoting(
        &self,
        selection: &Selection,
        query: &KeywordQuery,
        k: usize,
        texts: Texts<'_>,
    ) -> Vec<Scored> {
        self.lexical.search(query).top_quoting(selection, k, &|ordinal| self.tie(ordinal), texts)
    }

    /// The best `k` of the selection by what the query names, best first. A name that very many of them bear brings none.
    #[must_use]
    pub fn entity_top(&self, selection: &Selection, search: &EntitySearch<'_>, k: usize) -> Vec<Scored> {
        search.top(selection, k, &|ordinal| self.tie(ordinal))
    }

    /// Binds what a query names to this shelf, to score memories one by one.
    #[must_use]
    pub fn entity_search(&self, query: &EntityQuery) -> EntitySearch<'_> {
        EntitySearch::new(self, query)
    }

    /// The `k` of the selection that happened last, newest first.
    #[must_use]
    pub fn newest(&self, selection: &Selection, k: usize) -> Vec<Ordinal> {
        let mut newest = BinaryHeap::with_capacity(k.min(1_024) + 1);
        for ordinal in selection.iter() {
            let Some(hot) = self.hot(ordinal) else { continue };
            newest.push(Reverse((hot.occurred_at, self.id(ordinal), ordinal)));
            if newest.len() > k {
                newest.pop();
            }
        }
        newest.into_sorted_vec().into_iter().map(|Reverse((_, _, ordinal))| ordinal).collect()
    }

    /// The keyword index: bind a query with [`LexicalIndex::search`] to score memories one by one.
    #[must_use]
    pub fn lexical(&self) -> &LexicalIndex {
        &self.lexical
    }

    /// The names and claims.
    #[must_use]
    pub fn entities(&self) -> &EntityIndex {
        &self.entities
    }

    /// The vector index: scores of single memories, how alike two are.
    #[must_use]
    pub fn vectors(&self) -> &VectorIndex {
        &self.vectors
    }

    /// Counts and estimated bytes.
    #[must_use]
    pub fn stats(&self) -> ShelfStats {
        ShelfStats {
            memories: self.len(),
            vectors: self.vectors.len(),
            lexical: self.lexical.stats(),
            values: self.bitmaps.values(),
            names: self.entities.len(),
            claims: self.entities.claims(),
            entity_bytes: self.entities.bytes(),
            ordinal_bytes: self.ordinals.bytes(),
            hot_bytes: self.hot.bytes(),
            bitmap_bytes: self.bitmaps.bytes(),
            vector_bytes: self.vectors.bytes(),
            graph: self.vectors.graph_stats(),
        }
    }

    fn tie(&self, ordinal: Ordinal) -> u128 {
        self.id(ordinal).as_u128()
    }
}

/// Changes.
impl Shelf {
    /// Brings a memory's entries to what a record says, whether it was here before or not.
    ///
    /// # Errors
    /// [`IndexError::Full`]; nothing has changed then.
    pub(crate) fn put(&mut self, record: &Record) -> Result<(), IndexError> {
        let memory = &record.memory;
        let ordinal = self.ordinals.take(memory.id)?;
        let (before, now) = (self.hot.remove(ordinal), Hot::of(memory));
        self.bitmaps.set(ordinal, memory, before.as_ref(), &now);
        self.hot.insert(ordinal, now);
        self.lexical.set(ordinal, |take| each_text(memory, take));
        self.entities.set(ordinal, memory);
        self.vectors.set(ordinal, record.vectors.iter().map(|vector| -> &Embedding { &vector.embedding }));
        Ok(())
    }

    /// Takes a memory out of every index and says whether it was here.
    pub(crate) fn remove(&mut self, id: MemoryId) -> bool {
        let Some(ordinal) = self.ordinals.release(id) else { return false };
        if let Some(hot) = self.hot.remove(ordinal) {
            self.bitmaps.remove(ordinal, &hot);
        }
        self.lexical.remove(ordinal);
        self.entities.remove(ordinal);
        self.vectors.remove(ordinal);
        true
    }

    /// How many slots were ever given out.
    pub(crate) fn slots(&self) -> u32 {
        self.ordinals.slots()
    }

    /// Everything but vectors in full and the graph, as bytes.
    pub(crate) fn save(&self, out: &mut Writer) {
        let live = self.bitmaps.live();
        out.u32(self.slots());
        lists::save_bitmap(out, live);
        self.ordinals.save(out, live);
        self.hot.save(out, live);
        self.bitmaps.save(out);
        self.lexical.save(out, live);
        self.entities.save(out);
        self.vectors.save(out, live);
    }

    /// What [`Shelf::save`] wrote.
    pub(crate) fn load(from: &mut Reader<'_>) -> Result<Shelf, SnapshotError> {
        // Each slot has 16 bytes of an id.
        let slots = u32::try_from(from.count(16)?).unwrap_or(u32::MAX);
        if slots > Ordinal::LIMIT {
            return Err(unsound("the number of slots"));
        }
        let live = lists::load_bitmap(from, slots)?;
        let ordinals = Ordinals::load(from, slots, &live)?;
        let hot = HotColumns::load(from, slots, &live)?;
        let bitmaps = BitmapIndex::load(from, slots, live)?;
        let live = bitmaps.live();
        let lexical = LexicalIndex::load(from, slots, live)?;
        let entities = EntityIndex::load(from, slots)?;
        let vectors = VectorIndex::load(from, slots, live)?;
        Ok(Shelf { ordinals, hot, bitmaps, lexical, entities, vectors })
    }

    /// Takes the vectors in full of a memory that is here. False when its rows are not as many, or of another dimension.
    pub(crate) fn take_vectors<'v>(
        &mut self,
        id: MemoryId,
        vectors: impl ExactSizeIterator<Item = &'v [f32]>,
    ) -> bool {
        self.ordinals.of(id).is_some_and(|ordinal| self.vectors.take_full(ordinal, vectors))
    }

    /// The vectors, to build or install a graph over them.
    pub(crate) fn vectors_mut(&mut self) -> &mut VectorIndex {
        &mut self.vectors
    }
}
