//! The verifier: a partition counts once its proof verifies. A thread of its own, so that a GPU
//! worker is free as soon as it has put its partition down.

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::mpsc::Receiver;

use interlock_timeline::{Emitter, Outcome, Partition, Stage};

use super::shared::{panic_words, Shared};
use crate::backend::Task;
use crate::board::PartitionProof;
use crate::{Error, ErrorKind};

pub(crate) struct ToVerify {
    pub id: Partition,
    /// Nothing for an emulated partition.
    pub made: Option<PartitionProof>,
}

pub(super) fn run(shared: &Shared, queue: &Receiver<ToVerify>, mut emitter: Emitter) {
    while let Ok(ToVerify { id, made }) = queue.recv() {
        let Some(made) = made else {
            shared.end(&mut emitter, id, Outcome::Valid, None);
            continue;
        };
        match verify(shared, id, &made) {
            Ok(true) => shared.end(&mut emitter, id, Outcome::Valid, Some(made)),
            Ok(false) => {
                let error = Error::new(
                    ErrorKind::VerifyFailed,
                    "the proof was made but does not verify; the params or the machine are bad",
                );
                shared.fail(&mut emitter, id, Outcome::Invalid, Stage::Verify, error);
            }
            Err(error) => shared.fail(&mut emitter, id, Outcome::Failed, Stage::Verify, error),
        }
    }
}

fn verify(shared: &Shared, id: Partition, made: &PartitionProof) -> Result<bool, Error> {
    let facts = shared.lock().board.facts(id);
    let Some((what, stop)) = facts else {
        return Err(Error::new(
            ErrorKind::Internal,
            "a partition of an unknown proof",
        ));
    };
    let progress = std::sync::Arc::default();
    let task = Task {
        id,
        what: &what,
        stop: &stop,
        progress: &progress,
        clock: &shared.clock,
    };
    catch_unwind(AssertUnwindSafe(|| shared.backend.verify(&task, made))).unwrap_or_else(|panic| {
        let message = format!("verification panicked: {}", panic_words(&*panic));
        Err(Error::new(ErrorKind::Panicked, message))
    })
}
