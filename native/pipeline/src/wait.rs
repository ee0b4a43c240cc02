//! Waiting for an instant of the clock: asleep, and spinning only for the last moment.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use interlock_timeline::Clock;

/// A sleep may end this much late, so the last moment is spun through where it matters.
const SPIN_NS: u64 = 100_000;
/// Long waits are cut so that their worker shows progress and hears of a stop.
const SLICE_NS: u64 = 20_000_000;

/// Asks the kernel to wake this thread as punctually as it can.
pub fn be_punctual() {
    // SAFETY: PR_SET_TIMERSLACK takes one number and changes this thread only.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_u64, 0, 0, 0) };
}

/// Asks for precedence over the threads of other programs, as a device has by not being one. A user
/// who may not is left as it is.
pub fn take_precedence() {
    thread_local!(static ASKED: std::cell::Cell<bool> = const { std::cell::Cell::new(false) });
    if !ASKED.replace(true) {
        // SAFETY: takes numbers; with 0 it concerns this thread alone on Linux.
        unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, -20) };
    }
}

/// Sleeps until `t`, or some 50 µs longer.
pub fn sleep_until(clock: &Clock, t: u64) {
    let raw = clock.origin_ns().saturating_add(t);
    let time = libc::timespec {
        tv_sec: i64::try_from(raw / 1_000_000_000).unwrap_or(i64::MAX),
        tv_nsec: i64::try_from(raw % 1_000_000_000).unwrap_or(0),
    };
    while clock.now_ns() < t {
        // SAFETY: `time` is a valid timespec; no remainder is asked for. EINTR goes round again.
        unsafe {
            libc::clock_nanosleep(
                libc::CLOCK_MONOTONIC,
                libc::TIMER_ABSTIME,
                &time,
                std::ptr::null_mut(),
            );
        }
    }
}

/// Waits until exactly `t`: asleep, then spinning.
pub fn until_exactly(clock: &Clock, t: u64) {
    sleep_until(clock, t.saturating_sub(SPIN_NS));
    while clock.now_ns() < t {
        std::hint::spin_loop();
    }
}

/// Waits until `t` in slices, raising `progress` after each. False as soon as `stop` is set.
pub fn until_or_stopped(clock: &Clock, t: u64, progress: &AtomicU64, stop: &AtomicBool) -> bool {
    loop {
        if stop.load(Ordering::Relaxed) {
            return false;
        }
        let now = clock.now_ns();
        if now >= t {
            return true;
        }
        sleep_until(clock, t.min(now + SLICE_NS));
        progress.fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_never_short() {
        let clock = Clock::system();
        for ns in [0, 1_000, 300_000, 3_000_000] {
            let t = clock.now_ns() + ns;
            until_exactly(&clock, t);
            assert!(clock.now_ns() >= t);
        }
    }

    #[test]
    fn a_stopped_wait_ends_and_a_long_one_shows_progress() {
        let (clock, progress) = (Clock::system(), AtomicU64::new(0));
        let hour = clock.now_ns() + 3_600_000_000_000;
        assert!(!until_or_stopped(
            &clock,
            hour,
            &progress,
            &AtomicBool::new(true)
        ));
        let soon = clock.now_ns() + 50_000_000;
        assert!(until_or_stopped(
            &clock,
            soon,
            &progress,
            &AtomicBool::new(false)
        ));
        assert!(progress.load(Ordering::Relaxed) >= 2);
    }
}
