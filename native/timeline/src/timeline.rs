//! The timeline of a process: makes emitters, takes notices, owns the writer.

use std::path::PathBuf;
use std::sync::Arc;

use crate::clock::Clock;
use crate::emitter::{DeviceEmitter, Emitter};
use crate::id::{DeviceId, ProofId};
use crate::notice::{Hello, Notice};
use crate::state::State;
use crate::words::{Bye, WriteFault};
use crate::Error;

/// How to start a [`Timeline`].
#[derive(Clone, Debug)]
pub struct Options {
    /// The journal. It must not exist yet; its folder must.
    pub path: PathBuf,
    /// What the process says of itself.
    pub hello: Hello,
    /// The clock of all stamps.
    pub clock: Clock,
    /// Records in each ring (rounded up to a power of two). Default 65,536.
    pub ring_records: usize,
    /// Bytes that may wait in memory while the journal cannot be written. Default 64 MiB.
    pub waiting_bytes: usize,
}

impl Options {
    /// The defaults, with the machine's clock.
    pub fn new(path: impl Into<PathBuf>, hello: Hello) -> Options {
        Options {
            path: path.into(),
            hello,
            clock: Clock::system(),
            ring_records: 65_536,
            waiting_bytes: 64 << 20,
        }
    }
}

/// How the journal fares.
#[derive(Clone, Debug, Default)]
pub struct Status {
    /// The journal cannot be written: why, since when, in what words.
    pub failing: Option<Failing>,
    /// Events dropped so far, over all rings.
    pub dropped: u64,
    /// Bytes that wait to be written.
    pub waiting_bytes: u64,
    /// The last seq written, −1 for none.
    pub last_seq: i64,
}

/// Why the journal cannot be written.
#[derive(Clone, Debug)]
pub struct Failing {
    /// The kind of fault.
    pub reason: WriteFault,
    /// The stamp since when.
    pub since: u64,
    /// The system's words.
    pub detail: String,
}

/// A process's timeline. Share it in an `Arc`.
pub struct Timeline {}

impl Timeline {
    /// Creates the journal, writes `hello` and starts the writer.
    pub fn start(_options: Options) -> Result<Timeline, Error> {
        unimplemented!()
    }

    /// The clock of all stamps.
    pub fn clock(&self) -> &Clock {
        unimplemented!()
    }

    /// A ring for one thread, under a name of 1-64 of `[A-Za-z0-9._-]`.
    pub fn emitter(&self, _name: &str) -> Result<Emitter, Error> {
        unimplemented!()
    }

    /// A ring for a device's own clock.
    pub fn device_emitter(&self, _device: DeviceId) -> Result<DeviceEmitter, Error> {
        unimplemented!()
    }

    /// The number of a proof's id; the same for the same text.
    pub fn proof(&self, _id: &str) -> Result<ProofId, Error> {
        unimplemented!()
    }

    /// The number of a device that `hello` names (0, 1, … in its order).
    pub fn device(&self, _id: &str) -> Result<DeviceId, Error> {
        unimplemented!()
    }

    /// The text of a proof's id.
    pub fn proof_name(&self, _proof: ProofId) -> Arc<str> {
        unimplemented!()
    }

    /// The text of a device's id.
    pub fn device_name(&self, _device: DeviceId) -> Arc<str> {
        unimplemented!()
    }

    /// Says something rare; stamped now. Takes a lock and allocates. Returns the stamp.
    pub fn notify(&self, _notice: Notice) -> u64 {
        unimplemented!()
    }

    /// Where snapshots come from, each second and after each loss. Called on the writer's thread: it must not wait
    /// for anything that waits for the journal.
    pub fn set_state_source(&self, _source: impl Fn() -> State + Send + 'static) {
        unimplemented!()
    }

    /// A snapshot as the body of a `state` line (a JSON object without `t` and `e`), for the command socket.
    pub fn state_body(&self) -> String {
        unimplemented!()
    }

    /// Everything emitted and said before this call is in the file and fsynced. `Failing` if that cannot be had now;
    /// the lines wait. Not for workers: it waits for the disk.
    pub fn sync(&self) -> Result<(), Error> {
        unimplemented!()
    }

    /// How the journal fares. Cheap.
    pub fn status(&self) -> Status {
        unimplemented!()
    }

    /// Writes what there is, then `bye`; fsyncs the file and its folder; ends the writer. Later events are lost.
    pub fn stop(&self, _reason: Bye, _exit: i32) -> Result<(), Error> {
        unimplemented!()
    }
}
