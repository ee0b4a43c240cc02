//! One ring: a single producer (a thread, or a device's clock), a single consumer (the writer).
//!
//! # Why the mark is true
//!
//! A mark with stamp T promises that no event with an earlier stamp is written after it. An emitter reads the clock
//! first and publishes its record later; in between the stamp exists and nobody can see it. So each emission is
//! bracketed by `turn`, which is odd while one is under way:
//!
//! ```text
//! emitter                                   writer
//! E1  turn := odd                           W1  T := clock
//!     barrier                                   barrier
//! E2  t := clock                            W3  read turn
//! E3  slot := (t, event)                    W4  read tail (Acquire), copy the records below it
//! E4  tail := tail + 1   (Release)
//! E5  turn := even       (Release)
//! ```
//!
//! Take an emission whose record W4 does not see. Then W3 did not read its E5 (which would have made E4 visible).
//! * W3 read the emission's odd turn: the writer lets the mark reach only up to the T of the last look that did not
//!   see this very turn. For that look the next case holds.
//! * W3 read an earlier turn. Then E2 comes after W1, so t ≥ T and the mark does not pass it. This is what the two
//!   barriers are for (store E1 then read, read W1 then read W3: each alone could be passed by the other). They come
//!   in two kinds:
//!   * *symmetric*: E1 is a SeqCst store, and there is a SeqCst fence before a SeqCst W3. W3 precedes E1 in the one order
//!     of these operations. On x86 E1 is a locked instruction, complete before the clock (`lfence; rdtsc`, or
//!     `rdtscp`) is read, and an `lfence` keeps W3 behind W1's reading; elsewhere a margin stands in for it.
//!   * *asymmetric*: membarrier(2) in the writer makes every thread of the process that runs pass a full barrier, in
//!     an interrupt, after W1 and before W3 (one that does not run passes one when it is scheduled). Had E1 come
//!     before its thread's barrier, W3 would have seen it; so E1, and E2 which follows it in the program (a compiler
//!     fence keeps it there), come after an interrupt that came after W1. The emitter itself needs no instruction:
//!     5 ns less an event. Used where the system call can be had, which is asked once.
//!
//! Drops are events too: what was dropped and not yet told of is in one of two loss cells. A cell is told of by
//! whoever takes it: the emitter, into the ring, with its next free slot; or the writer, if the emitter fell silent.
//! While the emitter has a cell in hand the mark stays at or below the cell's first stamp.
//!
//! The argument needs the same brackets around drops, so an emission of any outcome runs E1 … E5.

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::atomic::{compiler_fence, AtomicBool, AtomicU64, AtomicU8, Ordering};
use std::sync::Arc;

use crate::barrier;
use crate::event::Event;

/// A stamped event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) t: u64,
    pub(crate) event: Event,
}

/// What no two threads write shares no cache line.
#[repr(align(128))]
struct Apart<T>(T);

pub(crate) struct Ring {
    name: Arc<str>,
    slots: Box<[UnsafeCell<MaybeUninit<Record>>]>,
    mask: u64,
    /// Written by the consumer: records below are free again.
    head: Apart<AtomicU64>,
    /// Written by the producer, with `turn`: records below are readable.
    tail: Apart<AtomicU64>,
    turn: AtomicU64,
    losses: [Loss; 2],
    closed: AtomicBool,
    /// Tests see the promise broken without the brackets.
    #[cfg(test)]
    pub(crate) unbracketed: AtomicBool,
}

// SAFETY: a slot is written by the one producer while it is not below `tail`, and read by the one consumer while it
// is below `tail` and not below `head`; both move with Release and are read with Acquire.
unsafe impl Sync for Ring {}
// SAFETY: records are plain data.
unsafe impl Send for Ring {}

const FREE: u8 = 0;
const PENDING: u8 = 1;
const IN_HAND: u8 = 2;
const CLAIMED: u8 = 3;

/// Events dropped between two records of a ring.
#[derive(Default)]
struct Loss {
    state: AtomicU8,
    count: AtomicU64,
    from: AtomicU64,
    to: AtomicU64,
    /// The tail at the time: the loss lies just before the record of this index.
    at: AtomicU64,
}

/// A loss that the writer has taken and will write.
#[derive(Clone, Copy)]
struct Claim {
    record: Record,
    at: u64,
}

