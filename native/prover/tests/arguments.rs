//! The command line: what is refused, with which exit code, in which words.

use crate::support::{among_others, binary, uuid};

fn run(arguments: &[&str]) -> (i32, String) {
    let output = binary().args(arguments).output().unwrap();
    (
        output.status.code().unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

#[test]
fn a_bad_argument_is_named_and_exits_2() {
    for (arguments, names) in [
        (vec!["serve", "--folder", "/f"], "--process"),
        (vec!["serve", "--process", "nobody"], "--process"),
        (vec!["verify", "--params"], "--params"),
        (vec!["fly"], "fly"),
        (vec![], "command"),
    ] {
        let (code, stderr) = run(&arguments);
        assert_eq!(code, 2, "{stderr}");
        assert!(stderr.contains(names), "{stderr}");
    }
}

#[test]
fn cuda_and_bad_folders_are_refused_with_exit_3() {
    let process = uuid(0);
    let serve = |folder: &str, backend: &str| {
        let arguments = [
            "serve",
            "--process",
            &process,
            "--params",
            "/p",
            "--folder",
            folder,
            "--backend",
            backend,
        ];
        run(&arguments)
    };
    let (code, stderr) = serve("/f", "cuda");
    assert_eq!(code, 3);
    assert!(stderr.contains("backend_unavailable"), "{stderr}");
    let (code, stderr) = serve("/proc/interlock", "cpu");
    assert_eq!(code, 3);
    assert!(stderr.contains("/proc/interlock"), "{stderr}");
    let long = format!("{}/{}", std::env::temp_dir().display(), "x".repeat(120));
    let (code, stderr) = serve(&long, "cpu");
    assert_eq!(code, 3);
    assert!(stderr.contains("--socket"), "{stderr}");
    std::fs::remove_dir_all(&long).unwrap();
}

#[test]
fn a_folder_with_a_journal_is_another_process_s() {
    let folder = std::env::temp_dir().join(format!("interlock-used-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("journal.ndjson"), "").unwrap();
    let process = uuid(0);
    let (code, stderr) = run(&[
        "serve",
        "--process",
        &process,
        "--params",
        "/p",
        "--folder",
        folder.to_str().unwrap(),
        "--backend",
        "cpu",
    ]);
    assert_eq!(code, 3);
    assert!(stderr.contains("journal.ndjson"), "{stderr}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn params_prints_the_digest_and_verify_refuses_what_is_no_proof() {
    let _quiet = among_others();
    let params = crate::support::params().to_str().unwrap();
    let output = binary()
        .args(["params", "--params", params, "--circuit", "squarings-500"])
        .output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim().len(), 64);
    let file = std::env::temp_dir().join(format!("interlock-no-proof-{}", std::process::id()));
    for text in ["", "{}", "[[[[", "{\"format\":\"interlock-proof-1\"}"] {
        std::fs::write(&file, text).unwrap();
        let (code, stderr) = run(&["verify", "--params", params, file.to_str().unwrap()]);
        assert_eq!(code, 4, "{text}: {stderr}");
    }
    std::fs::remove_file(&file).unwrap();
    let (code, _) = run(&["verify", "--params", params, file.to_str().unwrap()]);
    assert_eq!(code, 3);
}

#[test]
fn version_is_said() {
    let output = binary().arg("version").output().unwrap();
    assert!(String::from_utf8(output.stdout)
        .unwrap()
        .starts_with("interlock-prover "));
}
