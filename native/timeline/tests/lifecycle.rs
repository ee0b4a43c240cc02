//! A timeline with its thread, on a real file.

#![allow(clippy::unwrap_used)] // The lint's exception for tests does not reach their helpers.

use std::path::PathBuf;
use std::sync::Arc;

use interlock_timeline::*;

fn folder(name: &str) -> PathBuf {
    let folder =
        PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn options(path: PathBuf) -> Options {
    let device = Device {
        device: "cpu0".into(),
        kind: Backend::Cpu,
        name: "CPU".into(),
        workers_max: 2,
        clock: DeviceClock::Host,
    };
    let hello = Hello {
        process: "0b6b3a52-5f0e-4c39-8f0a-6f4f7f3f7a10".into(),
        version: "0.1.0".into(),
        backend: Backend::Cpu,
        devices: vec![device],
        grace_ns: 1,
    };
    Options::new(path, hello)
}

fn lines(path: &PathBuf) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn a_life() {
    use std::os::unix::fs::PermissionsExt;
    let path = folder("life").join("journal.ndjson");
    let timeline = Arc::new(Timeline::start(options(path.clone())).unwrap());
    assert_eq!(
        std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert_eq!(
        timeline.device("cpu0").unwrap(),
        timeline.device("cpu0").unwrap()
    );
    let proof = timeline.proof("p1").unwrap();
    assert_eq!(&*timeline.proof_name(proof), "p1");
    let threads: Vec<_> = (0..4)
        .map(|n| {
            let timeline = timeline.clone();
            std::thread::spawn(move || {
                let mut emitter = timeline.emitter(&format!("w{n}")).unwrap();
                for partition in 0..10_000 {
                    emitter.emit(Event::queued(Partition {
                        proof,
                        attempt: n + 1,
                        partition,
                    }));
                }
                // Written when sync returns.
                timeline.sync().unwrap();
                timeline.status().last_seq
            })
        })
        .collect();
    let synced: Vec<i64> = threads.into_iter().map(|t| t.join().unwrap()).collect();
    assert!(synced.iter().all(|seq| *seq >= 10_000));
    timeline.notify(Notice::HostLost);
    timeline.sync().unwrap();
    assert!(lines(&path).iter().any(|l| l["e"] == "host_lost"));
    let body: serde_json::Value = serde_json::from_str(&timeline.state_body()).unwrap();
    assert_eq!(
        (body["phase"].as_str(), body["dropped"].as_u64()),
        (Some("starting"), Some(0))
    );
    timeline.stop(Bye::Drained, 0).unwrap();
    timeline.stop(Bye::Failed, 1).unwrap();
    assert_eq!(timeline.sync().unwrap_err().kind(), ErrorKind::Stopped);

    let lines = lines(&path);
    let events: Vec<_> = lines.iter().filter(|l| l["seq"].is_number()).collect();
    assert!(events
        .iter()
        .enumerate()
        .all(|(n, l)| l["seq"].as_u64() == Some(n as u64)));
    assert_eq!(events.iter().filter(|l| l["e"] == "queued").count(), 40_000);
    for attempt in 1..=4 {
        let of_ring: Vec<_> = events
            .iter()
            .filter(|l| l["attempt"].as_u64() == Some(attempt))
            .collect();
        assert!(of_ring
            .windows(2)
            .all(|w| w[0]["t"].as_u64() <= w[1]["t"].as_u64()));
    }
    assert_eq!(
        (&events[0]["e"], &events.last().unwrap()["e"]),
        (&"hello".into(), &"bye".into())
    );
    assert_eq!(events.last().unwrap()["reason"], "drained");
}

#[test]
fn dropped_without_a_stop_it_writes_what_there_is() {
    let path = folder("dropped").join("journal.ndjson");
    let timeline = Timeline::start(options(path.clone())).unwrap();
    let mut emitter = timeline.emitter("w0").unwrap();
    let proof = timeline.proof("p1").unwrap();
    emitter.emit(Event::queued(Partition {
        proof,
        attempt: 1,
        partition: 0,
    }));
    drop(timeline);
    let lines = lines(&path);
    assert!(lines.iter().any(|l| l["e"] == "queued") && lines.iter().all(|l| l["e"] != "bye"));
    // Nobody listens any more, and nothing breaks.
    (0..200_000).for_each(|partition| {
        emitter.emit(Event::queued(Partition {
            proof,
            attempt: 1,
            partition,
        }));
    });
}

#[test]
fn a_folder_that_cannot_be_written_is_refused_at_the_start() {
    let there = folder("refused").join("journal.ndjson");
    std::fs::write(&there, "another process's").unwrap();
    let missing = folder("missing").join("no/journal.ndjson");
    for path in [there.clone(), missing, "/proc/journal.ndjson".into()] {
        let error = Timeline::start(options(path.clone())).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Unwritable);
        assert!(
            error.to_string().contains(&*path.to_string_lossy()),
            "{error}"
        );
    }
    assert_eq!(std::fs::read_to_string(there).unwrap(), "another process's");
}

#[test]
fn ids_that_are_none_are_refused() {
    let timeline = Timeline::start(options(folder("ids").join("journal.ndjson"))).unwrap();
    for id in ["", "a b", "p\n1", "é", &"a".repeat(65)] {
        assert_eq!(timeline.proof(id).unwrap_err().kind(), ErrorKind::InvalidId);
        assert!(timeline.emitter(id).is_err() && timeline.device(id).is_err());
    }
    assert!(timeline.proof(&"a".repeat(64)).is_ok());
}
