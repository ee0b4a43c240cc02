//! A worker's turn with a partition: prepare, device, finish, and the lock around those that the scope covers.
//!
//! Both scopes run through the same code: [`LockScope::covers`] is the one table, [`Hold::enter`] its one reader. The
//! device stage is covered in either; its type holds the guard itself, so it cannot exist without the lock.

use super::cancel::Cancel;
use super::lock::{Cancelled, DeviceLock, Guard, Observer};

/// How much of a turn the lock covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LockScope {
    /// Prepare to finish: the static mutex of old.
    Job,
    /// The device stage alone.
    Kernels,
}

/// The stages of a turn, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Prepare,
    Finish,
    PutDown,
}

impl LockScope {
    /// Whether the lock is held in a stage. The device stage is not asked about: it is held by its type.
    const fn covers(self, stage: Stage) -> bool {
        match (self, stage) {
            (LockScope::Job, Stage::Prepare | Stage::Finish) => true,
            (LockScope::Kernels, Stage::Prepare | Stage::Finish) => false,
            (_, Stage::PutDown) => false,
        }
    }
}

/// The observer, with the lock or without.
enum Hold<'l, O: Observer> {
    Free(O),
    Held(Guard<'l, O>),
}

impl<'l, O: Observer> Hold<'l, O> {
    /// Takes or gives back the lock, as the scope wants it in the stage.
    fn enter(
        self,
        stage: Stage,
        at: &Place<'l>,
        cancel: &Cancel,
    ) -> Result<Hold<'l, O>, Cancelled> {
        if at.scope.covers(stage) {
            self.taken(at, cancel).map(Hold::Held)
        } else {
            Ok(self.left_if_not(at.scope, stage))
        }
    }

    fn left_if_not(self, scope: LockScope, stage: Stage) -> Hold<'l, O> {
        match self {
            Hold::Held(guard) if !scope.covers(stage) => Hold::Free(guard.release()),
            hold => hold,
        }
    }

    fn taken(self, at: &Place<'l>, cancel: &Cancel) -> Result<Guard<'l, O>, Cancelled> {
        match self {
            Hold::Held(guard) => Ok(guard),
            Hold::Free(observer) => at.lock.lock(at.worker, cancel, observer),
        }
    }

    fn observer(&mut self) -> &mut O {
        match self {
            Hold::Free(observer) => observer,
            Hold::Held(guard) => guard,
        }
    }

    fn free(self) -> O {
        match self {
            Hold::Free(observer) => observer,
            Hold::Held(guard) => guard.release(),
        }
    }
}

struct Place<'l> {
    lock: &'l DeviceLock,
    scope: LockScope,
    worker: u16,
}

/// A turn in one of its stages: [`PickedUp`] → [`Preparing`] → [`OnDevice`] → [`Finishing`].
///
/// Dropping it in any stage, also while a panic unwinds, gives the lock back with its stamp.
///
/// ```
/// use interlock::{Cancel, DeviceLock, LockScope, Turn};
/// let (lock, cancel) = (DeviceLock::new(), Cancel::new());
/// let turn = Turn::pick_up(&lock, LockScope::Kernels, 0, ()).prepare(&cancel)?;
/// assert_eq!(lock.holder(), None);
/// let turn = turn.device(&cancel)?;
/// assert_eq!(lock.holder(), Some(0));
/// turn.finish().put_down();
/// # Ok::<(), interlock::Cancelled>(())
/// ```
///
/// No stage can be left out:
/// ```compile_fail,E0599
/// # use interlock::{Cancel, DeviceLock, LockScope, Turn};
/// # let (lock, cancel) = (DeviceLock::new(), Cancel::new());
/// Turn::pick_up(&lock, LockScope::Kernels, 0, ()).device(&cancel);
/// ```
pub struct Turn<'l, S> {
    at: Place<'l>,
    stage: S,
}

/// The partition is picked up; the lock is not held.
pub struct PickedUp<O>(O);
/// The CPU stage before the device.
pub struct Preparing<'l, O: Observer>(Hold<'l, O>);
/// The device stage. Holds the lock.
pub struct OnDevice<'l, O: Observer>(Guard<'l, O>);
/// The CPU stage after the device.
pub struct Finishing<'l, O: Observer>(Hold<'l, O>);

impl<'l, O: Observer> Turn<'l, PickedUp<O>> {
    /// A worker begins a turn at a device.
    pub fn pick_up(
        lock: &'l DeviceLock,
        scope: LockScope,
        worker: u16,
        observer: O,
    ) -> Turn<'l, PickedUp<O>> {
        Turn {
            at: Place {
                lock,
                scope,
                worker,
            },
            stage: PickedUp(observer),
        }
    }

    /// Begins to prepare: waits for the lock first if the scope covers it.
    pub fn prepare(self, cancel: &Cancel) -> Result<Turn<'l, Preparing<'l, O>>, Cancelled> {
        let hold = Hold::Free(self.stage.0).enter(Stage::Prepare, &self.at, cancel)?;
        Ok(Turn {
            at: self.at,
            stage: Preparing(hold),
        })
    }

    /// The observer.
    pub fn observer(&mut self) -> &mut O {
        &mut self.stage.0
    }
}

impl<'l, O: Observer> Turn<'l, Preparing<'l, O>> {
    /// Begins the device stage: waits for the lock unless it is held.
    pub fn device(self, cancel: &Cancel) -> Result<Turn<'l, OnDevice<'l, O>>, Cancelled> {
        let guard = self.stage.0.taken(&self.at, cancel)?;
        Ok(Turn {
            at: self.at,
            stage: OnDevice(guard),
        })
    }

    /// The observer.
    pub fn observer(&mut self) -> &mut O {
        self.stage.0.observer()
    }

    /// Gives the turn up: the lock is free, the observer comes back.
    pub fn abandon(self) -> O {
        self.stage.0.free()
    }
}

impl<'l, O: Observer> Turn<'l, OnDevice<'l, O>> {
    /// Ends the device stage and begins to finish: gives the lock back unless the scope covers it.
    pub fn finish(self) -> Turn<'l, Finishing<'l, O>> {
        let hold = Hold::Held(self.stage.0).left_if_not(self.at.scope, Stage::Finish);
        Turn {
            at: self.at,
            stage: Finishing(hold),
        }
    }

    /// The observer.
    pub fn observer(&mut self) -> &mut O {
        &mut self.stage.0
    }

    /// Gives the turn up: the lock is free, the observer comes back.
    pub fn abandon(self) -> O {
        self.stage.0.release()
    }
}

impl<'l, O: Observer> Turn<'l, Finishing<'l, O>> {
    /// Ends the turn: the lock is free, the observer comes back.
    pub fn put_down(self) -> O {
        self.stage
            .0
            .left_if_not(self.at.scope, Stage::PutDown)
            .free()
    }

    /// The observer.
    pub fn observer(&mut self) -> &mut O {
        self.stage.0.observer()
    }
}
