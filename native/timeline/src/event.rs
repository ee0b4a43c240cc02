//! What workers emit: fixed-size records, copied into a ring without allocating.
//!
//! An [`Event`] carries no stamp: the emitter stamps it. Each constructor is named as the event in `FORMAT.md`.

use crate::id::{DeviceId, Partition, ProofId, Worker};
use crate::words::{Kernel, Outcome, Wait, WaitedFor};

/// One thing that happened to a partition or a device. 40 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    pub(crate) kind: Kind,
    /// Index into the kind's vocabulary (kernel, wait, outcome, waited_for).
    pub(crate) word: u8,
    pub(crate) device: u16,
    /// A GPU worker or a synthesiser.
    pub(crate) worker: u16,
    pub(crate) stream: u16,
    pub(crate) proof: u32,
    pub(crate) attempt: u32,
    pub(crate) partition: u32,
    /// bytes; device_ns; count of lost events.
    pub(crate) a: u64,
    /// error_ns; t_from of lost events.
    pub(crate) b: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    PermitAsked,
    PermitGranted,
    PermitReleased,
    SynthesisStarted,
    SynthesisEnded,
    Queued,
    PickedUp,
    LockAsked,
    LockGranted,
    LockReleased,
    PrepareStarted,
    PrepareEnded,
    DeviceStarted,
    DeviceEnded,
    KernelStarted,
    KernelEnded,
    CopyStarted,
    CopyEnded,
    WaitStarted,
    WaitEnded,
    FinishStarted,
    FinishEnded,
    PutDown,
    PartitionEnded,
    ClockMap,
    /// Made by rings alone.
    Lost,
}

macro_rules! at_worker {
    ($($(#[$meta:meta])* $name:ident => $kind:ident;)+) => {
        $($(#[$meta])* #[inline] pub const fn $name(partition: Partition, worker: Worker) -> Event {
            Event::of(Kind::$kind, partition).at(worker)
        })+
    };
}

impl Event {
    const fn of(kind: Kind, p: Partition) -> Event {
        Event {
            kind,
            word: 0,
            device: 0,
            worker: 0,
            stream: 0,
            proof: p.proof.0,
            attempt: p.attempt,
            partition: p.partition,
            a: 0,
            b: 0,
        }
    }

    const fn at(mut self, worker: Worker) -> Event {
        self.device = worker.device.0;
        self.worker = worker.worker;
        self
    }

    const fn on(mut self, stream: u16, word: u8) -> Event {
        self.stream = stream;
        self.word = word;
        self
    }

    const fn bytes(mut self, bytes: u64) -> Event {
        self.a = bytes;
        self
    }

    pub(crate) const fn lost(count: u64, t_from: u64) -> Event {
        let nobody = Partition {
            proof: ProofId(0),
            attempt: 0,
            partition: 0,
        };
        let mut event = Event::of(Kind::Lost, nobody).bytes(count);
        event.b = t_from;
        event
    }

    /// Dispatch wants to start the partition's synthesis and asks for memory.
    pub const fn permit_asked(partition: Partition, bytes: u64) -> Event {
        Event::of(Kind::PermitAsked, partition).bytes(bytes)
    }

    /// The permit is there.
    pub const fn permit_granted(partition: Partition, bytes: u64, waited_for: WaitedFor) -> Event {
        Event::of(Kind::PermitGranted, partition)
            .bytes(bytes)
            .on(0, waited_for as u8)
    }

    /// The permit is given back: after finish, or after a failure.
    pub const fn permit_released(partition: Partition, bytes: u64) -> Event {
        Event::of(Kind::PermitReleased, partition).bytes(bytes)
    }

    /// A synthesis worker starts.
    pub const fn synthesis_started(partition: Partition, synthesiser: u16) -> Event {
        let mut event = Event::of(Kind::SynthesisStarted, partition);
        event.worker = synthesiser;
        event
    }

    /// A synthesis worker ends.
    pub const fn synthesis_ended(partition: Partition, synthesiser: u16) -> Event {
        let mut event = Event::of(Kind::SynthesisEnded, partition);
        event.worker = synthesiser;
        event
    }

    /// Released by dispatch: a GPU worker may pick it up.
    pub const fn queued(partition: Partition) -> Event {
        Event::of(Kind::Queued, partition)
    }

    at_worker! {
        /// Start of the job span.
        picked_up => PickedUp;
        /// The worker asks for the device lock.
        lock_asked => LockAsked;
        /// Stamp it after acquiring.
        lock_granted => LockGranted;
        /// Stamp it before unlocking.
        lock_released => LockReleased;
        /// The CPU stage before the device starts.
        prepare_started => PrepareStarted;
        /// The CPU stage before the device ends.
        prepare_ended => PrepareEnded;
        /// The device stage starts; inside the lock.
        device_started => DeviceStarted;
        /// The device stage ends; inside the lock.
        device_ended => DeviceEnded;
        /// The CPU stage after the device starts.
        finish_started => FinishStarted;
        /// The CPU stage after the device ends.
        finish_ended => FinishEnded;
        /// End of the job span: the worker is free.
        put_down => PutDown;
    }

    /// A compute kernel starts on the device.
    pub const fn kernel_started(
        partition: Partition,
        worker: Worker,
        stream: u16,
        kernel: Kernel,
    ) -> Event {
        Event::of(Kind::KernelStarted, partition)
            .at(worker)
            .on(stream, kernel as u8)
    }

    /// A compute kernel ends.
    pub const fn kernel_ended(
        partition: Partition,
        worker: Worker,
        stream: u16,
        kernel: Kernel,
    ) -> Event {
        Event::of(Kind::KernelEnded, partition)
            .at(worker)
            .on(stream, kernel as u8)
    }

    /// A copy engine starts. Never busy time.
    pub const fn copy_started(partition: Partition, worker: Worker, stream: u16) -> Event {
        Event::of(Kind::CopyStarted, partition)
            .at(worker)
            .on(stream, 0)
    }

    /// A copy engine ends.
    pub const fn copy_ended(partition: Partition, worker: Worker, stream: u16) -> Event {
        Event::of(Kind::CopyEnded, partition)
            .at(worker)
            .on(stream, 0)
    }

    /// Inside the device stage no kernel runs, for a reason that is known.
    pub const fn wait_started(partition: Partition, worker: Worker, wait: Wait) -> Event {
        Event::of(Kind::WaitStarted, partition)
            .at(worker)
            .on(0, wait as u8)
    }

    /// The reason is gone.
    pub const fn wait_ended(partition: Partition, worker: Worker, wait: Wait) -> Event {
        Event::of(Kind::WaitEnded, partition)
            .at(worker)
            .on(0, wait as u8)
    }

    /// The partition's Groth16 proof was made and verified, or not.
    pub const fn partition_ended(partition: Partition, outcome: Outcome) -> Event {
        Event::of(Kind::PartitionEnded, partition).on(0, outcome as u8)
    }

    /// A sample of the mapping of a device's own clock: `device_ns` was read at the stamp ± `error_ns`. Emit it with
    /// [`DeviceEmitter::emit_at`](crate::DeviceEmitter::emit_at) at the middle of the two host readings around it.
    pub const fn clock_map(device: DeviceId, device_ns: u64, error_ns: u64) -> Event {
        let nobody = Partition {
            proof: ProofId(0),
            attempt: 0,
            partition: 0,
        };
        let mut event = Event::of(Kind::ClockMap, nobody).bytes(device_ns);
        event.device = device.0;
        event.b = error_ns;
        event
    }
}
