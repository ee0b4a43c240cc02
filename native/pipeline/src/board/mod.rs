//! The board: every proof that the process has taken over and where each of its partitions is.
//!
//! ```text
//! Waiting ─▶ Synthesis ─▶ (Withheld) ─▶ Queued ─▶ Worker ─▶ Verify ─▶ Ended
//!    └── permit asked … granted ┘ ╰────── permit held ────────╯
//! ```
//!
//! Pure: no clock, no thread, no event. The engine holds it behind a mutex, and tells the journal
//! what these functions return. `J` is a partition's work between its stages.

mod close;
mod dispatch;
#[cfg(test)]
mod drains;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

use interlock::Cancel;
use interlock_timeline::{Outcome, Partition, ProofId, ReturnReason};

pub use close::{Cancelled, Closed, End, Withdrawn};
#[cfg(test)]
use dispatch::{Granted, Step};

use crate::order::Rank;
use crate::permits::{Claim, Permits, Shortage};
use crate::scheduler::Scheduler;
use crate::Error;

/// A proof as it is taken over.
#[derive(Clone, Debug)]
pub struct Submission {
    /// Its number in the timeline's table.
    pub id: ProofId,
    /// Its id in words.
    pub proof: Arc<str>,
    /// Counts tries at it, from 1.
    pub attempt: u32,
    /// Its circuit.
    pub circuit: Arc<str>,
    /// Its partitions.
    pub partitions: u32,
    /// 1 to 4; 4 goes first.
    pub priority: u8,
    /// Wall-clock deadline.
    pub deadline_wall_ns: Option<u64>,
    /// What its witness is made from.
    pub seed: [u8; 32],
    /// Constraints of one partition.
    pub constraints: u64,
    /// Memory of one partition in flight.
    pub partition_bytes: u64,
}

/// A partition's Groth16 proof.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionProof {
    /// The public inputs: little-endian scalars, without the constant one.
    pub public_inputs: Vec<[u8; 32]>,
    /// A, B and C, compressed.
    pub proof: [u8; 192],
}

/// Where a partition is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// Its synthesis has not started.
    Waiting,
    /// In synthesis.
    Synthesis,
    /// Synthesised, kept back by `batch`.
    Withheld,
    /// Released to the GPU workers.
    Queued,
    /// With a GPU worker.
    Worker,
    /// Its proof is being verified.
    Verify,
    /// Nothing more happens to it.
    Ended(Outcome),
}

/// How the threads that work on a proof are told to stop.
#[derive(Default)]
pub struct Stop {
    /// Whoever waits for a device lock leaves the queue.
    pub waiting: Cancel,
    /// The device ends at its next kernel, and emulated stages at once.
    pub working: AtomicBool,
}

/// Why the rest of a proof is not made.
#[derive(Clone, Debug)]
pub enum Ending {
    /// Its first error, and whether a made proof was wrong.
    Failed(Outcome, Error),
    /// It goes back to the host.
    Returned(ReturnReason),
}

pub(crate) struct Part<J> {
    pub at: At,
    pub asked: bool,
    pub shortage: Option<Shortage>,
    pub permit: bool,
    pub since: u64,
    pub passed: u32,
    pub job: Option<J>,
    pub made: Option<PartitionProof>,
}

/// A proof on the board.
pub(crate) struct Proof<J> {
    pub what: Arc<Submission>,
    pub accepted: u64,
    pub passed: u32,
    pub parts: Vec<Part<J>>,
    pub ending: Option<Ending>,
    pub promised: u32,
    pub stop: Arc<Stop>,
    /// All its partitions have ended and it was handed over to be closed.
    pub closing: bool,
}

impl<J> Proof<J> {
    fn started(&self) -> bool {
        self.parts
            .iter()
            .any(|p| p.at != At::Waiting && p.at != At::Ended(Outcome::Cancelled))
    }

    fn ended(&self) -> bool {
        self.parts.iter().all(|p| matches!(p.at, At::Ended(_)))
    }

    fn rank(&self) -> Rank {
        let left = self
            .parts
            .iter()
            .filter(|p| !matches!(p.at, At::Ended(_)))
            .count() as u64;
        Rank {
            priority: self.what.priority,
            accepted: self.accepted,
            deadline: self.what.deadline_wall_ns,
            work_left: left.saturating_mul(self.what.constraints),
            started: self.started(),
            passed: self.passed,
        }
    }