/// What one look at a ring told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    /// The turn that was read. Odd: an emission was under way.
    pub(crate) turn: u64,
    /// A loss that could not be told of yet: the mark must not pass its first stamp.
    pub(crate) bound: Option<u64>,
}

impl Ring {
    /// A ring of at least two records, a power of two.
    pub(crate) fn new(name: Arc<str>, records: usize) -> (Producer, Arc<Ring>) {
        let size = records.max(2).next_power_of_two();
        // The slots are written once now, so that no page is first touched by an emission.
        let blank = Record {
            t: 0,
            event: Event::lost(0, 0),
        };
        let slots = (0..size)
            .map(|_| UnsafeCell::new(MaybeUninit::new(blank)))
            .collect();
        let ring = Arc::new(Ring {
            name,
            slots,
            mask: size as u64 - 1,
            head: Apart(AtomicU64::new(0)),
            tail: Apart(AtomicU64::new(0)),
            turn: AtomicU64::new(0),
            losses: [Loss::default(), Loss::default()],
            closed: AtomicBool::new(false),
            #[cfg(test)]
            unbracketed: AtomicBool::new(false),
        });
        let producer = Producer {
            ring: ring.clone(),
            tail: 0,
            head: 0,
            turn: 0,
            asymmetric: barrier::is_asymmetric(),
            cell: 0,
            loss_open: false,
        };
        (producer, ring)
    }

    pub(crate) fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// A look that leaves losses to the producer.
    #[cfg(test)]
    pub(crate) fn drain_without_losses(&self, mut take: impl FnMut(Record)) {
        let tail = self.tail.0.load(Ordering::Acquire);
        let head = self.head.0.load(Ordering::Relaxed);
        // SAFETY: as in `drain`.
        (head..tail).for_each(|at| take(unsafe { (*self.slot(at)).assume_init() }));
        self.head.0.store(tail, Ordering::Release);
    }

    /// The producer is gone and everything is drained.
    pub(crate) fn is_over(&self) -> bool {
        self.closed.load(Ordering::Acquire)
            && self.head.0.load(Ordering::Acquire) == self.tail.0.load(Ordering::Acquire)
            && self
                .losses
                .iter()
                .all(|cell| cell.state.load(Ordering::Acquire) == FREE)
    }

    fn size(&self) -> u64 {
        self.mask + 1
    }

    fn slot(&self, index: u64) -> *mut MaybeUninit<Record> {
        // The mask keeps the index below the length.
        self.slots[(index & self.mask) as usize].get()
    }

    /// The consumer's look: hands every readable record, and losses in their places, to `take`, in order.
    /// The caller read the clock and fenced before.
    pub(crate) fn drain(&self, mut take: impl FnMut(Record)) -> Look {
        let turn = self.turn.load(Ordering::SeqCst);
        let (claim, bound) = self.claim();
        let tail = self.tail.0.load(Ordering::Acquire);
        let mut head = self.head.0.load(Ordering::Relaxed);
        while head != tail {
            if let Some((_, claim)) = claim.filter(|(_, c)| c.at == head) {
                take(claim.record);
            }
            // SAFETY: head ≤ index < tail, so the producer has published this slot and will not write it.
            take(unsafe { (*self.slot(head)).assume_init() });
            head += 1;
        }
        if let Some((_, claim)) = claim.filter(|(_, c)| c.at == tail) {
            take(claim.record);
        }
        self.head.0.store(head, Ordering::Release);
        if let Some((cell, _)) = claim {
            self.losses[cell].state.store(FREE, Ordering::Release);
        }
        Look { turn, bound }
    }

    /// Takes a pending loss, if the emitter does not have it in hand.
    fn claim(&self) -> (Option<(usize, Claim)>, Option<u64>) {
        let mut bound = None;
        for (index, cell) in self.losses.iter().enumerate() {
            match cell
                .state
                .compare_exchange(PENDING, CLAIMED, Ordering::AcqRel, Ordering::Acquire)
            {
                Ok(_) => {
                    let count = cell.count.load(Ordering::Relaxed);
                    let from = cell.from.load(Ordering::Relaxed);
                    let record = Record {
                        t: cell.to.load(Ordering::Relaxed),
                        event: Event::lost(count, from),
                    };
                    let at = cell.at.load(Ordering::Relaxed);
                    // One at a time: the emitter counts on the other cell being free. At most one is not.
                    return (Some((index, Claim { record, at })), None);
                }
                Err(IN_HAND) => bound = Some(cell.from.load(Ordering::Acquire)),
                Err(_) => {}
            }
        }
        (None, bound)
    }
}

