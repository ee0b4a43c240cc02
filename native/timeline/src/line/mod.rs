//! Lines: what each event, notice and snapshot looks like in the file, less its number and its end.
//!
//! A body begins with `"t":` and has no braces: the journal puts `{"seq":N,` or `{"upto":N,` before it and `}` behind.

mod notice;
mod state;

use std::sync::Arc;

pub(crate) use notice::{hello, notice};
pub(crate) use state::{state, state_fields};

use crate::event::{Event, Kind};
use crate::id::{Names, Partition};
use crate::json::Fields;
use crate::ring::Record;
use crate::words::{Kernel, Outcome, Wait, WaitedFor, WriteFault};

/// Bytes of a message. Escaping may make six of one: a line stays under 65,536.
const MESSAGE: usize = 8_192;
/// Bytes of any other free text.
const TEXT: usize = 256;

/// The writer's own copy of the names.
#[derive(Default)]
pub(crate) struct Lookup {
    proofs: Vec<Arc<str>>,
    devices: Vec<Arc<str>>,
}

impl Lookup {
    /// Learns the names that are new. Called after draining: an id is in the table before any event carries it.
    pub(crate) fn refresh(&mut self, proofs: &Names, devices: &Names) {
        proofs.copy_into(&mut self.proofs);
        devices.copy_into(&mut self.devices);
    }

    fn proof(&self, index: u32) -> &str {
        self.proofs.get(index as usize).map_or("?", |name| name)
    }

    fn device(&self, index: u16) -> &str {
        self.devices.get(index as usize).map_or("?", |name| name)
    }
}

/// An event out of a ring.
pub(crate) fn event(out: &mut Vec<u8>, record: &Record, ring: &str, names: &Lookup) {
    let Record { t, event } = *record;
    let mut fields = Fields(out);
    let f = fields.begin(t, name(event.kind));
    match event.kind {
        Kind::Lost => {
            f.word("ring", ring)
                .number("count", event.a)
                .number("t_from", event.b)
                .number("t_to", t);
            return;
        }
        Kind::ClockMap => {
            f.word("device", names.device(event.device))
                .big("device_ns", event.a)
                .number("error_ns", event.b);
            return;
        }
        _ => {}
    }
    f.word("proof", names.proof(event.proof))
        .number("attempt", event.attempt.into());
    f.number("partition", event.partition.into());
    match event.kind {
        Kind::PermitAsked | Kind::PermitReleased => {
            f.number("bytes", event.a);
        }
        Kind::PermitGranted => {
            f.number("bytes", event.a)
                .word("waited_for", WaitedFor::from_index(event.word).as_str());
        }
        Kind::SynthesisStarted | Kind::SynthesisEnded => {
            f.number("synthesiser", event.worker.into());
        }
        Kind::Queued => {}
        Kind::PartitionEnded => {
            f.word("outcome", Outcome::from_index(event.word).as_str());
        }
        Kind::KernelStarted | Kind::KernelEnded => {
            at_worker(f, &event, names).number("stream", event.stream.into());
            f.word("kernel", Kernel::from_index(event.word).as_str());
        }
        Kind::CopyStarted | Kind::CopyEnded => {
            at_worker(f, &event, names).number("stream", event.stream.into());
        }
        Kind::WaitStarted | Kind::WaitEnded => {
            at_worker(f, &event, names).word("wait", Wait::from_index(event.word).as_str());
        }
        _ => {
            at_worker(f, &event, names);
        }
    }
}

fn at_worker<'f, 'b>(f: &'f mut Fields<'b>, event: &Event, names: &Lookup) -> &'f mut Fields<'b> {
    f.word("device", names.device(event.device))
        .number("worker", event.worker.into())
}

fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::PermitAsked => "permit_asked",
        Kind::PermitGranted => "permit_granted",
        Kind::PermitReleased => "permit_released",
        Kind::SynthesisStarted => "synthesis_started",
        Kind::SynthesisEnded => "synthesis_ended",
        Kind::Queued => "queued",
        Kind::PickedUp => "picked_up",
        Kind::LockAsked => "lock_asked",
        Kind::LockGranted => "lock_granted",
        Kind::LockReleased => "lock_released",
        Kind::PrepareStarted => "prepare_started",
        Kind::PrepareEnded => "prepare_ended",
        Kind::DeviceStarted => "device_started",
        Kind::DeviceEnded => "device_ended",
        Kind::KernelStarted => "kernel_started",
        Kind::KernelEnded => "kernel_ended",
        Kind::CopyStarted => "copy_started",
        Kind::CopyEnded => "copy_ended",
        Kind::WaitStarted => "wait_started",
        Kind::WaitEnded => "wait_ended",
        Kind::FinishStarted => "finish_started",
        Kind::FinishEnded => "finish_ended",
        Kind::PutDown => "put_down",
        Kind::PartitionEnded => "partition_ended",
        Kind::ClockMap => "clock_map",
        Kind::Lost => "lost",
    }
}

fn partition<'f, 'b>(f: &'f mut Fields<'b>, p: &Partition, names: &Lookup) -> &'f mut Fields<'b> {
    f.word("proof", names.proof(p.proof.0))
        .number("attempt", p.attempt.into())
        .number("partition", p.partition.into())
}

/// The promise. Its `upto` is the journal's to write.
pub(crate) fn mark(out: &mut Vec<u8>, t: u64) {
    Fields(out).begin(t, "mark");
}

/// The journal could not be written.
pub(crate) fn write_failed(
    out: &mut Vec<u8>,
    t: u64,
    reason: WriteFault,
    since: u64,
    detail: &str,
) {
    let mut fields = Fields(out);
    fields
        .begin(t, "write_failed")
        .word("reason", reason.as_str())
        .number("since", since);
    fields.text("detail", detail, MESSAGE);
}

/// The wall clock moved.
pub(crate) fn clock_step(out: &mut Vec<u8>, t: u64, wall_ns: u64, step_ns: i64) {
    Fields(out)
        .begin(t, "clock_step")
        .big("wall_ns", wall_ns)
        .big_integer("step_ns", step_ns);
}

/// The last event.
pub(crate) fn bye(out: &mut Vec<u8>, t: u64, reason: crate::words::Bye, exit: i32) {
    Fields(out)
        .begin(t, "bye")
        .word("reason", reason.as_str())
        .integer("exit", exit.into());
}
