//! How a process ends: drained, adopted, stopped, or past its deadline. None outlives it.

use std::time::Instant;

use serde_json::json;

use crate::support::{among_others, scheduler, Journal, Prover, PATIENCE};

const SPEC: &str = "synthesis=100ms,prepare=5ms,kernels=50ms,finish=5ms";

/// One proof in work and one that waits for its place.
fn busy(prover: &Prover) -> crate::support::Host {
    let mut one = scheduler("interlock");
    one["proofs_in_flight"] = 1.into();
    let mut host = prover.run(one);
    host.submit("p0", 4);
    host.submit("p1", 2);
    prover.wait_until("p0 has started", |journal| journal.has("synthesis_started"));
    host
}

fn assert_drained(journal: &Journal, why: &str, run_end: &str, bye: &str) {
    journal.assert_whole();
    assert_eq!(journal.one("drain_started").str("reason"), why);
    let ended = journal.one("proof_ended");
    assert_eq!((ended.str("proof"), ended.str("outcome")), ("p0", "valid"));
    let returned = journal.one("proof_returned");
    assert_eq!(
        (returned.str("proof"), returned.str("reason")),
        ("p1", "drain")
    );
    assert_eq!(journal.one("run_ended").str("reason"), run_end);
    assert_eq!(journal.one("bye").str("reason"), bye);
}

#[test]
fn a_drain_finishes_what_has_started_and_returns_the_rest() {
    let _quiet = among_others();
    let mut prover = Prover::emulated(SPEC);
    let mut host = busy(&prover);
    host.ok("drain", json!({}));
    host.refused(
        "draining",
        "submit",
        crate::support::Host::submission("p2", 1),
    );
    assert_eq!(prover.wait(), 0);
    assert_drained(&prover.journal(), "command", "drained", "drained");
    assert!(!prover.folder.join("command.sock").exists());
}

#[test]
fn a_proof_that_was_returned_may_come_again_and_one_that_ended_may_not() {
    let _quiet = among_others();
    let prover = Prover::emulated(SPEC);
    let mut host = busy(&prover);
    assert_eq!(
        host.ok("withdraw", json!({ "proof": "p1" }))["state"],
        "returned"
    );
    assert_eq!(
        host.ok("withdraw", json!({ "proof": "p9" }))["state"],
        "unknown"
    );
    host.submit("p1", 2);
    host.refused(
        "duplicate",
        "submit",
        crate::support::Host::submission("p0", 4),
    );
    prover.wait_for_proofs(2);
    host.refused(
        "duplicate",
        "submit",
        crate::support::Host::submission("p0", 4),
    );
    let journal = prover.finish(&mut host);
    assert_eq!(journal.one("proof_returned").str("reason"), "withdrawn");
}

#[test]
fn a_started_proof_that_is_withdrawn_comes_back_when_its_running_stages_end() {
    let _quiet = among_others();
    let prover = Prover::emulated(SPEC);
    let mut host = busy(&prover);
    assert_eq!(
        host.ok("withdraw", json!({ "proof": "p0" }))["state"],
        "stopping"
    );
    let journal = prover.wait_for_proofs(1);
    let returned = journal.one("proof_returned");
    assert_eq!(
        (returned.str("proof"), returned.str("reason")),
        ("p0", "withdrawn")
    );
    assert_eq!(journal.one("proof_ended").str("proof"), "p1");
    prover.finish(&mut host);
}

#[test]
fn when_the_host_dies_the_prover_finishes_its_proof_and_ends() {
    let _quiet = among_others();
    let mut prover = Prover::emulated(SPEC);
    drop(busy(&prover));
    prover.close_stdin();
    assert_eq!(prover.wait(), 0);
    let journal = prover.journal();
    assert!(journal.one("host_lost").t <= journal.one("drain_started").t);
    let (drain, hello) = (journal.one("drain_started"), &journal.0[0]);
    assert!(drain.number("deadline") - drain.t <= hello.number("grace_ns"));
    assert_drained(&journal, "lifeline", "lifeline", "lifeline");
}

#[test]
fn a_host_that_attaches_adopts_the_prover_and_becomes_its_lifeline() {
    let _quiet = among_others();
    let mut prover = Prover::emulated(SPEC);
    drop(busy(&prover));
    prover.close_stdin();
    prover.wait_until("it drains", |journal| journal.has("drain_started"));
    let mut heir = prover.connect();
    let value = heir.ok("attach", json!({}));
    assert_eq!(value["phase"], "ready");
    assert_eq!(value["run"], "r1");
    assert_eq!(value["proofs"][0]["proof"], "p0");
    assert_eq!(value["pid"], prover.pid());
    heir.submit("p2", 1);
    let journal = prover.wait_for_proofs(2);
    assert_eq!(journal.one("drain_cancelled").str("by"), "adopted");
    drop(heir);
    assert_eq!(prover.wait(), 0);
    let journal = prover.journal();
    assert_eq!(journal.of("host_lost").len(), 2);
    assert_eq!(journal.of("params_load_started").len(), 1);
    assert_eq!(journal.one("bye").str("reason"), "lifeline");
}

