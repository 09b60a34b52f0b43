//! How many calls may be inside the engine, and how many may wait for it.
//!
//! Those who wait are let in by turns of their namespaces, so that one with many calls keeps no other waiting for longer than
//! one of them takes. Each namespace may have a bounded number waiting, and all of them together may.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hindsight_core::Namespace;
use tokio::sync::oneshot;

use super::AppError;

/// Whose call it is; none for what belongs to no namespace.
type Whose = Option<Namespace>;

/// Lets a bounded number of calls in and a bounded number wait; who comes after that is told so at once.
pub(crate) struct Gate(Arc<Inner>);

struct Inner {
    inside_max: usize,
    waiting_max: usize,
    /// Of one namespace.
    waiting_each: usize,
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    inside: usize,
    waiting: usize,
    /// Who waits, in the order in which they came; no list is empty.
    lists: BTreeMap<Whose, VecDeque<oneshot::Sender<Pass>>>,
    /// Whose turn comes next.
    turns: VecDeque<Whose>,
}

/// What becomes of who asks.
enum Asked {
    In(Pass),
    Wait(oneshot::Receiver<Pass>),
}

/// The right to be inside, until it is dropped.
pub(crate) struct Pass(Option<Arc<Inner>>);

impl Gate {
    /// A gate for so many inside and so many that wait, of one namespace and in all.
    pub(crate) fn new(inside: usize, waiting: usize, waiting_each: usize) -> Gate {
        let queue = Mutex::default();
        Gate(Arc::new(Inner { inside_max: inside, waiting_max: waiting, waiting_each, queue }))
    }

    /// How many are inside, and how many wait.
    pub(crate) fn load(&self) -> (usize, usize) {
        let queue = self.0.queue();
        (queue.inside, queue.waiting)
    }

    /// Waits for a place inside.
    ///
    /// # Errors
    /// [`AppError::Overloaded`] when too many wait already.
    pub(crate) async fn enter(&self, whose: Whose) -> Result<Pass, AppError> {
        match self.ask(whose)? {
            Asked::In(pass) => Ok(pass),
            // The gate outlives those who wait at it, and each of them is let in.
            Asked::Wait(let_in) => let_in.await.map_err(|_| AppError::Overloaded),
        }
    }

    fn ask(&self, whose: Whose) -> Result<Asked, AppError> {
        let mut queue = self.0.queue();
        if queue.inside < self.0.inside_max {
            queue.inside += 1;
            return Ok(Asked::In(Pass(Some(Arc::clone(&self.0)))));
        }
        queue.check_room(&whose, &self.0)?;
        let (sender, let_in) = oneshot::channel();
        if !queue.lists.contains_key(&whose) {
            queue.turns.push_back(whose.clone());
        }
        queue.lists.entry(whose).or_default().push_back(sender);
        queue.waiting += 1;
        Ok(Asked::Wait(let_in))
    }
}

impl Inner {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    /// # Errors
    /// [`AppError::Overloaded`], [`AppError::NamespaceOverloaded`].
    fn check_room(&mut self, whose: &Whose, limits: &Inner) -> Result<(), AppError> {
        let of_namespace = |queue: &Queue| queue.lists.get(whose).map_or(0, VecDeque::len);
        let has_room =
            |queue: &Queue| queue.waiting < limits.waiting_max && of_namespace(queue) < limits.waiting_each;
        if !has_room(self) {
            self.forget_gone();
        }
        if self.waiting >= limits.waiting_max {
            return Err(AppError::Overloaded);
        }
        if of_namespace(self) >= limits.waiting_each {
            return Err(AppError::NamespaceOverloaded);
        }
        Ok(())
    }

    /// Takes those out whose callers do not wait any more.
    fn forget_gone(&mut self) {
        self.lists.retain(|_, list| {
            list.retain(|sender| !sender.is_closed());
            !list.is_empty()
        });
        let lists = &self.lists;
        self.turns.retain(|whose| lists.contains_key(whose));
        self.waiting = self.lists.values().map(VecDeque::len).sum();
    }

    /// Whoever is to be let in next.
    fn next(&mut self) -> Option<oneshot::Sender<Pass>> {
        let whose = self.turns.pop_front()?;
        let list = self.lists.get_mut(&whose)?;
        let sender = list.pop_front();
        self.waiting -= usize::from(sender.is_some());
        if list.is_empty() {
            self.lists.remove(&whose);
        } else {
            self.turns.push_back(whose);
        }
        sender
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        let Some(inner) = self.0.take() else { return };
        loop {
            let mut queue = inner.queue();
            let Some(next) = queue.next() else {
                queue.inside -= 1;
                return;
            };
            drop(queue);
            match next.send(Pass(Some(Arc::clone(&inner)))) {
                Ok(()) => return,
                // It waits no more: its pass goes to the next one, not back through here.
                Err(mut unused) => unused.0 = None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    fn of(name: &str) -> Whose {
        Some(name.parse().unwrap())
    }

    #[test]
    fn one_is_inside_one_waits_the_third_is_sent_away() {
        let gate = Gate::new(1, 1, 9);
        let first = gate.enter(None).now_or_never().unwrap().unwrap();
        let mut second = Box::pin(gate.enter(None));
        assert!(second.as_mut().now_or_never().is_none());
        assert!(matches!(gate.enter(None).now_or_never(), Some(Err(AppError::Overloaded))));
        assert_eq!(gate.load(), (1, 1));
        drop(first);
        assert!(second.now_or_never().unwrap().is_ok());
        assert!(gate.enter(None).now_or_never().unwrap().is_ok());
        assert_eq!(gate.load(), (0, 0));
    }

    #[test]
    fn s6_namespaces_take_turns_and_one_of_them_has_a_bounded_queue() {
        let gate = Gate::new(1, 100, 5);
        let mut inside = gate.enter(of("a")).now_or_never().unwrap().unwrap();
        let mut loud: Vec<_> = (0..5).map(|_| Box::pin(gate.enter(of("loud")))).collect();
        assert!(loud.iter_mut().all(|call| call.as_mut().now_or_never().is_none()));
        assert!(matches!(gate.enter(of("loud")).now_or_never(), Some(Err(AppError::NamespaceOverloaded))));
        let mut quiet = Box::pin(gate.enter(of("quiet")));
        assert!(quiet.as_mut().now_or_never().is_none());
        // The first of the loud ones came earlier; the second waits for the quiet one.
        drop(inside);
        inside = loud.remove(0).now_or_never().unwrap().unwrap();
        assert!(quiet.as_mut().now_or_never().is_none());
        drop(inside);
        drop(quiet.now_or_never().unwrap().unwrap());
        let second = loud.remove(0).now_or_never().unwrap().unwrap();
        assert!(loud.iter_mut().all(|call| call.as_mut().now_or_never().is_none()));
        drop(second);
    }

    #[test]
    fn who_waits_no_more_holds_no_place() {
        let gate = Gate::new(1, 2, 2);
        let inside = gate.enter(of("a")).now_or_never().unwrap().unwrap();
        for _ in 0..10 {
            let mut gone = Box::pin(gate.enter(of("a")));
            assert!(gone.as_mut().now_or_never().is_none());
        }
        let mut last = Box::pin(gate.enter(of("a")));
        assert!(last.as_mut().now_or_never().is_none());
        // Let in and gone before it saw that: its place is free again.
        let mut seen = Box::pin(gate.enter(of("b")));
        assert!(seen.as_mut().now_or_never().is_none());
        drop(inside);
        drop(last);
        drop(seen.now_or_never().unwrap().unwrap());
        assert_eq!(gate.load(), (0, 0));
    }
}
