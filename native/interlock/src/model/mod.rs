//! The crate's own sources on the model checker's primitives, and what must hold in every interleaving.
//!
//! shuttle runs a scenario under many schedules: all of them depth first up to a number, then schedules with few
//! well-placed preemptions (PCT), then random ones. It fails on a panic, and on a deadlock, which is what a lost wake-up
//! is. Each property is also tried on a lock that is wrong in that respect, and the failure must be found.

#[path = "../cancel.rs"]
mod cancel;
#[path = "../lock.rs"]
#[allow(dead_code)]
mod lock;
mod properties;
#[path = "../turn.rs"]
#[allow(dead_code)]
mod turn;

use super::sabotage;

mod sync {
    pub(crate) use shuttle::sync::atomic::{AtomicBool, Ordering};
    pub(crate) use shuttle::sync::{Arc, Condvar, Mutex};
}

use std::panic::{catch_unwind, AssertUnwindSafe};

use shuttle::scheduler::{DfsScheduler, PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, FailurePersistence, Runner};

use sabotage::{with, Sabotage};

const DEPTH_FIRST: usize = 20_000;
const PREEMPTIONS: usize = 4;
const PREEMPTED: usize = 10_000;
const RANDOM: usize = 10_000;

fn run(scheduler: impl Scheduler + 'static, scenario: fn()) -> usize {
    let mut config = Config::new();
    config.failure_persistence = FailurePersistence::None;
    Runner::new(scheduler, config).run(scenario)
}

/// Runs the scenario under all schedulers. Returns how many interleavings there were.
fn explore(scenario: fn()) -> usize {
    let seed = 0x1e7e_110c;
    run(
        PctScheduler::new_from_seed(seed, PREEMPTIONS, PREEMPTED),
        scenario,
    ) + run(RandomScheduler::new_from_seed(seed, RANDOM), scenario)
        + run(DfsScheduler::new(Some(DEPTH_FIRST), false), scenario)
}

/// The property holds; and the checker finds each of these wrong locks.
fn holds_and_is_found(scenario: fn(), wrong: &[Sabotage]) {
    let tried = with(None, || explore(scenario));
    assert!(tried >= PREEMPTED + RANDOM + 2, "hardly explored: {tried}");
    for how in wrong {
        let found = with(Some(*how), || {
            catch_unwind(AssertUnwindSafe(|| explore(scenario)))
        })
        .is_err();
        assert!(found, "the checker does not find {how:?}");
    }
}
