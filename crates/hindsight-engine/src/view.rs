//! How recall reads a namespace: the indexes of its two shelves behind the query's own trait.

use std::cell::Cell;
use std::sync::Arc;

use hindsight_core::explain::Barrier;
use hindsight_core::{
    AsOf, Axis, Embedding, Kind, Lsn, Memory, MemoryId, Reason, Recall, Record, State, Timestamp, VectorRole,
    learn,
};
use hindsight_index::{
    EntityPart, EntityQuery, EntitySearch, KeywordQuery, Ordinal, Scored, Selection, Shelf, Shelves,
    VectorQuery, each_text,
};
use hindsight_query::{Allowed, Facts, ReadView, VectorWay};

use crate::gate::{Gate, by_state};
use crate::state::NamespaceState;

/// A memory's place: on which shelf, in which slot. Active ones come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    inactive: bool,
    ordinal: Ordinal,
}

/// An exact set of memories on both shelves; the inactive part is empty unless history or the archive was asked for.
#[derive(Debug)]
pub(crate) struct PlaceSet {
    active: Selection,
    inactive: Selection,
}

/// What a query names, bound to both shelves.
#[derive(Debug)]
pub(crate) struct Named<'a> {
    query: EntityQuery,
    active: EntitySearch<'a>,
    inactive: EntitySearch<'a>,
}

impl<'a> Named<'a> {
    fn at(&self, place: Place) -> &EntitySearch<'a> {
        if place.inactive { &self.inactive } else { &self.active }
    }
}

/// A namespace at one log position.
#[derive(Debug)]
pub(crate) struct View<'a> {
    state: &'a NamespaceState,
    shelves: Shelves,
}

impl<'a> View<'a> {
    /// The view that `recall` needs. The shelf of what is not active is not even looked at unless it is asked for.
    pub(crate) fn new(state: &'a NamespaceState, recall: &Recall) -> View<'a> {
        let both = recall.include_archived || recall.include_history || recall.as_of.is_some();
        View { state, shelves: if both { Shelves::Both } else { Shelves::Active } }
    }

    fn record(&self, place: Place) -> Option<&Record> {
        self.state.record(self.shelf(place).id(place.ordinal)).map(Arc::as_ref)
    }

    fn shelf(&self, place: Place) -> &Shelf {
        if place.inactive { self.state.index.inactive() } else { self.state.index.active() }
    }

    /// The texts of a shelf's memories, to look for what a query quotes.
    fn texts_of<'s>(&'s self, shelf: &'s Shelf) -> impl Fn(Ordinal, &mut dyn FnMut(&str)) + 's {
        move |ordinal, take| {
            if let Some(record) = self.state.record(shelf.id(ordinal)) {
                each_text(&record.memory, take);
            }
        }
    }

    /// Merges what both shelves found, best first; the shelves' own orders are exact, so the merged one is.
    fn both<T>(
        &self,
        set: &PlaceSet,
        limit: usize,
        find: impl Fn(&Shelf, &Selection) -> Vec<T>,
        better: impl Fn(&(Place, T), &(Place, T)) -> std::cmp::Ordering,
        ordinal: impl Fn(&T) -> Ordinal,
    ) -> Vec<(Place, T)> {
        let place = |inactive, found: T| (Place { inactive, ordinal: ordinal(&found) }, found);
        let active = find(self.state.index.active(), &set.active);
        let mut found: Vec<(Place, T)> = active.into_iter().map(|one| place(false, one)).collect();
        if self.shelves == Shelves::Both {
            let inactive = find(self.state.index.inactive(), &set.inactive);
            found.extend(inactive.into_iter().map(|one| place(true, one)));
            found.sort_by(better);
            found.truncate(limit);
        }
        found
    }

    fn newest_first(&self, places: Vec<(Place, Ordinal)>) -> Vec<Place> {
        places.into_iter().map(|(place, _)| place).collect()
    }

    fn occurred(&self, place: Place) -> Option<Timestamp> {
        Some(self.shelf(place).hot(place.ordinal)?.occurred_at)
    }
}

fn way_of(way: hindsight_index::VectorWay) -> VectorWay {
    match way {
        hindsight_index::VectorWay::Scan => VectorWay::Scan,
        hindsight_index::VectorWay::GaveUp => VectorWay::GaveUp,
        hindsight_index::VectorWay::Graph { ef, covered, newer } => VectorWay::Graph { ef, covered, newer },
    }
}

fn scored(found: Vec<(Place, Scored)>) -> Vec<(Place, f32)> {
    found.into_iter().map(|(place, scored)| (place, scored.score)).collect()
}

impl<'a> ReadView for View<'a> {
    type Id = Place;
    type Set = PlaceSet;
    type Terms = KeywordQuery;
    /// Absent only when the vector is not of the namespace's dimension, which the engine has refused before.
    type Vector = Option<VectorQuery>;
    type Entities = Named<'a>;

