//! Threads that do nothing but emit, while a reader of the journal stands still: for a check from outside (strace)
//! that an emitting thread makes no system call.
//!
//! `emit_only [THREADS] [SECONDS] [JOURNAL]`. Each thread is named `emit-N`; it writes `emit-N begins` to standard error,
//! emits for the time, about 5,000 events a second, and writes `emit-N ends <events>`. Between those two lines it makes
//! no system call. Ends with the drops, which must be 0.

use std::fs::File;

use interlock_timeline::{
    Backend, Bye, Event, Hello, Kernel, Options, Partition, Timeline, Worker,
};

const PAUSE_NS: u64 = 200_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let threads: u16 = arguments.next().map_or(Ok(2), |text| text.parse())?;
    let seconds: u64 = arguments.next().map_or(Ok(3), |text| text.parse())?;
    let path = arguments.next().map_or_else(
        || std::env::temp_dir().join(format!("emit-only-{}.ndjson", std::process::id())),
        std::path::PathBuf::from,
    );
    let hello = Hello {
        process: "00000000-0000-4000-8000-000000000000".into(),
        version: "0".into(),
        backend: Backend::Emulated,
        devices: Vec::new(),
        grace_ns: 0,
    };
    let timeline = Timeline::start(Options::new(&path, hello))?;
    let _frozen = File::open(&path)?;
    let (proof, device) = (timeline.proof("p1")?, timeline.device("emu0")?);
    let mut running = Vec::new();
    for number in 0..threads {
        let name = format!("emit-{number}");
        let mut emitter = timeline.emitter(&name)?;
        running.push(
            std::thread::Builder::new()
                .name(name.clone())
                .spawn(move || {
                    let worker = Worker {
                        device,
                        worker: number,
                    };
                    let mut events = 0;
                    say(&format!("{name} begins\n"));
                    let end = emitter.clock().now_ns() + seconds * 1_000_000_000;
                    let mut next = 0;
                    loop {
                        let now = emitter.clock().now_ns();
                        if now >= end {
                            break;
                        }
                        if now >= next {
                            let p = Partition {
                                proof,
                                attempt: 1,
                                partition: events,
                            };
                            emitter.emit(Event::kernel_started(p, worker, 0, Kernel::Emulated));
                            events += 1;
                            next = now + PAUSE_NS;
                        }
                        std::hint::spin_loop();
                    }
                    say(&format!("{name} ends {events}\n"));
                })?,
        );
    }
    for thread in running {
        let _ = thread.join();
    }
    timeline.stop(Bye::Stopped, 0)?;
    println!("dropped {}", timeline.status().dropped);
    Ok(())
}

/// One write, without the lock of `std::io::stderr`, whose contention would be a system call.
fn say(line: &str) {
    // SAFETY: the pointer and the length are the line's.
    unsafe { libc::write(2, line.as_ptr().cast(), line.len()) };
}
