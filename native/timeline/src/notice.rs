//! What control threads say: rare events that carry text. They may allocate and take a lock.

use crate::id::{Partition, ProofId, Worker};
use crate::words::{
    Backend, Code, DeviceClock, Dispatch, DrainCancelledBy, DrainReason, LockScope, Outcome,
    ReturnReason, RunEnd, Stage,
};

/// What the process says of itself first. The rest of the line (pid, clocks, machine) the timeline finds out.
#[derive(Clone, Debug)]
pub struct Hello {
    /// The process's UUID.
    pub process: String,
    /// The prover's version.
    pub version: String,
    /// Kind of device.
    pub backend: Backend,
    /// The devices, in the order of their [`DeviceId`](crate::DeviceId)s.
    pub devices: Vec<Device>,
    /// How long a drain may last.
    pub grace_ns: u64,
}

/// A device, as `hello` names it.
#[derive(Clone, Debug)]
pub struct Device {
    /// Its id: `cpu0`, `emu0`, a GPU's.
    pub device: String,
    /// What kind it is.
    pub kind: Backend,
    /// Its name for people.
    pub name: String,
    /// The most GPU workers that may feed it.
    pub workers_max: u32,
    /// Whose clock stamps its kernels.
    pub clock: DeviceClock,
}

/// A resolved scheduler. Names and limits are checked by the pipeline; this is their record.
#[derive(Clone, Debug)]
pub struct Scheduler {
    /// The preset it started from.
    pub preset: String,
    /// The fields that differ from the preset.
    pub overrides: Vec<String>,
    /// When partitions are released.
    pub dispatch: Dispatch,
    /// GPU workers per device.
    pub gpu_workers: u32,
    /// How much of a turn the lock covers.
    pub lock_scope: LockScope,
    /// Permits by count.
    pub partitions_in_flight: u32,
    /// Proofs at once.
    pub proofs_in_flight: u32,
    /// Partitions synthesised at once.
    pub synthesis_workers: u32,
    /// Threads of all syntheses together.
    pub synthesis_threads: u32,
    /// Threads of a CPU device.
    pub device_threads: u32,
    /// Permits by memory.
    pub memory_budget_bytes: u64,
    /// `fifo`, `proof-first`, `shortest-first` or `deadline`.
    pub order: String,
    /// Whether one permit is kept for PoSt.
    pub reserve_post: bool,
}

/// Why something failed.
#[derive(Clone, Debug)]
pub struct Failure {
    /// From the closed list.
    pub code: Code,
    /// For people. Cut at 8,192 bytes.
    pub message: String,
}

/// Where a valid proof's bytes are. They are durable before the notice is sent.
#[derive(Clone, Debug)]
pub struct Made {
    /// SHA-256 of the file, hex.
    pub sha256: String,
    /// The file's name in the spool.
    pub file: String,
    /// Its length.
    pub bytes: u64,
}

/// A control event. Named as the event in `FORMAT.md`; stamped when it is sent.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // The fields are those of the specification, under its names.
pub enum Notice {
    Ready,
    RunStarted {
        run: String,
        scheduler: Scheduler,
        emulate: Option<String>,
    },
    RunEnded {
        run: String,
        reason: RunEnd,
    },
    ConfigureRefused {
        run: String,
        failure: Failure,
    },
    DrainStarted {
        reason: DrainReason,
        deadline: u64,
    },
    DrainCancelled {
        by: DrainCancelledBy,
    },
    HostAttached,
    HostLost,
    ParamsLoadStarted {
        circuit: String,
        bytes: u64,
    },
    ParamsGenerateStarted {
        circuit: String,
    },
    ParamsGenerateEnded {
        circuit: String,
        ok: bool,
    },
    ParamsLoadEnded {
        circuit: String,
        digest: Option<String>,
        failure: Option<Failure>,
    },
    ProofAccepted {
        proof: ProofId,
        attempt: u32,
        run: String,
        circuit: String,
        partitions: u32,
        constraints: u64,
        priority: u8,
        submitted_wall_ns: u64,
        deadline_wall_ns: Option<u64>,
    },
    StageFailed {
        partition: Partition,
        stage: Stage,
        failure: Failure,
    },
    WorkerDead {
        worker: Worker,
        failure: Failure,
    },
    ProofEnded {
        proof: ProofId,
        attempt: u32,
        outcome: Outcome,
        made: Option<Made>,
        failure: Option<Failure>,
    },
    ProofReturned {
        proof: ProofId,
        attempt: u32,
        reason: ReturnReason,
    },
}