    fn id(&self, partition: u32) -> Partition {
        Partition {
            proof: self.what.id,
            attempt: self.what.attempt,
            partition,
        }
    }

    fn claim(&self, partitions: u32) -> Claim {
        let count = u64::from(partitions);
        Claim {
            count,
            bytes: self.what.partition_bytes.saturating_mul(count),
        }
    }
}

/// All that the pipeline knows of its work.
pub struct Board<J> {
    pub(crate) scheduler: Option<Scheduler>,
    pub(crate) permits: Permits,
    pub(crate) proofs: Vec<Proof<J>>,
    accepted: u64,
    queued: u64,
}

impl<J> Default for Board<J> {
    fn default() -> Self {
        Board {
            scheduler: None,
            permits: Permits::default(),
            proofs: Vec::new(),
            accepted: 0,
            queued: 0,
        }
    }
}

impl<J> Board<J> {
    /// Chooses the scheduler. Only while nothing is on the board.
    pub fn set_scheduler(&mut self, scheduler: Scheduler) {
        self.scheduler = Some(scheduler);
    }

    /// Says how much memory params take; the permits share the rest of the budget.
    pub fn set_params_bytes(&mut self, bytes: u64) {
        if let Some(scheduler) = &self.scheduler {
            self.permits.set_total(
                u64::from(scheduler.partitions_in_flight),
                scheduler.memory_budget_bytes.saturating_sub(bytes),
            );
        }
    }

    /// Takes a proof over.
    pub fn accept(&mut self, what: Submission) {
        let part = || Part {
            at: At::Waiting,
            asked: false,
            shortage: None,
            permit: false,
            since: 0,
            passed: 0,
            job: None,
            made: None,
        };
        let parts = (0..what.partitions).map(|_| part()).collect();
        let proof = Proof {
            what: Arc::new(what),
            accepted: self.accepted,
            passed: 0,
            parts,
            ending: None,
            promised: 0,
            stop: Arc::default(),
            closing: false,
        };
        self.accepted += 1;
        self.proofs.push(proof);
    }

    /// Whether a proof is here.
    pub fn is_quiescent(&self) -> bool {
        self.proofs.is_empty()
    }

    /// Whether any attempt at this proof is here.
    pub fn holds(&self, proof: ProofId) -> bool {
        self.proofs.iter().any(|p| p.what.id == proof)
    }

    /// What was asked for, and the flag that stops it, for a partition on the board.
    pub fn facts(&self, id: Partition) -> Option<(Arc<Submission>, Arc<Stop>)> {
        self.find(id)
            .map(|proof| (proof.what.clone(), proof.stop.clone()))
    }

    /// Whether the rest of this partition need not be made.
    pub fn is_ending(&self, id: Partition) -> bool {
        self.find(id).is_none_or(|proof| proof.ending.is_some())
    }

    /// Gives the partition's permit back. The bytes, if it held one.
    pub fn release_permit(&mut self, id: Partition) -> Option<u64> {
        let proof = self.proofs.iter_mut().find(|p| p.what.id == id.proof)?;
        let bytes = proof.what.partition_bytes;
        let part = proof.parts.get_mut(id.partition as usize)?;
        if !std::mem::take(&mut part.permit) {
            return None;
        }
        self.permits.release(bytes);
        Some(bytes)
    }

    /// Tells every thread to stop: devices end at their next kernel.
    pub fn cancel_all(&self) {
        for proof in &self.proofs {
            proof.stop.working.store(true, Ordering::Relaxed);
            proof.stop.waiting.cancel();
        }
    }

    fn find(&self, id: Partition) -> Option<&Proof<J>> {
        self.proofs
            .iter()
            .find(|p| p.what.id == id.proof && p.what.attempt == id.attempt)
    }

    fn find_mut(&mut self, id: Partition) -> Option<&mut Proof<J>> {
        self.proofs
            .iter_mut()
            .find(|p| p.what.id == id.proof && p.what.attempt == id.attempt)
    }

    fn part_mut(&mut self, id: Partition) -> Option<&mut Part<J>> {
        self.find_mut(id)?.parts.get_mut(id.partition as usize)
    }
}
