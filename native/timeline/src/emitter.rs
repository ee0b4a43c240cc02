//! The ends of the rings that workers hold.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use crate::clock::Clock;
use crate::event::Event;
use crate::ring::Producer;

/// A thread's own ring. Emitting takes no lock, allocates nothing and makes no system call.
///
/// One producer: emitting needs `&mut self`. An emitter may move to another thread, but not be shared.
pub struct Emitter {
    producer: Producer,
    clock: Clock,
    single: PhantomData<std::cell::Cell<()>>,
}

impl Emitter {
    pub(crate) fn new(producer: Producer, clock: Clock) -> Emitter {
        Emitter {
            producer,
            clock,
            single: PhantomData,
        }
    }

    /// Stamps the event with the clock and puts it into the ring; a full ring counts it as lost. Returns the stamp.
    #[inline]
    pub fn emit(&mut self, event: Event) -> u64 {
        let clock = &self.clock;
        self.producer.push(|| clock.now_ns(), event)
    }

    /// The clock that stamps.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }
}

/// No operation is outstanding.
pub(crate) const NONE: u64 = u64::MAX;

/// The ring of a device's own clock, and the **device horizon**: a device tells of its kernels after they ended, so
/// while an operation is outstanding no mark may pass the instant since when it may have worked.
///
/// ```text
/// let earliest = device.begin();      // before the launch
/// …launch, wait, read the device's stamps, map them…
/// device.emit_at(t, Event::kernel_started(…));
/// device.emit_at(t, Event::kernel_ended(…));
/// device.clear();                     // only when everything is emitted
/// ```
///
/// One owner at a time (`&mut self`): whoever holds the device.
pub struct DeviceEmitter {
    producer: Producer,
    clock: Clock,
    hold: Arc<AtomicU64>,
    /// Stamps are not below this: it cannot have been passed by a mark.
    floor: u64,
    last: u64,
    moved: u64,
}

impl DeviceEmitter {
    pub(crate) fn new(producer: Producer, clock: Clock, hold: Arc<AtomicU64>) -> DeviceEmitter {
        DeviceEmitter {
            producer,
            clock,
            hold,
            floor: 0,
            last: 0,
            moved: 0,
        }
    }

    /// From now on the device may work: no mark passes this instant until [`advance`](Self::advance) or
    /// [`clear`](Self::clear). Returns the earliest stamp an event may have. Idempotent while held.
    pub fn begin(&mut self) -> u64 {
        if self.hold.load(Ordering::Relaxed) == NONE {
            // A mark that did not see the hold took its stamp before the hold was visible, hence before the floor.
            self.hold.store(self.clock.now_ns(), Ordering::SeqCst);
            self.floor = self.clock.now_ns();
        }
        self.floor
    }

    /// Everything that happened before `t` is emitted: marks may go up to `t`.
    pub fn advance(&mut self, t: u64) {
        if self.hold.load(Ordering::Relaxed) != NONE && t > self.floor {
            self.floor = t;
            self.hold.store(t, Ordering::Release);
        }
    }

    /// Everything outstanding is emitted.
    pub fn clear(&mut self) {
        self.hold.store(NONE, Ordering::Release);
    }

    /// Emits with a mapped stamp. A stamp that would break a promise is moved to the nearest one that does not: not
    /// below the ring's last, not below [`begin`](Self::begin)'s; without a hold, not below now. Mapping errors are
    /// microseconds; how often it happened is [`moved`](Self::moved). Returns the stamp.
    #[inline]
    pub fn emit_at(&mut self, t: u64, event: Event) -> u64 {
        let held = self.hold.load(Ordering::Relaxed) != NONE;
        let (clock, last, floor) = (&self.clock, self.last, self.floor);
        let at = self.producer.push(
            || t.max(last).max(if held { floor } else { clock.now_ns() }),
            event,
        );
        self.last = at;
        self.moved += u64::from(at != t);
        at
    }

    /// How many stamps were moved.
    pub fn moved(&self) -> u64 {
        self.moved
    }

    /// The host's clock.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }
}

impl Drop for DeviceEmitter {
    fn drop(&mut self) {
        self.clear();
    }
}
