//! A mark's promise: no event with an earlier stamp comes after it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::*;
use crate::barrier::SYMMETRIC;
use crate::ring::Ring;

/// Emits from many threads while the writer looks and marks as fast as it can. Returns the first broken promise.
fn race(bracketed: bool, time: Duration, records: usize) -> (Option<String>, usize) {
    let (_, hands) = Clock::manual();
    let mut options = options(Clock::system());
    options.ring_records = records;
    let mut bench = Bench::with(options, hands);
    bench.writer.mark_always();
    let proof = bench.proof("p1");
    let done = AtomicBool::new(false);
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for n in 0..4u16 {
            let (mut producer, ring) = Ring::new(format!("w{n}").into(), records);
            ring.unbracketed.store(!bracketed, Ordering::SeqCst);
            relock(bench.shared.new_rings.lock()).push(ring);
            let (clock, done) = (bench.shared.clock.clone(), &done);
            scope.spawn(move || {
                let mut partition = 0;
                while !done.load(Ordering::Relaxed) {
                    partition += 1;
                    let stamp = || {
                        let t = clock.now_ns();
                        // Some threads are put aside with their stamp taken; here it happens often.
                        if partition % 16 == 0 {
                            std::thread::sleep(Duration::from_micros(20));
                        }
                        t
                    };
                    producer.push(
                        stamp,
                        Event::queued(Partition {
                            proof,
                            attempt: 1,
                            partition,
                        }),
                    );
                    // Now a burst, now silence with something lost.
                    if partition % 32 == 0 {
                        std::thread::sleep(Duration::from_micros(300));
                    }
                }
            });
        }
        let mut check = Check::default();
        while begun.elapsed() < time && check.broken.is_none() {
            bench.round();
            check.take(&bench.file);
        }
        done.store(true, Ordering::Relaxed);
        (check.broken, check.marks)
    })
}

/// Reads the file as it grows.
#[derive(Default)]
struct Check {
    at: usize,
    marked: u64,
    marks: usize,
    broken: Option<String>,
}

impl Check {
    fn take(&mut self, file: &Memory) {
        let file = file.0.lock().unwrap();
        let text = std::str::from_utf8(&file.0[self.at..]).unwrap();
        for line in text.lines() {
            let t: u64 = {
                let rest = line.split_once("\"t\":").unwrap().1;
                rest[..rest.find(',').unwrap()].parse().unwrap()
            };
            // A loss happened from its first stamp on.
            let from = line
                .split_once("\"t_from\":")
                .map(|(_, rest)| rest.split(',').next().unwrap().parse().unwrap());
            if line.contains("\"e\":\"mark\"") {
                assert!(t >= self.marked, "marks do not fall: {line}");
                (self.marked, self.marks) = (t, self.marks + 1);
            } else if from.unwrap_or(t) < self.marked && !line.contains("\"e\":\"state\"") {
                self.broken
                    .get_or_insert_with(|| format!("after a mark at {}: {line}", self.marked));
            }
        }
        self.at = file.0.len();
    }
}

#[test]
fn marks_are_true() {
    for (records, symmetric) in [(1 << 12, false), (16, false), (1 << 12, true), (16, true)] {
        SYMMETRIC.set(symmetric);
        let (broken, marks) = race(true, Duration::from_millis(1_000), records);
        assert_eq!(broken, None);
        assert!(marks > 100, "too few marks to tell: {marks}");
    }
}

#[test]
fn marks_are_false_without_the_brackets() {
    let (broken, _) = race(false, Duration::from_secs(60), 1 << 12);
    assert!(broken.is_some(), "the test cannot see a broken promise");
}

#[test]
fn an_emission_under_way_holds_the_mark_back() {
    let mut bench = Bench::new();
    let proof = bench.proof("p1");
    let (mut producer, ring) = Ring::new("w0".into(), 8);
    relock(bench.shared.new_rings.lock()).push(ring);
    bench.hands.advance(1_000_000_000);
    bench.round();
    let before = bench.marked();
    let (clock, hands) = (bench.shared.clock.clone(), bench.hands.clone());
    producer.push(
        || {
            let t = clock.now_ns();
            // The thread is put aside here, its stamp taken; the writer looks twice meanwhile.
            (0..2).for_each(|_| {
                hands.advance(1_000_000_000);
                bench.round();
            });
            assert_eq!(bench.marked(), before);
            t
        },
        Event::queued(Partition {
            proof,
            attempt: 1,
            partition: 0,
        }),
    );
    bench.round();
    assert_eq!(bench.marked(), bench.shared.clock.now_ns());
}

