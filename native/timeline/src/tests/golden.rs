//! Writes the golden files and compares them with the committed ones. `UPDATE_GOLDEN=1` rewrites those.

use std::path::PathBuf;

use super::scene::*;
use super::*;

fn compare(name: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../test/fixtures/journal")
        .join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    if let Some((ours, theirs)) = text.lines().zip(committed.lines()).find(|(a, b)| a != b) {
        panic!("{name} differs from the committed file; UPDATE_GOLDEN=1 rewrites it\n now {ours}\n was {theirs}");
    }
    assert!(
        text == committed,
        "{name} has another length than the committed file; UPDATE_GOLDEN=1 rewrites it"
    );
}

fn golden() -> String {
    let mut s = Scene::new();
    let proof = s.bench.proof("p1");
    let far_proof = s.bench.proof(&"Z9._-".repeat(13)[..64]);
    let p = Partition {
        proof,
        attempt: 1,
        partition: 0,
    };
    let far = Partition {
        proof: far_proof,
        attempt: u32::MAX,
        partition: u32::MAX,
    };
    let w = Worker {
        device: DeviceId(0),
        worker: 0,
    };
    let far_worker = Worker {
        device: DeviceId(2),
        worker: u16::MAX,
    };

    // Before anybody takes snapshots.
    s.bench.round();
    s.say(Notice::Ready);
    s.say(Notice::HostAttached);
    s.say(Notice::ParamsLoadStarted {
        circuit: "squarings-1000".into(),
        bytes: 0,
    });
    s.say(Notice::ParamsGenerateStarted {
        circuit: "squarings-1000".into(),
    });
    s.say(Notice::ParamsGenerateEnded {
        circuit: "squarings-1000".into(),
        ok: true,
    });
    s.say(Notice::ParamsLoadEnded {
        circuit: "squarings-1000".into(),
        digest: Some(DIGEST.into()),
        failure: None,
    });
    s.say(Notice::ParamsLoadStarted {
        circuit: "sha256-62500".into(),
        bytes: FAR,
    });
    s.say(Notice::ParamsGenerateEnded {
        circuit: "sha256-62500".into(),
        ok: false,
    });
    let truncated = failure(Code::ParamsTruncated, NASTY);
    s.say(Notice::ParamsLoadEnded {
        circuit: "sha256-62500".into(),
        digest: None,
        failure: truncated,
    });
    s.say(Notice::RunStarted {
        run: "r1".into(),
        scheduler: scheduler(LockScope::Kernels),
        emulate: None,
    });

    // A proof of one partition, ordinary values; then the other scope, values at their ends.
    let accepted =
        |proof, attempt, partitions, constraints, priority, submitted_wall_ns, deadline_wall_ns| {
            let (run, circuit) = ("r1".into(), "squarings-1000".into());
            Notice::ProofAccepted {
                proof,
                attempt,
                run,
                circuit,
                partitions,
                constraints,
                priority,
                submitted_wall_ns,
                deadline_wall_ns,
            }
        };
    s.say(accepted(
        proof,
        1,
        1,
        1_000,
        1,
        1_796_043_668_000_000_000,
        None,
    ));
    s.partition(p, w, LockScope::Kernels, 0, 0, 268_435_456);
    let made = Made {
        sha256: DIGEST.into(),
        file: "p1.1.proof.json".into(),
        bytes: 1_234,
    };
    s.say(Notice::ProofEnded {
        proof,
        attempt: 1,
        outcome: Outcome::Valid,
        made: Some(made),
        failure: None,
    });
    s.bench.round();
    s.say(accepted(
        far_proof,
        u32::MAX,
        u32::MAX,
        FAR,
        4,
        u64::MAX,
        Some(u64::MAX),
    ));
    s.partition(far, far_worker, LockScope::Job, u16::MAX, u16::MAX, FAR);
    let made = Made {
        sha256: DIGEST.into(),
        file: "ü \"quoted\".proof.json".into(),
        bytes: FAR,
    };
    s.say(Notice::ProofEnded {
        proof: far_proof,
        attempt: u32::MAX,
        outcome: Outcome::Valid,
        made: Some(made),
        failure: None,
    });
    // An emulated process makes no proof.
    s.say(Notice::ProofEnded {
        proof,
        attempt: 2,
        outcome: Outcome::Valid,
        made: None,
        failure: None,
    });

    // Every word of every list that has not had its turn.
    WaitedFor::ALL
        .iter()
        .for_each(|word| s.emit(Event::permit_granted(p, 1, *word)));
    Outcome::ALL
        .iter()
        .for_each(|word| s.emit(Event::partition_ended(p, *word)));
    for outcome in &Outcome::ALL[1..] {
        let failure = failure(Code::VerifyFailed, "");
        s.say(Notice::ProofEnded {
            proof,
            attempt: 3,
            outcome: *outcome,
            made: None,
            failure,
        });
    }
    for stage in Stage::ALL {
        let failure = Failure {
            code: Code::Panicked,
            message: format!("{} failed", stage.as_str()),
        };
        s.say(Notice::StageFailed {
            partition: p,
            stage: *stage,
            failure,
        });
    }
    for code in Code::ALL {
        let failure = Failure {
            code: *code,
            message: NASTY.into(),
        };
        s.say(Notice::ConfigureRefused {
            run: "r2".into(),
            failure,
        });
    }
    let failure = Failure {
        code: Code::DeviceFailed,
        message: "é".repeat(5_000),
    };
    s.say(Notice::WorkerDead {
        worker: far_worker,
        failure,
    });
    for reason in ReturnReason::ALL {
        s.say(Notice::ProofReturned {
            proof,
            attempt: 4,
            reason: *reason,
        });
    }
    for reason in DrainReason::ALL {
        s.say(Notice::DrainStarted {
            reason: *reason,
            deadline: FAR,
        });
    }
    DrainCancelledBy::ALL
        .iter()
        .for_each(|by| s.say(Notice::DrainCancelled { by: *by }));
    RunEnd::ALL.iter().for_each(|reason| {
        s.say(Notice::RunEnded {
            run: "r1".into(),
            reason: *reason,
        })
    });
    s.bench.round();
    let mut other = scheduler(LockScope::Job);
    other.preset = "batch".into();
    other.dispatch = Dispatch::Batch;
    other.overrides = vec!["gpu_workers".into(), NASTY.into()];
    other.reserve_post = true;
    other.memory_budget_bytes = FAR;
    (
        other.gpu_workers,
        other.partitions_in_flight,
        other.synthesis_threads,
    ) = (u32::MAX, u32::MAX, u32::MAX);
    (
        other.proofs_in_flight,
        other.synthesis_workers,
        other.device_threads,
    ) = (0, 0, 0);
    let emulate = Some("synthesis=300ms,kernels=180ms,seed=7".into());
    s.say(Notice::RunStarted {
        run: "a".repeat(64),
        scheduler: other,
        emulate,
    });
    s.say(Notice::HostLost);

    // A device's own clock: told of after it happened, behind the host's later events.
    let mut own = s.bench.device_emitter("emu0.clock");
    let earliest = own.begin();
    s.bench.hands.advance(10_000_000);
    s.emit(Event::device_ended(p, w));
    own.emit_at(earliest + 1_000, Event::clock_map(DeviceId(0), 0, 0));
    own.emit_at(
        earliest + 2_000,
        Event::kernel_started(p, w, 1, Kernel::Emulated),
    );
    own.emit_at(
        earliest + 3_000,
        Event::kernel_ended(p, w, 1, Kernel::Emulated),
    );
    own.emit_at(
        earliest + 4_000,
        Event::clock_map(DeviceId(2), u64::MAX, FAR),
    );
    own.clear();
    s.bench.round();

    // Snapshots.
    for (n, phase) in Phase::ALL.iter().enumerate() {
        let mut state = if n == 0 {
            State::starting()
        } else {
            state(&s, p, far)
        };
        state.phase = *phase;
        s.bench.shared.set_source(Box::new(move || state.clone()));
        s.bench.hands.advance(1_000_000_000);
        s.bench.round();
    }

    // The wall clock moves, both ways and as far as a clock can be wrong.
    for wall_ns in [
        1_796_043_700_000_000_000,
        1_480_000_000_000_000_000,
        u64::MAX,
        0,
        1_796_043_680_000_000_000,
    ] {
        s.bench.hands.set_wall_ns(wall_ns);
        s.bench.hands.advance(1_000_000);
        s.bench.round();
    }

    // The journal cannot be written, for each of its reasons.
    for code in [libc::ENOSPC, libc::EROFS, libc::EIO] {
        s.bench.file.set(|f| f.write = Some(code));
        s.emit(Event::queued(p));
        s.bench.round();
        s.bench.hands.advance(100_000_000);
        s.bench.file.set(|f| f.write = None);
        s.emit(Event::picked_up(p, w));
        s.bench.round();
    }

    s.bench.hands.advance(FAR - s.bench.shared.clock.now_ns());
    s.bench.writer.stop(Some((Bye::Drained, 0))).unwrap();
    s.bench.file.text()
}

