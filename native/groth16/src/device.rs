//! What a device is to the prover, and what it tells while it computes.
//!
//! The device stage of one partition, on the thread of its GPU worker:
//!
//! ```text
//! worker   prove() ──┬──────────────────────────────────────────────────────────┬── returns
//! observer           │ [Ntt]─[HMsm]─[LMsm]─[AMsm]─[B1Msm]    [ ] = one kernel    │
//! device             │  ███   ████   ██     ██     ██        its threads compute │
//! ```
//!
//! A kernel is bracketed where the device's threads compute and nowhere else. Between kernels the
//! device looks at the cancel flag; that time is the host's and belongs to no kernel.

use std::sync::atomic::AtomicBool;

use blstrs::G1Projective;

use crate::{Error, Params, Prepared};

/// A compute kernel: a part of the device stage during which the device really computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kernel {
    /// The transforms that turn the evaluations of A, B and C into the coefficients of H.
    Ntt,
    /// The multi-scalar multiplication with the H query.
    HMsm,
    /// The multi-scalar multiplication with the L query.
    LMsm,
    /// The multi-scalar multiplication with the A query.
    AMsm,
    /// The multi-scalar multiplication with the B query in G1.
    B1Msm,
}

/// Why a worker waits inside the device stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wait {
    /// For host work of this partition that runs beside the kernels.
    Barrier,
    /// For memory on the device.
    Alloc,
    /// For the host in any other way.
    Host,
}

/// Kernels in a device stage, and so the last value of [`DeviceObserver::progress`].
pub const DEVICE_STEPS: u32 = 5;

/// Listens to a device stage. Every call comes from the thread that called [`Device::prove`],
/// brackets are closed also when the stage ends with an error, and kernels do not nest.
pub trait DeviceObserver {
    /// The device's threads start computing `kernel` now.
    fn kernel_started(&mut self, kernel: Kernel);
    /// The device's threads have ended `kernel`.
    fn kernel_ended(&mut self, kernel: Kernel);
    /// A copy between host and device starts. The CPU device makes none.
    fn copy_started(&mut self);
    /// That copy has ended.
    fn copy_ended(&mut self);
    /// The worker starts waiting, with no kernel running.
    fn wait_started(&mut self, wait: Wait);
    /// That wait has ended.
    fn wait_ended(&mut self, wait: Wait);
    /// `steps_done` of [`DEVICE_STEPS`] kernels are done.
    fn progress(&mut self, steps_done: u32);
}

/// An observer that listens to nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unobserved;

impl DeviceObserver for Unobserved {
    fn kernel_started(&mut self, _: Kernel) {}
    fn kernel_ended(&mut self, _: Kernel) {}
    fn copy_started(&mut self) {}
    fn copy_ended(&mut self) {}
    fn wait_started(&mut self, _: Wait) {}
    fn wait_ended(&mut self, _: Wait) {}
    fn progress(&mut self, _: u32) {}
}

/// The backend a device belongs to. Every chart that shows the device shows this too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Backend {
    /// A fixed pool of CPU threads standing in for a device.
    Cpu,
    /// An NVIDIA GPU.
    Cuda,
}

/// What the device stage hands to [`crate::finish`]: four points of G1.
#[derive(Clone, Debug)]
pub struct DeviceOutput {
    pub(crate) h: G1Projective,
    pub(crate) l: G1Projective,
    pub(crate) a: G1Projective,
    pub(crate) b_g1: G1Projective,
}

/// A device: it takes a prepared partition through its kernels.
///
/// The device takes no lock: who may be in the device stage is decided by its caller. Two calls
/// at the same time are safe and share the device's threads.
pub trait Device: Send + Sync {
    /// The backend, for labels.
    fn backend(&self) -> Backend;

    /// A name for a person, such as `CPU, 2 threads`.
    fn name(&self) -> String;

    /// Runs the device stage of one partition. The evaluations in `prepared` are used up and
    /// their memory is freed after [`Kernel::Ntt`], so a partition goes through only once.
    ///
    /// Errors: `ParamsMismatch` if `params` are not those that `prepared` was made with,
    /// `OutOfOrder` if the stage had run already, `Cancelled` if `cancel` was set before the last
    /// kernel started.
    fn prove(
        &self,
        prepared: &mut Prepared,
        params: &Params,
        observer: &mut dyn DeviceObserver,
        cancel: &AtomicBool,
    ) -> Result<DeviceOutput, Error>;
}
