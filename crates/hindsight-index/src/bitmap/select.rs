//! A filter tree becomes a set.

use hindsight_core::{Filter, Kind, Timestamp};
use roaring::RoaringBitmap;

use super::set::OrdinalSet;
use super::{BitmapIndex, Field};
use crate::hot::Hot;

/// Up to this many memories left, a range is checked on their hot facts one by one instead of joining its buckets.
const ONE_BY_ONE_MAX: u64 = 256;

/// How a selection asks for the hot facts of a slot.
pub(crate) type HotOf<'a, 'h> = &'a dyn Fn(u32) -> Option<&'h Hot>;

/// What is left after some of the conditions. Begins as everything, which costs nothing.
struct Narrowed<'b> {
    live: &'b RoaringBitmap,
    left: Option<RoaringBitmap>,
}

impl<'b> Narrowed<'b> {
    fn and(&mut self, set: RoaringBitmap) {
        match &mut self.left {
            Some(left) => *left &= set,
            None => self.left = Some(set),
        }
    }

    fn and_members(&mut self, set: Option<&OrdinalSet>) {
        match (set, &mut self.left) {
            (Some(OrdinalSet::Bitmap(bitmap)), Some(left)) => *left &= bitmap,
            (Some(set), _) => {
                let mut members = RoaringBitmap::new();
                set.add_to(&mut members);
                self.and(members);
            }
            (None, _) => self.left = Some(RoaringBitmap::new()),
        }
    }

    fn minus(&mut self, set: &RoaringBitmap) {
        *self.left.get_or_insert_with(|| self.live.clone()) -= set;
    }

    fn retain(&mut self, keep: impl FnMut(u32) -> bool) {
        self.left.get_or_insert_with(|| self.live.clone()).retain(keep);
    }

    fn is_empty(&self) -> bool {
        self.left.as_ref().is_some_and(RoaringBitmap::is_empty)
    }

    fn is_small(&self) -> bool {
        self.left.as_ref().is_some_and(|left| left.len() <= ONE_BY_ONE_MAX)
    }

    fn finish(self) -> RoaringBitmap {
        self.left.unwrap_or_else(|| self.live.clone())
    }
}

impl BitmapIndex {
    /// The memories that match a filter at the time `now`: exactly those that `Filter::matches` says yes to.
    pub(crate) fn select(&self, filter: &Filter, now: Timestamp, hot: HotOf<'_, '_>) -> RoaringBitmap {
        let mut left = Narrowed { live: &self.live, left: None };
        self.narrow_words(filter, &mut left);
        if !left.is_empty() {
            self.narrow_numbers(filter, now, hot, &mut left);
        }
        for part in &filter.all {
            if left.is_empty() {
                break;
            }
            left.and(self.select(part, now, hot));
        }
        if !filter.any.is_empty() && !left.is_empty() {
            let mut some = RoaringBitmap::new();
            filter.any.iter().for_each(|part| some |= self.select(part, now, hot));
            left.and(some);
        }
        for part in &filter.not {
            if left.is_empty() {
                break;
            }
            left.minus(&self.select(part, now, hot));
        }
        left.finish()
    }