#[test]
fn golden_file() {
    let text = golden();
    let lines = decode(&text);
    check_numbers(&lines);
    assert!(text.lines().all(|line| line.len() < 65_536));
    // Every event of the specification is there.
    for word in SPECIFIED.split_ascii_whitespace() {
        assert!(
            lines.iter().any(|line| line["e"] == word),
            "{word} is missing"
        );
    }
    let known: Vec<&str> = SPECIFIED.split_ascii_whitespace().collect();
    lines
        .iter()
        .for_each(|line| assert!(known.contains(&line["e"].as_str().unwrap()), "{line}"));
    compare("golden.ndjson", &text);
    // The last line is cut in its middle.
    let last = text.trim_end().rfind('\n').unwrap() + 1;
    compare("torn.ndjson", &text[..last + (text.len() - last) / 2]);
}

const SPECIFIED: &str = "hello mark state write_failed clock_step bye ready run_started run_ended configure_refused
    drain_started drain_cancelled host_attached host_lost params_load_started params_generate_started
    params_generate_ended params_load_ended proof_accepted permit_asked permit_granted permit_released synthesis_started
    synthesis_ended queued picked_up lock_asked lock_granted lock_released prepare_started prepare_ended device_started
    device_ended kernel_started kernel_ended copy_started copy_ended wait_started wait_ended finish_started finish_ended
    put_down partition_ended stage_failed worker_dead proof_ended proof_returned clock_map";

