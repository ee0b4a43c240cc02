//! The command socket hears only us, one line at a time, and says exactly what is wrong.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::support::{among_others, scheduler, Host, Prover};

const SPEC: &str = "synthesis=5ms,prepare=1ms,kernels=5ms,finish=1ms";

#[test]
fn folder_socket_and_journal_are_for_our_user_alone() {
    let _quiet = among_others();
    let prover = Prover::emulated(SPEC);
    let mode = |name: &str| {
        std::fs::metadata(prover.folder.join(name))
            .unwrap()
            .permissions()
            .mode()
            & 0o777
    };
    assert_eq!((mode(""), mode("spool")), (0o700, 0o700));
    assert_eq!(
        (mode("command.sock"), mode("journal.ndjson")),
        (0o600, 0o600)
    );
    assert_eq!(mode("device-account.ndjson"), 0o600);
}

#[test]
fn nonsense_is_answered_and_changes_nothing() {
    let _quiet = among_others();
    let prover = Prover::emulated(SPEC);
    let mut host = prover.run(scheduler("interlock"));
    for line in [
        "\n",
        "nonsense\n",
        "[1]\n",
        "{\"cmd\":\"ping\"}\n",
        "\u{0}\n",
        "{\"id\":1}\n",
    ] {
        let answer = host.raw(line.as_bytes()).unwrap();
        assert_eq!(answer["code"], "bad_request", "{line:?}: {answer}");
    }
    assert_eq!(host.raw(b"\xff\xfe\n").unwrap()["code"], "bad_request");
    host.refused("bad_request", "fly", json!({}));
    host.refused("bad_request", "ping", json!({ "loud": true }));
    for (field, value, code) in [
        ("proof", json!("../p0"), "invalid_proof"),
        ("proof", json!("/etc/passwd"), "invalid_proof"),
        ("circuit", json!("porep-32"), "invalid_proof"),
        ("attempt", json!(0), "invalid_proof"),
        ("partitions", json!(0), "invalid_proof"),
        ("partitions", json!(1_000_000), "invalid_proof"),
        ("priority", json!(5), "invalid_proof"),
        ("seed", json!("00"), "bad_request"),
        ("submitted_wall_ns", json!(5), "bad_request"),
    ] {
        let mut wrong = Host::submission("p0", 1);
        wrong[field] = value;
        host.refused(code, "submit", wrong);
    }
    let journal = prover.finish(&mut host);
    assert!(!journal.has("proof_accepted"));
}

#[test]
fn a_line_longer_than_a_mebibyte_ends_its_connection_and_no_other() {
    let _quiet = among_others();
    let prover = Prover::emulated(SPEC);
    let mut long = prover.connect();
    let answer = long.raw(&vec![b'x'; (1 << 20) + 1]).unwrap();
    assert_eq!(answer["code"], "bad_request");
    let mut host = prover.connect();
    let before = host.ok("ping", json!({}))["t"].as_u64().unwrap();
    assert!(host.ok("ping", json!({}))["t"].as_u64().unwrap() > before);
    prover.finish(&mut host);
}

#[test]
fn state_says_what_the_journal_says() {
    let _quiet = among_others();
    let prover = Prover::emulated("synthesis=3600s");
    let mut host = prover.run(scheduler("interlock"));
    host.submit("p0", 3);
    prover.wait_until("it is in synthesis", |j| {
        j.of("synthesis_started").len() == 3
    });
    let state = host.ok("state", json!({}));
    assert_eq!(
        (&state["phase"], &state["run"]),
        (&json!("ready"), &json!("r1"))
    );
    assert_eq!(state["permits"]["used"], 3);
    assert_eq!(state["workers"].as_array().unwrap().len(), 2);
    assert_eq!(state["synthesisers"].as_array().unwrap().len(), 8);
    assert_eq!(
        state["proofs"][0],
        json!({"proof": "p0", "attempt": 1, "partitions": 3, "done": 0})
    );
    assert_eq!(state["lock"][0], json!({"device": "emu0", "holder": null}));
    // A synthesis that waits shows progress all the same.
    let progress = |state: &serde_json::Value| {
        let all = state["synthesisers"].as_array().unwrap();
        all.iter()
            .map(|s| s["progress"].as_u64().unwrap())
            .sum::<u64>()
    };
    prover.wait_until("progress is shown", |_| {
        progress(&prover.connect().ok("state", json!({}))) > progress(&state)
    });
    host.ok("stop", json!({}));
}