    fn revision(&self) -> Lsn {
        self.state.applied
    }

    fn allowed(&self, allowed: &Allowed<'_>) -> PlaceSet {
        let gate = Gate { state: self.state, allowed };
        let inactive = match self.shelves {
            Shelves::Active => Selection::default(),
            Shelves::Both => gate.set(true),
        };
        PlaceSet { active: gate.set(false), inactive }
    }

    fn place(&self, set: &PlaceSet, allowed: &Allowed<'_>, id: MemoryId) -> Result<Place, Barrier> {
        let none = || Barrier::new(Reason::NoSuchMemory, "there is no memory with this id");
        let memory = &self.state.record(id).ok_or_else(none)?.memory;
        if !memory.is_visible_to(allowed.agent) {
            return Err(Barrier::new(Reason::OtherAgents, "another agent keeps it to itself"));
        }
        let on = |inactive: bool, shelf: &Shelf| shelf.ordinal(id).map(|ordinal| Place { inactive, ordinal });
        let active = on(false, self.state.index.active());
        let place = active.or_else(|| on(true, self.state.index.inactive()));
        let Some(place) = place else { return Err(by_state(memory)) };
        let among = if place.inactive { &set.inactive } else { &set.active };
        if among.contains(place.ordinal) {
            return Ok(place);
        }
        let barrier = Gate { state: self.state, allowed }.barrier(place.inactive, place.ordinal, memory);
        Err(barrier.unwrap_or_else(|| by_state(memory)))
    }

    fn first_at(&self, axis: Axis, agent: Option<&str>) -> Option<Timestamp> {
        let memories = self.state.present().map(|record| &record.memory);
        let seen =
            memories.filter(|memory| memory.is_visible_to(agent) && memory.state != State::Quarantined);
        let first = |memory: &Memory| match axis {
            Axis::Valid => learn::holds_from(memory),
            Axis::Known => memory.created_at,
        };
        seen.map(first).min()
    }

    fn count(&self, set: &PlaceSet) -> u64 {
        u64::try_from(set.active.len() + set.inactive.len()).unwrap_or(u64::MAX)
    }

    fn prepare(&self, query: &Embedding) -> Option<VectorQuery> {
        self.state.index.vector_query(query).ok()
    }

    fn vector_top(
        &self,
        set: &PlaceSet,
        query: &Option<VectorQuery>,
        limit: usize,
        exact: bool,
    ) -> (Vec<(Place, f32)>, VectorWay) {
        let Some(query) = query else { return (Vec::new(), VectorWay::Scan) };
        let way = Cell::new(VectorWay::Scan);
        let find = |shelf: &Shelf, selection: &Selection| {
            if exact {
                return shelf.vector_top(selection, query, limit);
            }
            let (found, went) = shelf.vector_top_by_graph(selection, query, limit);
            // The shelf of what is not active has no graph, and can't tell what the other one did.
            if went != hindsight_index::VectorWay::Scan {
                way.set(way_of(went));
                self.state.gauge.answered(query, selection, limit, went);
            }
            found
        };
        let better =
            |a: &(Place, Scored), b: &(Place, Scored)| b.1.score.total_cmp(&a.1.score).then(a.0.cmp(&b.0));
        (scored(self.both(set, limit, find, better, |found| found.ordinal)), way.get())
    }

    fn vector_score(&self, id: Place, query: &Option<VectorQuery>) -> Option<f32> {
        self.shelf(id).vectors().score(id.ordinal, query.as_ref()?)
    }

    fn analyse(&self, text: &str) -> KeywordQuery {
        self.state.index.keyword_query(text, self.shelves)
    }

