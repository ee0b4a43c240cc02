//! The device lock: one holder, handed over in the order of asking.
//!
//! The queue and the holder change under one mutex. A release does not open the lock: it names the next holder (the
//! first place in the queue that is not cancelled) and wakes that one thread, so nobody who comes later can get in
//! between, and a wake-up is for one worker only. A cancelled worker takes its place out of the queue itself; a
//! release that meets the place before that skips it. Whether a place is granted or cancelled is decided once, under
//! the place's own mutex: a worker that was granted holds the lock, whatever is asked of it later.

use std::collections::VecDeque;
use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};

use super::cancel::{relock, Cancel, Place, Waiter};
#[cfg(test)]
use super::sabotage::{sabotaged, Sabotage};
use super::sync::{Arc, Mutex};

/// Stamps what happens to a lock. The lock calls it at the only right instants: `asked` before it looks, `granted`
/// once the device is the caller's, `released` while it still is.
pub trait Observer {
    /// The worker is about to ask.
    fn asked(&mut self);
    /// The worker holds the lock.
    fn granted(&mut self);
    /// The worker is about to let go; also while a panic unwinds.
    fn released(&mut self);
}

impl<O: Observer + ?Sized> Observer for &mut O {
    fn asked(&mut self) {
        (**self).asked();
    }
    fn granted(&mut self) {
        (**self).granted();
    }
    fn released(&mut self) {
        (**self).released();
    }
}

/// For those who want no stamps.
impl Observer for () {
    fn asked(&mut self) {}
    fn granted(&mut self) {}
    fn released(&mut self) {}
}

/// The wait for the lock was cancelled; the worker is out of the queue and holds nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancelled;

impl fmt::Display for Cancelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cancelled while waiting for the device")
    }
}

impl std::error::Error for Cancelled {}

/// At most one worker holds it. Never poisoned.
#[derive(Default)]
pub struct DeviceLock {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    holder: Option<u16>,
    queue: VecDeque<(u16, Arc<Waiter>)>,
    /// Everybody who ever asked, in order.
    #[cfg(test)]
    joined: Vec<u16>,
}

impl DeviceLock {
    /// A lock that nobody holds.
    pub fn new() -> DeviceLock {
        DeviceLock::default()
    }

    /// Waits until every worker that asked before has had the lock or left, then holds it.
    pub fn lock<O: Observer>(
        &self,
        worker: u16,
        cancel: &Cancel,
        mut observer: O,
    ) -> Result<Guard<'_, O>, Cancelled> {
        observer.asked();
        let waiter = {
            let mut inner = relock(self.inner.lock());
            if cancel.is_cancelled() {
                return Err(Cancelled);
            }
            #[cfg(test)]
            inner.joined.push(worker);
            if inner.holder.is_none() {
                inner.holder = Some(worker);
                None
            } else {
                let waiter = Waiter::new();
                inner.queue.push_back((worker, waiter.clone()));
                #[cfg(test)]
                if sabotaged(Sabotage::LastFirst) {
                    inner.queue.rotate_right(1);
                }
                Some(waiter)
            }
        };
        if let Some(waiter) = waiter {
            cancel.watch(&waiter);
            let place = waiter.wait();
            cancel.unwatch(&waiter);
            #[cfg(test)]
            if sabotaged(Sabotage::DropTheGrant) && cancel.is_cancelled() {
                return Err(Cancelled);
            }
            if place == Place::Cancelled {
                #[cfg(test)]
                if sabotaged(Sabotage::StayInTheQueue) {
                    return Err(Cancelled);
                }
                relock(self.inner.lock())
                    .queue
                    .retain(|(_, w)| !Arc::ptr_eq(w, &waiter));
                return Err(Cancelled);
            }
        }
        // From here on the lock is ours: the guard exists before anything else can panic.
        let mut guard = Guard {
            held: Held(self),
            observer,
        };
        guard.observer.granted();
        Ok(guard)
    }

    /// The worker that holds the lock now.
    pub fn holder(&self) -> Option<u16> {
        relock(self.inner.lock()).holder
    }

    /// Everybody who ever asked, in order.
    #[cfg(test)]
    #[allow(dead_code)] // The model's copy of this file uses it.
    pub(crate) fn joined(&self) -> Vec<u16> {
        relock(self.inner.lock()).joined.clone()
    }

    /// How many workers wait.
    pub fn waiting(&self) -> usize {
        relock(self.inner.lock()).queue.len()
    }

    fn hand_over(&self) {
        let mut inner = relock(self.inner.lock());
        inner.holder = None;
        while let Some((worker, waiter)) = inner.queue.pop_front() {
            let granted = waiter.decide(Place::Granted);
            #[cfg(test)]
            let granted = granted || sabotaged(Sabotage::GrantTheCancelled);
            if granted {
                inner.holder = Some(worker);
                break;
            }
        }
        #[cfg(test)]
        if sabotaged(Sabotage::LeaveOpen) {
            inner.holder = None;
        }
    }
}

/// Proof that its worker holds the lock. Dropping it stamps the release, then unlocks, also while a panic unwinds.
pub struct Guard<'l, O: Observer> {
    observer: O,
    held: Held<'l>,
}

/// Unlocks when dropped, after the guard's own drop has stamped.
struct Held<'l>(&'l DeviceLock);

impl Drop for Held<'_> {
    fn drop(&mut self) {
        #[cfg(test)]
        if sabotaged(Sabotage::UnlockThenStamp)
            || sabotaged(Sabotage::KeepOnPanic) && std::thread::panicking()
        {
            return;
        }
        self.0.hand_over();
    }
}

impl<O: Observer> Guard<'_, O> {
    /// Stamps the release, unlocks, and hands the observer back.
    pub fn release(self) -> O {
        let mut guard = ManuallyDrop::new(self);
        // SAFETY: the guard is not dropped, so `held` and `observer` are each moved out of it once. `held` comes out
        // first: should the stamp panic, the lock is given back all the same.
        let held = unsafe { std::ptr::read(&guard.held) };
        #[cfg(test)]
        if sabotaged(Sabotage::UnlockThenStamp) {
            guard.held.0.hand_over();
        }
        guard.observer.released();
        // SAFETY: as above.
        let observer = unsafe { std::ptr::read(&guard.observer) };
        drop(held);
        observer
    }
}

impl<O: Observer> Drop for Guard<'_, O> {
    fn drop(&mut self) {
        self.observer.released();
    }
}

impl<O: Observer> Deref for Guard<'_, O> {
    type Target = O;
    fn deref(&self) -> &O {
        &self.observer
    }
}

impl<O: Observer> DerefMut for Guard<'_, O> {
    fn deref_mut(&mut self) -> &mut O {
        &mut self.observer
    }
}
