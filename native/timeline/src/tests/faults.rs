//! A file that cannot be written: nothing is torn, lines wait, what is lost is told of.

use super::*;
use crate::journal::Class;
use crate::words::WriteFault;

fn bench() -> (Bench, Emitter, Partition) {
    let mut bench = Bench::new();
    let p = Partition {
        proof: bench.proof("p1"),
        attempt: 1,
        partition: 0,
    };
    let emitter = bench.emitter("w0");
    bench.round();
    (bench, emitter, p)
}

fn count(bench: &Bench, e: &str) -> usize {
    bench.file.lines().iter().filter(|l| l["e"] == e).count()
}

#[test]
fn lines_wait_and_write_failed_comes_first() {
    let (mut bench, mut emitter, p) = bench();
    let room = bench.file.text().len() as u64 + 30;
    bench.file.set(|f| f.room = Some(room));
    for _ in 0..10 {
        bench.hands.advance(100_000_000);
        emitter.emit(Event::queued(p));
        bench.round();
    }
    assert_eq!(
        count(&bench, "queued"),
        0,
        "and no torn line is left behind: the file was decoded"
    );
    let failing = bench.journal().failing().cloned().unwrap();
    assert_eq!(
        (failing.reason, failing.since),
        (WriteFault::DiskFull, 100_000_000)
    );
    bench.file.set(|f| f.room = None);
    bench.hands.advance(2_000_000_000);
    bench.round();
    let lines = bench.file.lines();
    check_numbers(&lines);
    let first = lines.iter().position(|l| l["e"] == "write_failed").unwrap();
    assert_eq!(
        (lines[first]["since"].as_u64(), &lines[first]["reason"]),
        (Some(100_000_000), &"disk_full".into())
    );
    assert!(lines[first + 1..first + 11]
        .iter()
        .all(|l| l["e"] == "queued"));
    assert_eq!(lines.iter().filter(|l| l["e"] == "write_failed").count(), 1);
    assert!(bench.journal().failing().is_none());
}

#[test]
fn a_torn_line_that_cannot_be_cut_off_is_overwritten_later() {
    let (mut bench, mut emitter, p) = bench();
    let whole = bench.file.text().len();
    bench
        .file
        .set(|f| (f.room, f.truncate) = (Some(whole as u64 + 30), Some(libc::EIO)));
    emitter.emit(Event::queued(p));
    bench.round();
    assert_eq!(bench.file.text().len(), whole + 30, "the tail is torn");
    bench.hands.advance(1_000_000_000);
    bench.round();
    bench.file.set(|f| (f.room, f.truncate) = (None, None));
    bench.hands.advance(2_000_000_000);
    bench.round();
    check_numbers(&bench.file.lines());
    assert_eq!(
        (count(&bench, "queued"), count(&bench, "write_failed")),
        (1, 1)
    );
}

#[test]
fn the_whole_lines_of_a_partial_write_are_kept() {
    let (mut bench, mut emitter, p) = bench();
    let before = bench.file.text().len() as u64;
    bench.hands.advance(1);
    for _ in 0..5 {
        emitter.emit(Event::queued(p));
    }
    bench.file.set(|f| f.room = Some(before + 200));
    bench.round();
    let kept = count(&bench, "queued");
    assert!((1..5).contains(&kept), "{kept}");
    bench.file.set(|f| (f.room, f.at_once) = (None, Some(7)));
    bench.hands.advance(1_000_000_000);
    bench.round();
    check_numbers(&bench.file.lines());
    assert_eq!(count(&bench, "queued"), 5, "also in writes of seven bytes");
}

#[test]
fn a_disk_with_room_for_one_line_does_not_fill_with_write_failed() {
    let (mut bench, mut emitter, p) = bench();
    let before = bench.file.text().len() as u64;
    bench.file.set(|f| f.room = Some(before));
    for _ in 0..100 {
        emitter.emit(Event::queued(p));
    }
    for room in 0..20 {
        bench.round();
        bench.file.set(|f| f.room = Some(before + 100 * room));
        bench.hands.advance(3_000_000_000);
    }
    assert_eq!(bench.file.text().len() as u64, before);
}

#[test]
fn beyond_the_bound_events_are_lost_and_told_of_and_notices_kept() {
    let (clock, hands) = Clock::manual();
    let mut options = options(clock);
    options.waiting_bytes = 4_000;
    let mut bench = Bench::with(options, hands);
    let p = Partition {
        proof: bench.proof("p1"),
        attempt: 1,
        partition: 0,
    };
    let mut emitter = bench.emitter("w0");
    bench.round();
    bench.file.set(|f| f.write = Some(libc::EROFS));
    for n in 0..200u64 {
        bench.hands.advance(1_000);
        emitter.emit(Event::queued(p));
        if n % 50 == 49 {
            let t = bench.shared.clock.now_ns();
            relock(bench.shared.notices.lock()).push((t, 0, Notice::HostLost));
        }
        bench.round();
    }
    assert!(bench.journal().waiting_bytes() < 4_400);
    bench.file.set(|f| f.write = None);
    bench.hands.advance(3_000_000_000);
    bench.round();
    let lines = bench.file.lines();
    check_numbers(&lines);
    let lost = lines.iter().find(|l| l["e"] == "lost").unwrap();
    let written = count(&bench, "queued") as u64;
    assert_eq!(
        (lost["count"].as_u64(), &lost["ring"]),
        (Some(200 - written), &"journal".into())
    );
    assert_eq!(
        (lost["t_from"].as_u64(), lost["t_to"].as_u64()),
        (Some((written + 1) * 1_000), Some(200_000))
    );
    assert_eq!(count(&bench, "host_lost"), 4);
    let state = lines.iter().rfind(|l| l["e"] == "state").unwrap();
    assert_eq!(state["dropped"].as_u64(), Some(200 - written));
    let position = |e: &str| lines.iter().rposition(|l| l["e"] == e).unwrap();
    assert!(
        position("state") > position("lost"),
        "a snapshot ends the loss"
    );
}