    fn narrow_words(&self, filter: &Filter, left: &mut Narrowed<'_>) {
        let mut one_of = |field: Field, words: &mut dyn Iterator<Item = &str>| {
            let mut words = words.peekable();
            if words.peek().is_none() || left.is_empty() {
                return;
            }
            let first = words.next().and_then(|word| self.members(field, word));
            if words.peek().is_none() {
                return left.and_members(first);
            }
            let mut some = RoaringBitmap::new();
            let others = words.filter_map(|word| self.members(field, word));
            first.into_iter().chain(others).for_each(|set| set.add_to(&mut some));
            left.and(some);
        };
        let keys: Vec<String> =
            filter.entities.iter().map(|name| hindsight_core::filter::entity_key(name)).collect();
        one_of(Field::Session, &mut filter.sessions.iter().map(String::as_str));
        one_of(Field::Entity, &mut keys.iter().map(String::as_str));
        one_of(Field::ErrorCode, &mut filter.error_codes.iter().map(String::as_str));
        one_of(Field::RootCause, &mut filter.root_causes.iter().map(String::as_str));
        one_of(Field::Tag, &mut filter.tags.iter().map(String::as_str));
        one_of(Field::TaskType, &mut filter.task_types.iter().map(String::as_str));
        one_of(Field::Tool, &mut filter.tools.iter().map(String::as_str));
        one_of(Field::Agent, &mut filter.agents.iter().map(String::as_str));
        one_of(Field::Kind, &mut filter.kinds.iter().map(|kind| kind.as_str()));
        one_of(Field::Status, &mut filter.statuses.iter().map(|status| status.as_str()));
        one_of(Field::State, &mut filter.states.iter().map(|state| state.as_str()));
        one_of(Field::SourceKind, &mut filter.source_kinds.iter().map(|source| source.as_str()));
        if !filter.layers.is_empty() {
            let kinds = Kind::ALL.iter().filter(|kind| filter.layers.contains(&kind.layer()));
            let mut some = RoaringBitmap::new();
            kinds
                .filter_map(|kind| self.members(Field::Kind, kind.as_str()))
                .for_each(|set| set.add_to(&mut some));
            left.and(some);
        }
        match filter.transient {
            Some(true) => left.and_members(self.members(Field::Transient, "")),
            Some(false) => left.minus(&self.with(Field::Transient, "")),
            None => {}
        }
    }

    fn narrow_numbers(&self, filter: &Filter, now: Timestamp, hot: HotOf<'_, '_>, left: &mut Narrowed<'_>) {
        let (from, to) = (filter.time_from(now), filter.to);
        if from.is_some() || to.is_some() {
            let inside = |hot: &Hot| {
                from.is_none_or(|from| from <= hot.occurred_at) && to.is_none_or(|to| hot.occurred_at < to)
            };
            if left.is_small() {
                left.retain(|slot| hot(slot).is_some_and(inside));
            } else {
                let inside = self.occurred_between(from, to, left.left.as_ref(), hot);
                left.and(inside);
            }
        }
        if let Some(least) = filter.min_importance {
            left.retain(|slot| hot(slot).is_some_and(|hot| least <= hot.importance));
        }
        if let Some(least) = filter.min_confidence {
            left.retain(|slot| hot(slot).is_some_and(|hot| least <= hot.confidence));
        }
    }

    /// The memories that happened from `from` on and before `to`, of all or of those in `within`.
    pub(crate) fn occurred_between(
        &self,
        from: Option<Timestamp>,
        to: Option<Timestamp>,
        within: Option<&RoaringBitmap>,
        hot: HotOf<'_, '_>,
    ) -> RoaringBitmap {
        let (from_ms, to_ms) = ends(from, to);
        self.occurred.range(from_ms, to_ms, within, &|slot| Some(hot(slot)?.occurred_at.as_ms()))
    }

    /// The memories that the database learned from `from` on and before `to`.
    pub(crate) fn created_between(
        &self,
        from: Option<Timestamp>,
        to: Option<Timestamp>,
        hot: HotOf<'_, '_>,
    ) -> RoaringBitmap {
        let (from_ms, to_ms) = ends(from, to);
        self.created.range(from_ms, to_ms, None, &|slot| Some(hot(slot)?.created_at.as_ms()))
    }

    /// The memories that are valid and not expired at `now`.
    pub(crate) fn current_at(&self, now: Timestamp, hot: HotOf<'_, '_>) -> RoaringBitmap {
        let after_now = now.as_ms() + 1;
        let mut current = self.live.clone();
        current -=
            self.begins.range(after_now, i64::MAX, None, &|slot| Some(hot(slot)?.valid_from()?.as_ms()));
        current -= self.ends.range(i64::MIN, after_now, None, &|slot| Some(hot(slot)?.ends_at()?.as_ms()));
        current
    }
}

/// The ends of a range in milliseconds; an open one lies beyond every time.
fn ends(from: Option<Timestamp>, to: Option<Timestamp>) -> (i64, i64) {
    (from.unwrap_or(Timestamp::MIN).as_ms(), to.map_or(Timestamp::MAX.as_ms() + 1, Timestamp::as_ms))
}
