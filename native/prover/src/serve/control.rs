//! Everything that reaches the serving thread, whoever says it.

use std::sync::mpsc::Sender;
use std::sync::{Mutex, PoisonError};

use interlock_pipeline::{Closed, Error, Sink};
use interlock_timeline::ProofId;

use super::protocol::Ask;
use super::socket::Answer;

/// A request, and where its answer goes.
pub struct Asked {
    /// The connection's number.
    pub connection: u64,
    /// What is asked.
    pub ask: Ask,
    /// Takes the answer.
    pub reply: Sender<Answer>,
}

/// One thing that happened.
pub enum Control {
    /// A host asks.
    Asked(Asked),
    /// A host's connection is at its end.
    Disconnected(u64),
    /// Standard input is at its end.
    LifelineLost,
    /// SIGTERM or SIGINT.
    Signal,
    /// SIGHUP: drain, but never more.
    Hangup,
    /// A proof left the pipeline.
    Changed,
    /// Nothing more can be proved.
    Fatal(Error),
}

/// Carries the pipeline's words to the serving thread and to the spool.
pub struct Wires {
    /// To the serving thread.
    pub control: Sender<Control>,
    /// To the spool.
    pub spool: Sender<Closed>,
    /// Proofs on their way through the spool, whose end was not told yet. Whoever takes one out
    /// tells of it.
    untold: Mutex<Vec<(ProofId, u32)>>,
}

impl Wires {
    /// Wires to the serving thread and the spool.
    pub fn new(control: Sender<Control>, spool: Sender<Closed>) -> Wires {
        Wires {
            control,
            spool,
            untold: Mutex::default(),
        }
    }

    /// Whether the caller is the one to tell of this proof's end.
    pub fn claim(&self, proof: ProofId, attempt: u32) -> bool {
        let mut untold = self.untold.lock().unwrap_or_else(PoisonError::into_inner);
        let before = untold.len();
        untold.retain(|other| *other != (proof, attempt));
        untold.len() < before
    }

    /// All that the spool has not told of: the caller tells.
    pub fn claim_all(&self) -> Vec<(ProofId, u32)> {
        std::mem::take(&mut *self.untold.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Sink for Wires {
    fn proof_closed(&self, closed: Closed) {
        let id = (closed.what.id, closed.what.attempt);
        self.untold
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(id);
        // Without a receiver the process is ending.
        let _ = self.spool.send(closed);
    }

    fn changed(&self) {
        let _ = self.control.send(Control::Changed);
    }

    fn fatal(&self, error: Error) {
        let _ = self.control.send(Control::Fatal(error));
    }
}
