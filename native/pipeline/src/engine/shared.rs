//! What the pipeline's threads share: the board behind one mutex, and how its news reach the
//! journal.
//!
//! Events go into rings, also under the mutex: that takes no lock and no system call. Notices take
//! the timeline's lock, whose holder may ask for a snapshot, which takes the mutex: so they are
//! never sent while it is held.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use interlock::DeviceLock;
use interlock_timeline::{
    Clock, DeviceId, Emitter, Event, Notice, Outcome, ParamsIs, Partition, Phase, ReturnReason,
    Stage, Timeline, WorkerIs,
};

use super::verifier::ToVerify;
use crate::backend::{Backend, Work};
use crate::board::{Board, Cancelled, Closed, End, PartitionProof};
use crate::Error;

/// What the pipeline tells its owner, from its own threads. Implementations do not wait.
pub trait Sink: Send + Sync {
    /// A proof was made or failed. Close it: make it durable, tell of its end, then call
    /// [`Engine::closed`](super::Engine::closed).
    fn proof_closed(&self, closed: Closed);
    /// A proof left the pipeline: it may be quiescent now.
    fn changed(&self);
    /// Nothing more can be proved. End the process.
    fn fatal(&self, error: Error);
}

pub(crate) struct Device {
    pub id: DeviceId,
    pub lock: DeviceLock,
}

/// One worker's place in the snapshot. Only the worker writes it.
pub(crate) struct Slot {
    pub number: u16,
    /// Index of its device; for a synthesis worker 0.
    pub device: usize,
    /// Its rank among the workers of its device: those beyond the scheduler's number rest.
    pub rank: u32,
    pub progress: Arc<AtomicU64>,
    now: Mutex<Now>,
}

#[derive(Clone, Copy)]
pub(crate) struct Now {
    pub is: WorkerIs,
    pub partition: Option<Partition>,
    pub since: u64,
}

impl Slot {
    pub fn new(number: u16, device: usize, rank: u32, since: u64) -> Slot {
        let now = Mutex::new(Now {
            is: WorkerIs::Free,
            partition: None,
            since,
        });
        Slot {
            number,
            device,
            rank,
            progress: Arc::default(),
            now,
        }
    }

    pub fn set(&self, is: WorkerIs, partition: Option<Partition>, since: u64) {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) = Now {
            is,
            partition,
            since,
        };
        self.progress.fetch_add(1, Ordering::Relaxed);
    }

    pub fn now(&self) -> Now {
        *self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) struct ParamsEntry {
    pub is: ParamsIs,
    pub bytes: u64,
}

impl ParamsEntry {
    pub fn is_resident(&self) -> bool {
        self.is == ParamsIs::Resident
    }
}

pub(crate) type Job = Box<dyn Work>;

pub(crate) struct Inner {
    pub board: Board<Job>,
    pub phase: Phase,
    pub run: Option<String>,
    pub params: BTreeMap<Arc<str>, ParamsEntry>,
    pub workers: Vec<Arc<Slot>>,
    pub synthesisers: Vec<Arc<Slot>>,
    pub next_worker: u16,
    /// Synthesis workers that have nothing to do.
    pub idle: usize,
    /// Workers that panicked since the last partition got through.
    pub deaths: u32,
}

impl Inner {
    /// How many of its kind work in this run.
    pub fn gpu_workers(&self) -> u32 {
        self.board.scheduler.as_ref().map_or(0, |s| s.gpu_workers)
    }

    pub fn synthesis_workers(&self) -> u32 {
        self.board
            .scheduler
            .as_ref()
            .map_or(0, |s| s.synthesis_workers)
    }

    /// Whether somebody must load the circuit's params now; they count as loading from here on.
    pub fn want_params(&mut self, circuit: &Arc<str>, bytes: u64) -> bool {
        if self
            .params
            .get(circuit)
            .is_some_and(|entry| entry.is != ParamsIs::Absent)
        {
            return false;
        }
        let entry = ParamsEntry {
            is: ParamsIs::Loading,
            bytes,
        };
        self.params.insert(circuit.clone(), entry);
        let all = self.params_bytes();
        self.board.set_params_bytes(all);
        true
    }

