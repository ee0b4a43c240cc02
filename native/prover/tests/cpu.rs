//! Real proofs on the CPU.

use sha2::{Digest, Sha256};

use crate::support::{among_others, binary, params, scheduler, Host, Prover};

#[test]
fn proofs_are_made_verified_and_in_the_spool_before_they_count() {
    let _quiet = among_others();
    let prover = Prover::cpu();
    let mut host = prover.run(scheduler("interlock"));
    host.submit("p0", 3);
    let mut other = Host::submission("p1", 1);
    other["circuit"] = "sha256-30000".into();
    host.ok("submit", other);
    let journal = prover.wait_for_proofs(2);
    for ended in journal.of("proof_ended") {
        assert_eq!(ended.str("outcome"), "valid", "{}", ended.body);
        let path = prover.folder.join("spool").join(ended.str("file"));
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(ended.number("bytes"), bytes.len() as u64);
        let sha256: String = Sha256::digest(&bytes)
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect();
        assert_eq!(ended.str("sha256"), sha256);
        let verify = |path: &std::path::Path| {
            let output = binary()
                .args(["verify", "--params"])
                .arg(params())
                .arg(path)
                .output();
            output.unwrap().status.code()
        };
        assert_eq!(verify(&path), Some(0));
        // One digit of the proof changed.
        let text = String::from_utf8(bytes).unwrap();
        let at = text.rfind("\"proof\":\"").unwrap() + 60;
        let digit = if &text[at..=at] == "0" { "1" } else { "0" };
        let wrong = prover.folder.join("wrong.json");
        std::fs::write(&wrong, format!("{}{digit}{}", &text[..at], &text[at + 1..])).unwrap();
        assert_eq!(verify(&wrong), Some(4));
    }
    let journal = prover.finish(&mut host);
    journal.assert_whole();
    for (part, lines) in journal.partitions() {
        let kernels: Vec<_> = lines
            .iter()
            .filter(|l| l.e == "kernel_started")
            .map(|l| l.str("kernel"))
            .collect();
        assert_eq!(
            kernels,
            ["ntt", "h_msm", "l_msm", "a_msm", "b1_msm"],
            "{part:?}"
        );
    }
    assert!(journal
        .0
        .iter()
        .any(|l| l.e == "state" && l.number("peak_rss_bytes") > 1_000_000));
}

#[test]
fn bad_params_fail_the_proof_with_their_code_and_the_prover_goes_on() {
    let _quiet = among_others();
    let folder = std::env::temp_dir().join(format!("interlock-params-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("squarings-900.params"), [0; 100]).unwrap();
    let prover = Prover::cpu_with_params(&folder);
    let mut host = prover.run(scheduler("interlock"));
    let mut bad = Host::submission("p0", 2);
    bad["circuit"] = "squarings-900".into();
    host.ok("submit", bad);
    let journal = prover.wait_for_proofs(1);
    let ended = journal.one("proof_ended");
    assert_eq!(ended.str("outcome"), "failed");
    assert!(ended.str("code").starts_with("params_"), "{}", ended.body);
    host.submit("p1", 1);
    let journal = prover.wait_for_proofs(2);
    assert_eq!(journal.of("proof_ended")[1].str("outcome"), "valid");
    assert!(journal.has("params_generate_ended"));
    prover.finish(&mut host);
    std::fs::remove_dir_all(&folder).unwrap();
}
