//! The CPU backend: real Groth16 proofs of the built-in circuits. The device is a fixed pool of
//! threads that one worker at a time may use.
//!
//! Three pools, made anew for each run: `synth-pool` for syntheses, the device's own, and
//! `host-pool` for prepare, finish and params, so that a finish never queues behind a synthesis.

mod work;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use interlock_circuits as circuits;
use interlock_circuits::CircuitSpec;
use interlock_groth16 as groth16;
use interlock_groth16::{Params, PreparedVerifyingKey};
use interlock_timeline::Notice;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::backend::{Backend, Facts, Notify, Task, Work};
use crate::board::PartitionProof;
use crate::{Error, ErrorKind, Scheduler};

/// What a run computes with.
struct Pools {
    synthesis: ThreadPool,
    host: ThreadPool,
    device: groth16::Cpu,
}

/// Params in memory.
struct Resident {
    params: Params,
    key: PreparedVerifyingKey,
}

/// The resident params by circuit. Only grows.
#[derive(Clone, Default)]
struct Library(Arc<RwLock<HashMap<String, Arc<Resident>>>>);

impl Library {
    fn get(&self, circuit: &str) -> Option<Arc<Resident>> {
        self.0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(circuit)
            .cloned()
    }

    fn put(&self, circuit: &str, resident: Resident) {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        all.insert(circuit.to_owned(), Arc::new(resident));
    }
}

/// The CPU, standing in for a device.
pub struct Cpu {
    folder: PathBuf,
    pools: RwLock<Option<Arc<Pools>>>,
    params: Library,
}

impl Cpu {
    /// With the params in `folder`; those of built-in circuits are generated there if missing.
    pub fn new(folder: &Path) -> Cpu {
        Cpu {
            folder: folder.to_owned(),
            pools: RwLock::default(),
            params: Library::default(),
        }
    }

    fn pools(&self) -> Result<Arc<Pools>, Error> {
        let pools = self.pools.read().unwrap_or_else(PoisonError::into_inner);
        pools
            .clone()
            .ok_or_else(|| Error::new(ErrorKind::NoRun, "no run was begun"))
    }
}

impl Backend for Cpu {
    fn configure(&self, scheduler: &Scheduler, emulate: Option<&str>) -> Result<(), Error> {
        if emulate.is_some() {
            return Err(Error::new(
                ErrorKind::InvalidConfig,
                "emulate: this process proves on the CPU; start one with --backend emulated",
            ));
        }
        let device = groth16::Cpu::new(scheduler.device_threads as usize)
            .map_err(|error| Error::new(ErrorKind::BackendUnavailable, error.message()))?;
        let pools = Pools {
            synthesis: pool("synth-pool", scheduler.synthesis_threads)?,
            host: pool("host-pool", scheduler.device_threads)?,
            device,
        };
        *self.pools.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(pools));
        Ok(())
    }

    fn circuit(&self, name: &str) -> Result<Facts, Error> {
        spec(name).map(|spec| facts(&spec))
    }

    fn load_params(&self, name: &str, notify: Notify<'_>) -> Result<Option<String>, Error> {
        let spec = spec(name)?;
        let (pools, generating) = (self.pools()?, AtomicBool::new(false));
        let circuit = || name.to_owned();
        let told = |what: &str, _: f64| {
            if what == "generating" && !generating.swap(true, Ordering::SeqCst) {
                notify(Notice::ParamsGenerateStarted { circuit: circuit() });
            }
        };
        let loaded = pools
            .host
            .install(|| circuits::params_for(&self.folder, &spec, &told));
        if generating.load(Ordering::SeqCst) {
            notify(Notice::ParamsGenerateEnded {
                circuit: circuit(),
                ok: loaded.is_ok(),
            });
        }
        let params = loaded.map_err(|error| params_error(&error))?;
        let key = PreparedVerifyingKey::new(params.vk());
        let digest = hex(params.digest());
        self.params.put(name, Resident { params, key });
        Ok(Some(digest))
    }

    fn digest(&self, name: &str) -> Option<String> {
        self.params
            .get(name)
            .map(|resident| hex(resident.params.digest()))
    }

    fn synthesise(&self, task: &Task<'_>) -> Result<Box<dyn Work>, Error> {
        let circuit = partition(task)?;
        let pools = self.pools()?;
        let assignment = pools
            .synthesis
            .install(|| groth16::synthesise_counting(circuit, task.progress.clone()))
            .map_err(|error| Error::new(ErrorKind::SynthesisFailed, error.message()))?;
        task.step();
        Ok(Box::new(work::Proving::new(
            pools,
            self.params.clone(),
            assignment,
        )))
    }

    fn verify(&self, task: &Task<'_>, proof: &PartitionProof) -> Result<bool, Error> {
        let failed = |message: String| Error::new(ErrorKind::VerifyFailed, message);
        let resident = self
            .params
            .get(&task.what.circuit)
            .ok_or_else(|| failed("the params are gone".into()))?;
        let partition = partition(task)?;
        circuits::verify_partition(&resident.key, &partition, &proof.proof)
            .map_err(|error| failed(error.to_string()))
    }
}

fn pool(name: &'static str, threads: u32) -> Result<ThreadPool, Error> {
    ThreadPoolBuilder::new()
        .num_threads(threads as usize)
        .thread_name(move |i| format!("{name}-{i}"))
        .build()
        .map_err(|error| {
            let message = format!("the system refuses {threads} threads for {name}: {error}");
            Error::new(ErrorKind::BackendUnavailable, message)
        })
}

/// The circuit of a name.
///
/// Errors: `InvalidProof`.
pub fn spec(name: &str) -> Result<CircuitSpec, Error> {
    CircuitSpec::from_str(name)
        .map_err(|error| Error::new(ErrorKind::InvalidProof, format!("circuit: {error}")))
}

/// What is known of a built-in circuit.
pub(crate) fn facts(spec: &CircuitSpec) -> Facts {
    Facts {
        name: spec.to_string(),
        constraints: spec.actual_constraints(),
        partition_bytes: circuits::partition_bytes(spec),
        params_bytes: circuits::params_bytes(spec),
    }
}

fn partition(task: &Task<'_>) -> Result<circuits::Partition, Error> {
    let spec = spec(&task.what.circuit)?;
    Ok(circuits::Partition::new(
        spec,
        task.what.seed,
        task.id.partition,
    ))
}

/// The params' error in the words of the boundary.
pub fn params_error(error: &circuits::Error) -> Error {
    use groth16::ErrorKind as G;
    let kind = match error.kind() {
        circuits::ErrorKind::BadSpec => ErrorKind::InvalidProof,
        circuits::ErrorKind::Groth16(kind) => match kind {
            G::ParamsMissing => ErrorKind::ParamsMissing,
            G::ParamsTruncated | G::ParamsTrailing => ErrorKind::ParamsTruncated,
            G::ParamsBadPoint => ErrorKind::ParamsBadPoint,
            G::ParamsMismatch => ErrorKind::ParamsWrongCircuit,
            G::ParamsUnreadable => ErrorKind::ParamsUnreadable,
            _ => ErrorKind::ParamsGenerateFailed,
        },
        circuits::ErrorKind::ParamsAltered => ErrorKind::ParamsWrongCircuit,
        _ => ErrorKind::ParamsUnreadable,
    };
    Error::new(kind, error.message())
}

/// Bytes as lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
