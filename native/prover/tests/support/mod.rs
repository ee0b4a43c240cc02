//! Starts the prover, speaks to it and reads what it wrote.

mod host;
mod journal;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

pub use host::{scheduler, Host};
pub use journal::{union, Journal, Line};

/// Nothing here takes a tenth of it.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A running prover in a folder of its own. Dropping it kills it.
pub struct Prover {
    pub folder: PathBuf,
    child: Child,
    stdin: Option<ChildStdin>,
    exit: Option<i32>,
}

impl Prover {
    pub fn emulated(spec: &str) -> Prover {
        Prover::start(&["--backend", "emulated", "--emulate", spec])
    }

    pub fn cpu() -> Prover {
        Prover::start(&["--backend", "cpu"])
    }

    pub fn cpu_with_params(params: &Path) -> Prover {
        Prover::start_with(params, &["--backend", "cpu"])
    }

    /// Starts `serve` with these arguments and waits until it is ready.
    pub fn start(arguments: &[&str]) -> Prover {
        Prover::start_with(params(), arguments)
    }

    fn start_with(params: &Path, arguments: &[&str]) -> Prover {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::SeqCst);
        let name = format!("interlock-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let mut child = binary()
            .args(["serve", "--process", &uuid(number), "--params"])
            .arg(params)
            .arg("--folder")
            .arg(&folder)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take();
        let prover = Prover {
            folder,
            child,
            stdin,
            exit: None,
        };
        prover.wait_until("it is ready", |journal| journal.has("ready"));
        prover
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn connect(&self) -> Host {
        Host::connect(&self.folder.join("command.sock"))
    }

    /// Connects and begins a run under `scheduler`.
    pub fn run(&self, scheduler: serde_json::Value) -> Host {
        let mut host = self.connect();
        host.run("r1", scheduler);
        host
    }

    pub fn journal(&self) -> Journal {
        Journal::read(&self.folder.join("journal.ndjson"))
    }

    /// Reads the journal until `done`, and returns it.
    pub fn wait_until(&self, what: &str, done: impl Fn(&Journal) -> bool) -> Journal {
        let started = Instant::now();
        loop {
            let journal = self.journal();
            if done(&journal) {
                return journal;
            }
            assert!(
                started.elapsed() < PATIENCE,
                "waited in vain until {what}:\n{journal}"
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub fn wait_for_proofs(&self, count: usize) -> Journal {
        self.wait_until("its proofs ended", |journal| {
            journal.of("proof_ended").len() >= count
        })
    }

    /// The host dies: standard input ends.
    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    pub fn signal(&self, signal: i32) {
        // SAFETY: the child is not reaped yet, so the pid is its own.
        assert_eq!(unsafe { libc::kill(self.pid() as i32, signal) }, 0);
    }

    /// Waits for the end and returns the exit code.
    pub fn wait(&mut self) -> i32 {
        let started = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                let code = status.code().unwrap_or(-1);
                self.exit = Some(code);
                return code;
            }
            if started.elapsed() > PATIENCE {
                panic!("it does not end:\n{}", self.journal());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Standard error, once it has ended.
    pub fn stderr(&mut self) -> String {
        let mut text = String::new();
        if let Some(mut pipe) = self.child.stderr.take() {
            pipe.read_to_string(&mut text).unwrap();
        }
        text
    }

    /// Nobody reads its standard error any more.
    pub fn deafen(&mut self) {
        self.child.stderr = None;
    }

    /// Drains it and returns the whole journal.
    pub fn finish(mut self, host: &mut Host) -> Journal {
        host.ok("drain", serde_json::json!({}));
        assert_eq!(self.wait(), 0, "{}", self.stderr());
        self.journal()
    }
}

impl Drop for Prover {
    fn drop(&mut self) {
        if self.exit.is_none() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
        if !std::thread::panicking() {
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }
}

pub fn binary() -> Command {
    Command::new(env!("CARGO_BIN_EXE_interlock-prover"))
}

/// Params are generated once for all tests.
pub fn params() -> &'static Path {
    Path::new(concat!(env!("CARGO_TARGET_TMPDIR"), "/params"))
}

pub fn uuid(number: u32) -> String {
    format!("0f8fad5b-d9cb-469f-a165-{:012x}", u64::from(number) + 1)
}

static QUIET: RwLock<()> = RwLock::new(());

/// For tests whose figures suffer from neighbours: nobody else runs.
pub fn alone() -> RwLockWriteGuard<'static, ()> {
    QUIET.write().unwrap_or_else(PoisonError::into_inner)
}

/// For all other tests.
pub fn among_others() -> RwLockReadGuard<'static, ()> {
    QUIET.read().unwrap_or_else(PoisonError::into_inner)
}
