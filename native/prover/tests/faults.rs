//! What goes wrong with a partition goes wrong with its proof, and with nothing else.

use serde_json::json;

use crate::support::{among_others, scheduler, Prover};

#[test]
fn a_failed_partition_fails_its_proof_and_others_go_on() {
    let _quiet = among_others();
    let prover = Prover::emulated("synthesis=10ms,prepare=2ms,kernels=10ms,finish=2ms,fail=p0.1");
    let mut in_order = scheduler("interlock");
    in_order["synthesis_workers"] = 1.into();
    let mut host = prover.run(in_order);
    host.submit("p0", 6);
    host.submit("p1", 3);
    prover.wait_for_proofs(2);
    let journal = prover.finish(&mut host);
    journal.assert_whole();
    let failed = journal.one("stage_failed");
    assert_eq!(
        (failed.str("stage"), failed.str("code")),
        ("device", "device_failed")
    );
    assert_eq!((failed.str("proof"), failed.number("partition")), ("p0", 1));
    let ended = |proof: &str| {
        let of = journal
            .of("proof_ended")
            .into_iter()
            .find(|l| l.str("proof") == proof);
        of.unwrap().clone()
    };
    assert_eq!(
        (ended("p0").str("outcome"), ended("p0").str("code")),
        ("failed", "device_failed")
    );
    assert_eq!(ended("p1").str("outcome"), "valid");
    let outcomes = |proof: &str| {
        let of = journal
            .of("partition_ended")
            .into_iter()
            .filter(|l| l.str("proof") == proof);
        of.map(|l| l.str("outcome").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(outcomes("p0").len(), 6, "every partition ends");
    assert!(outcomes("p0").contains(&"cancelled".to_owned()));
    assert_eq!(outcomes("p1"), ["valid"; 3]);
    let permits = |e: &str| journal.of(e).len();
    assert_eq!(
        permits("permit_granted"),
        permits("permit_released"),
        "permits are given back"
    );
    assert_eq!(
        permits("lock_granted"),
        permits("lock_released"),
        "the lock is given back"
    );
    assert_eq!(
        permits("picked_up"),
        permits("put_down"),
        "workers are free again"
    );
}

#[test]
fn a_worker_that_panics_is_replaced_and_its_lock_is_free() {
    let _quiet = among_others();
    let prover = Prover::emulated("synthesis=5ms,prepare=2ms,kernels=10ms,finish=2ms,panic=p0.0");
    let mut host = prover.run(scheduler("per-partition"));
    host.submit("p0", 2);
    prover.wait_for_proofs(1);
    host.submit("p1", 2);
    prover.wait_for_proofs(2);
    let value = host.ok("state", json!({}));
    let workers = value["workers"].as_array().unwrap();
    let is: Vec<_> = workers.iter().map(|w| w["is"].as_str().unwrap()).collect();
    assert_eq!(is, ["dead", "free"]);
    let journal = prover.finish(&mut host);
    let dead = journal.one("worker_dead");
    assert_eq!((dead.number("worker"), dead.str("code")), (0, "panicked"));
    assert_eq!(journal.one("stage_failed").str("code"), "panicked");
    assert_eq!(
        journal.of("lock_granted").len(),
        journal.of("lock_released").len()
    );
    let p1 = journal
        .of("picked_up")
        .into_iter()
        .filter(|l| l.str("proof") == "p1");
    assert!(
        p1.into_iter().all(|l| l.number("worker") == 1),
        "a fresh worker took over"
    );
    assert_eq!(journal.of("proof_ended")[1].str("outcome"), "valid");
}

#[test]
fn three_panics_in_a_row_end_the_process_with_exit_1() {
    let _quiet = among_others();
    let mut prover = Prover::emulated("synthesis=1ms,prepare=1ms,kernels=1ms,panic=p0.0");
    let mut host = prover.run(scheduler("per-partition"));
    for attempt in 1..=3 {
        let mut again = crate::support::Host::submission("p0", 1);
        again["attempt"] = attempt.into();
        // The third panic may end the process before the third answer is written.
        let answer = host.ask_the_dying("submit", again);
        if attempt < 3 {
            assert_eq!(answer.unwrap()["ok"], true);
            prover.wait_for_proofs(attempt);
            prover.wait_until("it is empty", |_| {
                prover.connect().ok("state", json!({}))["proofs"] == json!([])
            });
        }
    }
    assert_eq!(prover.wait(), 1);
    let journal = prover.journal();
    assert_eq!(journal.of("worker_dead").len(), 3);
    assert_eq!(journal.one("run_ended").str("reason"), "failed");
    assert_eq!(
        (
            journal.one("bye").str("reason"),
            journal.one("bye").number("exit")
        ),
        ("failed", 1)
    );
    let stderr = prover.stderr();
    assert!(
        stderr
            .trim_end()
            .lines()
            .last()
            .unwrap()
            .contains("panicked"),
        "{stderr}"
    );
}

#[test]
fn a_spool_that_cannot_be_written_is_tried_again_until_it_can() {
    let _quiet = among_others();
    let mut prover = Prover::cpu();
    // Whoever read its standard error is gone, and it has something to say.
    prover.deafen();
    let spool = prover.folder.join("spool");
    // A file where the folder was: nobody, not even root, can write into it.
    std::fs::remove_dir(&spool).unwrap();
    std::fs::write(&spool, "in the way").unwrap();
    let mut host = prover.run(scheduler("interlock"));
    host.submit("p0", 1);
    prover.wait_until("p0 is proved", |journal| journal.has("partition_ended"));
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert!(
        !prover.journal().has("proof_ended"),
        "not before its bytes are durable"
    );
    host.submit("p1", 1);
    prover.wait_until("p1 is proved too", |journal| {
        journal.of("partition_ended").len() == 2
    });
    std::fs::remove_file(&spool).unwrap();
    std::fs::create_dir(&spool).unwrap();
    prover.wait_for_proofs(2);
    assert!(spool.join("p0.1.proof.json").exists());
    prover.finish(&mut host);
}

#[test]
fn a_spool_that_stays_unwritable_ends_in_exit_5_at_the_deadline() {
    let _quiet = among_others();
    let mut prover = Prover::start(&["--backend", "cpu", "--grace", "2"]);
    let spool = prover.folder.join("spool");
    std::fs::remove_dir(&spool).unwrap();
    std::fs::write(&spool, "in the way").unwrap();
    let mut host = prover.run(scheduler("interlock"));
    host.submit("p0", 1);
    prover.wait_until("p0 is proved", |journal| journal.has("partition_ended"));
    host.ok("drain", json!({}));
    assert_eq!(prover.wait(), 5);
    let journal = prover.journal();
    let ended = journal.one("proof_ended");
    assert_eq!(
        (ended.str("outcome"), ended.str("code")),
        ("failed", "spool_failed")
    );
    assert!(prover.stderr().contains("the spool cannot be written"));
}