    fn keyword_bound(&self, terms: &KeywordQuery) -> f64 {
        terms.bound()
    }

    fn keyword_top(&self, set: &PlaceSet, terms: &KeywordQuery, limit: usize) -> Vec<(Place, f32)> {
        scored(self.both(
            set,
            limit,
            |shelf, selection| shelf.keyword_top_quoting(selection, terms, limit, &self.texts_of(shelf)),
            |a, b| b.1.score.total_cmp(&a.1.score).then(a.0.cmp(&b.0)),
            |found| found.ordinal,
        ))
    }

    fn keyword_score(&self, id: Place, terms: &KeywordQuery) -> f32 {
        let shelf = self.shelf(id);
        let score = shelf.lexical().search(terms).score_quoting(id.ordinal, &self.texts_of(shelf));
        score.unwrap_or(0.0)
    }

    fn matched_terms(&self, id: Place, terms: &KeywordQuery) -> Vec<String> {
        let shelf = self.shelf(id);
        let search = shelf.lexical().search(terms);
        let mut matched = search.matched_terms(id.ordinal);
        matched.extend(search.quotations(id.ordinal, &self.texts_of(shelf)));
        matched
    }

    fn entities(&self, set: &PlaceSet, text: &str) -> Named<'a> {
        let (active, inactive) = (self.state.index.active(), self.state.index.inactive());
        let parts = [
            EntityPart { shelf: active, allowed: &set.active },
            EntityPart { shelf: inactive, allowed: &set.inactive },
        ];
        let looked_at = if self.shelves == Shelves::Both { 2 } else { 1 };
        let query = EntityQuery::new(text, parts.get(..looked_at).unwrap_or_default());
        Named { active: active.entity_search(&query), inactive: inactive.entity_search(&query), query }
    }

    fn entity_names(&self, entities: &Named<'a>) -> Vec<String> {
        entities.query.names()
    }

    fn entity_top(&self, set: &PlaceSet, entities: &Named<'a>, limit: usize) -> Vec<(Place, f32)> {
        let at = |inactive, shelf: &Shelf, selection: &Selection, search: &EntitySearch<'_>| {
            let found = shelf.entity_top(selection, search, limit).into_iter();
            found
                .map(|one| (Place { inactive, ordinal: one.ordinal }, one.score))
                .collect::<Vec<(Place, f32)>>()
        };
        let mut places = at(false, self.state.index.active(), &set.active, &entities.active);
        if self.shelves == Shelves::Both {
            places.extend(at(true, self.state.index.inactive(), &set.inactive, &entities.inactive));
            places.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            places.truncate(limit);
        }
        places
    }

    fn entity_score(&self, id: Place, entities: &Named<'a>) -> f64 {
        entities.at(id).score(id.ordinal)
    }

    fn entity_paths(&self, id: Place, entities: &Named<'a>) -> Vec<String> {
        entities.at(id).paths(&entities.query, id.ordinal)
    }

    fn happened_between(&self, set: &PlaceSet, from: Timestamp, to: Timestamp, limit: usize) -> Vec<Place> {
        let inside = |shelf: &Shelf, selection: &Selection| {
            shelf.newest(&shelf.occurred_between(Some(from), Some(to)).and(selection), limit)
        };
        let newer = |a: &(Place, Ordinal), b: &(Place, Ordinal)| {
            self.occurred(b.0).cmp(&self.occurred(a.0)).then(a.0.cmp(&b.0))
        };
        self.newest_first(self.both(set, limit, inside, newer, |ordinal| *ordinal))
    }

    fn newest(&self, set: &PlaceSet, limit: usize) -> Vec<Place> {
        let newer = |a: &(Place, Ordinal), b: &(Place, Ordinal)| {
            self.occurred(b.0).cmp(&self.occurred(a.0)).then(a.0.cmp(&b.0))
        };
        let find = |shelf: &Shelf, selection: &Selection| shelf.newest(selection, limit);
        self.newest_first(self.both(set, limit, find, newer, |ordinal| *ordinal))
    }

    fn neighbours(&self, set: &PlaceSet, id: Place, within_ms: i64) -> Vec<Place> {
        let neighbours = self.shelf(id).neighbours(id.ordinal, within_ms);
        let allowed = if id.inactive { &set.inactive } else { &set.active };
        let beside = [neighbours.before, neighbours.after].into_iter().flatten();
        let beside = beside.filter(|ordinal| allowed.contains(*ordinal));
        beside.map(|ordinal| Place { inactive: id.inactive, ordinal }).collect()
    }

    fn facts(&self, id: Place) -> Facts {
        let shelf = self.shelf(id);
        // A handle that a selection or search of this very view named has its facts; the fallback is never seen.
        let hot = shelf.hot(id.ordinal);
        Facts {
            id: shelf.id(id.ordinal),
            kind: hot.map_or(Kind::Fact, |hot| hot.kind),
            status: hot.and_then(|hot| hot.status),
            source: hot.map_or(hindsight_core::SourceKind::External, |hot| hot.source_kind),
            importance: hot.map_or(0.0, |hot| hot.importance),
            confidence: hot.map_or(0.0, |hot| hot.confidence),
            occurred_at: hot.map_or(Timestamp::MIN, |hot| hot.occurred_at),
            useful_at: hot.map_or(Timestamp::MIN, |hot| hot.useful_at),
            used_count: hot.map_or(0, |hot| hot.used_count),
            access_count: hot.map_or(0, |hot| hot.access_count),
            idle_since: hot.and_then(|hot| hot.idle_since()),
            transient_failure: hot.is_some_and(|hot| hot.transient_failure),
        }
    }

    fn memory(&self, id: Place) -> Option<&Memory> {
        Some(&self.record(id)?.memory)
    }

    fn content_vector(&self, id: Place) -> Option<&[f32]> {
        let mut vectors = self.record(id)?.vectors.iter();
        let content = vectors.find(|vector| vector.role == VectorRole::Content);
        content.map(|vector| vector.embedding.as_slice())
    }

    fn changed_since(&self, id: Place, as_of: AsOf) -> bool {
        let memory = self.memory(id);
        memory.is_some_and(|memory| as_of.changed_since(memory, self.state.successor(memory)))
    }
}