/// The producing end. `&mut self` makes it single.
pub(crate) struct Producer {
    ring: Arc<Ring>,
    tail: u64,
    /// The head as last read: it may have moved on.
    head: u64,
    turn: u64,
    /// The writer's barrier is enough.
    asymmetric: bool,
    /// The loss cell in use.
    cell: usize,
    /// The cell holds a loss that was not told of when last looked at.
    loss_open: bool,
}

impl Producer {
    /// Takes a stamp and puts the event into the ring, or counts it as lost. Returns the stamp.
    #[inline]
    pub(crate) fn push(&mut self, stamp: impl FnOnce() -> u64, event: Event) -> u64 {
        self.open_turn();
        let t = stamp();
        if !self.loss_open && self.has_room(1) {
            self.put(Record { t, event });
        } else {
            self.push_slowly(t, event);
        }
        self.turn += 1;
        self.ring.turn.store(self.turn, Ordering::Release);
        t
    }

    #[inline]
    fn open_turn(&mut self) {
        self.turn += 1;
        #[cfg(test)]
        if self.ring.unbracketed.load(Ordering::Relaxed) {
            self.turn -= 1;
            return;
        }
        if self.asymmetric {
            self.ring.turn.store(self.turn, Ordering::Relaxed);
            compiler_fence(Ordering::SeqCst);
        } else {
            self.ring.turn.store(self.turn, Ordering::SeqCst);
        }
    }

    #[inline]
    fn has_room(&mut self, records: u64) -> bool {
        if self.tail - self.head + records <= self.ring.size() {
            return true;
        }
        self.head = self.ring.head.0.load(Ordering::Acquire);
        self.tail - self.head + records <= self.ring.size()
    }

    #[inline]
    fn put(&mut self, record: Record) {
        // SAFETY: there is room, so the slot at `tail` is not below `tail` for the consumer, and we are its one producer.
        unsafe { (*self.ring.slot(self.tail)).write(record) };
        self.tail += 1;
        self.ring.tail.0.store(self.tail, Ordering::Release);
    }

    #[cold]
    fn push_slowly(&mut self, t: u64, event: Event) {
        if self.loss_open && self.has_room(1) {
            self.tell_of_loss();
        }
        if !self.loss_open && self.has_room(1) {
            self.put(Record { t, event });
        } else {
            self.lose(t);
        }
    }

    /// Puts the open loss into the ring, unless the writer has taken it.
    fn tell_of_loss(&mut self) {
        let ring = self.ring.clone();
        let cell = &ring.losses[self.cell];
        if take_in_hand(cell) {
            let count = cell.count.load(Ordering::Relaxed);
            let from = cell.from.load(Ordering::Relaxed);
            let t = cell.to.load(Ordering::Relaxed);
            self.put(Record {
                t,
                event: Event::lost(count, from),
            });
            cell.state.store(FREE, Ordering::Release);
        } else {
            self.cell ^= 1;
        }
        self.loss_open = false;
    }

    fn lose(&mut self, t: u64) {
        let cell = &self.ring.losses[self.cell];
        if self.loss_open && take_in_hand(cell) {
            cell.count
                .store(cell.count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            cell.to.store(t, Ordering::Relaxed);
            cell.state.store(PENDING, Ordering::Release);
            return;
        }
        if self.loss_open {
            // The writer took it: this drop begins a loss of its own, in the other cell.
            self.cell ^= 1;
        }
        let cell = &self.ring.losses[self.cell];
        cell.count.store(1, Ordering::Relaxed);
        cell.from.store(t, Ordering::Release);
        cell.to.store(t, Ordering::Relaxed);
        cell.at.store(self.tail, Ordering::Relaxed);
        cell.state.store(PENDING, Ordering::Release);
        self.loss_open = true;
    }
}

fn take_in_hand(cell: &Loss) -> bool {
    cell.state
        .compare_exchange(PENDING, IN_HAND, Ordering::AcqRel, Ordering::Relaxed)
        .is_ok()
}

impl Drop for Producer {
    fn drop(&mut self) {
        self.ring.closed.store(true, Ordering::Release);
    }
}
