//! What one writer knows: which memories must be there and how they must look.

use std::collections::BTreeMap;

use hindsight_client::MemoryId;

use super::text::Key;

/// Memories of a batch.
const BATCH: u64 = 5;

/// A memory that was acknowledged, as it must be found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Its id.
    pub id: MemoryId,
    /// How often its content was changed.
    pub revision: u64,
    /// Its version.
    pub version: u64,
    /// Whether it was forgotten.
    pub forgotten: bool,
    /// The number of the first memory of its batch, if it came in one.
    pub batch: Option<u64>,
    /// The size of its ballast.
    pub ballast_bytes: usize,
}

/// What a writer asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// One new memory, with an id of the writer's choice or one of the server's.
    Write {
        /// Its number.
        number: u64,
        /// The id it shall have.
        id: Option<MemoryId>,
        /// The size of its ballast.
        ballast_bytes: usize,
    },
    /// Five new memories.
    Batch {
        /// The number of the first.
        first: u64,
    },
    /// Another content.
    Update {
        /// The memory.
        number: u64,
        /// Whether the version that the writer has seen is named.
        with_version: bool,
    },
    /// A memory leaves recall.
    Forget {
        /// The memory.
        number: u64,
    },
}

impl Request {
    /// The numbers of the memories that it changes.
    #[must_use]
    pub fn numbers(&self) -> std::ops::Range<u64> {
        match *self {
            Request::Batch { first } => first..first + BATCH,
            Request::Write { number, .. } | Request::Update { number, .. } | Request::Forget { number } => {
                number..number + 1
            }
        }
    }
}

/// A request without an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Open {
    /// What was asked for.
    pub request: Request,
    /// The id it was sent with.
    pub request_id: String,
    /// When it was sent, in microseconds since the Unix epoch.
    pub sent_us: u64,
    /// Whether a reader was shown what it writes.
    pub was_seen: bool,
    /// Whether it was carried out, once that was found out.
    pub applied: Option<bool>,
}

/// An acknowledged request, for those who look at times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Acknowledged {
    /// When it was sent, in microseconds since the Unix epoch.
    pub sent_us: u64,
    /// When its answer came.
    pub answered_us: u64,
}

/// What one writer knows.
#[derive(Debug)]
pub struct Ledger {
    /// Whose it is.
    pub writer: usize,
    /// Its memories, by number.
    pub items: BTreeMap<u64, Item>,
    /// The request that has no answer.
    pub open: Option<Open>,
    /// Requests that were carried out. Each has one log position.
    pub applied: u64,
    /// The log positions that answers named.
    pub positions: Vec<u64>,
    /// What was answered, in order, with its log position and the ids of new memories.
    history: Vec<(u64, Request, Vec<MemoryId>)>,
    /// When requests were sent and answered, since the last start of the server.
    pub times: Vec<Acknowledged>,
    /// Chooses what is done next.
    pub random: fastrand::Rng,
    next_number: u64,
    next_request: u64,
}

impl Ledger {
    /// An empty ledger.
    #[must_use]
    pub fn new(writer: usize, random: fastrand::Rng) -> Ledger {
        Ledger {
            writer,
            items: BTreeMap::new(),
            open: None,
            applied: 0,
            positions: Vec::new(),
            history: Vec::new(),
            times: Vec::new(),
            random,
            next_number: 0,
            next_request: 0,
        }
    }

    /// The key of one of its memories.
    #[must_use]
    pub fn key(&self, number: u64) -> Key {
        Key { writer: self.writer, number }
    }

    /// A request id that was never used in this data directory.
    pub fn next_request_id(&mut self) -> String {
        self.next_request += 1;
        format!("w{}-request-{}", self.writer, self.next_request)
    }

    /// What is asked for next: 45 % single writes, 30 % batches, 18 % updates, 7 % forgets. Single writes have
    /// `ballast_bytes` of ballast.
    pub fn choose(&mut self, ballast_bytes: usize) -> Request {
        let dice = self.random.u8(0..100);
        let target = if dice >= 75 { self.any_present() } else { None };
        match target {
            Some(number) if dice >= 93 => Request::Forget { number },
            Some(number) => Request::Update { number, with_version: self.random.bool() },
            None if (45..75).contains(&dice) => Request::Batch { first: self.take_numbers(BATCH) },
            None => {
                let id = self.random.bool().then(|| MemoryId::from_u128(self.random.u128(..)));
                Request::Write { number: self.take_numbers(1), id, ballast_bytes }
            }
        }
    }

    /// A request for one new memory of that size.
    pub fn choose_large(&mut self, ballast_bytes: usize) -> Request {
        Request::Write { number: self.take_numbers(1), id: None, ballast_bytes }
    }

    fn take_numbers(&mut self, count: u64) -> u64 {
        let first = self.next_number;
        self.next_number += count;
        first
    }

    /// A memory that is not forgotten; younger ones twice as likely, so that they are changed soon after their birth.
    pub fn any_present(&mut self) -> Option<u64> {
        let from = if self.random.bool() { self.next_number.saturating_sub(64) } else { 0 };
        let start = self.random.u64(from..self.next_number.max(from + 1));
        let present = |(number, item): (&u64, &Item)| (!item.forgotten).then_some(*number);
        self.items
            .range(start..)
            .find_map(present)
            .or_else(|| self.items.range(..start).rev().find_map(present))
    }