#[test]
fn a_signal_drains() {
    let _quiet = among_others();
    for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
        let mut prover = Prover::emulated(SPEC);
        let _host = busy(&prover);
        prover.signal(signal);
        assert_eq!(prover.wait(), 0);
        assert_drained(&prover.journal(), "signal", "drained", "drained");
    }
}

#[test]
fn a_second_signal_stops_at_the_end_of_the_running_kernel() {
    let _quiet = among_others();
    let mut prover = Prover::emulated("synthesis=1ms,prepare=1ms,kernels=300ms,finish=3600s");
    let mut host = prover.run(scheduler("interlock"));
    host.submit("p0", 4);
    prover.wait_until("the device works", |journal| journal.has("device_started"));
    prover.signal(libc::SIGTERM);
    prover.wait_until("it drains", |journal| journal.has("drain_started"));
    prover.signal(libc::SIGTERM);
    assert_eq!(prover.wait(), 0);
    let journal = prover.journal();
    journal.assert_whole();
    assert_eq!(journal.one("proof_returned").str("reason"), "stopped");
    assert_eq!(journal.one("run_ended").str("reason"), "stopped");
    assert_eq!(journal.one("bye").str("reason"), "stopped");
    let kernels = journal.of("kernel_started").len();
    assert_eq!(
        journal.of("kernel_ended").len(),
        kernels,
        "a running kernel ends"
    );
}

#[test]
fn stop_does_not_wait_for_an_hour_of_synthesis() {
    let _quiet = among_others();
    let mut prover = Prover::emulated("synthesis=3600s");
    let mut host = prover.run(scheduler("interlock"));
    host.submit("p0", 4);
    prover.wait_until("p0 has started", |journal| journal.has("synthesis_started"));
    let asked = Instant::now();
    host.ok("stop", json!({}));
    assert_eq!(prover.wait(), 0);
    assert!(asked.elapsed() < PATIENCE / 2);
    assert_eq!(
        prover.journal().one("proof_returned").str("reason"),
        "stopped"
    );
}

#[test]
fn past_the_deadline_it_exits_5_and_says_what_was_lost() {
    let _quiet = among_others();
    let mut prover = Prover::start(&[
        "--backend",
        "emulated",
        "--emulate",
        "synthesis=3600s",
        "--grace",
        "1",
    ]);
    let mut host = prover.run(scheduler("interlock"));
    host.submit("p0", 2);
    prover.wait_until("p0 has started", |journal| journal.has("synthesis_started"));
    prover.close_stdin();
    assert_eq!(prover.wait(), 5);
    let journal = prover.journal();
    journal.assert_whole();
    assert!(journal.one("bye").t <= journal.one("drain_started").number("deadline"));
    assert_eq!(journal.one("proof_returned").str("proof"), "p0");
    assert_eq!(journal.one("run_ended").str("reason"), "deadline");
    assert_eq!(
        (
            journal.one("bye").str("reason"),
            journal.one("bye").number("exit")
        ),
        ("deadline", 5)
    );
    assert!(prover.stderr().contains("deadline"));
}

#[test]
fn a_device_that_hangs_does_not_keep_the_process_alive() {
    let _quiet = among_others();
    let mut prover = Prover::start(&[
        "--backend",
        "emulated",
        "--emulate",
        "synthesis=1ms,kernels=1ms,hang=p0.0",
        "--grace",
        "1",
    ]);
    let mut host = prover.run(scheduler("per-partition"));
    host.submit("p0", 1);
    prover.wait_until("the device hangs", |journal| journal.has("device_started"));
    // Its counter stands still: the host can tell.
    let progress = |host: &mut crate::support::Host| {
        host.ok("state", json!({}))["workers"][0]["progress"]
            .as_u64()
            .unwrap()
    };
    let before = progress(&mut host);
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert_eq!(progress(&mut host), before);
    host.ok("stop", json!({}));
    assert_eq!(prover.wait(), 5);
    assert_eq!(prover.journal().one("bye").str("reason"), "deadline");
}

#[test]
fn a_killed_prover_leaves_a_journal_that_can_be_read() {
    let _quiet = among_others();
    let mut prover = Prover::emulated(SPEC);
    let _host = busy(&prover);
    prover.signal(libc::SIGKILL);
    prover.wait();
    let journal = prover.journal();
    assert!(journal.has("synthesis_started") && !journal.has("bye"));
}