    pub fn params_bytes(&self) -> u64 {
        let there = self.params.values().filter(|p| p.is != ParamsIs::Absent);
        there.map(|p| p.bytes).fold(0, u64::saturating_add)
    }
}

pub(crate) struct Shared {
    pub timeline: Arc<Timeline>,
    pub clock: Clock,
    pub backend: Arc<dyn Backend>,
    pub devices: Vec<Device>,
    pub inner: Mutex<Inner>,
    /// Something may be granted a permit.
    pub dispatch: Condvar,
    /// Something may be picked up.
    pub queue: Condvar,
    /// The scheduler changed.
    pub resting: Condvar,
    /// The ring of whoever commands.
    pub control: Mutex<Emitter>,
    pub sink: Arc<dyn Sink>,
    pub to_verify: Mutex<Sender<ToVerify>>,
    pub to_load: Mutex<Sender<Arc<str>>>,
}

impl Shared {
    pub fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells of partitions that are not made after all. Called with the board's lock, so that a
    /// permit is told to be free before another partition gets it.
    pub fn tell_cancelled(&self, emitter: &mut Emitter, cancelled: &[Cancelled]) {
        for Cancelled { id, permit } in cancelled {
            if let Some(bytes) = permit {
                emitter.emit(Event::permit_released(*id, *bytes));
            }
            emitter.emit(Event::partition_ended(*id, Outcome::Cancelled));
        }
    }

    /// A partition is over: gives its permit back and ends it.
    pub fn end(
        &self,
        emitter: &mut Emitter,
        id: Partition,
        outcome: Outcome,
        made: Option<PartitionProof>,
    ) {
        self.release_permit(emitter, id);
        let closed = {
            let mut inner = self.lock();
            emitter.emit(Event::partition_ended(id, outcome));
            inner.board.end_partition(id, outcome, made)
        };
        // A place among the proofs in flight may be free.
        self.dispatch.notify_one();
        if let Some(closed) = closed {
            self.hand_over(closed);
        }
    }

    /// A partition failed: its proof fails with it.
    pub fn fail(
        &self,
        emitter: &mut Emitter,
        id: Partition,
        outcome: Outcome,
        stage: Stage,
        error: Error,
    ) {
        self.timeline.notify(Notice::StageFailed {
            partition: id,
            stage,
            failure: error.failure(),
        });
        {
            let mut inner = self.lock();
            let cancelled = inner.board.fail(id, outcome, error);
            self.tell_cancelled(emitter, &cancelled);
        }
        self.dispatch.notify_all();
        self.end(emitter, id, outcome, None);
    }

    pub fn release_permit(&self, emitter: &mut Emitter, id: Partition) {
        let mut inner = self.lock();
        if let Some(bytes) = inner.board.release_permit(id) {
            emitter.emit(Event::permit_released(id, bytes));
            self.dispatch.notify_one();
        }
    }

    /// Closes proofs of which every partition has ended.
    pub fn hand_over(&self, closed: Closed) {
        match closed.end {
            End::Returned(reason) => self.tell_returned(&closed, reason),
            _ => self.sink.proof_closed(closed),
        }
    }

    fn tell_returned(&self, closed: &Closed, reason: ReturnReason) {
        let (proof, attempt) = (closed.what.id, closed.what.attempt);
        self.timeline.notify(Notice::ProofReturned {
            proof,
            attempt,
            reason,
        });
        self.remove(proof, attempt);
    }

    /// Takes a proof off the board.
    pub fn remove(&self, proof: interlock_timeline::ProofId, attempt: u32) {
        self.lock().board.remove(proof, attempt);
        self.dispatch.notify_all();
        self.sink.changed();
    }
}

/// The words of a panic.
pub(crate) fn panic_words(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without words".to_owned())
}
