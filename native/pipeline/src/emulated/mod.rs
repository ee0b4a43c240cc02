//! The emulated backend: stages wait for configured durations. It makes no proof and says so.
//!
//! It is the ground truth of the tests: its devices have clocks of their own and report through
//! the same mapping as a GPU's would.

mod device;
mod spec;
mod work;

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::mpsc::Sender;
use std::sync::{mpsc, Arc, Mutex, PoisonError, RwLock};

use interlock_timeline::{Clock, DeviceEmitter, DeviceId, Timeline};

pub use spec::{Spec, Stage, Target};

use crate::backend::{Backend, Facts, Notify, Task, Work};
use crate::board::PartitionProof;
use crate::clockmap::ClockMap;
use crate::{cpu, wait, Error, ErrorKind, Scheduler};
use device::{Account, Launch, OwnClock};

/// Devices that exist only as threads and clocks.
pub struct Emulated {
    spec: RwLock<Arc<Spec>>,
    devices: Arc<Vec<Device>>,
    clock: Clock,
}

/// The host's side of one device.
pub(crate) struct Device {
    pub id: DeviceId,
    pub own: OwnClock,
    pub launches: Mutex<Sender<Launch>>,
    /// Whoever is in the device stage has it.
    pub told: Mutex<Told>,
}

/// How a device's stamps get into the journal.
pub(crate) struct Told {
    pub emitter: DeviceEmitter,
    pub map: ClockMap,
}

impl Emulated {
    /// Starts the devices of `spec`, which `timeline`'s hello names `emu0`, `emu1` …. Their account
    /// goes to `device-account.ndjson` in `folder`.
    ///
    /// Errors: `Internal` if the account cannot be created or a thread not be started.
    pub fn start(timeline: &Timeline, spec: Spec, folder: &Path) -> Result<Emulated, Error> {
        let internal = |what: String| Error::new(ErrorKind::Internal, what);
        let path = folder.join("device-account.ndjson");
        let file = OpenOptions::new()
            .create_new(true)
            .append(true)
            .mode(0o600)
            .open(&path)
            .map_err(|error| internal(format!("{}: {error}", path.display())))?;
        let account: Account = Arc::new(Mutex::new(file));
        let clock = timeline.clock().clone();
        let mut devices = Vec::new();
        for n in 0..spec.devices {
            let name = format!("emu{n}");
            let id = timeline
                .device(&name)
                .map_err(|e| internal(e.to_string()))?;
            let emitter = timeline
                .device_emitter(id)
                .map_err(|e| internal(e.to_string()))?;
            let own = OwnClock::new(clock.clone(), spec.offset_ns, spec.drift_ppm);
            let (launches, queue) = mpsc::channel();
            let (host, theirs, account) = (clock.clone(), own.clone(), account.clone());
            std::thread::Builder::new()
                .name(name.clone())
                .spawn(move || device::run(&name, &host, &theirs, &account, &queue))
                .map_err(|error| internal(format!("no thread for an emulated device: {error}")))?;
            let told = Mutex::new(Told {
                emitter,
                map: ClockMap::new(),
            });
            devices.push(Device {
                id,
                own,
                launches: Mutex::new(launches),
                told,
            });
        }
        let spec = RwLock::new(Arc::new(spec));
        Ok(Emulated {
            spec,
            devices: Arc::new(devices),
            clock,
        })
    }

    fn spec(&self) -> Arc<Spec> {
        self.spec
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl Backend for Emulated {
    fn configure(&self, _: &Scheduler, emulate: Option<&str>) -> Result<(), Error> {
        let Some(text) = emulate else { return Ok(()) };
        let next = Spec::parse(text)?;
        if !self.spec().same_devices(&next) {
            return Err(Error::new(
                ErrorKind::RestartNeeded,
                "emulate: devices, offset and drift belong to the process; start another one",
            ));
        }
        *self.spec.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(next);
        Ok(())
    }

    fn circuit(&self, name: &str) -> Result<Facts, Error> {
        cpu::spec(name).map(|spec| cpu::facts(&spec))
    }

    fn load_params(&self, _: &str, _: Notify<'_>) -> Result<Option<String>, Error> {
        wait::sleep_until(&self.clock, self.clock.now_ns() + self.spec().load_ns);
        Ok(None)
    }

    fn digest(&self, _: &str) -> Option<String> {
        None
    }

    fn synthesise(&self, task: &Task<'_>) -> Result<Box<dyn Work>, Error> {
        let spec = self.spec();
        work::pass(task, &spec, spec.synthesis_ns, Stage::Synthesis)?;
        Ok(Box::new(work::Emulation {
            spec,
            devices: self.devices.clone(),
        }))
    }

    fn verify(&self, _: &Task<'_>, _: &PartitionProof) -> Result<bool, Error> {
        Err(Error::new(
            ErrorKind::VerifyFailed,
            "an emulated partition has no proof",
        ))
    }
}
