//! The past as a question: what was true at a time, or what the database knew at it (M9).

use crate::likeness::gives_another_value;
use crate::{Axis, Memory, Timestamp, learn};

/// A time to answer for, and by which of the two times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AsOf {
    /// The time.
    pub at: Timestamp,
    /// Which of the two times is meant.
    pub axis: Axis,
}

/// Why a memory does not count at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absent {
    /// It holds from later on.
    NotYet(Timestamp),
    /// It held until then.
    NoLonger(Timestamp),
    /// The database learned it later.
    Unknown(Timestamp),
    /// The database had replaced it by then.
    Replaced,
    /// Its time in recall was over.
    Expired(Timestamp),
}

impl AsOf {
    /// Whether a memory counts at the time. `successor` is the memory that it names as the one that superseded it, and
    /// `taken_back` are memories that superseded this one until a rollback took that back; both only as far as they are
    /// still there.
    ///
    /// A memory that does not say from when on it is true is taken to be so from when it happened, and one that was
    /// replaced until its successor holds; [`AsOf::outdone`] has the rest of its chain.
    ///
    /// # Errors
    /// Why it does not count.
    pub fn counts<'m>(
        self,
        memory: &Memory,
        successor: Option<&Memory>,
        taken_back: impl IntoIterator<Item = &'m Memory>,
    ) -> Result<(), Absent> {
        if let Some(end) = memory.expires_at.filter(|end| *end <= self.at) {
            return Err(Absent::Expired(end));
        }
        match self.axis {
            Axis::Valid => self.was_true(memory, successor),
            Axis::Known => self.was_known(memory, successor, taken_back),
        }
    }

    fn was_true(self, memory: &Memory, successor: Option<&Memory>) -> Result<(), Absent> {
        let from = learn::holds_from(memory);
        if self.at < from {
            return Err(Absent::NotYet(from));
        }
        let replaced = successor.map(learn::holds_from);
        match memory.valid_to.into_iter().chain(replaced).min().filter(|end| *end <= self.at) {
            Some(end) => Err(Absent::NoLonger(end)),
            None => Ok(()),
        }
    }

    fn was_known<'m>(
        self,
        memory: &Memory,
        successor: Option<&Memory>,
        taken_back: impl IntoIterator<Item = &'m Memory>,
    ) -> Result<(), Absent> {
        if self.at < memory.created_at {
            return Err(Absent::Unknown(memory.created_at));
        }
        if let Some(from) = memory.valid_from.filter(|from| self.at < *from) {
            return Err(Absent::NotYet(from));
        }
        // What a rollback made history again stood in this one's place from when it was learned until then.
        let stood = |newer: &Memory| {
            newer.created_at <= self.at && newer.created_at > memory.created_at && !is_over(newer, self.at)
        };
        if taken_back.into_iter().any(stood) {
            return Err(Absent::Replaced);
        }
        let Some(successor) = successor else {
            return match memory.valid_to.filter(|end| *end <= self.at) {
                Some(end) => Err(Absent::NoLonger(end)),
                None => Ok(()),
            };
        };
        if successor.created_at < memory.created_at {
            // Replaced by an older one: at once, or by a rollback. Either way its validity ended there.
            return if is_over(memory, self.at) { Err(Absent::Replaced) } else { Ok(()) };
        }
        // What was known to replace it, at a time to come, had not done so.
        let is_to_come = successor.valid_from.is_some_and(|from| from > self.at);
        if successor.created_at <= self.at && !is_to_come {
            return Err(Absent::Replaced);
        }
        // Superseded since. The end that supersession gave it was not known then; an earlier one was its own.
        match memory
            .valid_to
            .filter(|end| *end <= self.at && *end < learn::end_by(memory, successor, successor.created_at))
        {
            Some(end) => Err(Absent::NoLonger(end)),
            None => Ok(()),
        }
    }

    /// When another value of the same property took a memory's place, by the time. Values that are learned out of order do not
    /// supersede each other: each is superseded by the newest of its day. `chain` are the memories that supersession
    /// links to this one, each with its successor; those that were taken back never held.
    #[must_use]
    pub fn outdone<'m>(
        self,
        memory: &Memory,
        chain: impl IntoIterator<Item = (&'m Memory, Option<&'m Memory>)>,
    ) -> Option<Timestamp> {
        let place = |memory: &Memory| (learn::holds_from(memory), memory.id);
        let held = |(other, successor): &(&Memory, Option<&Memory>)| {
            successor.is_none_or(|successor| learn::holds_from(successor) > learn::holds_from(other))
        };
        let between = |other: &&Memory| place(other) > place(memory) && learn::holds_from(other) <= self.at;
        let others = chain.into_iter().filter(held).map(|(other, _)| other).filter(between);
        let others = others.filter(|other| gives_another_value(memory, other));
        others.map(learn::holds_from).min().filter(|_| self.axis == Axis::Valid)
    }

    /// Whether a memory may have said something else at the time: it was changed since. The database keeps no versions,
    /// so what it says is what it says today. That it was superseded since, and nothing else, is no such change.
    #[must_use]
    pub fn changed_since(self, memory: &Memory, successor: Option<&Memory>) -> bool {
        let only_superseded =
            successor.is_some_and(|newer| memory.version == 2 && memory.updated_at == newer.created_at);
        self.axis == Axis::Known && memory.updated_at > self.at && !only_superseded
    }
}

