//! A request to stop waiting or working.

#[cfg(test)]
use super::sabotage::{sabotaged, Sabotage};
use super::sync::{Arc, AtomicBool, Condvar, Mutex, Ordering};
use std::sync::PoisonError;

/// How a place in the queue stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Waiting,
    Granted,
    Cancelled,
}

/// A place in a lock's queue, where its worker sleeps. Whoever leaves `Waiting` first decides.
pub(crate) struct Waiter {
    place: Mutex<Place>,
    changed: Condvar,
}

impl Waiter {
    pub(crate) fn new() -> Arc<Waiter> {
        Arc::new(Waiter {
            place: Mutex::new(Place::Waiting),
            changed: Condvar::new(),
        })
    }

    /// Decides the place, unless it is decided. Returns whether this call did.
    pub(crate) fn decide(&self, to: Place) -> bool {
        let mut place = relock(self.place.lock());
        if *place != Place::Waiting {
            return false;
        }
        *place = to;
        #[cfg(test)]
        if sabotaged(Sabotage::NoWakeUp) {
            return true;
        }
        self.changed.notify_one();
        true
    }

    /// Sleeps until the place is decided.
    pub(crate) fn wait(&self) -> Place {
        let mut place = relock(self.place.lock());
        while *place == Place::Waiting {
            #[cfg(test)]
            if sabotaged(Sabotage::LookThenSleep) {
                drop(place);
                place = relock(self.place.lock());
            }
            place = relock(self.changed.wait(place));
        }
        *place
    }
}

/// Asks workers to stop. Clones are the same request; once made it cannot be taken back.
#[derive(Clone)]
pub struct Cancel(Arc<Shared>);

struct Shared {
    made: AtomicBool,
    waiters: Mutex<Vec<Arc<Waiter>>>,
}

impl Default for Cancel {
    fn default() -> Cancel {
        Cancel::new()
    }
}

impl Cancel {
    /// A request not made yet.
    pub fn new() -> Cancel {
        Cancel(Arc::new(Shared {
            made: AtomicBool::new(false),
            waiters: Mutex::new(Vec::new()),
        }))
    }

    /// Makes the request: whoever waits for a lock with it wakes and leaves the queue.
    pub fn cancel(&self) {
        let waiters = relock(self.0.waiters.lock());
        self.0.made.store(true, Ordering::SeqCst);
        for waiter in waiters.iter() {
            waiter.decide(Place::Cancelled);
        }
    }

    /// Whether the request was made.
    pub fn is_cancelled(&self) -> bool {
        self.0.made.load(Ordering::SeqCst)
    }

    /// Has the waiter woken by the request, also if it was made already.
    pub(crate) fn watch(&self, waiter: &Arc<Waiter>) {
        let mut waiters = relock(self.0.waiters.lock());
        if self.is_cancelled() {
            waiter.decide(Place::Cancelled);
        } else {
            waiters.push(waiter.clone());
        }
    }

    pub(crate) fn unwatch(&self, waiter: &Arc<Waiter>) {
        relock(self.0.waiters.lock()).retain(|w| !Arc::ptr_eq(w, waiter));
    }
}

/// A mutex's contents, poisoned or not: no section of this crate leaves them half-changed.
pub(crate) fn relock<G>(result: Result<G, PoisonError<G>>) -> G {
    result.unwrap_or_else(PoisonError::into_inner)
}
