//! Emitting allocates nothing, also when the ring is full.

#![allow(clippy::unwrap_used)] // The lint's exception for tests does not reach their helpers.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use interlock_timeline::*;

thread_local! { static COUNT: Cell<u64> = const { Cell::new(0) }; }

struct Counting;

// SAFETY: passes everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = COUNT.try_with(|count| count.set(count.get() + 1));
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        let _ = COUNT.try_with(|count| count.set(count.get() + 1));
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn emitting_allocates_nothing() {
    let path = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("alloc-{}", std::process::id()));
    let hello = Hello {
        process: "0".into(),
        version: "0".into(),
        backend: Backend::Cpu,
        devices: vec![],
        grace_ns: 0,
    };
    let mut options = Options::new(path, hello);
    options.ring_records = 64;
    let timeline = Timeline::start(options).unwrap();
    let (proof, device) = (timeline.proof("p1").unwrap(), timeline.device("d").unwrap());
    let mut emitter = timeline.emitter("w0").unwrap();
    let mut own = timeline.device_emitter(device).unwrap();
    let before = COUNT.get();
    for partition in 0..100_000 {
        let p = Partition {
            proof,
            attempt: 1,
            partition,
        };
        emitter.emit(Event::queued(p));
        let earliest = own.begin();
        own.emit_at(earliest, Event::clock_map(device, 1, 1));
        own.clear();
    }
    assert_eq!(COUNT.get(), before);
    timeline.stop(Bye::Stopped, 0).unwrap();
    assert!(timeline.status().dropped > 0, "the full ring was tried too");
    drop(Box::new(1));
    assert!(COUNT.get() > before, "the counter counts");
}
