//! A synthesis worker: asks for permits in dispatch order, synthesises, releases to the queue.

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::{Arc, PoisonError};

use interlock_timeline::{Emitter, Event, Outcome, Partition, Stage, WaitedFor, WorkerIs};

use super::shared::{panic_words, Shared, Slot};
use crate::backend::Task;
use crate::permits::Shortage;
use crate::{wait, Error, ErrorKind};

pub(super) fn run(shared: &Shared, slot: &Arc<Slot>, mut emitter: Emitter) {
    wait::be_punctual();
    loop {
        let id = next(shared, slot, &mut emitter);
        synthesise(shared, slot, &mut emitter, id);
        slot.set(WorkerIs::Free, None, shared.clock.now_ns());
    }
}

/// Waits until a partition has a permit, and takes it.
fn next(shared: &Shared, slot: &Slot, emitter: &mut Emitter) -> Partition {
    let mut inner = shared.lock();
    inner.idle += 1;
    loop {
        if slot.rank >= inner.synthesis_workers() {
            inner.idle -= 1;
            while slot.rank >= inner.synthesis_workers() {
                inner = shared
                    .resting
                    .wait(inner)
                    .unwrap_or_else(PoisonError::into_inner);
            }
            inner.idle += 1;
        }
        let idle = inner.idle;
        let step = inner.board.dispatch(idle);
        for (id, bytes) in step.asked {
            emitter.emit(Event::permit_asked(id, bytes));
        }
        if let Some(granted) = step.granted {
            let waited_for = match granted.waited_for {
                None => WaitedFor::None,
                Some(Shortage::Bytes) => WaitedFor::Bytes,
                Some(Shortage::Count) => WaitedFor::Count,
            };
            emitter.emit(Event::permit_granted(granted.id, granted.bytes, waited_for));
            inner.idle -= 1;
            let t = emitter.emit(Event::synthesis_started(granted.id, slot.number));
            slot.set(WorkerIs::Prepare, Some(granted.id), t);
            // There may be a permit for the next one too.
            shared.dispatch.notify_one();
            return granted.id;
        }
        inner = shared
            .dispatch
            .wait(inner)
            .unwrap_or_else(PoisonError::into_inner);
    }
}

fn synthesise(shared: &Shared, slot: &Slot, emitter: &mut Emitter, id: Partition) {
    let facts = shared.lock().board.facts(id);
    let Some((what, stop)) = facts else { return };
    let (progress, clock) = (&slot.progress, &shared.clock);
    let task = Task {
        id,
        what: &what,
        stop: &stop,
        progress,
        clock,
    };
    let done = catch_unwind(AssertUnwindSafe(|| shared.backend.synthesise(&task)));
    emitter.emit(Event::synthesis_ended(id, slot.number));
    let result = done.unwrap_or_else(|panic| {
        let message = format!("synthesis panicked: {}", panic_words(&*panic));
        Err(Error::new(ErrorKind::Panicked, message))
    });
    match result {
        Ok(job) => {
            let queued = {
                let mut inner = shared.lock();
                if inner.board.is_ending(id) {
                    None
                } else {
                    let queued = inner.board.synthesised(id, job);
                    for partition in &queued {
                        emitter.emit(Event::queued(*partition));
                    }
                    Some(queued)
                }
            };
            match queued {
                None => shared.end(emitter, id, Outcome::Cancelled, None),
                Some(queued) if !queued.is_empty() => shared.queue.notify_all(),
                Some(_) => {}
            }
        }
        Err(error) if error.kind() == ErrorKind::Cancelled => {
            shared.end(emitter, id, Outcome::Cancelled, None);
        }
        Err(error) => shared.fail(emitter, id, Outcome::Failed, Stage::Synthesis, error),
    }
}
