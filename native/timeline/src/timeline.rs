//! The timeline of a process: makes emitters, takes notices, owns the writer.

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::thread::{JoinHandle, Thread};

use crate::clock::Clock;
use crate::emitter::{DeviceEmitter, Emitter, NONE};
use crate::id::{is_id, DeviceId, ProofId};
use crate::journal::Journal;
use crate::json::Fields;
use crate::line::{state_fields, Lookup};
use crate::machine::Machine;
use crate::notice::{Hello, Notice};
use crate::ring::Ring;
use crate::shared::{relock, Shared};
use crate::sink::{Disk, Sink};
use crate::state::State;
use crate::words::{Bye, WriteFault};
use crate::writer::Writer;
use crate::{Error, ErrorKind};

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
    /// What the machine says of itself.
    pub machine: Machine,
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
            machine: Machine::read(),
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
///
/// Dropping it without [`stop`](Timeline::stop) writes what there is, without a `bye`.
pub struct Timeline {
    shared: Arc<Shared>,
    ring_records: usize,
    machine: Machine,
    writer: Mutex<Option<JoinHandle<()>>>,
    thread: Thread,
}

impl Timeline {
    /// Creates the journal, writes `hello` and starts the writer.
    pub fn start(options: Options) -> Result<Timeline, Error> {
        let disk = Disk::create(&options.path).map_err(|e| {
            Error::io(
                ErrorKind::Unwritable,
                format!("cannot create {}", options.path.display()),
                e,
            )
        })?;
        let (shared, writer) = prepare(&options, disk)?;
        let handle = std::thread::Builder::new()
            .name("journal".into())
            .spawn({
                let shared = shared.clone();
                move || {
                    // Whoever waits for the writer is answered even if it meets a bug.
                    let ended = catch_unwind(AssertUnwindSafe(|| writer.run()));
                    shared.answer_stop(ended.map_err(|_| "the journal's writer panicked".into()));
                }
            })
            .map_err(|e| {
                Error::io(
                    ErrorKind::Unwritable,
                    "cannot start the journal's writer",
                    e,
                )
            })?;
        let (ring_records, machine) = (options.ring_records, options.machine);
        Ok(Timeline {
            shared,
            ring_records,
            machine,
            thread: handle.thread().clone(),
            writer: Mutex::new(Some(handle)),
        })
    }

    /// The clock of all stamps.
    pub fn clock(&self) -> &Clock {
        &self.shared.clock
    }

    /// A ring for one thread, under a name of 1-64 of `[A-Za-z0-9._-]`.
    pub fn emitter(&self, name: &str) -> Result<Emitter, Error> {
        if !is_id(name) {
            return Err(Error::new(
                ErrorKind::InvalidId,
                format!("not a ring's name: {name:?}"),
            ));
        }
        Ok(add_emitter(&self.shared, name, self.ring_records))
    }

    /// A ring for a device's own clock. It is named after the device, with `.clock` behind.
    pub fn device_emitter(&self, device: DeviceId) -> Result<DeviceEmitter, Error> {
        let name: Arc<str> = format!("{}.clock", self.device_name(device)).into();
        Ok(add_device_emitter(&self.shared, name, self.ring_records))
    }

    /// The number of a proof's id; the same for the same text.
    pub fn proof(&self, id: &str) -> Result<ProofId, Error> {
        self.shared.proofs.intern(id, u32::MAX).map(ProofId)
    }

    /// The number of a device's id. Those that `hello` names are 0, 1, … in its order.
    pub fn device(&self, id: &str) -> Result<DeviceId, Error> {
        self.shared
            .devices
            .intern(id, u16::MAX.into())
            .map(|index| DeviceId(index as u16))
    }

    /// The text of a proof's id.
    pub fn proof_name(&self, proof: ProofId) -> Arc<str> {
        self.shared.proofs.name(proof.0)
    }

    /// The text of a device's id.
    pub fn device_name(&self, device: DeviceId) -> Arc<str> {
        self.shared.devices.name(device.0.into())
    }

