//! The folder of parameters: made once, whole or not at all, and never harmed.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "test code; clippy only knows it in #[test] functions"
)]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;

use interlock_circuits::{params_for, params_path, CircuitKind, CircuitSpec, ErrorKind};
use interlock_groth16::ErrorKind as Groth16Kind;

/// A folder that goes away with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path =
            std::env::temp_dir().join(format!("interlock-circuits-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Folder(path)
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(&self.0)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn spec() -> CircuitSpec {
    CircuitSpec::new(CircuitKind::Squarings, 500).unwrap()
}

const FILES: [&str; 4] = [
    "squarings-500.lock",
    "squarings-500.params",
    "squarings-500.params.checked",
    "squarings-500.params.sha256",
];

#[test]
fn parameters_are_generated_once_and_opened_afterwards() {
    let folder = Folder::new("once");
    let heard = Mutex::new(Vec::new());
    let progress = |what: &str, part: f64| heard.lock().unwrap().push((what.to_string(), part));
    let made = params_for(&folder.0, &spec(), &progress).unwrap();
    assert_eq!(folder.names(), FILES);
    let digest = fs::read_to_string(folder.0.join(FILES[3])).unwrap();
    assert!(digest.ends_with("  squarings-500.params\n"), "{digest}");
    let heard_first = std::mem::take(&mut *heard.lock().unwrap());
    assert_eq!(heard_first.last(), Some(&("writing".to_string(), 1.0)));
    assert!(heard_first
        .iter()
        .any(|(what, part)| what == "generating" && *part == 1.0));

    let opened = params_for(&folder.0, &spec(), &progress).unwrap();
    assert_eq!(opened.digest(), made.digest());
    assert!(heard
        .lock()
        .unwrap()
        .iter()
        .all(|(what, _)| what == "checking"));
}

#[test]
fn of_two_at_once_one_generates_and_the_other_waits_for_it() {
    let folder = Folder::new("two");
    let generated = Mutex::new(0);
    let get = || {
        params_for(&folder.0, &spec(), &|what, part| {
            if what == "generating" && part == 1.0 {
                *generated.lock().unwrap() += 1;
            }
        })
        .unwrap()
    };
    let digests: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| *get().digest())).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    assert_eq!(*generated.lock().unwrap(), 1);
    assert!(digests.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn a_bad_file_is_an_error_and_is_left_as_it_is() {
    let folder = Folder::new("bad");
    fs::create_dir_all(&folder.0).unwrap();
    let path = params_path(&folder.0, &spec());
    fs::write(&path, b"bad").unwrap();
    let error = params_for(&folder.0, &spec(), &|_, _| {}).unwrap_err();
    assert_eq!(
        error.kind(),
        ErrorKind::Groth16(Groth16Kind::ParamsTruncated)
    );
    assert_eq!(fs::read(&path).unwrap(), b"bad");
    assert_eq!(folder.names(), ["squarings-500.params"]);

    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("/nowhere", &path).unwrap();
    let error = params_for(&folder.0, &spec(), &|_, _| {}).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Groth16(Groth16Kind::ParamsMissing));
    assert_eq!(folder.names(), ["squarings-500.params"]);
}

#[test]
fn another_circuits_file_and_another_setups_file_are_refused() {
    let folder = Folder::new("other");
    params_for(&folder.0, &spec(), &|_, _| {}).unwrap();
    let other = CircuitSpec::new(CircuitKind::Squarings, 501).unwrap();
    fs::copy(
        params_path(&folder.0, &spec()),
        params_path(&folder.0, &other),
    )
    .unwrap();
    let error = params_for(&folder.0, &other, &|_, _| {}).unwrap_err();
    assert_eq!(
        error.kind(),
        ErrorKind::Groth16(Groth16Kind::ParamsMismatch)
    );

    let elsewhere = Folder::new("elsewhere");
    params_for(&elsewhere.0, &spec(), &|_, _| {}).unwrap();
    fs::copy(
        params_path(&elsewhere.0, &spec()),
        params_path(&folder.0, &spec()),
    )
    .unwrap();
    let error = params_for(&folder.0, &spec(), &|_, _| {}).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ParamsAltered);
}

#[test]
fn a_folder_that_cannot_be_is_told() {
    let folder = Folder::new("file");
    fs::write(&folder.0, b"").unwrap();
    let error = params_for(&folder.0.join("in"), &spec(), &|_, _| {}).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::FolderUnusable);
    fs::remove_file(&folder.0).unwrap();
}

/// The stage at which the child of the next test stops and waits to be killed.
const STOP_AT: &str = "INTERLOCK_TEST_STOP_AT";
const FOLDER: &str = "INTERLOCK_TEST_FOLDER";

/// Not a test of its own: the process that the next test kills.
#[test]
fn child_of_the_killed_process_test() {
    let (Ok(stop_at), Ok(folder)) = (std::env::var(STOP_AT), std::env::var(FOLDER)) else {
        return;
    };
    let _ = params_for(folder.as_ref(), &spec(), &|what, part| {
        if format!("{what} {part:.1}") == stop_at {
            println!("\nstopped");
            std::thread::sleep(std::time::Duration::from_secs(600));
        }
    });
}

#[test]
fn a_killed_process_leaves_no_file_and_the_next_one_generates() {
    for stop_at in ["generating 0.3", "generating 1.0", "writing 0.0"] {
        let folder = Folder::new("killed");
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child_of_the_killed_process_test", "--nocapture"])
            .env(STOP_AT, stop_at)
            .env(FOLDER, &folder.0)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(
            lines.any(|line| line.unwrap() == "stopped"),
            "{stop_at} was never reached"
        );
        // What a process that dies between its temporary file and its link leaves.
        fs::write(folder.0.join(".squarings-500.params.partial-1"), b"half").unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!params_path(&folder.0, &spec()).exists());
        params_for(&folder.0, &spec(), &|_, _| {}).unwrap();
        assert_eq!(folder.names(), FILES);
    }
}
