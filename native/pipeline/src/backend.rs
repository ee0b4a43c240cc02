//! What proves partitions: one trait for every kind of device.

use std::sync::atomic::{AtomicU64, Ordering};

use interlock_timeline::{Clock, Emitter, Notice, Partition, Worker};

use crate::board::{PartitionProof, Stop, Submission};
use crate::{Error, Scheduler};

/// What a backend knows of a circuit before anything is computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The circuit's name in its one spelling.
    pub name: String,
    /// Constraints of one partition.
    pub constraints: u64,
    /// Memory of one partition in flight.
    pub partition_bytes: u64,
    /// Memory of its params.
    pub params_bytes: u64,
}

/// One stage of one partition, for the backend that does it.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    /// Which partition.
    pub id: Partition,
    /// Its proof.
    pub what: &'a Submission,
    /// How it is told to stop.
    pub stop: &'a std::sync::Arc<Stop>,
    /// The worker's counter of steps done.
    pub progress: &'a std::sync::Arc<AtomicU64>,
    /// The clock.
    pub clock: &'a Clock,
}

impl Task<'_> {
    /// One more step is done: the worker is not hung.
    pub fn step(&self) {
        self.progress.fetch_add(1, Ordering::Relaxed);
    }
}

/// Where a backend says rare things.
pub type Notify<'a> = &'a (dyn Fn(Notice) + Sync);

/// What proves partitions. Stages of one partition come in order; those of several in parallel.
pub trait Backend: Send + Sync {
    /// Takes a scheduler (and what to emulate) for the next run, or changes nothing.
    ///
    /// Errors: `InvalidConfig`, `RestartNeeded`, `BackendUnavailable`.
    fn configure(&self, scheduler: &Scheduler, emulate: Option<&str>) -> Result<(), Error>;

    /// What is known of a circuit.
    ///
    /// Errors: `InvalidProof` if there is none of that name.
    fn circuit(&self, name: &str) -> Result<Facts, Error>;

    /// Loads a circuit's params and keeps them. Returns their digest, if they are a file.
    ///
    /// Errors: those of params.
    fn load_params(&self, name: &str, notify: Notify<'_>) -> Result<Option<String>, Error>;

    /// The digest of resident params.
    fn digest(&self, name: &str) -> Option<String>;

    /// Synthesises a partition.
    ///
    /// Errors: `SynthesisFailed`, `Cancelled`.
    fn synthesise(&self, task: &Task<'_>) -> Result<Box<dyn Work>, Error>;

    /// Whether the proof proves the partition.
    ///
    /// Errors: `VerifyFailed` if it cannot be told.
    fn verify(&self, task: &Task<'_>, proof: &PartitionProof) -> Result<bool, Error>;
}

/// A synthesised partition on its way through the stages of a GPU worker.
///
/// Each stage ends with `Cancelled` if it was told to stop.
pub trait Work: Send {
    /// The CPU stage before the device. Params are resident.
    fn prepare(&mut self, task: &Task<'_>) -> Result<(), Error>;

    /// The device stage, with the lock held. Tells of its kernels, copies and waits.
    fn device(&mut self, task: &Task<'_>, at: Worker, emitter: &mut Emitter) -> Result<(), Error>;

    /// The CPU stage after the device. Frees all that the partition held. An emulated partition
    /// has no proof.
    fn finish(self: Box<Self>, task: &Task<'_>) -> Result<Option<PartitionProof>, Error>;
}
