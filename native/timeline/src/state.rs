//! The snapshot that makes recovery after a loss exact. The pipeline fills it; the writer adds memory and drops.

use crate::id::{DeviceId, Partition, ProofId};
use crate::words::{ParamsIs, Phase, WorkerIs};

/// What the process is doing. See `state` in `FORMAT.md`.
#[derive(Clone, Debug)]
pub struct State {
    /// What the process is doing as a whole.
    pub phase: Phase,
    /// The run, if there is one.
    pub run: Option<String>,
    /// Partitions released and not picked up.
    pub queued: u32,
    /// Partitions synthesised and kept back by `batch`.
    pub withheld: u32,
    /// Permits.
    pub permits: Permits,
    /// Every GPU worker.
    pub workers: Vec<WorkerState>,
    /// Every synthesis worker.
    pub synthesisers: Vec<SynthesiserState>,
    /// Each device's lock: the worker that holds it.
    pub lock: Vec<(DeviceId, Option<u16>)>,
    /// The proofs that the process has taken over.
    pub proofs: Vec<ProofState>,
    /// The circuits that the process knows of.
    pub params: Vec<(String, ParamsIs)>,
}

/// Permits in use and in all.
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)] // The fields are those of the specification, under its names.
pub struct Permits {
    pub used: u32,
    pub total: u32,
    pub bytes_used: u64,
    pub bytes_total: u64,
}

/// A GPU worker in a snapshot.
#[derive(Clone, Copy, Debug)]
pub struct WorkerState {
    /// Its number.
    pub worker: u16,
    /// Its device.
    pub device: DeviceId,
    /// Where it is.
    pub is: WorkerIs,
    /// What it works on.
    pub partition: Option<Partition>,
    /// The stamp since when it is there.
    pub since: Option<u64>,
    /// Raised by the worker itself.
    pub progress: u64,
}

/// A synthesis worker in a snapshot.
#[derive(Clone, Copy, Debug)]
pub struct SynthesiserState {
    /// Its number.
    pub synthesiser: u16,
    /// What it works on.
    pub partition: Option<Partition>,
    /// The stamp since when.
    pub since: Option<u64>,
    /// Raised by the worker itself.
    pub progress: u64,
}

/// A proof in a snapshot.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)] // The fields are those of the specification, under its names.
pub struct ProofState {
    pub proof: ProofId,
    pub attempt: u32,
    pub partitions: u32,
    pub done: u32,
}

impl State {
    /// A process that has nothing yet.
    pub fn starting() -> State {
        State {
            phase: Phase::Starting,
            run: None,
            queued: 0,
            withheld: 0,
            permits: Permits::default(),
            workers: Vec::new(),
            synthesisers: Vec::new(),
            lock: Vec::new(),
            proofs: Vec::new(),
            params: Vec::new(),
        }
    }

    /// Whether anything runs: then the live horizon is kept within 100 ms.
    pub(crate) fn is_busy(&self) -> bool {
        self.permits.used > 0 || self.queued > 0 || !self.proofs.is_empty()
    }
}
