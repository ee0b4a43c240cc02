//! The properties.

use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::sync::atomic::AtomicU32;
use std::sync::Arc as StdArc;

use shuttle::sync::atomic::{AtomicUsize, Ordering};
use shuttle::sync::Mutex;
use shuttle::thread;

use super::cancel::{relock, Cancel};
use super::holds_and_is_found;
use super::lock::{Cancelled, DeviceLock, Observer};
use super::sabotage::Sabotage;
use super::turn::{LockScope, Turn};

/// What happened, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stamp {
    Asked(u16),
    Granted(u16),
    Released(u16),
}

#[derive(Default)]
struct World {
    lock: DeviceLock,
    inside: AtomicUsize,
    stamps: Mutex<Vec<Stamp>>,
}

/// A worker's stamps.
struct Book(u16, StdArc<World>);

impl Book {
    fn write(&self, stamp: Stamp) {
        relock(self.1.stamps.lock()).push(stamp);
    }
}

impl Observer for Book {
    fn asked(&mut self) {
        self.write(Stamp::Asked(self.0));
    }
    fn granted(&mut self) {
        self.write(Stamp::Granted(self.0));
    }
    fn released(&mut self) {
        self.write(Stamp::Released(self.0));
    }
}

impl World {
    /// Nobody else is here.
    fn work(&self, worker: u16) {
        assert_eq!(
            self.inside.fetch_add(1, Ordering::SeqCst),
            0,
            "two workers inside"
        );
        assert_eq!(self.lock.holder(), Some(worker));
        self.inside.fetch_sub(1, Ordering::SeqCst);
    }

    /// Nobody holds the lock or waits; grants and releases alternate; the next worker can have it.
    fn check_end(&self) -> Vec<Stamp> {
        assert_eq!((self.lock.holder(), self.lock.waiting()), (None, 0));
        let stamps = relock(self.stamps.lock()).clone();
        let mut holder = None;
        for stamp in &stamps {
            match *stamp {
                Stamp::Asked(_) => {}
                Stamp::Granted(w) => assert_eq!(
                    holder.replace(w),
                    None,
                    "granted before released: {stamps:?}"
                ),
                Stamp::Released(w) => assert_eq!(holder.take(), Some(w), "{stamps:?}"),
            }
        }
        assert_eq!(holder, None);
        drop(self.lock.lock(99, &Cancel::new(), ()).unwrap());
        stamps
    }
}

type Job = fn(u16, &StdArc<World>, &Cancel);

/// Runs workers with these jobs, and `cancels` for those who come with a request.
fn world(jobs: &[(Job, bool)]) -> StdArc<World> {
    let world = StdArc::new(World::default());
    let mut threads = Vec::new();
    for (n, (job, cancelled)) in jobs.iter().enumerate() {
        let (job, cancel, world) = (*job, Cancel::new(), world.clone());
        if *cancelled {
            let cancel = cancel.clone();
            threads.push(thread::spawn(move || cancel.cancel()));
        }
        threads.push(thread::spawn(move || job(n as u16, &world, &cancel)));
    }
    threads.into_iter().for_each(|t| t.join().unwrap());
    world
}

fn once(worker: u16, world: &StdArc<World>, cancel: &Cancel) {
    if let Ok(guard) = world.lock.lock(worker, cancel, Book(worker, world.clone())) {
        world.work(worker);
        drop(guard.release());
    }
}

fn twice(worker: u16, world: &StdArc<World>, cancel: &Cancel) {
    once(worker, world, cancel);
    once(worker, world, cancel);
}

/// Panics with the lock in its hands; the thread survives, as a worker's does.
fn panicking(worker: u16, world: &StdArc<World>, cancel: &Cancel) {
    let result = catch_unwind(AssertUnwindSafe(|| {
        let _guard = world
            .lock
            .lock(worker, cancel, Book(worker, world.clone()))
            .unwrap();
        world.work(worker);
        // Unwinds without the hook, which would print.
        resume_unwind(Box::new("a kernel failed"));
    }));
    assert!(result.is_err());
}

#[test]
fn at_most_one_worker_is_inside() {
    fn scenario() {
        world(&[(twice, false), (once, false), (once, false)]).check_end();
    }
    holds_and_is_found(scenario, &[Sabotage::LeaveOpen]);
}

#[test]
fn no_wake_up_is_lost() {
    fn scenario() {
        let stamps = world(&[(twice, false), (twice, false)]).check_end();
        assert_eq!(
            stamps
                .iter()
                .filter(|s| matches!(s, Stamp::Granted(_)))
                .count(),
            4
        );
    }
    holds_and_is_found(scenario, &[Sabotage::NoWakeUp, Sabotage::LookThenSleep]);
}

#[test]
fn hand_over_is_in_the_order_of_asking() {
    fn scenario() {
        let world = world(&[(once, false), (once, false), (twice, false)]);
        let mut joined = world.lock.joined();
        let stamps = world.check_end();
        let granted: Vec<u16> = stamps
            .iter()
            .filter_map(|s| {
                if let Stamp::Granted(w) = s {
                    Some(*w)
                } else {
                    None
                }
            })
            .collect();
        joined.truncate(granted.len());
        assert_eq!(granted, joined);
    }
    holds_and_is_found(scenario, &[Sabotage::LastFirst]);
}

#[test]
fn the_release_is_stamped_before_the_next_grant() {
    fn scenario() {
        world(&[(once, false), (once, false)]).check_end();
    }
    holds_and_is_found(scenario, &[Sabotage::UnlockThenStamp]);
}

