//! The memory estimates against what the allocator really gave. Alone in its file, because it
//! counts the allocations of the whole process.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "test code; clippy only knows it in #[test] functions"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use interlock_circuits::{device_bytes, finish_bytes, params_bytes, partition_bytes};
use interlock_circuits::{CircuitKind, CircuitSpec, Partition};
use interlock_groth16::{finish, prepare, setup, synthesise, Blinding, Cpu, Device, Unobserved};

struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: passes everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD.fetch_add(layout.size(), Relaxed) + layout.size();
        MOST.fetch_max(held, Relaxed);
        // SAFETY: the caller's word.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's word.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The most that was held while `work` ran, above what was held before.
fn most_during<T>(work: impl FnOnce() -> T) -> (u64, T) {
    let before = HELD.load(Relaxed);
    MOST.store(before, Relaxed);
    let result = work();
    ((MOST.load(Relaxed) - before) as u64, result)
}

#[test]
fn the_estimates_hold_and_are_not_idle() {
    const THREADS: usize = 2;
    rayon::ThreadPoolBuilder::new()
        .num_threads(THREADS)
        .build_global()
        .unwrap();
    for (kind, constraints) in [
        (CircuitKind::Sha256, 33_000),
        (CircuitKind::Sha256, 62_500),
        (CircuitKind::Squarings, 33_000),
        (CircuitKind::Squarings, 62_500),
    ] {
        let spec = CircuitSpec::new(kind, constraints).unwrap();
        let toxic = setup::Toxic::random().unwrap();
        let before = HELD.load(Relaxed);
        let params = setup::generate(Partition::new(spec, [0; 32], 0), toxic, &|_| {}).unwrap();
        let held = (HELD.load(Relaxed) - before) as u64;
        let estimate = params_bytes(&spec);
        println!(
            "{spec}: params {held}, estimate {estimate}, points {}",
            params.bytes()
        );
        assert!(params.bytes() <= estimate && estimate <= params.bytes() * 5 / 4);

        let device = Cpu::new(THREADS).unwrap();
        let prove = || {
            let (synthesis, assignment) =
                most_during(|| synthesise(Partition::new(spec, [1; 32], 0)).unwrap());
            let before = HELD.load(Relaxed) as u64 - assignment.bytes();
            let blinding = Blinding::random().unwrap();
            let (_, mut prepared) = most_during(|| prepare(assignment, &params, blinding).unwrap());
            let preparing = MOST.load(Relaxed) as u64 - before;
            let never = AtomicBool::new(false);
            let (_, output) = most_during(|| {
                device
                    .prove(&mut prepared, &params, &mut Unobserved, &never)
                    .unwrap()
            });
            let proving = MOST.load(Relaxed) as u64 - before;
            let (_, _) = most_during(|| finish(prepared, output, &params).unwrap());
            [
                synthesis,
                preparing,
                proving,
                MOST.load(Relaxed) as u64 - before,
            ]
        };
        let before = HELD.load(Relaxed) as u64;
        prove();
        let kept = HELD.load(Relaxed) as u64 - before;
        let [synthesis, preparing, proving, finishing] = prove();
        let partition = partition_bytes(&spec);
        let (on_device, in_finish) = (device_bytes(&spec, THREADS), finish_bytes(&spec, THREADS));
        println!(
            "{spec}: synthesis {synthesis}, prepare {preparing}, estimate {partition}; device \
             {proving} + {kept}, estimate + {on_device}; finish {finishing}, estimate + {in_finish}"
        );
        assert!(synthesis.max(preparing) <= partition);
        assert!(proving + kept <= partition + on_device);
        assert!(finishing <= partition + in_finish);
        // Nor may they be much too high: they decide how many partitions fit.
        assert!(partition <= 2 * synthesis.max(preparing));
    }
}
