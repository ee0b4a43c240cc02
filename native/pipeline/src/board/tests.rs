//! Timelines of the board, by hand.

use super::*;
use crate::scheduler::{example, Scheduler};
use crate::ErrorKind;
use interlock_timeline::{Clock, Dispatch, Hello, Options, Timeline};

/// Proof ids come from a timeline's table; any number of boards may share one.
pub(super) fn ids() -> Vec<ProofId> {
    static TABLE: std::sync::OnceLock<Vec<ProofId>> = std::sync::OnceLock::new();
    TABLE
        .get_or_init(|| {
            let folder = std::env::temp_dir().join(format!("board-{}", std::process::id()));
            let _ = std::fs::remove_file(&folder);
            let hello = Hello {
                process: "board".into(),
                version: "0".into(),
                backend: interlock_timeline::Backend::Cpu,
                devices: Vec::new(),
                grace_ns: 0,
            };
            let clock = Clock::system();
            let timeline = Timeline::start(Options {
                clock,
                ..Options::new(&folder, hello)
            })
            .unwrap();
            (0..8)
                .map(|i| timeline.proof(&format!("p{i}")).unwrap())
                .collect()
        })
        .clone()
}

pub(super) fn board(change: impl FnOnce(&mut Scheduler)) -> Board<u32> {
    let mut scheduler = example();
    scheduler.memory_budget_bytes = 100;
    change(&mut scheduler);
    let mut board = Board::default();
    board.set_scheduler(scheduler);
    board.set_params_bytes(0);
    board
}

pub(super) fn submission(id: usize, partitions: u32) -> Submission {
    Submission {
        id: ids()[id],
        proof: format!("p{id}").into(),
        attempt: 1,
        circuit: "squarings-100".into(),
        partitions,
        priority: 1,
        deadline_wall_ns: None,
        seed: [0; 32],
        constraints: 100,
        partition_bytes: 10,
    }
}

fn part(id: usize, partition: u32) -> Partition {
    Partition {
        proof: ids()[id],
        attempt: 1,
        partition,
    }
}

fn start(board: &mut Board<u32>) -> Partition {
    board.dispatch(1).granted.unwrap().id
}

#[test]
fn one_worker_asks_for_one_partition_and_gets_it() {
    let mut board = board(|_| {});
    board.accept(submission(0, 2));
    let step = board.dispatch(1);
    assert_eq!(step.asked, [(part(0, 0), 10)]);
    let granted = Granted {
        id: part(0, 0),
        bytes: 10,
        waited_for: None,
    };
    assert_eq!(step.granted, Some(granted));
}

#[test]
fn as_many_ask_as_workers_are_idle_and_wait_in_order() {
    let mut board = board(|s| s.partitions_in_flight = 1);
    board.accept(submission(0, 5));
    assert_eq!(start(&mut board), part(0, 0));
    let step = board.dispatch(2);
    assert_eq!(step.asked, [(part(0, 1), 10), (part(0, 2), 10)]);
    assert_eq!(step.granted, None);
    assert_eq!(board.dispatch(2), Step::default(), "nobody asks twice");
    assert_eq!(board.release_permit(part(0, 0)), Some(10));
    assert_eq!(
        board.release_permit(part(0, 0)),
        None,
        "a permit is given back once"
    );
    let granted = board.dispatch(2).granted.unwrap();
    assert_eq!(
        (granted.id, granted.waited_for),
        (part(0, 1), Some(Shortage::Count))
    );
}

#[test]
fn memory_is_a_limit_too_and_params_share_it() {
    let mut board = board(|_| {});
    board.set_params_bytes(85);
    board.accept(submission(0, 2));
    assert_eq!(start(&mut board), part(0, 0));
    assert_eq!(board.dispatch(1).granted, None);
    board.set_params_bytes(80);
    let granted = board.dispatch(1).granted.unwrap();
    assert_eq!(granted.waited_for, Some(Shortage::Bytes));
}

#[test]
fn an_urgent_proof_gets_the_next_permit_though_another_asked_before() {
    let mut board = board(|s| s.partitions_in_flight = 1);
    board.accept(submission(0, 3));
    assert_eq!(start(&mut board), part(0, 0));
    assert_eq!(board.dispatch(1).asked, [(part(0, 1), 10)]);
    board.accept(Submission {
        priority: 4,
        ..submission(1, 1)
    });
    board.release_permit(part(0, 0));
    let step = board.dispatch(1);
    assert_eq!(step.asked, [(part(1, 0), 10)]);
    assert_eq!(step.granted.unwrap().id, part(1, 0));
}

#[test]
fn the_reserved_permit_is_for_priority_4() {
    let mut board = board(|s| {
        s.partitions_in_flight = 2;
        s.reserve_post = true;
    });
    board.accept(submission(0, 3));
    assert_eq!(start(&mut board), part(0, 0));
    assert_eq!(board.dispatch(1).granted, None);
    board.accept(Submission {
        priority: 4,
        ..submission(1, 1)
    });
    assert_eq!(start(&mut board), part(1, 0));
}

#[test]
fn per_partition_dispatch_queues_each_at_once() {
    let mut board = board(|_| {});
    board.accept(submission(0, 2));
    let first = start(&mut board);
    assert_eq!(board.synthesised(first, 7), [first]);
    assert_eq!(board.pick(|_| false), None, "params are not there");
    assert_eq!(board.pick(|_| true), Some((first, 7)));
    assert_eq!(board.pick(|_| true), None);
}

