//! `serve`: sets the process up, then lives until it is drained, stopped or past its deadline.

mod control;
mod life;
mod protocol;
mod signals;
mod socket;
mod spool;
mod watchdog;

use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;
use std::sync::{mpsc, Arc};

use interlock_pipeline::{Backend, Cpu, Emulated, Engine};
use interlock_timeline as timeline;
use interlock_timeline::{Clock, DeviceClock, DeviceId, Notice, Options, Phase, Timeline};

use crate::args::{Backend as Which, Serve};
use crate::error::{Error, ErrorKind};
use control::{Control, Wires};
use life::{Life, Process};
use spool::Spool;
use watchdog::Watchdog;

/// What `run_started.emulate` says if nobody said anything: the defaults of FORMAT.md.
const DEFAULT_EMULATION: &str = "synthesis=300ms,prepare=20ms,kernels=180ms,finish=70ms";
/// Records in a thread's ring: minutes of a busy worker.
const RING_RECORDS: usize = 8_192;

/// Serves a host. Returns only if it could not start.
///
/// Errors: `Refused` for folder, socket or backend; `Failed` if the system lacks threads.
pub fn run(options: Serve) -> Result<u8, Error> {
    signals::block();
    // SAFETY: sets the process's mask; no other thread runs yet.
    unsafe { libc::umask(0o077) };
    end_on_foreign_panics();
    prepare_folder(&options.folder)?;
    let socket_path = options
        .socket
        .clone()
        .unwrap_or_else(|| options.folder.join("command.sock"));
    let listener = socket::bind(&socket_path).map_err(Error::refused)?;

    let clock = Clock::system();
    let (backend_word, names) = match &options.backend {
        Which::Cpu => (timeline::Backend::Cpu, vec!["cpu0".to_owned()]),
        Which::Emulated(spec) => (
            timeline::Backend::Emulated,
            (0..spec.devices).map(|n| format!("emu{n}")).collect(),
        ),
    };
    let hello = timeline::Hello {
        process: options.process.clone(),
        version: crate::VERSION.into(),
        backend: backend_word,
        devices: names
            .iter()
            .map(|name| device(name, backend_word))
            .collect(),
        grace_ns: options.grace_ns,
    };
    let journal = options.folder.join("journal.ndjson");
    let timeline = Timeline::start(Options {
        clock: clock.clone(),
        ring_records: RING_RECORDS,
        ..Options::new(&journal, hello)
    })
    .map_err(|error| Error::refused(format!("{}: {error}", journal.display())))?;
    let timeline = Arc::new(timeline);
    let devices = names
        .iter()
        .map(|name| timeline.device(name))
        .collect::<Result<Vec<DeviceId>, _>>()
        .map_err(|error| failed(error.to_string()))?;
    let backend: Arc<dyn Backend> = match &options.backend {
        Which::Cpu => Arc::new(Cpu::new(&options.params)),
        Which::Emulated(spec) => {
            let emulated = Emulated::start(&timeline, (**spec).clone(), &options.folder);
            Arc::new(emulated.map_err(|error| Error::refused(error.to_string()))?)
        }
    };

    let watchdog = Watchdog::start(clock).map_err(|error| failed(error.to_string()))?;
    let (control, heard) = mpsc::channel();
    let (to_spool, to_close) = mpsc::channel();
    let wires = Arc::new(Wires::new(control.clone(), to_spool));
    let engine = Engine::start(timeline.clone(), backend, &devices, wires.clone())
        .map_err(|error| failed(error.to_string()))?;
    let engine = Arc::new(engine);
    let spool = Spool {
        folder: options.folder.join("spool"),
        process: options.process.clone(),
        backend: backend_word.as_str(),
        timeline: timeline.clone(),
        engine: engine.clone(),
        wires: wires.clone(),
    };
    spawn("spool", move || spool.run(&to_close))?;
    let unanswered = socket::Unanswered::default();
    start_ears(&control, listener, unanswered.clone())?;

    engine.set_phase(Phase::Ready);
    timeline.notify(Notice::Ready);
    let emulate = match &options.backend {
        Which::Cpu => None,
        Which::Emulated(_) => Some(options.emulate.unwrap_or_else(|| DEFAULT_EMULATION.into())),
    };
    let is = Process {
        timeline,
        engine,
        wires,
        watchdog,
        process: options.process,
        backend: backend_word,
        emulate,
        grace_ns: options.grace_ns,
        socket: socket_path,
        unanswered,
    };
    Life::new(is).live(&heard)
}

/// The threads that hear hosts, signals and the lifeline.
fn start_ears(
    control: &mpsc::Sender<Control>,
    listener: std::os::unix::net::UnixListener,
    unanswered: socket::Unanswered,
) -> Result<(), Error> {
    let ear = control.clone();
    spawn("socket", move || socket::run(&listener, &ear, &unanswered))?;
    let ear = control.clone();
    spawn("signals", move || signals::run(&ear))?;
    let ear = control.clone();
    spawn("lifeline", move || signals::watch_lifeline(&ear))
}

fn device(name: &str, kind: timeline::Backend) -> timeline::Device {
    let own = kind == timeline::Backend::Emulated;
    timeline::Device {
        device: name.to_owned(),
        kind,
        name: if own {
            format!("emulated device {name}")
        } else {
            cpu_name()
        },
        workers_max: 4,
        clock: if own {
            DeviceClock::Own
        } else {
            DeviceClock::Host
        },
    }
}

fn cpu_name() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    match model {
        Some((_, model)) => format!("CPU ({})", model.trim()),
        None => "CPU".to_owned(),
    }
}

/// The process's folder and its spool, mode 0700. The folder may be there, but not a journal in it.
fn prepare_folder(folder: &Path) -> Result<(), Error> {
    let refused = |what: &Path, error: &dyn std::fmt::Display| {
        Error::refused(format!("--folder: {}: {error}", what.display()))
    };
    let spool = folder.join("spool");
    for path in [folder, &spool] {
        if !path.is_dir() {
            let made = std::fs::DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(path);
            made.map_err(|error| refused(path, &error))?;
        }
        let closed = std::fs::Permissions::from_mode(0o700);
        std::fs::set_permissions(path, closed).map_err(|error| refused(path, &error))?;
    }
    let journal = folder.join("journal.ndjson");
    if journal.symlink_metadata().is_ok() {
        return Err(refused(
            &journal,
            &"is there already; every process has a folder of its own",
        ));
    }
    Ok(())
}

/// Workers catch panics and go on; a panic of any other thread is a bug that ends the process.
fn end_on_foreign_panics() {
    let caught = [
        "gpu-",
        "synth-",
        "verify",
        "params",
        "host-pool-",
        "device-cpu-",
        "emu",
    ];
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        print(info);
        let thread = std::thread::current();
        let name = thread.name().unwrap_or_default();
        if !caught.iter().any(|prefix| name.starts_with(prefix)) {
            // SAFETY: ends the process; what is in the rings is lost, the files are as they are.
            unsafe { libc::_exit(101) };
        }
    }));
}

fn spawn(name: &str, life: impl FnOnce() + Send + 'static) -> Result<(), Error> {
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(life)
        .map(|_| ())
        .map_err(|error| failed(format!("no thread for {name}: {error}")))
}

fn failed(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Failed, message)
}
