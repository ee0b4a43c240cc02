//! Real disks that fill up: a small tmpfs of our own, and a limit on the file's size (which no permission lifts).
//!
//! One test: both change what the whole process sees.

#![allow(clippy::unwrap_used)] // The lint's exception for tests does not reach their helpers.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use interlock_timeline::*;

fn start(path: PathBuf) -> Timeline {
    let hello = Hello {
        process: "0".into(),
        version: "0".into(),
        backend: Backend::Cpu,
        devices: vec![],
        grace_ns: 0,
    };
    Timeline::start(Options::new(path, hello)).unwrap()
}

fn wait_until(what: &str, done: impl Fn() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < Duration::from_secs(30), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Emits while `fill` holds, then after `mend`; checks the file at the end.
fn through(path: &Path, fill: impl FnOnce(), mend: impl FnOnce()) {
    let timeline = start(path.to_owned());
    let proof = timeline.proof("p1").unwrap();
    let mut emitter = timeline.emitter("w0").unwrap();
    let mut emit = |partition| {
        emitter.emit(Event::queued(Partition {
            proof,
            attempt: 1,
            partition,
        }))
    };
    timeline.sync().unwrap();
    fill();
    (0..20_000).for_each(|n| drop(emit(n).to_string()));
    wait_until("the fault is seen", || timeline.status().failing.is_some());
    assert_eq!(
        timeline.status().failing.unwrap().reason,
        WriteFault::DiskFull
    );
    assert_eq!(timeline.sync().unwrap_err().kind(), ErrorKind::Failing);
    let text = std::fs::read_to_string(path).unwrap();
    assert!(
        text.ends_with('\n')
            && text
                .lines()
                .all(|l| serde_json::from_str::<serde_json::Value>(l).is_ok())
    );
    (20_000..30_000).for_each(|n| drop(emit(n).to_string()));
    mend();
    wait_until("it works again", || timeline.status().failing.is_none());
    timeline.sync().unwrap();
    timeline.stop(Bye::Stopped, 0).unwrap();

    let text = std::fs::read_to_string(path).unwrap();
    let lines: Vec<serde_json::Value> = text
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    let events: Vec<_> = lines.iter().filter(|l| l["seq"].is_number()).collect();
    assert!(events
        .iter()
        .enumerate()
        .all(|(n, l)| l["seq"].as_u64() == Some(n as u64)));
    assert_eq!(
        events.iter().filter(|l| l["e"] == "queued").count(),
        30_000,
        "none lost, none doubled"
    );
    let failed = lines.iter().position(|l| l["e"] == "write_failed").unwrap();
    assert!(
        lines[..failed]
            .iter()
            .filter(|l| l["e"] == "queued")
            .count()
            < 20_000
    );
}

fn limit_file_size(bytes: u64) {
    let limit = libc::rlimit {
        rlim_cur: bytes,
        rlim_max: libc::RLIM_INFINITY,
    };
    // SAFETY: `limit` is valid; the signal of a write beyond it is ignored, so that the write fails instead.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        assert_eq!(libc::setrlimit(libc::RLIMIT_FSIZE, &limit), 0);
    }
}

/// Mounts or remounts a tmpfs; in a mount namespace of this thread and its children alone.
fn mount(folder: &Path, flags: libc::c_ulong, size: &str) -> bool {
    let text = |s: &str| std::ffi::CString::new(s).unwrap();
    let (at, kind, size) = (
        text(&folder.to_string_lossy()),
        text("tmpfs"),
        text(&format!("size={size}")),
    );
    // SAFETY: all pointers are to strings that outlive the call.
    unsafe {
        libc::mount(
            kind.as_ptr(),
            at.as_ptr(),
            kind.as_ptr(),
            flags,
            size.as_ptr().cast(),
        ) == 0
    }
}

fn own_namespace() -> bool {
    let root = std::ffi::CString::new("/").unwrap();
    // SAFETY: no pointers but `root`, which outlives the call; null is allowed where nothing is meant.
    unsafe {
        libc::unshare(libc::CLONE_NEWNS) == 0
            && libc::mount(
                std::ptr::null(),
                root.as_ptr(),
                std::ptr::null(),
                libc::MS_REC | libc::MS_PRIVATE,
                std::ptr::null(),
            ) == 0
    }
}

#[test]
fn the_disk_fills_up_and_is_cleared() {
    let folder =
        PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("full-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    through(
        &folder.join("limited.ndjson"),
        || limit_file_size(100_003),
        || limit_file_size(libc::RLIM_INFINITY),
    );

    let small = folder.join("tmpfs");
    std::fs::create_dir_all(&small).unwrap();
    if !own_namespace() || !mount(&small, 0, "256k") {
        eprintln!("SKIPPED tmpfs: this process may not mount");
        return;
    }
    through(
        &small.join("journal.ndjson"),
        || (),
        || assert!(mount(&small, libc::MS_REMOUNT, "64m")),
    );
}
