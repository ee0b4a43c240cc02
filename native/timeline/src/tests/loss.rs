//! What a full ring loses is counted exactly, in its place, and told of by somebody.

use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::event::Kind;
use crate::ring::{Record, Ring};

fn event(n: u64) -> Event {
    let partition = Partition {
        proof: ProofId(0),
        attempt: 1,
        partition: n as u32,
    };
    Event::permit_asked(partition, !n)
}

/// Reads records whose stamps are 0, 1, 2 …: each is there, or within a loss that counts exactly those missing.
#[derive(Default)]
struct Account {
    next: u64,
    received: u64,
    lost: u64,
    losses: u64,
}

impl Account {
    fn take(&mut self, record: Record) {
        if record.event.kind == Kind::Lost {
            assert_eq!(
                record.event.b, self.next,
                "a loss begins where the records stop"
            );
            assert_eq!(
                record.event.a,
                record.t - record.event.b + 1,
                "a loss counts what is missing"
            );
            self.next = record.t + 1;
            self.lost += record.event.a;
            self.losses += 1;
        } else {
            assert_eq!(
                record,
                Record {
                    t: self.next,
                    event: event(self.next)
                },
                "whole and in order"
            );
            self.next += 1;
            self.received += 1;
        }
    }
}

/// Two threads, a small ring that runs over all the time.
fn race(records: usize, events: u64, pause: u32) -> Account {
    let (mut producer, ring) = Ring::new("r".into(), records);
    let done = AtomicBool::new(false);
    let mut account = Account::default();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for n in 0..events {
                producer.push(|| n, event(n));
                (0..n % 7 * u64::from(pause)).for_each(|_| std::hint::spin_loop());
            }
            done.store(true, Ordering::Release);
        });
        while !done.load(Ordering::Acquire) {
            ring.drain(|record| account.take(record));
        }
        ring.drain(|record| account.take(record));
    });
    account
}

#[test]
fn accounts_are_exact_under_concurrency() {
    let mut losses = 0;
    for (records, pause) in [(2, 0), (2, 3), (4, 1), (16, 0), (64, 0), (256, 0)] {
        let account = race(records, 300_000, pause);
        assert_eq!(
            account.next, 300_000,
            "the silent producer's last loss is told of by the reader"
        );
        assert_eq!(account.received + account.lost, 300_000);
        losses += account.losses;
    }
    assert!(losses > 100, "the test must lose something: {losses}");
}

#[test]
fn nothing_is_lost_in_a_ring_that_is_large_enough() {
    let account = race(1 << 19, 300_000, 0);
    assert_eq!((account.received, account.lost), (300_000, 0));
}

#[test]
fn the_next_free_slot_tells_of_the_loss() {
    let (mut producer, ring) = Ring::new("r".into(), 4);
    let mut account = Account::default();
    for n in 0..7 {
        producer.push(|| n, event(n));
    }
    // A reader that looks now takes the loss over; here one slot becomes free behind the reader's back instead.
    let mut seen = Vec::new();
    ring.drain_without_losses(|record| seen.push(record));
    producer.push(|| 7, event(7));
    ring.drain_without_losses(|record| seen.push(record));
    assert_eq!(seen.len(), 6);
    seen.into_iter().for_each(|record| account.take(record));
    assert_eq!((account.received, account.lost, account.losses), (5, 3, 1));
}

#[test]
fn a_snapshot_follows_each_loss_and_counts_it() {
    let (clock, hands) = Clock::manual();
    let mut options = options(clock);
    options.ring_records = 4;
    let mut bench = Bench::with(options, hands);
    let proof = bench.proof("p1");
    let mut emitter = bench.emitter("w0");
    bench.round();
    for _ in 0..3 {
        for n in 0..10 {
            bench.hands.advance(10);
            emitter.emit(Event::queued(Partition {
                proof,
                attempt: 1,
                partition: n,
            }));
        }
        bench.round();
    }
    let lines = bench.file.lines();
    check_numbers(&lines);
    let lost: Vec<usize> = (0..lines.len())
        .filter(|n| lines[*n]["e"] == "lost")
        .collect();
    assert_eq!(lost.len(), 3);
    for (n, at) in lost.iter().enumerate() {
        assert_eq!(
            (&lines[*at]["count"], &lines[*at]["ring"]),
            (&6.into(), &"w0".into())
        );
        let state = &lines[at + 1];
        assert_eq!(
            (&state["e"], state["dropped"].as_u64()),
            (&"state".into(), Some(6 * (n as u64 + 1)))
        );
    }
}

#[test]
fn a_ring_whose_thread_is_gone_is_drained_and_forgotten() {
    let mut bench = Bench::new();
    let proof = bench.proof("p1");
    let mut emitter = bench.emitter("w0");
    emitter.emit(Event::queued(Partition {
        proof,
        attempt: 1,
        partition: 0,
    }));
    drop(emitter);
    bench.round();
    assert!(bench.file.lines().iter().any(|l| l["e"] == "queued"));
    assert_eq!(bench.writer.rings(), 0);
}
