//! A new scheduler is taken when nothing is here, and costs no params.

use serde_json::json;

use crate::support::{among_others, scheduler, Host, Prover};

const SPEC: &str = "synthesis=20ms,prepare=5ms,kernels=10ms,finish=5ms,load=100ms";

#[test]
fn a_scheduler_is_refused_under_load_and_taken_when_quiescent_without_loading_params_again() {
    let _quiet = among_others();
    let prover = Prover::emulated(SPEC);
    let mut host = prover.run(scheduler("per-partition"));
    host.submit("p0", 3);
    let run = |run: &str, preset: &str| json!({ "run": run, "scheduler": scheduler(preset), "emulate": null });
    host.refused("not_quiescent", "run", run("r2", "interlock"));
    prover.wait_for_proofs(1);
    prover.wait_until("it is empty", |_| {
        prover.connect().ask("state", json!({}))["value"]["proofs"] == json!([])
    });
    host.ok("run", run("r2", "interlock"));
    host.submit("p1", 3);
    prover.wait_for_proofs(2);
    host.ok("run", run("r3", "per-partition"));
    host.submit("p2", 3);
    prover.wait_for_proofs(3);
    let journal = prover.finish(&mut host);
    journal.assert_whole();
    assert_eq!(
        journal.one("configure_refused").str("code"),
        "not_quiescent"
    );
    assert_eq!(
        journal.of("params_load_started").len(),
        1,
        "params are loaded once"
    );
    assert!(
        journal.one("params_load_ended").t - journal.one("params_load_started").t >= 100_000_000
    );
    let runs: Vec<_> = journal
        .of("run_started")
        .iter()
        .map(|l| l.str("run"))
        .collect();
    assert_eq!(runs, ["r1", "r2", "r3"]);
    let ended: Vec<_> = journal
        .of("run_ended")
        .iter()
        .map(|l| l.str("reason"))
        .collect();
    assert_eq!(ended, ["configured", "configured", "drained"]);
    // The second worker worked in the second run only.
    let workers = |proof: &str| {
        let of = journal
            .of("picked_up")
            .into_iter()
            .filter(|l| l.str("proof") == proof);
        of.map(|l| l.number("worker"))
            .collect::<std::collections::BTreeSet<_>>()
            .len()
    };
    assert_eq!((workers("p0"), workers("p1"), workers("p2")), (1, 2, 1));
}

#[test]
fn a_wrong_scheduler_is_refused_with_the_field_s_name() {
    let _quiet = among_others();
    let prover = Prover::emulated(SPEC);
    let mut host = prover.connect();
    let mut refused = |field: &str, value: serde_json::Value, code: &str| {
        let mut wrong = scheduler("interlock");
        wrong[field] = value;
        let ask = json!({ "run": "r1", "scheduler": wrong, "emulate": null });
        let answer = host.refused(code, "run", ask);
        assert!(
            answer["message"].as_str().unwrap().contains(field),
            "{answer}"
        );
    };
    refused("gpu_workers", 5.into(), "invalid_config");
    refused("partitions_in_flight", 0.into(), "invalid_config");
    refused("order", "random".into(), "bad_request");
    refused("turbo", true.into(), "bad_request");
    host.refused("no_run", "submit", Host::submission("p0", 1));
    let emulate = json!({
        "run": "r1", "scheduler": scheduler("interlock"), "emulate": "devices=2"
    });
    host.refused("restart_needed", "run", emulate);
    let journal = prover.finish(&mut host);
    assert!(!journal.has("run_started"));
}

#[test]
fn a_budget_too_small_for_one_partition_says_the_bytes() {
    let _quiet = among_others();
    let prover = Prover::emulated(SPEC);
    let mut tight = scheduler("interlock");
    tight["memory_budget_bytes"] = 1_000_000.into();
    let mut host = prover.run(tight);
    let mut large = Host::submission("p0", 1);
    large["circuit"] = "sha256-62500".into();
    let answer = host.refused("budget_too_small", "submit", large);
    assert!(
        answer["detail"]["needed_bytes"].as_u64().unwrap() > 1_000_000,
        "{answer}"
    );
    host.submit("p1", 2);
    prover.wait_for_proofs(1);
    prover.finish(&mut host);
}