#[test]
fn a_ring_s_loss_that_is_itself_lost_keeps_its_count() {
    let (bench, _, _) = bench();
    bench.file.set(|f| f.write = Some(libc::EIO));
    let journal = Journal::new(bench.file.clone(), 0);
    let mut journal = std::mem::ManuallyDrop::new(journal);
    assert!(!journal.event(Class::Event, 50, Some((7, 20)), |out| out
        .extend_from_slice(b"\"t\":50")));
    assert!(!journal.event(Class::Event, 60, None, |out| out
        .extend_from_slice(b"\"t\":60")));
    bench.file.set(|f| f.write = None);
    bench.file.0.lock().unwrap().0.clear();
    journal.flush(100, true);
    let lines = bench.file.lines();
    let numbers = ["count", "t_from", "t_to"].map(|key| lines[0][key].as_u64().unwrap());
    assert_eq!(numbers, [8, 20, 60]);
}

#[test]
fn after_a_failed_fsync_the_bytes_are_written_again() {
    let (mut bench, mut emitter, p) = bench();
    emitter.emit(Event::queued(p));
    bench.round();
    bench.file.set(|f| f.sync = Some(libc::EIO));
    assert!(!bench.journal().sync(5, false));
    assert_eq!(bench.journal().failing().unwrap().reason, WriteFault::Io);
    // What the system threw away: everything since the last fsync that was good.
    let text = bench.file.text();
    bench.file.set(|f| f.sync = None);
    let before = bench.file.0.lock().unwrap().1.syncs;
    bench.hands.advance(1_000_000_000);
    bench.round();
    assert!(bench.file.text().starts_with(&text));
    assert_eq!(
        bench.file.0.lock().unwrap().1.syncs,
        before + 1,
        "fsynced before anything else is written"
    );
    assert_eq!(count(&bench, "write_failed"), 1);
    assert!(bench.journal().sync(2_000_000_000, false));
}

#[test]
fn a_stop_that_cannot_be_written_says_so() {
    let (mut bench, mut emitter, p) = bench();
    emitter.emit(Event::queued(p));
    bench.file.set(|f| f.write = Some(libc::ENOSPC));
    let words = bench.writer.stop(Some((Bye::Drained, 0))).unwrap_err();
    assert!(words.contains("No space left"), "{words}");
}

/// Any order of faults, large and small: once the file is well, everything is there once, or told of as lost.
#[test]
fn random_faults_leave_a_whole_journal() {
    for seed in 1..200u64 {
        let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut dice = move |sides: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random % sides
        };
        let (clock, hands) = Clock::manual();
        let mut options = options(clock);
        (options.ring_records, options.waiting_bytes) = (64, 20_000);
        let mut bench = Bench::with(options, hands);
        let proof = bench.proof("p1");
        let mut emitter = bench.emitter("w0");
        let mut emitted = 0u64;
        for _ in 0..60 {
            let size = bench.file.0.lock().unwrap().0.len() as u64;
            let (kind, room, at_once) = (dice(6), dice(3_000), dice(300) as usize + 1);
            bench.file.set(|f| {
                f.room = (kind == 0).then_some(size + room);
                f.at_once = (kind == 1).then_some(at_once);
                f.write = (kind == 2).then_some(libc::EIO);
                f.truncate = (kind <= 2 && room % 2 == 0).then_some(libc::EIO);
                f.sync = (kind == 3).then_some(libc::EIO);
            });
            for _ in 0..dice(100) {
                bench.hands.advance(1_000);
                emitter.emit(Event::queued(Partition {
                    proof,
                    attempt: 1,
                    partition: emitted as u32,
                }));
                emitted += 1;
            }
            bench.hands.advance(dice(3_000_000_000));
            let sync = dice(2);
            bench.writer.round(Request {
                sync,
                synced: 0,
                stop: None,
            });
        }
        bench.file.set(|f| *f = Faults::default());
        bench.writer.stop(Some((Bye::Stopped, 0))).unwrap();
        let lines = bench.file.lines();
        check_numbers(&lines);
        let written: Vec<u64> = lines
            .iter()
            .filter(|l| l["e"] == "queued")
            .map(|l| l["partition"].as_u64().unwrap())
            .collect();
        assert!(
            written.windows(2).all(|w| w[0] < w[1]),
            "seed {seed}: once, in order"
        );
        let lost: u64 = lines
            .iter()
            .filter(|l| l["e"] == "lost")
            .map(|l| l["count"].as_u64().unwrap())
            .sum();
        assert_eq!(written.len() as u64 + lost, emitted, "seed {seed}");
    }
}
