//! A device of N threads uses N threads. Alone in its file, because it counts the threads of the
//! whole process.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "test code; clippy only knows it in #[test] functions"
)]

mod support;

use std::sync::atomic::{AtomicBool, Ordering};

use interlock_groth16::{finish, prepare, synthesise, Blinding, Cpu, Device, Unobserved};
use support::{Mixed, Secrets};

/// CPU time of each thread of this process by name, in clock ticks.
fn threads() -> Vec<(String, u64)> {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    tasks
        .filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("stat")).ok())
        .map(|stat| {
            let (name, rest) = stat.rsplit_once(") ").unwrap();
            let name = name.split_once('(').unwrap().1.to_string();
            let fields: Vec<&str> = rest.split(' ').collect();
            (
                name,
                fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap(),
            )
        })
        .collect()
}

#[test]
fn a_device_of_n_threads_uses_n_threads() {
    let circuit = Mixed {
        steps: 20_000,
        seed: 1,
    };
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(2)
        .thread_name(|_| "host-pool".into())
        .build()
        .unwrap();
    let params = pool.install(|| Secrets::of(1).ours(circuit.clone()));
    let device = Cpu::new(3).unwrap();
    let before = threads();
    let done = AtomicBool::new(false);
    let most = std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut most = 0;
            while !done.load(Ordering::Relaxed) {
                most = most.max(threads().len());
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            most
        });
        let assignment = synthesise(circuit.clone()).unwrap();
        let blinding = Blinding::random().unwrap();
        let mut prepared = pool
            .install(|| prepare(assignment, &params, blinding))
            .unwrap();
        let never = AtomicBool::new(false);
        let output = device
            .prove(&mut prepared, &params, &mut Unobserved, &never)
            .unwrap();
        pool.install(|| finish(prepared, output, &params)).unwrap();
        done.store(true, Ordering::Relaxed);
        watcher.join().unwrap()
    });
    // The watcher is the one more.
    assert_eq!(most, before.len() + 1, "{:?}", threads());
    let device_threads = threads()
        .iter()
        .filter(|(name, _)| name.starts_with("device-cpu-"))
        .count();
    assert_eq!(device_threads, 3);
    // rayon's global pool would be named after nothing and blst's after its crate.
    let strangers: Vec<_> = threads()
        .into_iter()
        .filter(|(name, _)| !name.starts_with("device-cpu-") && name != "host-pool")
        .collect();
    assert!(strangers.len() <= 2, "{strangers:?}");
}
