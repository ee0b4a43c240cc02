//! The dual-worker interlock against the per-partition engine, from the journal's stamps.

use crate::support::{alone, scheduler, Prover};

/// FIELD.md's limit of a schedule, without stretch: n partitions, m synthesis workers, one device.
fn bound(n: u64, m: u64, workers: u64, permits: u64, [s, r, g, f]: [u64; 4]) -> u64 {
    let all = s + r + g + f;
    [
        s + r + n * g + f,
        n * s / m + r + g + f,
        s + n * (r + g + f) / workers,
        n * all / permits,
        n.div_ceil(m) * s,
        all,
    ]
    .into_iter()
    .max()
    .unwrap()
}

/// Milliseconds from the first accepted proof to the last partition put down.
fn makespan(preset: &str) -> f64 {
    let prover =
        Prover::emulated("synthesis=150ms,prepare=60ms,kernels=120ms,finish=60ms,offset=3s");
    let mut host = prover.run(scheduler(preset));
    for n in 0..3 {
        host.submit(&format!("p{n}"), 10);
    }
    prover.wait_for_proofs(3);
    let journal = prover.finish(&mut host);
    let start = journal.of("proof_accepted")[0].t;
    let end = journal
        .of("put_down")
        .iter()
        .map(|line| line.t)
        .max()
        .unwrap();
    (end - start) as f64 / 1e6
}

#[test]
fn two_workers_and_the_narrow_lock_gain_what_the_bound_says() {
    let _quiet = alone();
    let (old, new) = (makespan("per-partition"), makespan("interlock"));
    assert!(
        old / new >= 1.7,
        "per-partition {old} ms, interlock {new} ms"
    );
    let least = bound(30, 8, 2, 10, [150, 60, 120, 60]) as f64;
    assert!(
        least / new >= 0.9,
        "interlock took {new} ms, the bound is {least} ms"
    );
    let least = bound(30, 8, 1, 10, [150, 0, 240, 0]) as f64;
    assert!(
        least / old >= 0.9,
        "per-partition took {old} ms, the bound is {least} ms"
    );
}
