//! The pipeline at work: synthesis workers → queue → GPU workers → verifier, all driven by the
//! board, and the commands that its owner gives.
//!
//! Commands come from one thread at a time. They never wait for a stage.

mod configure;
mod params;
mod shared;
mod snapshot;
mod synthesiser;
mod threads;
mod verifier;
mod worker;

use std::collections::{BTreeMap, HashSet};
use std::sync::{mpsc, Arc, Condvar, Mutex, PoisonError};

use interlock_timeline::{
    DeviceId, Notice, ParamsIs, Phase, ProofId, ReturnReason, Timeline, WorkerIs,
};

pub use shared::Sink;

use crate::backend::Backend;
use crate::board::{Board, Submission, Withdrawn};
use crate::{Error, ErrorKind};
use shared::{Device, Inner, Shared};
use threads::spawn;

/// A proof as the host submits it, checked for form only.
#[derive(Clone, Debug)]
pub struct Request {
    /// The host's id.
    pub proof: String,
    /// Counts tries, from 1.
    pub attempt: u32,
    /// The circuit's name.
    pub circuit: String,
    /// Partitions.
    pub partitions: u32,
    /// 1 to 4.
    pub priority: u8,
    /// When the host took it over.
    pub submitted_wall_ns: u64,
    /// When it is due.
    pub deadline_wall_ns: Option<u64>,
    /// What its witness is made from.
    pub seed: [u8; 32],
}

/// The pipeline of a process. Dropping it stops nothing: its threads end with the process.
pub struct Engine {
    shared: Arc<Shared>,
    /// Attempts that ended here; they are not taken over again.
    ended: Mutex<HashSet<(ProofId, u32)>>,
}

/// The most partitions of a proof.
const MAX_PARTITIONS: u32 = 4096;

impl Engine {
    /// Starts the verifier and the loader; workers come with the first run.
    ///
    /// Errors: `Internal` if a thread or a ring cannot be had.
    pub fn start(
        timeline: Arc<Timeline>,
        backend: Arc<dyn Backend>,
        devices: &[DeviceId],
        sink: Arc<dyn Sink>,
    ) -> Result<Engine, Error> {
        let (to_verify, verify_queue) = mpsc::channel();
        let (to_load, load_queue) = mpsc::channel();
        let emitter = |name: &str| timeline.emitter(name).map_err(internal);
        let (control, verifying, loading) =
            (emitter("control")?, emitter("verify")?, emitter("params")?);
        let inner = Inner {
            board: Board::default(),
            phase: Phase::Starting,
            run: None,
            params: BTreeMap::new(),
            workers: Vec::new(),
            synthesisers: Vec::new(),
            next_worker: 0,
            idle: 0,
            deaths: 0,
        };
        let devices = devices
            .iter()
            .map(|id| Device {
                id: *id,
                lock: Default::default(),
            })
            .collect();
        let shared = Arc::new(Shared {
            clock: timeline.clock().clone(),
            timeline,
            backend,
            devices,
            inner: Mutex::new(inner),
            dispatch: Condvar::new(),
            queue: Condvar::new(),
            resting: Condvar::new(),
            control: Mutex::new(control),
            sink,
            to_verify: Mutex::new(to_verify),
            to_load: Mutex::new(to_load),
        });
        let of = shared.clone();
        spawn("verify", move || {
            verifier::run(&of, &verify_queue, verifying)
        })?;
        let of = shared.clone();
        spawn("params", move || params::run(&of, &load_queue, loading))?;
        let of = Arc::downgrade(&shared);
        shared
            .timeline
            .set_state_source(move || match of.upgrade() {
                Some(shared) => snapshot::take(&shared),
                None => interlock_timeline::State::starting(),
            });
        Ok(Engine {
            shared,
            ended: Mutex::default(),
        })
    }

    /// Says what the process is doing as a whole.
    pub fn set_phase(&self, phase: Phase) {
        self.shared.lock().phase = phase;
    }

    /// What the process is doing as a whole.
    pub fn phase(&self) -> Phase {
        self.shared.lock().phase
    }

    /// The run, if one was begun.
    pub fn run(&self) -> Option<String> {
        self.shared.lock().run.clone()
    }

