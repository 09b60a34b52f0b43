//! Holds what the engine answers against what the model says.

use hindsight_core::{Durability, Embedding, Memory, MemoryId, Mode, Recall, State, Timestamp};
use hindsight_engine::{ListRequest, Unsynced};

use super::disk::Engine;
use super::known::Known;
use super::model::{Model, World};
use super::random::Random;
use super::request::{
    Item, MODEL, NAMESPACES, chunk_of, chunk_tag, item_of, item_tag, namespace, recall_of_all, tagged, vector,
};
use super::space::Space;

/// Nothing, or what is wrong.
pub(super) type Outcome<T = ()> = Result<T, String>;

/// Everything that can be seen from outside.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Picture {
    pub(super) lsn: u64,
    pub(super) memories: Vec<Memory>,
    /// Hits with the bits of their scores, of every recall that was asked.
    hits: Vec<(MemoryId, u64)>,
}

pub(super) fn every_state() -> ListRequest {
    let filter = hindsight_core::Filter { states: State::ALL.to_vec(), ..hindsight_core::Filter::default() };
    ListRequest { filter, page_size: 1_000, ..ListRequest::default() }
}

/// Holds a whole list of a namespace, memories in every state, against the model. Returns the ids of all items.
pub(super) fn list(model: &Model, space: &Space, found: &[Memory]) -> Outcome<Vec<(Item, MemoryId)>> {
    let mut ids = Vec::with_capacity(found.len());
    for memory in found {
        let item = item_of(&memory.tags).ok_or_else(|| format!("{} was never written", memory.id))?;
        let known = space.items.get(&item).ok_or_else(|| format!("item {item} is there and must not be"))?;
        same(item, known, memory)?;
        if model.id(item).is_some_and(|id| id != memory.id) {
            return Err(format!("item {item} has another id than before: {}", memory.id));
        }
        ids.push((item, memory.id));
    }
    let mut items: Vec<Item> = ids.iter().map(|(item, _)| *item).collect();
    items.sort_unstable();
    match space.items.keys().find(|item| items.binary_search(item).is_err()) {
        Some(lost) => Err(format!("item {lost} is lost")),
        None if items.len() != space.items.len() => Err("an item is there twice".to_owned()),
        None if !found.is_sorted_by(|a, b| a.id < b.id) => {
            Err("a list is not in the order of ids".to_owned())
        }
        None => Ok(ids),
    }
}

/// Holds one memory against the model, its id aside.
pub(super) fn same(item: Item, known: &Known, found: &Memory) -> Outcome {
    let expected = Memory { id: found.id, ..known.memory.clone() };
    if expected == *found {
        return Ok(());
    }
    Err(format!("item {item} is not what was written:\nexpected {expected:?}\nfound    {found:?}"))
}

/// Reads every memory by its id, before any namespace was loaded for another reason. Returns how many of them needed no
/// loading.
pub(super) fn cold(engine: &Engine, model: &Model, world: &World) -> Outcome<u64> {
    let mut cold_reads = 0;
    for (index, space) in world.iter().enumerate() {
        for (item, known) in &space.items {
            let Some(id) = model.id(*item) else { continue };
            let got = engine.get(&namespace(index), id, None).and_then(Unsynced::wait).map_err(told)?;
            if got.revision.0 != space.applied {
                return Err(format!("item {item} as of lsn {}, expected {}", got.revision, space.applied));
            }
            same(*item, known, &got.memory)?;
            cold_reads += u64::from(!engine.is_loaded(&namespace(index)));
        }
    }
    Ok(cold_reads)
}

/// Holds everything that the engine shows against the model's world; what it shows must be synced.
pub(super) fn world(
    engine: &Engine,
    model: &Model,
    world: &World,
    now_ms: u64,
    seed: u64,
) -> Outcome<Picture> {
    let mut picture = Picture { lsn: engine.revision().0, ..Picture::default() };
    let written = |space: &usize| world[*space].exists();
    let (found, _) = engine.namespaces(None, 10).and_then(Unsynced::wait).map_err(told)?;
    let found: Vec<(&str, u64)> = found.iter().map(|one| (one.name.as_str(), one.memories)).collect();
    let present = |space: &Space| {
        space.items.values().filter(|known| known.memory.state != State::Forgotten).count() as u64
    };
    let expected: Vec<(&str, u64)> = (0..NAMESPACES.len())
        .filter(written)
        .map(|space| (NAMESPACES[space], present(&world[space])))
        .collect();
    if found != expected {
        return Err(format!("namespaces are {found:?}, expected {expected:?}"));
    }
    for (index, space) in world.iter().enumerate().filter(|(_, space)| space.exists()) {
        one(engine, model, index, space, now_ms, seed, &mut picture)
            .map_err(|wrong| format!("namespace {:?}: {wrong}", NAMESPACES[index]))?;
    }
    Ok(picture)
}

