//! What the writer and the handles share.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use crate::clock::Clock;
use crate::id::Names;
use crate::notice::Notice;
use crate::ring::Ring;
use crate::state::State;
use crate::timeline::Status;
use crate::words::Bye;
use crate::{Error, ErrorKind};

type Source = Box<dyn Fn() -> State + Send>;

pub(crate) struct Shared {
    pub(crate) clock: Clock,
    pub(crate) proofs: Names,
    pub(crate) devices: Names,
    /// Rings and holds that the writer has not seen yet.
    pub(crate) new_rings: Mutex<Vec<Arc<Ring>>>,
    pub(crate) new_holds: Mutex<Vec<Arc<AtomicU64>>>,
    /// (stamp, wall clock, notice). Stamped under the lock: a ring of its own, in which stamps never fall.
    pub(crate) notices: Mutex<Vec<(u64, u64, Notice)>>,
    pub(crate) status: Mutex<Status>,
    source: Mutex<Option<Source>>,
    control: Mutex<Control>,
    answered: Condvar,
}

#[derive(Default)]
struct Control {
    request: Request,
    synced: Option<Result<(), String>>,
    stopped: Option<Result<(), String>>,
}

/// What is asked of the writer.
#[derive(Clone, Copy, Default)]
pub(crate) struct Request {
    /// Tickets of syncs given out, and answered.
    pub(crate) sync: u64,
    pub(crate) synced: u64,
    /// Stop; with a `bye`, or (dropped without a stop) without.
    pub(crate) stop: Option<Option<(Bye, i32)>>,
}

impl Shared {
    pub(crate) fn new(clock: Clock) -> Shared {
        Shared {
            clock,
            proofs: Names::default(),
            devices: Names::default(),
            new_rings: Mutex::default(),
            new_holds: Mutex::default(),
            notices: Mutex::default(),
            status: Mutex::new(Status {
                last_seq: -1,
                ..Status::default()
            }),
            source: Mutex::default(),
            control: Mutex::default(),
            answered: Condvar::new(),
        }
    }

    pub(crate) fn set_source(&self, source: Source) {
        *relock(self.source.lock()) = Some(source);
    }

    /// A snapshot, if there is somebody to take one.
    pub(crate) fn state(&self) -> Option<State> {
        match relock(self.source.lock()).as_deref() {
            Some(source) => crate::writer::call_source(source),
            None => Some(State::starting()),
        }
    }

    pub(crate) fn request(&self) -> Request {
        relock(self.control.lock()).request
    }

    /// Asks for a sync; `wake` wakes the writer.
    pub(crate) fn ask_sync(&self, wake: impl Fn()) -> Result<(), Error> {
        let mut control = relock(self.control.lock());
        control.request.sync += 1;
        let ticket = control.request.sync;
        wake();
        loop {
            if control.request.synced >= ticket {
                return as_error(&control.synced, ErrorKind::Failing);
            }
            if control.stopped.is_some() {
                return Err(Error::new(ErrorKind::Stopped, "the timeline is stopped"));
            }
            control = relock(self.answered.wait(control));
        }
    }

    pub(crate) fn answer_sync(&self, ticket: u64, answer: Result<(), String>) {
        let mut control = relock(self.control.lock());
        control.request.synced = control.request.synced.max(ticket);
        control.synced = Some(answer);
        self.answered.notify_all();
    }

    /// Asks for the end and waits for it. The first way to end counts.
    pub(crate) fn ask_stop(&self, how: Option<(Bye, i32)>, wake: impl Fn()) -> Result<(), Error> {
        let mut control = relock(self.control.lock());
        control.request.stop.get_or_insert(how);
        wake();
        while control.stopped.is_none() {
            control = relock(self.answered.wait(control));
        }
        as_error(&control.stopped, ErrorKind::Failing)
    }

    pub(crate) fn answer_stop(&self, answer: Result<(), String>) {
        let mut control = relock(self.control.lock());
        control.stopped.get_or_insert(answer);
        self.answered.notify_all();
    }
}

fn as_error(answer: &Option<Result<(), String>>, kind: ErrorKind) -> Result<(), Error> {
    match answer {
        Some(Err(words)) => Err(Error::new(kind, words.clone())),
        _ => Ok(()),
    }
}

/// A mutex's contents, poisoned or not: no section here leaves them half-changed.
pub(crate) fn relock<G>(result: Result<G, PoisonError<G>>) -> G {
    result.unwrap_or_else(PoisonError::into_inner)
}