#[test]
fn every_word_for_an_end() {
    let mut text = String::new();
    for (reason, exit) in Bye::ALL.iter().zip([0, 1, 5, 101, -1]) {
        let mut bench = Bench::new();
        bench.writer.stop(Some((*reason, exit))).unwrap();
        text += bench.file.text().lines().last().unwrap();
        text += "\n";
    }
    compare("byes.ndjson", &text);
}

#[test]
fn golden_file_with_a_loss() {
    let (clock, hands) = Clock::manual();
    let mut options = options(clock);
    options.ring_records = 8;
    let bench = Bench::with(options, hands);
    let worker_ring = bench.emitter("worker-0");
    let mut s = Scene { bench, worker_ring };
    let p = Partition {
        proof: s.bench.proof("p1"),
        attempt: 1,
        partition: 0,
    };
    let w = Worker {
        device: DeviceId(0),
        worker: 0,
    };
    let snapshot = state(&s, p, p);
    s.bench
        .shared
        .set_source(Box::new(move || snapshot.clone()));
    s.bench.hands.advance(1_000);
    s.bench.round();
    // The first 8 go in, the rest is lost; the writer tells of it, for the thread stays silent.
    s.partition(p, w, LockScope::Kernels, 0, 0, 1);
    s.bench.hands.advance(1_000);
    s.bench.round();
    // The ring runs over again and the thread tells of it itself, with its next free slot.
    (0..9).for_each(|_| s.emit(Event::queued(p)));
    s.bench.hands.advance(1_000);
    s.bench.round();
    s.emit(Event::queued(p));
    s.bench.hands.advance(100_000_000);
    s.bench.hands.advance(1_000);
    s.bench.round();
    s.bench.writer.stop(Some((Bye::Stopped, 0))).unwrap();
    let lines = s.bench.file.lines();
    check_numbers(&lines);
    let lost = lines.iter().position(|l| l["e"] == "lost").unwrap();
    assert!(lines[lost..].iter().any(|l| l["e"] == "state"));
    compare("golden-lost.ndjson", &s.bench.file.text());
}
