//! The params' loader: one thread, each circuit once. Syntheses go on meanwhile; GPU workers pick
//! a partition up only when its params are resident.

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::mpsc::Receiver;
use std::sync::Arc;

use interlock_timeline::{Emitter, Notice, Outcome, ParamsIs};

use super::shared::{panic_words, Shared};
use crate::{Error, ErrorKind};

pub(super) fn run(shared: &Shared, queue: &Receiver<Arc<str>>, mut emitter: Emitter) {
    while let Ok(circuit) = queue.recv() {
        load(shared, &mut emitter, &circuit);
    }
}

fn load(shared: &Shared, emitter: &mut Emitter, circuit: &Arc<str>) {
    let name = || circuit.to_string();
    let bytes = shared
        .lock()
        .params
        .get(circuit)
        .map_or(0, |entry| entry.bytes);
    shared.timeline.notify(Notice::ParamsLoadStarted {
        circuit: name(),
        bytes,
    });
    let notify = |notice| {
        shared.timeline.notify(notice);
    };
    let loaded = catch_unwind(AssertUnwindSafe(|| {
        shared.backend.load_params(circuit, &notify)
    }))
    .unwrap_or_else(|panic| {
        let message = format!("loading params panicked: {}", panic_words(&*panic));
        Err(Error::new(ErrorKind::Panicked, message))
    });
    let (digest, failure) = match &loaded {
        Ok(digest) => (digest.clone(), None),
        Err(error) => (None, Some(error.failure())),
    };
    // The end is told before a worker can pick anything up by it.
    shared.timeline.notify(Notice::ParamsLoadEnded {
        circuit: name(),
        digest,
        failure,
    });
    let failed = {
        let mut inner = shared.lock();
        let is = if loaded.is_ok() {
            ParamsIs::Resident
        } else {
            ParamsIs::Absent
        };
        if let Some(entry) = inner.params.get_mut(circuit) {
            entry.is = is;
        }
        let bytes = inner.params_bytes();
        inner.board.set_params_bytes(bytes);
        if loaded.is_ok() {
            Vec::new()
        } else {
            inner.board.of_circuit(circuit)
        }
    };
    shared.queue.notify_all();
    let Err(error) = loaded else { return };
    for id in failed {
        let closed = {
            let mut inner = shared.lock();
            let cancelled = inner.board.fail(id, Outcome::Failed, error.clone());
            shared.tell_cancelled(emitter, &cancelled);
            inner.board.take_closed()
        };
        shared.dispatch.notify_all();
        for closed in closed {
            shared.hand_over(closed);
        }
    }
}