#[test]
fn a_panic_inside_releases_and_taints_nothing() {
    fn scenario() {
        let stamps = world(&[(panicking, false), (once, false), (once, false)]).check_end();
        assert_eq!(
            stamps
                .iter()
                .filter(|s| matches!(s, Stamp::Released(_)))
                .count(),
            3,
            "the panic stamped too"
        );
    }
    holds_and_is_found(scenario, &[Sabotage::KeepOnPanic]);
}

#[test]
fn a_cancelled_waiter_leaves_and_swallows_nothing() {
    fn scenario() {
        let stamps = world(&[(once, false), (once, true), (once, false)]).check_end();
        let granted = |worker| stamps.contains(&Stamp::Granted(worker));
        assert!(granted(0) && granted(2), "the others had their turn");
        assert_eq!(granted(1), stamps.contains(&Stamp::Released(1)));
    }
    holds_and_is_found(
        scenario,
        &[
            Sabotage::GrantTheCancelled,
            Sabotage::DropTheGrant,
            Sabotage::NoWakeUp,
        ],
    );
}

#[test]
fn a_cancelled_waiter_leaves_its_place_at_once() {
    fn scenario() {
        let world = StdArc::new(World::default());
        let guard = world.lock.lock(7, &Cancel::new(), ()).unwrap();
        let cancel = Cancel::new();
        let waiter = {
            let (world, cancel) = (world.clone(), cancel.clone());
            thread::spawn(move || world.lock.lock(1, &cancel, ()).err())
        };
        cancel.cancel();
        // The lock is held all the time: only the request can wake the waiter.
        assert_eq!(waiter.join().unwrap(), Some(Cancelled));
        assert_eq!((world.lock.holder(), world.lock.waiting()), (Some(7), 0));
        drop(guard);
        world.check_end();
    }
    holds_and_is_found(scenario, &[Sabotage::StayInTheQueue, Sabotage::NoWakeUp]);
}

static OVERLAPS: AtomicU32 = AtomicU32::new(0);

/// A whole turn. `prepare` and `finish` count who is in them.
fn turn(scope: LockScope, worker: u16, world: &StdArc<World>, outside: &AtomicUsize) {
    let cancel = Cancel::new();
    let picked_up = Turn::pick_up(&world.lock, scope, worker, Book(worker, world.clone()));
    let preparing = picked_up.prepare(&cancel).unwrap();
    let others = outside.fetch_add(1, Ordering::SeqCst);
    if scope == LockScope::Job {
        assert_eq!(others, 0, "scope job covers prepare");
        assert_eq!(world.lock.holder(), Some(worker));
    } else if others > 0 {
        OVERLAPS.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }
    outside.fetch_sub(1, Ordering::SeqCst);
    let on_device = preparing.device(&cancel).unwrap();
    world.work(worker);
    let finishing = on_device.finish();
    assert!(
        scope == LockScope::Kernels || world.lock.holder() == Some(worker),
        "scope job covers finish"
    );
    let book = finishing.put_down();
    assert_eq!(book.0, worker);
}

fn turns(scope: LockScope) {
    let world = StdArc::new(World::default());
    let outside = StdArc::new(AtomicUsize::new(0));
    let threads: Vec<_> = (0..2)
        .map(|worker| {
            let (world, outside) = (world.clone(), outside.clone());
            thread::spawn(move || turn(scope, worker, &world, &outside))
        })
        .collect();
    threads.into_iter().for_each(|t| t.join().unwrap());
    let stamps = world.check_end();
    for worker in 0..2 {
        let own = [
            Stamp::Asked(worker),
            Stamp::Granted(worker),
            Stamp::Released(worker),
        ];
        let seen: Vec<Stamp> = stamps.iter().filter(|s| own.contains(s)).copied().collect();
        assert_eq!(seen, own, "once each, in this order");
    }
}

#[test]
fn a_turn_holds_the_lock_where_its_scope_says() {
    holds_and_is_found(|| turns(LockScope::Job), &[Sabotage::LeaveOpen]);
    assert_eq!(OVERLAPS.load(std::sync::atomic::Ordering::Relaxed), 0);
    holds_and_is_found(|| turns(LockScope::Kernels), &[Sabotage::LeaveOpen]);
    assert!(
        OVERLAPS.load(std::sync::atomic::Ordering::Relaxed) > 0,
        "in scope kernels two workers prepare at once"
    );
}

#[test]
fn a_turn_that_panics_or_is_given_up_gives_the_lock_back() {
    fn scenario() {
        let world = StdArc::new(World::default());
        let threads: Vec<_> = [LockScope::Job, LockScope::Kernels]
            .into_iter()
            .enumerate()
            .map(|(n, scope)| {
                let world = world.clone();
                thread::spawn(move || {
                    let (worker, cancel) = (n as u16, Cancel::new());
                    let begin = || {
                        let turn =
                            Turn::pick_up(&world.lock, scope, worker, Book(worker, world.clone()));
                        turn.prepare(&cancel).unwrap()
                    };
                    drop(begin().abandon());
                    drop(begin().device(&cancel).unwrap().abandon());
                    let panicked = catch_unwind(AssertUnwindSafe(|| {
                        let _turn = begin().device(&cancel).unwrap();
                        world.work(worker);
                        resume_unwind(Box::new("a kernel failed"));
                    }));
                    assert!(panicked.is_err());
                })
            })
            .collect();
        threads.into_iter().for_each(|t| t.join().unwrap());
        world.check_end();
    }
    holds_and_is_found(scenario, &[Sabotage::KeepOnPanic]);
}
