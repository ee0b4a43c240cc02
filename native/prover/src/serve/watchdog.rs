//! The watchdog: the process never outlives its deadline, whatever hangs.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Duration;

use interlock_timeline::Clock;

use crate::say::say;

/// No deadline.
const NONE: u64 = u64::MAX;

/// Ends the process with exit code 5 once an armed deadline is past.
#[derive(Clone)]
pub struct Watchdog {
    deadline: Arc<AtomicU64>,
}

impl Watchdog {
    /// Starts it, unarmed.
    pub fn start(clock: Clock) -> std::io::Result<Watchdog> {
        let deadline = Arc::new(AtomicU64::new(NONE));
        let watched = deadline.clone();
        std::thread::Builder::new()
            .name("watchdog".into())
            .spawn(move || loop {
                let left = watched
                    .load(Ordering::SeqCst)
                    .saturating_sub(clock.now_ns());
                if left == 0 {
                    say("the deadline passed and something hangs; work was lost");
                    // SAFETY: ends the process; nothing of it is needed any more.
                    unsafe { libc::_exit(5) };
                }
                std::thread::sleep(Duration::from_nanos(left).min(Duration::from_millis(50)));
            })?;
        Ok(Watchdog { deadline })
    }

    /// The process ends at `t` of the clock at the latest.
    pub fn arm(&self, t: u64) {
        self.deadline.store(t, Ordering::SeqCst);
    }

    /// It may live on.
    pub fn disarm(&self) {
        self.deadline.store(NONE, Ordering::SeqCst);
    }
}
