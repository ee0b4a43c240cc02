//! Wrong locks, for the model checker to find. Tests only; a wrong lock is one of this thread's.

use std::cell::Cell;

/// What is wrong with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sabotage {
    /// A release names the next holder, and leaves the lock open all the same.
    LeaveOpen,
    /// A decision wakes nobody.
    NoWakeUp,
    /// A waiter looks, lets go of the mutex, and sleeps without looking again.
    LookThenSleep,
    /// The last to ask goes first.
    LastFirst,
    /// A panic does not give the lock back.
    KeepOnPanic,
    /// A release is spent on a place that was cancelled.
    GrantTheCancelled,
    /// A cancelled waiter leaves its place in the queue.
    StayInTheQueue,
    /// A waiter that was granted, then cancelled, walks away with the lock.
    DropTheGrant,
    /// The release is stamped when the next worker may hold the lock already.
    UnlockThenStamp,
}

thread_local! { static NOW: Cell<Option<Sabotage>> = const { Cell::new(None) }; }

pub(crate) fn sabotaged(how: Sabotage) -> bool {
    NOW.get() == Some(how)
}

/// Runs with a wrong lock.
pub(crate) fn with<R>(how: Option<Sabotage>, run: impl FnOnce() -> R) -> R {
    NOW.set(how);
    let result = run();
    NOW.set(None);
    result
}
