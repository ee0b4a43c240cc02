//! What happens to a partition happens in the order that the format promises.

use crate::support::{among_others, scheduler, union, Journal, Prover};

const SPEC: &str = "synthesis=30ms,prepare=10ms,kernels=20ms,finish=10ms,offset=3s,drift=50ppm";

/// The events of one partition, in their order. `[…]` may come in any number.
const KERNELS: &[&str] = &[
    "permit_asked",
    "permit_granted",
    "synthesis_started",
    "synthesis_ended",
    "queued",
    "picked_up",
    "prepare_started",
    "prepare_ended",
    "lock_asked",
    "lock_granted",
    "device_started",
    "kernel_started",
    "kernel_ended",
    "device_ended",
    "lock_released",
    "finish_started",
    "finish_ended",
    "permit_released",
    "put_down",
    "partition_ended",
];
const JOB: &[&str] = &[
    "permit_asked",
    "permit_granted",
    "synthesis_started",
    "synthesis_ended",
    "queued",
    "picked_up",
    "lock_asked",
    "lock_granted",
    "prepare_started",
    "prepare_ended",
    "device_started",
    "kernel_started",
    "kernel_ended",
    "device_ended",
    "finish_started",
    "finish_ended",
    "permit_released",
    "lock_released",
    "put_down",
    "partition_ended",
];

fn proved(preset: &str, proofs: usize, partitions: u32) -> Journal {
    let prover = Prover::emulated(SPEC);
    let mut host = prover.run(scheduler(preset));
    for n in 0..proofs {
        host.submit(&format!("p{n}"), partitions);
    }
    prover.wait_for_proofs(proofs);
    let journal = prover.finish(&mut host);
    journal.assert_whole();
    journal
}

fn assert_order(journal: &Journal, expected: &[&str], partitions: usize) {
    let all = journal.partitions();
    assert_eq!(all.len(), partitions);
    for (part, lines) in all {
        let order: Vec<&str> = lines.iter().map(|line| line.e.as_str()).collect();
        assert_eq!(order, expected, "{part:?}");
    }
    for line in journal.of("partition_ended") {
        assert_eq!(line.str("outcome"), "valid");
    }
}

/// kernel ≤ lock ≤ job, and no kernel outside the lock.
fn assert_windows(journal: &Journal) {
    let jobs = journal.spans("picked_up", "put_down");
    let locks = journal.spans("lock_granted", "lock_released");
    let kernels = journal.spans("kernel_started", "kernel_ended");
    let (job, lock, kernel) = (union(&jobs), union(&locks), union(&kernels));
    assert!(
        kernel <= lock && lock <= job,
        "kernel {kernel}, lock {lock}, job {job}"
    );
    for (start, end) in &kernels {
        let inside = |(from, to): &(u64, u64)| from <= start && end <= to;
        assert!(
            locks.iter().any(inside),
            "kernel {start}-{end} is outside the lock"
        );
    }
    for pair in locks.windows(2) {
        assert!(
            pair[0].1 <= pair[1].0,
            "two workers hold the lock: {pair:?}"
        );
    }
}

#[test]
fn with_scope_kernels_the_lock_is_around_the_device_stage() {
    let _quiet = among_others();
    let journal = proved("interlock", 2, 4);
    assert_order(&journal, KERNELS, 8);
    assert_windows(&journal);
}

#[test]
fn with_scope_job_the_lock_is_around_prepare_device_and_finish() {
    let _quiet = among_others();
    let journal = proved("per-partition", 2, 3);
    assert_order(&journal, JOB, 6);
    assert_windows(&journal);
}

#[test]
fn a_batch_is_withheld_until_its_last_partition_is_synthesised() {
    let _quiet = among_others();
    let journal = proved("batch", 2, 4);
    assert_order(&journal, JOB, 8);
    for proof in ["p0", "p1"] {
        let of = |e: &str| {
            let lines = journal
                .of(e)
                .into_iter()
                .filter(|line| line.str("proof") == proof);
            lines.map(|line| line.t).collect::<Vec<_>>()
        };
        let last = of("synthesis_ended").into_iter().max().unwrap();
        assert!(
            of("queued").into_iter().all(|t| t >= last),
            "{proof} was queued too early"
        );
    }
}

#[test]
fn with_one_permit_partitions_go_one_after_the_other_and_say_what_they_waited_for() {
    let _quiet = among_others();
    let prover = Prover::emulated(SPEC);
    let mut one = scheduler("interlock");
    one["partitions_in_flight"] = 1.into();
    let mut host = prover.run(one);
    host.submit("p0", 3);
    prover.wait_for_proofs(1);
    let journal = prover.finish(&mut host);
    let held = journal.spans("permit_granted", "permit_released");
    assert!(
        held.windows(2).all(|pair| pair[0].1 <= pair[1].0),
        "{held:?}"
    );
    let waited: Vec<_> = journal
        .of("permit_granted")
        .iter()
        .map(|l| l.str("waited_for"))
        .collect();
    assert_eq!(waited, ["none", "count", "count"]);
}

#[test]
fn an_urgent_proof_overtakes_at_the_next_partition() {
    let _quiet = among_others();
    let prover = Prover::emulated("synthesis=50ms,prepare=1ms,kernels=5ms,finish=1ms");
    let mut slow = scheduler("interlock");
    slow["synthesis_workers"] = 1.into();
    let mut host = prover.run(slow);
    host.submit("p0", 6);
    let started = |n: usize| move |j: &Journal| j.of("synthesis_started").len() >= n;
    prover.wait_until("p0 is in synthesis", started(2));
    let mut urgent = crate::support::Host::submission("p1", 1);
    urgent["priority"] = 4.into();
    host.ok("submit", urgent);
    prover.wait_for_proofs(2);
    let journal = prover.finish(&mut host);
    let order: Vec<_> = journal
        .of("synthesis_started")
        .iter()
        .map(|l| l.str("proof"))
        .collect();
    let at = order.iter().position(|proof| *proof == "p1").unwrap();
    assert!((2..6).contains(&at), "p1 came at place {at}");
    let ended: Vec<_> = journal
        .of("proof_ended")
        .iter()
        .map(|l| l.str("proof"))
        .collect();
    assert_eq!(ended, ["p1", "p0"]);
}

#[test]
fn two_devices_work_side_by_side() {
    let _quiet = among_others();
    let prover = Prover::emulated("synthesis=5ms,prepare=5ms,kernels=40ms,finish=5ms,devices=2");
    let mut host = prover.run(scheduler("interlock"));
    host.submit("p0", 8);
    prover.wait_for_proofs(1);
    let journal = prover.finish(&mut host);
    assert_eq!(journal.0[0].body["devices"].as_array().unwrap().len(), 2);
    for device in ["emu0", "emu1"] {
        let on = |l: &&&crate::support::Line| l.str("device") == device;
        assert!(
            journal.of("kernel_started").iter().filter(on).count() >= 2,
            "{device} idles"
        );
    }
    let kernels = journal.spans("kernel_started", "kernel_ended");
    let sum: u64 = kernels.iter().map(|(start, end)| end - start).sum();
    assert!(union(&kernels) < sum, "the devices never overlapped");
}
