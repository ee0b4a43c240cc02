//! The one clock. Stamps are nanoseconds of CLOCK_MONOTONIC since the clock was made; wall time is only a label.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

/// A source of stamps: the machine's monotonic clock, or one that a test sets by hand.
///
/// Reading the machine's clock goes through the vDSO and enters no kernel. Clones share the origin.
#[derive(Clone, Debug)]
pub struct Clock(Source);

#[derive(Clone, Debug)]
enum Source {
    System { origin_ns: u64 },
    Manual(Arc<Hands>),
}

#[derive(Debug)]
struct Hands {
    now_ns: AtomicU64,
    wall_ns: AtomicU64,
    origin_ns: u64,
}

/// The hands of a [`Clock::manual`].
#[derive(Clone, Debug)]
pub struct ManualClock(Arc<Hands>);

impl Clock {
    /// CLOCK_MONOTONIC, counted from this call.
    pub fn system() -> Clock {
        Clock(Source::System {
            origin_ns: read_ns(libc::CLOCK_MONOTONIC),
        })
    }

    /// A clock that stands still at 0 until its hands are moved.
    pub fn manual() -> (Clock, ManualClock) {
        let hands = Arc::new(Hands {
            now_ns: AtomicU64::new(0),
            wall_ns: AtomicU64::new(1_796_043_668_729_000_001),
            origin_ns: 1_000_000_000,
        });
        (Clock(Source::Manual(hands.clone())), ManualClock(hands))
    }

    /// Nanoseconds since the origin. Never falls.
    #[inline]
    pub fn now_ns(&self) -> u64 {
        match &self.0 {
            Source::System { origin_ns } => {
                read_ns(libc::CLOCK_MONOTONIC).saturating_sub(*origin_ns)
            }
            Source::Manual(hands) => hands.now_ns.load(Ordering::SeqCst),
        }
    }

    /// The wall clock, nanoseconds since 1970. A label: it may jump.
    pub fn wall_ns(&self) -> u64 {
        match &self.0 {
            Source::System { .. } => read_ns(libc::CLOCK_REALTIME),
            Source::Manual(hands) => hands.wall_ns.load(Ordering::SeqCst),
        }
    }

    /// The raw CLOCK_MONOTONIC at the origin.
    pub fn origin_ns(&self) -> u64 {
        match &self.0 {
            Source::System { origin_ns } => *origin_ns,
            Source::Manual(hands) => hands.origin_ns,
        }
    }
}

impl ManualClock {
    /// Moves both hands forward.
    pub fn advance(&self, ns: u64) {
        self.0.now_ns.fetch_add(ns, Ordering::SeqCst);
        self.0.wall_ns.fetch_add(ns, Ordering::SeqCst);
    }

    /// Sets the wall clock alone, as an operator or NTP would.
    pub fn set_wall_ns(&self, ns: u64) {
        self.0.wall_ns.store(ns, Ordering::SeqCst);
    }
}

#[inline]
fn read_ns(id: libc::clockid_t) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid place for a timespec. Both clocks exist on every Linux, so the call cannot fail.
    unsafe { libc::clock_gettime(id, &mut time) };
    (time.tv_sec.max(0) as u64) * 1_000_000_000 + time.tv_nsec as u64
}