    /// Says something rare; stamped now. Takes a lock and allocates. Returns the stamp.
    pub fn notify(&self, notice: Notice) -> u64 {
        let mut notices = relock(self.shared.notices.lock());
        let t = self.shared.clock.now_ns();
        notices.push((t, self.shared.clock.wall_ns(), notice));
        t
    }

    /// Where snapshots come from, each second and after each loss. Called on the writer's thread (and by
    /// [`state_body`](Self::state_body)): it must not wait for anything that waits for the journal.
    pub fn set_state_source(&self, source: impl Fn() -> State + Send + 'static) {
        self.shared.set_source(Box::new(source));
    }

    /// A snapshot as the body of a `state` line (a JSON object from `upto` on, without `t` and `e`), for the command
    /// socket.
    pub fn state_body(&self) -> String {
        let status = self.status();
        let state = self.shared.state().unwrap_or_else(State::starting);
        let mut names = Lookup::default();
        names.refresh(&self.shared.proofs, &self.shared.devices);
        let mut body = Vec::new();
        Fields(&mut body).object(|f| {
            f.integer("upto", status.last_seq);
            state_fields(f, &state, (self.machine.memory)(), status.dropped, &names);
        });
        String::from_utf8(body).unwrap_or_default()
    }

    /// Everything emitted and said before this call is in the file and fsynced. `Failing` if that cannot be had now;
    /// the lines wait. Not for workers: it waits for the disk.
    pub fn sync(&self) -> Result<(), Error> {
        self.shared.ask_sync(|| self.thread.unpark())
    }

    /// How the journal fares. Cheap.
    pub fn status(&self) -> Status {
        relock(self.shared.status.lock()).clone()
    }

    /// Writes what there is, then `bye`; fsyncs the file and its folder; ends the writer. Tries for two seconds if the
    /// journal cannot be written, then says `Failing`. Events after it are lost. A second call tells the same.
    pub fn stop(&self, reason: Bye, exit: i32) -> Result<(), Error> {
        self.end(Some((reason, exit)))
    }

    fn end(&self, how: Option<(Bye, i32)>) -> Result<(), Error> {
        let result = self.shared.ask_stop(how, || self.thread.unpark());
        if let Some(writer) = relock(self.writer.lock()).take() {
            // It has answered, and answers last of all.
            let _ = writer.join();
        }
        result
    }
}

impl Drop for Timeline {
    fn drop(&mut self) {
        let _ = self.end(None);
    }
}

/// The shared part and a writer that has written `hello`.
pub(crate) fn prepare<S: Sink>(
    options: &Options,
    sink: S,
) -> Result<(Arc<Shared>, Writer<S>), Error> {
    let shared = Arc::new(Shared::new(options.clock.clone()));
    for device in &options.hello.devices {
        shared.devices.intern(&device.device, u16::MAX.into())?;
    }
    let journal = Journal::new(sink, options.waiting_bytes);
    let mut writer = Writer::new(
        shared.clone(),
        journal,
        options.machine.clone(),
        &options.hello,
    );
    let now = options.clock.now_ns();
    if !writer.journal().sync(now, true) || writer.journal().last_seq() != 0 {
        let why = writer
            .journal()
            .failing()
            .map_or("`hello` is too long", |failing| &failing.detail);
        return Err(Error::new(
            ErrorKind::Unwritable,
            format!("cannot write {}: {why}", options.path.display()),
        ));
    }
    Ok((shared, writer))
}

pub(crate) fn add_emitter(shared: &Shared, name: &str, records: usize) -> Emitter {
    let (producer, ring) = Ring::new(name.into(), records);
    relock(shared.new_rings.lock()).push(ring);
    Emitter::new(producer, shared.clock.clone())
}

pub(crate) fn add_device_emitter(shared: &Shared, name: Arc<str>, records: usize) -> DeviceEmitter {
    let (producer, ring) = Ring::new(name, records);
    let hold = Arc::new(AtomicU64::new(NONE));
    relock(shared.new_holds.lock()).push(hold.clone());
    relock(shared.new_rings.lock()).push(ring);
    DeviceEmitter::new(producer, shared.clock.clone(), hold)
}
