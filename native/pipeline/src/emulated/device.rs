//! An emulated device: a thread with a clock of its own. It reports stamps of that clock, only
//! after it is done, and keeps its own account of its kernels in a file.
//!
//! ```text
//! device   │ copy │ kernel ───┐ gap ┌─── kernel │      each lasts at least as long as configured
//! account  │      [start … end]     [start … end]      the device's nanoseconds
//! ```

use std::fs::File;
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};

use interlock_timeline::Clock;

use crate::board::Stop;
use crate::clockmap::Sample;
use crate::wait;

/// A clock that is ahead of the process's and runs at a rate of its own.
#[derive(Clone, Debug)]
pub struct OwnClock {
    host: Clock,
    offset_ns: u64,
    drift_ppm: i64,
}

impl OwnClock {
    /// At the process's time `t` it reads `offset + t · (1 + drift)`.
    pub fn new(host: Clock, offset_ns: u64, drift_ppm: i64) -> OwnClock {
        OwnClock {
            host,
            offset_ns,
            drift_ppm,
        }
    }

    /// What it reads now.
    pub fn now_ns(&self) -> u64 {
        let t = i128::from(self.host.now_ns());
        let own = i128::from(self.offset_ns) + t + t * i128::from(self.drift_ppm) / 1_000_000;
        u64::try_from(own).unwrap_or(0)
    }

    /// One two-way reading: the best of a few, since a reading may be interrupted.
    pub fn sample(&self) -> Sample {
        let read = || {
            let before = self.host.now_ns();
            let device_ns = self.now_ns();
            Sample::between(before, device_ns, self.host.now_ns())
        };
        let mut best = read();
        for _ in 0..4 {
            let next = read();
            if next.error_ns < best.error_ns {
                best = next;
            }
        }
        best
    }
}

/// What the device is to do.
pub struct Launch {
    /// For the account.
    pub proof: Arc<str>,
    /// For the account.
    pub partition: u32,
    /// A copy before the kernels.
    pub copy_ns: u64,
    /// The kernels, without the gap.
    pub kernels_ns: u64,
    /// No kernel runs, after the kernels' first half.
    pub gap_ns: u64,
    /// It never ends.
    pub hang: bool,
    /// Ends it at the end of a kernel.
    pub stop: Arc<Stop>,
    /// Steps done.
    pub progress: Arc<AtomicU64>,
    /// Where the report goes.
    pub reply: Sender<Report>,
}

/// What the device did, in its own nanoseconds: half-open spans.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The copy.
    pub copy: Option<(u64, u64)>,
    /// The kernels.
    pub kernels: Vec<(u64, u64)>,
    /// It was told to stop before its last kernel.
    pub stopped: bool,
}

/// The account of all devices of a process.
pub type Account = Arc<Mutex<File>>;

/// The device's life: one launch after the other.
pub fn run(
    name: &str,
    host: &Clock,
    own: &OwnClock,
    account: &Account,
    launches: &Receiver<Launch>,
) {
    wait::be_punctual();
    wait::take_precedence();
    let mut told = false;
    while let Ok(launch) = launches.recv() {
        let report = compute(host, own, &launch);
        let kernels = report.kernels.clone();
        // The worker may be gone; the account is kept all the same.
        let _ = launch.reply.send(report);
        let mut lines = String::new();
        for (start, end) in kernels {
            let line = serde_json::json!({
                "device": name, "start": start.to_string(), "end": end.to_string(),
                "proof": &*launch.proof, "partition": launch.partition
            });
            lines.push_str(&line.to_string());
            lines.push('\n');
        }
        let mut file = account.lock().unwrap_or_else(PoisonError::into_inner);
        let failed = file.write_all(lines.as_bytes()).err().filter(|_| !told);
        if let Some(error) = failed {
            told = true;
            let said = "the device's account cannot be written";
            // Whoever read standard error may be gone.
            let _ = writeln!(std::io::stderr(), "interlock-prover: {said}: {error}");
        }
    }
}

fn compute(host: &Clock, own: &OwnClock, launch: &Launch) -> Report {
    let never = AtomicBool::new(false);
    if launch.hang {
        loop {
            wait::sleep_until(host, host.now_ns() + 1_000_000_000);
        }
    }
    let mut report = Report::default();
    let span = |ns: u64| {
        // From here, not from the launch: a kernel that ends late must not eat the gap after it.
        let deadline = host.now_ns() + ns;
        let start = own.now_ns();
        // A kernel once started ends: only the host's flag between kernels stops a device.
        let nearly = deadline.saturating_sub(200_000);
        wait::until_or_stopped(host, nearly, &launch.progress, &never);
        wait::until_exactly(host, deadline);
        (start, own.now_ns())
    };
    let stopped = || launch.stop.working.load(Ordering::Relaxed);
    if launch.copy_ns > 0 {
        report.copy = Some(span(launch.copy_ns));
    }
    if launch.gap_ns > 0 {
        let half = launch.kernels_ns / 2;
        if !stopped() {
            report.kernels.push(span(half));
        }
        if !stopped() {
            span(launch.gap_ns);
        }
        if !stopped() {
            report.kernels.push(span(launch.kernels_ns - half));
        }
        report.stopped = report.kernels.len() < 2;
    } else if stopped() {
        report.stopped = true;
    } else {
        report.kernels.push(span(launch.kernels_ns));
    }
    report
}