    /// Takes a proof over.
    ///
    /// Errors: `Draining`, `NoRun`, `Duplicate`, `InvalidProof`, `BudgetTooSmall`.
    pub fn submit(&self, request: Request) -> Result<(), Error> {
        let shared = &self.shared;
        let invalid = |what: String| Error::new(ErrorKind::InvalidProof, what);
        let id = shared
            .timeline
            .proof(&request.proof)
            .map_err(|e| invalid(e.to_string()))?;
        if request.attempt == 0 {
            return Err(invalid("attempt counts from 1".into()));
        }
        if !(1..=4).contains(&request.priority) {
            return Err(invalid(format!(
                "priority is {}; allowed: 1 to 4",
                request.priority
            )));
        }
        if !(1..=MAX_PARTITIONS).contains(&request.partitions) {
            let n = request.partitions;
            return Err(invalid(format!(
                "partitions is {n}; allowed: 1 to {MAX_PARTITIONS}"
            )));
        }
        let facts = shared.backend.circuit(&request.circuit)?;
        let circuit: Arc<str> = facts.name.as_str().into();
        let run = {
            let inner = shared.lock();
            if inner.phase == Phase::Draining {
                return Err(Error::new(ErrorKind::Draining, "the prover is draining"));
            }
            let (Some(run), Some(scheduler)) = (&inner.run, &inner.board.scheduler) else {
                return Err(Error::new(ErrorKind::NoRun, "send `run` before `submit`"));
            };
            if inner.board.holds(id) || self.is_ended(id, request.attempt) {
                let message = format!(
                    "{} attempt {} was taken over before",
                    request.proof, request.attempt
                );
                return Err(Error::new(ErrorKind::Duplicate, message));
            }
            let known = inner
                .params
                .get(&circuit)
                .filter(|entry| entry.is != ParamsIs::Absent);
            let more = if known.is_some() {
                0
            } else {
                facts.params_bytes
            };
            let params = inner.params_bytes().saturating_add(more);
            scheduler.check_budget(
                params,
                facts.partition_bytes,
                request.partitions,
                request.priority,
            )?;
            run.clone()
        };
        shared.timeline.notify(Notice::ProofAccepted {
            proof: id,
            attempt: request.attempt,
            run,
            circuit: facts.name,
            partitions: request.partitions,
            constraints: facts.constraints,
            priority: request.priority,
            submitted_wall_ns: request.submitted_wall_ns,
            deadline_wall_ns: request.deadline_wall_ns,
        });
        let load = {
            let mut inner = shared.lock();
            inner.board.accept(Submission {
                id,
                proof: request.proof.as_str().into(),
                attempt: request.attempt,
                circuit: circuit.clone(),
                partitions: request.partitions,
                priority: request.priority,
                deadline_wall_ns: request.deadline_wall_ns,
                seed: request.seed,
                constraints: facts.constraints,
                partition_bytes: facts.partition_bytes,
            });
            // Looked at together with the acceptance: a load that failed just before does not
            // know of this proof.
            inner.want_params(&circuit, facts.params_bytes)
        };
        shared.dispatch.notify_one();
        if load {
            let queue = shared
                .to_load
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            queue
                .send(circuit)
                .map_err(|_| internal("the params' loader is gone"))?;
        }
        Ok(())
    }

    fn is_ended(&self, id: ProofId, attempt: u32) -> bool {
        self.ended
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .contains(&(id, attempt))
    }

    /// Takes a proof back: at once if none of its partitions has started, else when their running
    /// stages have ended.
    pub fn withdraw(&self, proof: &str) -> Withdrawn {
        match self.shared.timeline.proof(proof) {
            Ok(id) => self.give_back(id, ReturnReason::Withdrawn),
            Err(_) => Withdrawn::Unknown,
        }
    }

    fn give_back(&self, id: ProofId, why: ReturnReason) -> Withdrawn {
        let shared = &self.shared;
        let (state, closed) = {
            let mut emitter = shared
                .control
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            let mut inner = shared.lock();
            let (state, cancelled) = inner.board.give_back(id, why);
            shared.tell_cancelled(&mut emitter, &cancelled);
            (state, inner.board.take_closed())
        };
        shared.dispatch.notify_all();
        for closed in closed {
            shared.hand_over(closed);
        }
        state
    }

    /// Starts no further proof: those without a started partition go back, the others go on.
    pub fn drain(&self) {
        let unstarted = {
            let mut inner = self.shared.lock();
            inner.phase = Phase::Draining;
            inner.board.unstarted()
        };
        for id in unstarted {
            self.give_back(id, ReturnReason::Drain);
        }
    }

    /// Takes work again.
    pub fn undrain(&self) {
        self.shared.lock().phase = Phase::Ready;
    }

    /// Gives every proof back: devices end at their next kernel.
    pub fn stop(&self) {
        let all = {
            let mut inner = self.shared.lock();
            inner.phase = Phase::Draining;
            inner.board.cancel_all();
            inner.board.unclosed()
        };
        for what in all {
            self.give_back(what.id, ReturnReason::Stopped);
        }
    }

    /// Gives up what has not ended: tells that it goes back, whatever its threads are doing.
    pub fn abandon(&self, why: ReturnReason) {
        let left = self.shared.lock().board.unclosed();
        for what in left {
            let (proof, attempt) = (what.id, what.attempt);
            self.shared.timeline.notify(Notice::ProofReturned {
                proof,
                attempt,
                reason: why,
            });
        }
    }

    /// A closed proof's end was told: it leaves the pipeline.
    pub fn closed(&self, proof: ProofId, attempt: u32) {
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        ended.insert((proof, attempt));
        drop(ended);
        self.shared.remove(proof, attempt);
    }

    /// Whether no proof is here.
    pub fn is_quiescent(&self) -> bool {
        self.shared.lock().board.is_quiescent()
    }

    /// Whether a proof is made or failed and waits to be closed.
    pub fn is_closing(&self) -> bool {
        self.shared
            .lock()
            .board
            .proofs
            .iter()
            .any(|proof| proof.closing)
    }

    /// Whether a GPU worker is in its device stage.
    pub fn is_on_device(&self) -> bool {
        let inner = self.shared.lock();
        inner
            .workers
            .iter()
            .any(|slot| slot.now().is == WorkerIs::Device)
    }

    /// Each proof here: (id, attempt, partitions, done).
    pub fn proofs(&self) -> Vec<(Arc<str>, u32, u32, u32)> {
        let inner = self.shared.lock();
        let of = |p: &crate::board::Proof<shared::Job>| {
            (
                p.what.proof.clone(),
                p.what.attempt,
                p.what.partitions,
                p.done(),
            )
        };
        inner.board.proofs.iter().map(of).collect()
    }

    /// The digest of a circuit's resident params.
    pub fn digest(&self, circuit: &str) -> Option<String> {
        self.shared.backend.digest(circuit)
    }
}

fn internal(error: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Internal, error.to_string())
}
