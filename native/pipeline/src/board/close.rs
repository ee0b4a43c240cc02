//! How partitions and proofs end: well, by an error, or back to the host.

use std::sync::atomic::Ordering;
use std::sync::Arc;

use interlock_timeline::{Outcome, Partition, ProofId, ReturnReason};

use super::{At, Board, Ending, PartitionProof, Proof, Submission};
use crate::Error;

/// A proof of which every partition has ended.
#[derive(Clone, Debug)]
pub struct Closed {
    /// What was asked for.
    pub what: Arc<Submission>,
    /// What became of it.
    pub end: End,
}

/// What became of a proof.
#[derive(Clone, Debug)]
pub enum End {
    /// Every partition was proved and verified. Emulated partitions have no proof.
    Proved(Vec<Option<PartitionProof>>),
    /// Not proved: the outcome and the first error.
    Failed(Outcome, Error),
    /// It goes back to the host's queue.
    Returned(ReturnReason),
}

/// A partition that is not made after all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancelled {
    /// Which.
    pub id: Partition,
    /// The permit that it gave back, if it held one.
    pub permit: Option<u64>,
}

/// What a request to take a proof back came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Withdrawn {
    /// It had not started and is back.
    Returned,
    /// Its running stages end first.
    Stopping,
    /// It is not here.
    Unknown,
}

impl<J> Board<J> {
    /// A partition has ended. If it was its proof's last one, the proof is handed over to be
    /// closed, once; it stays on the board until [`Board::remove`].
    pub fn end_partition(
        &mut self,
        id: Partition,
        outcome: Outcome,
        made: Option<PartitionProof>,
    ) -> Option<Closed> {
        let proof = self.find_mut(id)?;
        let part = proof.parts.get_mut(id.partition as usize)?;
        part.at = At::Ended(outcome);
        part.made = made;
        part.job = None;
        proof.close()
    }

    /// Records a proof's first error and cancels its partitions that no thread holds. Those are
    /// returned; the threads that hold others find out at their next stage.
    pub fn fail(&mut self, id: Partition, outcome: Outcome, error: Error) -> Vec<Cancelled> {
        match self.find_mut(id) {
            Some(proof) if proof.ending.is_none() && !proof.closing => {
                proof.stop.working.store(true, Ordering::Relaxed);
                self.end(id.proof, Ending::Failed(outcome, error), true)
            }
            _ => Vec::new(),
        }
    }

    /// Gives a proof back: at once if no partition had started ([`Board::take_closed`] has it then).
    /// The partitions that are cancelled by that and have had an event.
    pub fn give_back(&mut self, proof: ProofId, why: ReturnReason) -> (Withdrawn, Vec<Cancelled>) {
        let Some(found) = self.proofs.iter().find(|p| p.what.id == proof) else {
            return (Withdrawn::Unknown, Vec::new());
        };
        if found.ending.is_some() || found.closing {
            return (Withdrawn::Stopping, Vec::new());
        }
        let state = if found.started() {
            Withdrawn::Stopping
        } else {
            Withdrawn::Returned
        };
        (state, self.end(proof, Ending::Returned(why), false))
    }

    /// The proofs that could be closed now: all partitions ended, not handed over yet.
    pub fn take_closed(&mut self) -> Vec<Closed> {
        self.proofs.iter_mut().filter_map(Proof::close).collect()
    }

    /// The proofs without a started partition.
    pub fn unstarted(&self) -> Vec<ProofId> {
        let unstarted = |p: &&Proof<J>| p.ending.is_none() && !p.closing && !p.started();
        self.proofs
            .iter()
            .filter(unstarted)
            .map(|p| p.what.id)
            .collect()
    }

    /// Every proof that was not handed over to be closed.
    pub fn unclosed(&self) -> Vec<Arc<Submission>> {
        self.proofs
            .iter()
            .filter(|p| !p.closing)
            .map(|p| p.what.clone())
            .collect()
    }

    /// The proofs of one circuit that are still to be made.
    pub fn of_circuit(&self, circuit: &str) -> Vec<Partition> {
        let of = |p: &&Proof<J>| p.ending.is_none() && !p.closing && &*p.what.circuit == circuit;
        self.proofs.iter().filter(of).map(|p| p.id(0)).collect()
    }

    /// Takes a closed proof off the board.
    pub fn remove(&mut self, proof: ProofId, attempt: u32) {
        self.proofs
            .retain(|p| !(p.what.id == proof && p.what.attempt == attempt));
    }

    fn end(&mut self, id: ProofId, ending: Ending, all: bool) -> Vec<Cancelled> {
        let Some(proof) = self.proofs.iter_mut().find(|p| p.what.id == id) else {
            return Vec::new();
        };
        proof.ending = Some(ending);
        proof.stop.waiting.cancel();
        let promised = std::mem::take(&mut proof.promised);
        let unused = proof.claim(promised);
        self.permits.unpromise(unused);
        let mut cancelled = Vec::new();
        for (partition, part) in (0_u32..).zip(&mut proof.parts) {
            if matches!(part.at, At::Waiting | At::Withheld | At::Queued) {
                let bytes = proof.what.partition_bytes;
                let permit = std::mem::take(&mut part.permit).then_some(bytes);
                if permit.is_some() {
                    self.permits.release(bytes);
                }
                if all || part.asked {
                    let (proof, attempt) = (proof.what.id, proof.what.attempt);
                    cancelled.push(Cancelled {
                        id: Partition {
                            proof,
                            attempt,
                            partition,
                        },
                        permit,
                    });
                }
                part.at = At::Ended(Outcome::Cancelled);
                part.job = None;
            }
        }
        cancelled
    }
}

impl<J> Proof<J> {
    fn close(&mut self) -> Option<Closed> {
        if self.closing || !self.ended() {
            return None;
        }
        self.closing = true;
        let end = match self.ending.take() {
            Some(Ending::Failed(outcome, error)) => End::Failed(outcome, error),
            // A proof that was asked back and got done all the same is done.
            Some(Ending::Returned(why)) if !self.all_valid() => End::Returned(why),
            _ => End::Proved(self.parts.iter_mut().map(|p| p.made.take()).collect()),
        };
        Some(Closed {
            what: self.what.clone(),
            end,
        })
    }

    fn all_valid(&self) -> bool {
        self.parts.iter().all(|p| p.at == At::Ended(Outcome::Valid))
    }

    /// Partitions that are proved.
    pub(crate) fn done(&self) -> u32 {
        let valid = |p: &&super::Part<J>| p.at == At::Ended(Outcome::Valid);
        u32::try_from(self.parts.iter().filter(valid).count()).unwrap_or(u32::MAX)
    }
}