    /// Enters a request that was answered. `ids` are those of new memories, in order.
    pub fn acknowledge(&mut self, request: &Request, ids: &[MemoryId], position: u64) {
        self.enter(request, ids);
        self.positions.push(position);
        self.history.push((position, request.clone(), ids.to_vec()));
    }

    /// What this writer knew when the log ended at that position: of a copy of the database as it was then. What is open now
    /// may be in it or not, unless something that was answered before is not; and what a reader saw of it need not be.
    #[must_use]
    pub fn at(&self, position: u64) -> Ledger {
        let mut ledger = Ledger::new(self.writer, self.random.clone());
        for (at, request, ids) in self.history.iter().filter(|(at, ..)| *at <= position) {
            ledger.acknowledge(request, ids, *at);
        }
        let has_all = ledger.history.len() == self.history.len();
        ledger.open = self.open.clone().filter(|_| has_all).map(|open| Open { was_seen: false, ..open });
        (ledger.next_number, ledger.next_request) = (self.next_number, self.next_request);
        ledger
    }

    /// Enters a request that was carried out. `ids` are those of new memories, in order.
    pub fn enter(&mut self, request: &Request, ids: &[MemoryId]) {
        self.applied += 1;
        let new = |id: MemoryId, batch, ballast_bytes| Item {
            id,
            revision: 0,
            version: 1,
            forgotten: false,
            batch,
            ballast_bytes,
        };
        match *request {
            Request::Write { number, ballast_bytes, .. } => {
                self.items.extend(ids.iter().map(|id| (number, new(*id, None, ballast_bytes))));
            }
            Request::Batch { first } => {
                self.items.extend((first..).zip(ids).map(|(number, id)| (number, new(*id, Some(first), 0))));
            }
            Request::Update { number, .. } => {
                if let Some(item) = self.items.get_mut(&number) {
                    item.revision += 1;
                    item.version += 1;
                }
            }
            Request::Forget { number } => {
                if let Some(item) = self.items.get_mut(&number) {
                    item.forgotten = true;
                    item.version += 1;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ledger() -> Ledger {
        Ledger::new(0, fastrand::Rng::with_seed(7))
    }

    #[test]
    fn every_kind_of_request_is_chosen_and_no_number_is_used_twice() {
        let mut ledger = ledger();
        let mut counts = [0; 4];
        for id in 0..1_000 {
            let request = ledger.choose(10);
            counts[match &request {
                Request::Write { .. } => 0,
                Request::Batch { .. } => 1,
                Request::Update { .. } => 2,
                Request::Forget { .. } => 3,
            }] += 1;
            let is_new = matches!(request, Request::Write { .. } | Request::Batch { .. });
            assert!(request.numbers().all(|number| ledger.items.contains_key(&number) != is_new));
            let ids: Vec<_> =
                request.numbers().map(|n| MemoryId::from_u128(id << 8 | u128::from(n))).collect();
            ledger.enter(&request, &ids);
        }
        assert!(counts.iter().all(|count| *count > 30), "{counts:?}");
        assert_eq!(ledger.applied, 1_000);
        assert!(ledger.items.values().any(|item| item.ballast_bytes == 10));
    }

    #[test]
    fn what_came_after_a_position_is_not_known_at_it() {
        let mut ledger = ledger();
        let write = |number| Request::Write { number, id: None, ballast_bytes: 0 };
        ledger.acknowledge(&write(0), &[MemoryId::from_u128(1)], 4);
        ledger.acknowledge(&Request::Update { number: 0, with_version: true }, &[], 6);
        ledger.acknowledge(&write(1), &[MemoryId::from_u128(2)], 9);
        let before = ledger.at(8);
        assert_eq!((before.items.len(), before.items[&0].version, before.applied), (1, 2, 2));
        assert_eq!(before.positions, [4, 6]);
        assert_eq!((ledger.at(5).items[&0].version, ledger.at(3).items.len()), (1, 0));
        assert_eq!(ledger.at(9).items, ledger.items);
        let request = Request::Forget { number: 1 };
        ledger.open =
            Some(Open { request, request_id: "r".to_owned(), sent_us: 0, was_seen: true, applied: None });
        assert_eq!(ledger.at(8).open, None, "it was sent after position 9");
        assert!(ledger.at(9).open.is_some_and(|open| !open.was_seen));
    }

    #[test]
    fn changes_count_versions_and_revisions() {
        let mut ledger = ledger();
        ledger.enter(&Request::Write { number: 0, id: None, ballast_bytes: 0 }, &[MemoryId::from_u128(1)]);
        ledger.enter(&Request::Update { number: 0, with_version: true }, &[]);
        ledger.enter(&Request::Forget { number: 0 }, &[]);
        let item = &ledger.items[&0];
        assert_eq!((item.revision, item.version, item.forgotten), (1, 3, true));
        assert_eq!(ledger.any_present(), None);
    }
}