fn one(
    engine: &Engine,
    model: &Model,
    index: usize,
    space: &Space,
    now_ms: u64,
    seed: u64,
    picture: &mut Picture,
) -> Outcome {
    let name = namespace(index);
    let page = engine.list(&name, &every_state()).and_then(|page| page.wait()).map_err(told)?;
    if page.revision.0 != space.applied {
        return Err(format!("is at lsn {}, expected {}", page.revision, space.applied));
    }
    let ids = list(model, space, &page.memories)?;
    stats(engine, index, space)?;
    let now = Timestamp::from_ms(i64::try_from(now_ms).unwrap());
    let mut active: Vec<(Item, MemoryId)> =
        ids.into_iter().filter(|(item, _)| is_recalled(&space.items[item], now)).collect();
    active.sort_unstable();
    let ask = |recall: Recall| {
        engine.recall(&name, &Recall { observe: true, ..recall }).and_then(|found| found.wait()).map_err(told)
    };
    for chunk in active.chunk_by(|a, b| chunk_of(a.0) == chunk_of(b.0)) {
        let tag = chunk_tag(chunk_of(chunk[0].0));
        let chunk: Vec<&(Item, MemoryId)> =
            active.iter().filter(|(item, _)| space.items[item].memory.tags.contains(&tag)).collect();
        let recalled = ask(recall_of_all(tag))?;
        let mut found: Vec<MemoryId> = recalled.hits.iter().map(|hit| hit.memory.id).collect();
        found.sort_unstable();
        let mut expected: Vec<MemoryId> = chunk.iter().map(|(_, id)| *id).collect();
        expected.sort_unstable();
        if found != expected {
            return Err(format!("recall finds {found:?}, expected {expected:?}"));
        }
        picture.hits.extend(recalled.hits.iter().map(|hit| (hit.memory.id, hit.score.to_bits())));
    }
    if let Some((item, id)) = active.get(Random::at(seed, 9).index(active.len())) {
        // An echo has another memory's word.
        let text = &space.items[item].memory.content;
        let own_word = text.split(' ').next().unwrap_or_default().to_owned();
        let word =
            ask(Recall { query: own_word.clone(), mode: Mode::Keyword, top_k: 1, ..Recall::default() })?;
        if word
            .hits
            .first()
            .is_none_or(|hit| hit.memory.id != *id && !hit.memory.content.starts_with(&own_word))
        {
            return Err(format!("item {item} is not found by its own word"));
        }
        if let Some(change) = space.items[item].vector {
            let recalled = ask(Recall {
                vector: Some(Embedding::new(&vector(*item, change)).unwrap()),
                embedding_model: Some(MODEL.to_owned()),
                mode: Mode::Vector,
                filter: tagged(item_tag(*item)),
                ..Recall::default()
            })?;
            if recalled.hits.first().is_none_or(|hit| hit.memory.id != *id || hit.similarity < 0.999) {
                return Err(format!("item {item} is not found by its own vector: {:?}", recalled.hits));
            }
        }
        picture.hits.extend(word.hits.iter().map(|hit| (hit.memory.id, hit.score.to_bits())));
    }
    picture.memories.extend(page.memories);
    Ok(())
}

pub(super) fn is_recalled(known: &Known, now: Timestamp) -> bool {
    known.memory.state == State::Active && known.memory.is_valid_at(now) && !known.memory.is_expired_at(now)
}

fn stats(engine: &Engine, index: usize, space: &Space) -> Outcome {
    let stats = engine.stats(&namespace(index)).and_then(|stats| stats.wait()).map_err(told)?;
    let set = engine.namespace(&namespace(index)).and_then(|info| info.wait()).map_err(told)?;
    if (set.settings.durability == Durability::Async) != space.is_async {
        return Err(format!("durability is {}", set.settings.durability));
    }
    let is_forgotten = |known: &Known| known.memory.state == State::Forgotten;
    let forgotten = space.items.values().filter(|known| is_forgotten(known)).count() as u64;
    let embedded =
        space.items.values().filter(|known| known.vector.is_some() && !is_forgotten(known)).count() as u64;
    let all: u64 = stats.by_state.iter().map(|(_, count)| count).sum();
    let asleep =
        stats.by_state.iter().find(|(state, _)| *state == State::Forgotten.as_str()).map_or(0, |x| x.1);
    let found = (all, asleep, stats.embedded);
    let expected = (space.items.len() as u64, forgotten, embedded);
    if found == expected { Ok(()) } else { Err(format!("counts {found:?}, expected {expected:?}")) }
}

/// An error with its causes, in one line.
pub(super) fn told(error: hindsight_engine::EngineError) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}