#[cfg(test)]
mod tests {
    use hindsight_core::{Claim, Draft, Entity, Namespace, Recall, Scope};

    use crate::{Engine, Options, WriteItem, WriteOptions};

    fn allergic(scope: Scope) -> Draft {
        let claim = Claim {
            subject: "Ann".to_owned(),
            attribute: "allergic_to".to_owned(),
            value: "peanuts".to_owned(),
            single_valued: false,
        };
        Draft {
            content: "no satay".to_owned(),
            claims: vec![claim],
            scope: Some(scope),
            agent_id: Some("cook".to_owned()),
            ..Draft::default()
        }
    }

    fn moved() -> Draft {
        let ann = Entity { name: "Ann".to_owned(), kind: "person".to_owned() };
        Draft { content: "moved to Bern".to_owned(), entities: vec![ann], ..Draft::default() }
    }

    #[test]
    fn r4_a_hop_leads_on_and_one_that_may_not_be_seen_does_not() {
        let dir = tempfile::tempdir().unwrap();
        let (engine, _) = Engine::open(dir.path(), Options::default()).unwrap();
        let paths = |namespace: &Namespace, agent: Option<&str>| -> Vec<(String, Vec<String>)> {
            let agent_id = agent.map(str::to_owned);
            let question = Recall { query: "peanuts?".to_owned(), agent_id, ..Recall::default() };
            let recalled = engine.recall(namespace, &question).unwrap().wait().unwrap();
            recalled.hits.into_iter().map(|hit| (hit.memory.content, hit.breakdown.path)).collect()
        };
        let [open, private] = [("open", Scope::Shared), ("private", Scope::Agent)].map(|(name, scope)| {
            let namespace: Namespace = name.parse().unwrap();
            for draft in [allergic(scope), moved()] {
                let item = WriteItem::new(draft, None);
                engine.write(&namespace, item, WriteOptions::default()).unwrap().wait().unwrap();
            }
            namespace
        });
        let led = |content: &str, path: &str| (content.to_owned(), vec![path.to_owned()]);
        let expected = [led("no satay", "peanuts"), led("moved to Bern", "peanuts → allergic to → ann")];
        assert_eq!(paths(&open, None), expected);
        assert_eq!(paths(&private, None), []);
        assert_eq!(paths(&private, Some("cook")), expected);
    }
}