#[test]
fn a_batch_is_withheld_until_its_last_partition_is_synthesised() {
    let mut board = board(|s| s.dispatch = Dispatch::Batch);
    board.accept(submission(0, 3));
    let all: Vec<_> = (0..3).map(|_| start(&mut board)).collect();
    assert!(board.synthesised(all[0], 0).is_empty());
    assert!(board.synthesised(all[2], 2).is_empty());
    assert_eq!(board.count_waiting(), (0, 2));
    assert_eq!(board.synthesised(all[1], 1), all);
    assert_eq!(board.count_waiting(), (3, 0));
}

#[test]
fn two_batches_never_wait_for_each_other() {
    // (proofs in flight, what it shows)
    for (places, shows) in [
        (2, "a batch that asks for more than is free does not hold up the one whose permits it waits for"),
        (1, "nor one that took its place"),
    ] {
        let mut board = board(|s| {
            s.dispatch = Dispatch::Batch;
            s.partitions_in_flight = 5;
            s.proofs_in_flight = places;
        });
        board.accept(submission(0, 3));
        assert_eq!(start(&mut board), part(0, 0));
        board.accept(Submission {
            priority: 4,
            ..submission(1, 3)
        });
        assert_eq!(start(&mut board), part(0, 1), "{shows}");
        assert_eq!(start(&mut board), part(0, 2), "{shows}");
        assert_eq!(
            board.dispatch(1).granted,
            None,
            "only two permits are nobody's"
        );
        for partition in 0..3 {
            board.synthesised(part(0, partition), partition);
        }
        let (first, _) = board.pick(|_| true).unwrap();
        assert_eq!(first, part(0, 0));
        board.release_permit(first);
        assert_eq!(start(&mut board), part(1, 0), "three permits are free");
    }
}

#[test]
fn a_batch_begun_goes_before_one_that_would_fit() {
    let mut board = board(|s| {
        s.dispatch = Dispatch::Batch;
        s.partitions_in_flight = 5;
    });
    board.accept(submission(0, 3));
    assert_eq!(start(&mut board), part(0, 0));
    board.accept(Submission {
        priority: 4,
        ..submission(1, 1)
    });
    let rest: Vec<_> = (0..3).map(|_| start(&mut board)).collect();
    assert_eq!(rest, [part(0, 1), part(0, 2), part(1, 0)]);
    assert_eq!(board.permits.held().count, 4);
}

#[test]
fn the_first_error_fails_the_proof_and_cancels_the_rest() {
    let mut board = board(|_| {});
    board.accept(submission(0, 4));
    board.accept(submission(1, 1));
    let (a, b) = (start(&mut board), start(&mut board));
    board.synthesised(b, 0);
    let error = || Error::new(ErrorKind::SynthesisFailed, "first");
    let cancelled = board.fail(a, Outcome::Failed, error());
    let of = |c: &Cancelled| (c.id.partition, c.permit);
    assert_eq!(
        cancelled.iter().map(of).collect::<Vec<_>>(),
        [(1, Some(10)), (2, None), (3, None)]
    );
    assert!(board
        .fail(b, Outcome::Failed, Error::new(ErrorKind::Internal, "late"))
        .is_empty());
    assert!(board.is_ending(a) && !board.is_ending(part(1, 0)));
    let closed = board.end_partition(a, Outcome::Failed, None).unwrap();
    assert!(matches!(&closed.end, End::Failed(Outcome::Failed, e) if e.message() == "first"));
    assert!(
        board.end_partition(a, Outcome::Failed, None).is_none(),
        "closed once"
    );
    assert_eq!(start(&mut board), part(1, 0), "other proofs go on");
}

#[test]
fn a_proof_is_closed_when_its_last_partition_ends_and_leaves_when_removed() {
    let mut board = board(|_| {});
    board.accept(submission(0, 2));
    let (a, b) = (start(&mut board), start(&mut board));
    assert!(board.end_partition(a, Outcome::Valid, None).is_none());
    let closed = board.end_partition(b, Outcome::Valid, None).unwrap();
    assert!(matches!(closed.end, End::Proved(all) if all.len() == 2));
    assert!(!board.is_quiescent());
    board.remove(ids()[0], 1);
    assert!(board.is_quiescent());
}

#[test]
fn a_withdrawn_proof_comes_back_at_once_or_after_its_running_stages() {
    let mut board = board(|s| s.partitions_in_flight = 1);
    board.accept(submission(0, 2));
    board.accept(submission(1, 2));
    let running = start(&mut board);
    board.dispatch(3);
    let (state, cancelled) = board.give_back(ids()[1], ReturnReason::Withdrawn);
    assert_eq!(state, Withdrawn::Returned);
    assert_eq!(cancelled.len(), 2, "both had asked for a permit");
    assert!(matches!(
        board.take_closed()[0].end,
        End::Returned(ReturnReason::Withdrawn)
    ));
    let (state, _) = board.give_back(ids()[0], ReturnReason::Withdrawn);
    assert_eq!(state, Withdrawn::Stopping);
    let closed = board
        .end_partition(running, Outcome::Cancelled, None)
        .unwrap();
    assert!(matches!(closed.end, End::Returned(ReturnReason::Withdrawn)));
    assert_eq!(
        board.give_back(ids()[5], ReturnReason::Drain).0,
        Withdrawn::Unknown
    );
}
