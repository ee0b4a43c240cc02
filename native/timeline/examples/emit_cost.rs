//! What an emission costs, against the clock alone and against a line to standard error (here a pipe that is drained).
//!
//! `cargo run --release -p interlock-timeline --example emit_cost` prints one line a figure, nanoseconds each.

use std::hint::black_box;
use std::io::Read;
use std::os::fd::FromRawFd;
use std::time::Instant;

use interlock_timeline::{
    Backend, Clock, Event, Hello, Kernel, Options, Partition, Timeline, Worker,
};

const EVENTS: u32 = 50_000;
const ROUNDS: usize = 21;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::temp_dir().join(format!("emit-cost-{}.ndjson", std::process::id()));
    let hello = Hello {
        process: "00000000-0000-4000-8000-000000000000".into(),
        version: "0".into(),
        backend: Backend::Emulated,
        devices: Vec::new(),
        grace_ns: 0,
    };
    let timeline = Timeline::start(Options::new(&path, hello))?;
    let (proof, device) = (timeline.proof("p1")?, timeline.device("emu0")?);
    let worker = Worker { device, worker: 0 };
    let mut emitter = timeline.emitter("emit-0")?;
    let clock = timeline.clock().clone();
    let event = move |n: u32| {
        Event::kernel_started(
            Partition {
                proof,
                attempt: 1,
                partition: n,
            },
            worker,
            0,
            Kernel::Ntt,
        )
    };

    let clock_ns = median(|| {
        time(|| {
            (0..EVENTS).for_each(|_| {
                black_box(clock.now_ns());
            })
        })
    });
    let mut written = Vec::new();
    let emit_ns = median(|| {
        let ns = time(|| {
            (0..EVENTS).for_each(|n| {
                black_box(emitter.emit(event(n)));
            })
        });
        // The ring holds a round: none is dropped. The writer looks in now and then, as it does in a prover.
        let start = Instant::now();
        while timeline.sync().is_err() {}
        written.push(start.elapsed().as_nanos() as f64 / f64::from(EVENTS));
        ns
    });
    let line_ns = stderr_line(&clock)?;
    let dropped = timeline.status().dropped;
    println!("clock      {clock_ns:8.1} ns");
    println!("emit       {emit_ns:8.1} ns   target 30   dropped {dropped}");
    written.sort_by(f64::total_cmp);
    println!(
        "written    {:8.1} ns   in the writer's thread, fsync included",
        written[ROUNDS / 2]
    );
    println!("eprintln   {line_ns:8.1} ns   {:.0} x", line_ns / emit_ns);
    timeline.stop(interlock_timeline::Bye::Stopped, 0)?;
    std::fs::remove_file(path)?;
    Ok(())
}

fn time(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_nanos() as f64 / f64::from(EVENTS)
}

fn median(mut round: impl FnMut() -> f64) -> f64 {
    let mut all: Vec<f64> = (0..ROUNDS).map(|_| round()).collect();
    all.sort_by(f64::total_cmp);
    all[ROUNDS / 2]
}

/// The same event by `eprintln!`, with standard error a pipe that somebody drains, as in a supervised prover.
fn stderr_line(clock: &Clock) -> std::io::Result<f64> {
    let mut ends = [0; 2];
    // SAFETY: `ends` has room for two descriptors; each is owned by one File. Descriptor 2 is open before and after.
    let (mut reader, before) = unsafe {
        if libc::pipe(ends.as_mut_ptr()) != 0 {
            return Err(std::io::Error::last_os_error());
        }
        let before = libc::dup(2);
        libc::dup2(ends[1], 2);
        libc::close(ends[1]);
        (std::fs::File::from_raw_fd(ends[0]), before)
    };
    let drain = std::thread::spawn(move || {
        let mut buffer = vec![0; 1 << 20];
        while reader.read(&mut buffer).is_ok_and(|n| n > 0) {}
    });
    let ns = median(|| {
        time(|| {
            for n in 0..EVENTS {
                let t = clock.now_ns();
                eprintln!("TIMELINE,{t},GPU_START,p1,1,{n},emu0,0,0,ntt");
            }
        })
    });
    // SAFETY: `before` is the standard error of old.
    unsafe {
        libc::dup2(before, 2);
        libc::close(before);
    }
    let _ = drain.join();
    Ok(ns)
}
