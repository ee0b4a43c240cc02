//! A GPU worker: takes a queued partition through prepare, device and finish.

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::{Arc, PoisonError};

use interlock::{Observer, Turn};
use interlock_timeline::{
    Emitter, Event, LockScope, Notice, Outcome, Partition, Stage, Worker, WorkerIs,
};

use super::shared::{panic_words, Inner, Job, ParamsEntry, Shared, Slot};
use super::verifier::ToVerify;
use crate::backend::Task;
use crate::board::{PartitionProof, Stop, Submission};
use crate::{wait, Error, ErrorKind};

/// Panics in a row, without a partition that got through, that end the process.
const DEATHS: u32 = 3;

/// Returns when the worker panicked: the caller replaces it.
pub(super) fn run(shared: &Arc<Shared>, slot: &Arc<Slot>, mut emitter: Emitter) {
    wait::be_punctual();
    let at = Worker {
        device: shared.devices[slot.device].id,
        worker: slot.number,
    };
    loop {
        let (id, job, scope) = next(shared, slot, at, &mut emitter);
        let facts = shared.lock().board.facts(id);
        let Some((what, stop)) = facts else { continue };
        let mut pass = Pass {
            shared,
            slot,
            at,
            id,
            stage: Stage::Prepare,
            emitter: &mut emitter,
        };
        let through = catch_unwind(AssertUnwindSafe(|| pass.take(job, scope, &what, &stop)));
        let stage = pass.stage;
        match through {
            Ok(result) => {
                emitter.emit(Event::put_down(id, at));
                slot.set(WorkerIs::Free, None, shared.clock.now_ns());
                settle(shared, &mut emitter, id, stage, result);
            }
            Err(panic) => {
                slot.set(WorkerIs::Dead, Some(id), shared.clock.now_ns());
                let message = format!("the GPU worker panicked: {}", panic_words(&*panic));
                let error = Error::new(ErrorKind::Panicked, message);
                shared.timeline.notify(Notice::WorkerDead {
                    worker: at,
                    failure: error.failure(),
                });
                shared.fail(&mut emitter, id, Outcome::Failed, stage, error.clone());
                let deaths = {
                    let mut inner = shared.lock();
                    inner.deaths += 1;
                    inner.deaths
                };
                if deaths >= DEATHS {
                    shared.sink.fatal(error);
                } else if let Err(error) =
                    super::threads::spawn_worker(shared, slot.device, slot.rank)
                {
                    shared.sink.fatal(error);
                }
                return;
            }
        }
    }
}

fn settle(
    shared: &Shared,
    emitter: &mut Emitter,
    id: Partition,
    stage: Stage,
    result: Result<Option<PartitionProof>, Error>,
) {
    match result {
        Ok(made) => {
            {
                let mut inner = shared.lock();
                inner.deaths = 0;
                inner.board.begin_verify(id);
            }
            let queue = shared
                .to_verify
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            if queue.send(ToVerify { id, made }).is_err() {
                shared
                    .sink
                    .fatal(Error::new(ErrorKind::Internal, "the verifier is gone"));
            }
        }
        Err(error) if error.kind() == ErrorKind::Cancelled => {
            shared.end(emitter, id, Outcome::Cancelled, None);
        }
        Err(error) => shared.fail(emitter, id, Outcome::Failed, stage, error),
    }
}

/// Waits for a partition that may be picked up, and picks it up.
fn next(
    shared: &Shared,
    slot: &Slot,
    at: Worker,
    emitter: &mut Emitter,
) -> (Partition, Job, LockScope) {
    let mut inner = shared.lock();
    loop {
        while slot.rank >= inner.gpu_workers() {
            inner = shared
                .resting
                .wait(inner)
                .unwrap_or_else(PoisonError::into_inner);
        }
        let Inner { board, params, .. } = &mut *inner;
        let picked =
            board.pick(|circuit| params.get(circuit).is_some_and(ParamsEntry::is_resident));
        let scope = inner
            .board
            .scheduler
            .as_ref()
            .map_or(LockScope::Job, |s| s.lock_scope);
        if let Some((id, job)) = picked {
            let t = emitter.emit(Event::picked_up(id, at));
            let is = match scope {
                LockScope::Job => WorkerIs::Waiting,
                LockScope::Kernels => WorkerIs::Prepare,
            };
            slot.set(is, Some(id), t);
            return (id, job, scope);
        }
        inner = shared
            .queue
            .wait(inner)
            .unwrap_or_else(PoisonError::into_inner);
    }
}

/// One partition's pass through a worker. Observes the device lock.
struct Pass<'a> {
    shared: &'a Shared,
    slot: &'a Slot,
    at: Worker,
    id: Partition,
    stage: Stage,
    emitter: &'a mut Emitter,
}

impl Observer for Pass<'_> {
    fn asked(&mut self) {
        let t = self.emitter.emit(Event::lock_asked(self.id, self.at));
        self.slot.set(WorkerIs::Waiting, Some(self.id), t);
    }

    fn granted(&mut self) {
        self.emitter.emit(Event::lock_granted(self.id, self.at));
    }

    fn released(&mut self) {
        self.emitter.emit(Event::lock_released(self.id, self.at));
    }
}

impl Pass<'_> {
    /// Every event up to the release of the lock; the caller puts the partition down.
    fn take(
        &mut self,
        mut job: Job,
        scope: LockScope,
        what: &Submission,
        stop: &Arc<Stop>,
    ) -> Result<Option<PartitionProof>, Error> {
        let (id, at, shared) = (self.id, self.at, self.shared);
        let task = Task {
            id,
            what,
            stop,
            progress: &self.slot.progress,
            clock: &shared.clock,
        };
        let lock = &shared.devices[self.slot.device].lock;
        let scope = match scope {
            LockScope::Job => interlock::LockScope::Job,
            LockScope::Kernels => interlock::LockScope::Kernels,
        };
        let cancelled = || Error::new(ErrorKind::Cancelled, "its proof is not made any more");
        let turn = Turn::pick_up(lock, scope, at.worker, self);

        let mut turn = turn.prepare(&stop.waiting).map_err(|_| cancelled())?;
        let pass = turn.observer();
        pass.enter(
            Stage::Prepare,
            WorkerIs::Prepare,
            Event::prepare_started(id, at),
        );
        let prepared = job.prepare(&task);
        pass.emitter.emit(Event::prepare_ended(id, at));
        prepared?;
        if shared.lock().board.is_ending(id) {
            return Err(cancelled());
        }

        let mut turn = turn.device(&stop.waiting).map_err(|_| cancelled())?;
        let pass = turn.observer();
        pass.enter(
            Stage::Device,
            WorkerIs::Device,
            Event::device_started(id, at),
        );
        let computed = job.device(&task, at, pass.emitter);
        pass.emitter.emit(Event::device_ended(id, at));
        computed?;
        if shared.lock().board.is_ending(id) {
            return Err(cancelled());
        }

        let mut turn = turn.finish();
        let pass = turn.observer();
        pass.enter(
            Stage::Finish,
            WorkerIs::Finish,
            Event::finish_started(id, at),
        );
        let made = job.finish(&task);
        pass.emitter.emit(Event::finish_ended(id, at));
        shared.release_permit(pass.emitter, id);
        turn.put_down();
        made
    }

    fn enter(&mut self, stage: Stage, is: WorkerIs, event: Event) {
        self.stage = stage;
        let t = self.emitter.emit(event);
        self.slot.set(is, Some(self.id), t);
    }
}