fn is_over(memory: &Memory, at: Timestamp) -> bool {
    memory.valid_to.is_some_and(|end| end <= at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draft::{Draft, Moment};
    use crate::{MemoryId, State};

    fn time(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    /// A memory that is learned when it happens, unless it says when it happened.
    fn learned(number: u128, on: &str, draft: Draft) -> Memory {
        let moment = Moment {
            namespace: "test".parse().unwrap(),
            id: MemoryId::from_u128(number),
            now: time(on),
            embedding_model: None,
        };
        Draft { content: "x".to_owned(), ..draft }.check().unwrap().into_memory(moment)
    }

    fn give(memory: &mut Memory, standing: crate::change::Standing, on: &str) {
        standing.give_to(memory);
        memory.version += 1;
        memory.updated_at = time(on);
    }

    fn valid(on: &str) -> AsOf {
        AsOf { at: time(on), axis: Axis::Valid }
    }

    fn known(on: &str) -> AsOf {
        AsOf { at: time(on), axis: Axis::Known }
    }

    #[test]
    fn m9_what_was_replaced_is_true_until_its_successor_holds() {
        let mut fat = learned(1, "2026-01-10", Draft::default());
        let muscle = learned(2, "2026-06-01", Draft::default());
        let standing = learn::superseded(&fat, &muscle, time("2026-06-01"));
        give(&mut fat, standing, "2026-06-01");
        let at =
            |question: AsOf| (question.counts(&fat, Some(&muscle), []), question.counts(&muscle, None, []));
        assert_eq!(at(valid("2026-03-15")), (Ok(()), Err(Absent::NotYet(time("2026-06-01")))));
        assert_eq!(at(valid("2026-07-01")), (Err(Absent::NoLonger(time("2026-06-01"))), Ok(())));
        assert_eq!(at(known("2026-03-15")), (Ok(()), Err(Absent::Unknown(time("2026-06-01")))));
        assert_eq!(at(known("2026-07-01")), (Err(Absent::Replaced), Ok(())));
        assert!(
            !known("2026-03-15").changed_since(&fat, Some(&muscle)),
            "superseded since, and nothing else"
        );
    }

    #[test]
    fn m9_what_was_learned_later_held_from_when_it_happened_but_was_not_known() {
        let mut berlin = learned(1, "2026-01-01", Draft::default());
        let said = Draft { occurred_at: Some(time("2026-06-01")), ..Draft::default() };
        let lisbon = learned(2, "2026-11-01", said);
        let standing = learn::superseded(&berlin, &lisbon, time("2026-11-01"));
        give(&mut berlin, standing, "2026-11-01");
        let july = "2026-07-01";
        assert_eq!(valid(july).counts(&berlin, Some(&lisbon), []), Err(Absent::NoLonger(time("2026-06-01"))));
        assert_eq!(valid(july).counts(&lisbon, None, []), Ok(()));
        assert_eq!(known(july).counts(&berlin, Some(&lisbon), []), Ok(()));
        assert_eq!(known(july).counts(&lisbon, None, []), Err(Absent::Unknown(time("2026-11-01"))));
        // The end that supersession gave it lies before July where the newer one says from when on it is true.
        let lisbon = Memory { valid_from: Some(time("2026-06-01")), ..lisbon };
        let mut berlin = learned(1, "2026-01-01", Draft::default());
        let standing = learn::superseded(&berlin, &lisbon, time("2026-11-01"));
        give(&mut berlin, standing, "2026-11-01");
        assert_eq!(berlin.valid_to, Some(time("2026-06-01")));
        assert_eq!(known(july).counts(&berlin, Some(&lisbon), []), Ok(()));
        // An end of its own counts.
        let ended = Memory { valid_to: Some(time("2026-05-01")), ..berlin };
        assert_eq!(known(july).counts(&ended, Some(&lisbon), []), Err(Absent::NoLonger(time("2026-05-01"))));
    }

    #[test]
    fn m9_what_was_taken_back_was_believed_for_a_while_and_never_true() {
        let mut fat = learned(1, "2026-01-10", Draft::default());
        let mut muscle = learned(2, "2026-06-01", Draft::default());
        let standing = learn::superseded(&fat, &muscle, time("2026-06-01"));
        give(&mut fat, standing, "2026-06-01");
        let (back, gone) =
            (learn::valid_again(&fat), learn::invalidated(&muscle, fat.id, time("2026-08-01")));
        give(&mut fat, back, "2026-08-01");
        give(&mut muscle, gone, "2026-08-01");
        assert_eq!((fat.state, muscle.state), (State::Active, State::Superseded));
        let at = |question: AsOf| {
            (question.counts(&fat, None, [&muscle]), question.counts(&muscle, Some(&fat), []))
        };
        for on in ["2026-03-15", "2026-07-01", "2026-09-01"] {
            let (fat, muscle) = at(valid(on));
            assert!(fat.is_ok() && muscle.is_err(), "{on}");
        }
        assert_eq!(at(known("2026-03-15")), (Ok(()), Err(Absent::Unknown(time("2026-06-01")))));
        assert_eq!(at(known("2026-07-01")), (Err(Absent::Replaced), Ok(())));
        assert_eq!(at(known("2026-09-01")), (Ok(()), Err(Absent::Replaced)));
        assert!(known("2026-03-15").changed_since(&fat, None), "what it said then is not kept");
        assert!(!valid("2026-03-15").changed_since(&fat, None));
    }

    #[test]
    fn m9_validity_and_expiry_are_judged_at_the_time() {
        let draft = Draft {
            valid_from: Some(time("2026-02-01")),
            valid_to: Some(time("2026-04-01")),
            expires_at: Some(time("2026-03-01")),
            ..Draft::default()
        };
        let memory = learned(1, "2026-01-01", draft);
        for as_of in [valid as fn(&str) -> AsOf, known] {
            assert_eq!(
                as_of("2026-01-15").counts(&memory, None, []),
                Err(Absent::NotYet(time("2026-02-01")))
            );
            assert_eq!(as_of("2026-02-15").counts(&memory, None, []), Ok(()));
            assert_eq!(
                as_of("2026-03-15").counts(&memory, None, []),
                Err(Absent::Expired(time("2026-03-01")))
            );
            let endless = Memory { expires_at: None, ..memory.clone() };
            assert_eq!(
                as_of("2026-05-01").counts(&endless, None, []),
                Err(Absent::NoLonger(time("2026-04-01")))
            );
        }
    }
}
