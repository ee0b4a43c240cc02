//! The CPU as a device: a fixed pool of threads that stands in for a GPU.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::domain::Domain;
use crate::{
    msm, Backend, Device, DeviceObserver, DeviceOutput, Error, ErrorKind, Kernel, Params, Prepared,
    DEVICE_STEPS,
};

/// Tables of domains up to this size (64 MiB) are kept for the next partition.
const KEPT_DOMAIN: usize = 1 << 20;

/// A device made of CPU threads. It computes with its own threads only: a worker that calls
/// [`Device::prove`] sleeps meanwhile, so N threads never use more than N cores.
pub struct Cpu {
    pool: ThreadPool,
    domains: Mutex<HashMap<usize, Arc<Domain>>>,
}

impl Cpu {
    /// A device of `threads` threads, named `device-cpu-0` and so on.
    ///
    /// Errors: `BackendUnavailable` if `threads` is 0 or the system refuses them.
    pub fn new(threads: usize) -> Result<Cpu, Error> {
        if threads == 0 {
            return Err(Error::new(
                ErrorKind::BackendUnavailable,
                "a CPU device needs at least one thread",
            ));
        }
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|i| format!("device-cpu-{i}"))
            .build()
            .map_err(|error| {
                Error::new(
                    ErrorKind::BackendUnavailable,
                    format!("the CPU device cannot have {threads} threads: {error}"),
                )
            })?;
        Ok(Cpu {
            pool,
            domains: Mutex::default(),
        })
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// Bytes that a device of so many threads holds while it proves partitions of a `domain`,
    /// besides the partition: the tables of the transforms and the scratch of the multiplications.
    pub fn bytes(domain: usize, threads: usize) -> u64 {
        64 * domain as u64 + msm::g1_scratch_bytes(domain, threads)
    }

    /// The tables for a domain of `n`; computes on the current pool if they are not kept.
    fn domain(&self, n: usize) -> Arc<Domain> {
        // A thread that panicked while inserting leaves the map whole.
        let kept = || self.domains.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(domain) = kept().get(&n) {
            return Arc::clone(domain);
        }
        let domain = Arc::new(Domain::new(n));
        if n <= KEPT_DOMAIN {
            kept().insert(n, Arc::clone(&domain));
        }
        domain
    }

    /// Runs one kernel on the device's threads, bracketed, unless `cancel` is set.
    fn kernel<T: Send>(
        &self,
        stage: &mut Stage<'_>,
        kernel: Kernel,
        work: impl FnOnce() -> T + Send,
    ) -> Result<T, Error> {
        if stage.cancel.load(Ordering::Relaxed) {
            return Err(Error::new(
                ErrorKind::Cancelled,
                "the device stage was cancelled",
            ));
        }
        stage.observer.kernel_started(kernel);
        let result = self.pool.install(work);
        stage.observer.kernel_ended(kernel);
        stage.steps_done += 1;
        stage.observer.progress(stage.steps_done);
        Ok(result)
    }
}

/// What one call of `prove` carries from kernel to kernel.
struct Stage<'a> {
    observer: &'a mut dyn DeviceObserver,
    cancel: &'a AtomicBool,
    steps_done: u32,
}

impl Device for Cpu {
    fn backend(&self) -> Backend {
        Backend::Cpu
    }

    fn name(&self) -> String {
        match self.threads() {
            1 => "CPU, 1 thread".into(),
            threads => format!("CPU, {threads} threads"),
        }
    }

    fn prove(
        &self,
        prepared: &mut Prepared,
        params: &Params,
        observer: &mut dyn DeviceObserver,
        cancel: &AtomicBool,
    ) -> Result<DeviceOutput, Error> {
        prepared.check_params(params)?;
        let mut stage = Stage {
            observer,
            cancel,
            steps_done: 0,
        };
        let evaluations = &mut prepared.evaluations;
        let domain = prepared.shape.domain();
        if evaluations.is_none() {
            return Err(Error::new(
                ErrorKind::OutOfOrder,
                "the device stage of this partition has run already",
            ));
        }
        let coefficients = self.kernel(&mut stage, Kernel::Ntt, || {
            let domain = self.domain(domain);
            evaluations
                .take()
                .map(|evaluations| domain.quotient(evaluations))
                .unwrap_or_default()
        })?;
        let h = self.kernel(&mut stage, Kernel::HMsm, || {
            msm::g1_full(&params.h, &coefficients)
        })?;
        drop(coefficients);
        let (scalars, prepared) = (&prepared.scalars, &*prepared);
        let l = self.kernel(&mut stage, Kernel::LMsm, || {
            msm::g1(&params.l, &prepared.l, scalars)
        })?;
        let a = self.kernel(&mut stage, Kernel::AMsm, || {
            msm::g1(&params.a, &prepared.a, scalars)
        })?;
        let b_g1 = self.kernel(&mut stage, Kernel::B1Msm, || {
            msm::g1(&params.b_g1, &prepared.b, scalars)
        })?;
        debug_assert_eq!(stage.steps_done, DEVICE_STEPS);
        Ok(DeviceOutput { h, l, a, b_g1 })
    }
}
