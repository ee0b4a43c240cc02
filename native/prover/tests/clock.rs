//! The device's own account against the journal: its clock is ahead and runs too fast.

use serde_json::Value;

use crate::support::{alone, scheduler, Prover};

const OFFSET_NS: f64 = 3e9;
const DRIFT: f64 = 50e-6;
/// A tenth of a millisecond.
const CLOSE_NS: f64 = 100_000.0;

/// The kernels of the device's account, on the process's clock.
fn account(prover: &Prover) -> Vec<(f64, f64)> {
    let text = std::fs::read_to_string(prover.folder.join("device-account.ndjson")).unwrap();
    let process = |line: &Value, field: &str| {
        let own: f64 = line[field].as_str().unwrap().parse().unwrap();
        (own - OFFSET_NS) / (1.0 + DRIFT)
    };
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .map(|line: Value| (process(&line, "start"), process(&line, "end")))
        .collect()
}

#[test]
fn kernels_in_the_journal_are_where_the_device_says_they_were() {
    let _quiet = alone();
    let prover = Prover::emulated(
        "synthesis=20ms,prepare=5ms,kernels=15ms,finish=5ms,jitter=20%,seed=3,copy=2ms,\
         offset=3s,drift=50ppm",
    );
    let mut host = prover.run(scheduler("interlock"));
    host.submit("p0", 10);
    host.submit("p1", 10);
    prover.wait_for_proofs(2);
    let account = account(&prover);
    let journal = prover.finish(&mut host);
    let kernels = journal.spans("kernel_started", "kernel_ended");
    assert_eq!(account.len(), 20);
    assert_eq!(kernels.len(), 20);
    for (own, told) in account.iter().zip(&kernels) {
        let off = (own.0 - told.0 as f64)
            .abs()
            .max((own.1 - told.1 as f64).abs());
        assert!(off <= CLOSE_NS, "the journal is {off} ns off");
    }
    // The device's ring never goes back, and its samples say how good they are.
    let samples = journal.of("clock_map");
    assert!(samples.len() >= 20);
    for sample in &samples {
        let own: f64 = sample.str("device_ns").parse().unwrap();
        let t = (own - OFFSET_NS) / (1.0 + DRIFT);
        let error = sample.number("error_ns") as f64 + 2.0;
        assert!((t - sample.t as f64).abs() <= error, "{}", sample.body);
    }
    let copies = journal.spans("copy_started", "copy_ended");
    assert_eq!(copies.len(), 20);
    assert!(copies
        .iter()
        .zip(&kernels)
        .all(|(copy, kernel)| copy.1 <= kernel.0));
}

#[test]
fn injected_gaps_of_every_size_are_found() {
    let _quiet = alone();
    for gap_ms in [1, 2, 5, 12, 50] {
        let prover = Prover::emulated(&format!(
            "synthesis=5ms,prepare=1ms,kernels=20ms,finish=1ms,gap={gap_ms}ms,offset=3s,drift=50ppm"
        ));
        let mut host = prover.run(scheduler("interlock"));
        host.submit("p0", 4);
        prover.wait_for_proofs(1);
        let account = account(&prover);
        let journal = prover.finish(&mut host);
        let gaps = journal.spans("wait_started", "wait_ended");
        let own: Vec<_> = account
            .chunks(2)
            .map(|halves| (halves[0].1, halves[1].0))
            .collect();
        assert_eq!((gaps.len(), own.len()), (4, 4), "gap of {gap_ms} ms");
        for (own, told) in own.iter().zip(&gaps) {
            let off = (own.0 - told.0 as f64)
                .abs()
                .max((own.1 - told.1 as f64).abs());
            assert!(off <= CLOSE_NS, "gap of {gap_ms} ms: {off} ns off");
            assert!(told.1 - told.0 >= gap_ms * 1_000_000 - 1_000, "{told:?}");
        }
        assert!(journal
            .of("wait_started")
            .iter()
            .all(|line| line.str("wait") == "host"));
    }
}
