//! Everything that reaches the serving thread, whoever says it.

use std::sync::mpsc::Sender;

use interlock_pipeline::{Closed, Error, Sink};

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
}

impl Sink for Wires {
    fn proof_closed(&self, closed: Closed) {
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