#[test]
fn a_device_at_work_holds_the_mark_back() {
    let mut bench = Bench::new();
    let p = Partition {
        proof: bench.proof("p1"),
        attempt: 1,
        partition: 0,
    };
    let w = Worker {
        device: DeviceId(0),
        worker: 0,
    };
    let mut device = bench.device_emitter("emu0.clock");
    bench.hands.advance(1_000_000_000);
    let launched = device.begin();
    assert_eq!(launched, 1_000_000_000);
    bench.hands.advance(3_000_000_000);
    bench.round();
    assert_eq!(bench.marked(), launched);
    device.emit_at(launched + 5, Event::kernel_started(p, w, 0, Kernel::Ntt));
    device.advance(launched + 1_000_000_000);
    bench.round();
    assert_eq!(bench.marked(), launched + 1_000_000_000);
    device.emit_at(
        launched + 2_000_000_000,
        Event::kernel_ended(p, w, 0, Kernel::Ntt),
    );
    device.clear();
    bench.round();
    assert_eq!(bench.marked(), 4_000_000_000);
    assert_eq!(device.moved(), 0);
    drop(device);
    bench.hands.advance(1_000_000_000);
    bench.round();
    assert_eq!(bench.marked(), 5_000_000_000);
}

#[test]
fn a_device_stamp_that_would_break_a_promise_is_moved() {
    let bench = Bench::new();
    let p = Partition {
        proof: bench.proof("p1"),
        attempt: 1,
        partition: 0,
    };
    let w = Worker {
        device: DeviceId(0),
        worker: 0,
    };
    let mut device = bench.device_emitter("emu0.clock");
    bench.hands.advance(100);
    let floor = device.begin();
    let event = Event::kernel_started(p, w, 0, Kernel::Ntt);
    assert_eq!(device.emit_at(10, event), floor, "not before the launch");
    assert_eq!(device.emit_at(500, event), 500);
    assert_eq!(
        device.emit_at(400, event),
        500,
        "not before the ring's last"
    );
    device.clear();
    bench.hands.advance(1_000);
    assert_eq!(
        device.emit_at(600, event),
        1_100,
        "without a hold, not before now"
    );
    assert_eq!(device.moved(), 3);
}

#[test]
fn marks_come_often_while_anything_runs_and_seldom_otherwise() {
    let marks_in_ten_seconds = |busy: bool| {
        let mut bench = Bench::new();
        let proof = bench.proof("p1");
        if busy {
            let mut state = State::starting();
            state.proofs.push(ProofState {
                proof,
                attempt: 1,
                partitions: 1,
                done: 0,
            });
            bench.shared.set_source(Box::new(move || state.clone()));
        }
        (0..1_000).for_each(|_| {
            bench.hands.advance(10_000_000);
            bench.round();
        });
        bench
            .file
            .lines()
            .iter()
            .filter(|l| l["e"] == "mark")
            .count()
    };
    assert_eq!(marks_in_ten_seconds(true), 200);
    assert!(
        (10..40).contains(&marks_in_ten_seconds(false)),
        "{}",
        marks_in_ten_seconds(false)
    );
}

#[test]
fn a_wall_clock_that_moves_is_told_of_once() {
    let mut bench = Bench::new();
    bench
        .hands
        .set_wall_ns(bench.shared.clock.wall_ns() + 400_000_000);
    bench.round();
    assert!(
        !bench.file.lines().iter().any(|l| l["e"] == "clock_step"),
        "less than half a second is no step"
    );
    bench
        .hands
        .set_wall_ns(bench.shared.clock.wall_ns() - 3_600_000_000_000);
    (0..3).for_each(|_| bench.round());
    let lines = bench.file.lines();
    let steps: Vec<_> = lines.iter().filter(|l| l["e"] == "clock_step").collect();
    assert_eq!(steps.len(), 1);
    assert_eq!(steps[0]["step_ns"], "-3599600000000");
}

#[test]
fn a_snapshot_source_that_panics_does_not_stop_the_journal() {
    let mut bench = Bench::new();
    bench
        .shared
        .set_source(Box::new(|| panic!("a bug in the pipeline")));
    bench.hands.advance(2_000_000_000);
    bench.round();
    assert_eq!(bench.marked(), 2_000_000_000);
}
