//! The journal: event types, clock, rings and the writer.
//!
//! Workers emit [`Event`]s into rings of their own and wait for nobody; control threads send [`Notice`]s; one writer
//! thread numbers both and appends NDJSON. `FORMAT.md` is the specification.
mod barrier;
mod clock;
mod emitter;
mod error;
mod event;
mod id;
mod journal;
mod json;
mod line;
mod machine;
mod notice;
mod ring;
mod shared;
mod sink;
mod state;
#[cfg(test)]
mod tests;
mod timeline;
mod waiting;
mod words;
mod writer;

pub use clock::{Clock, ManualClock};
pub use emitter::{DeviceEmitter, Emitter};
pub use error::{Error, ErrorKind};
pub use event::Event;
pub use id::{is_id, DeviceId, Partition, ProofId, Worker};
pub use machine::Machine;
pub use notice::{Device, Failure, Hello, Made, Notice, Scheduler};
pub use state::{Permits, ProofState, State, SynthesiserState, WorkerState};
pub use timeline::{Failing, Options, Status, Timeline};
pub use words::*;
