//! The writer: one thread that drains the rings, puts what they hold in order, and keeps the journal's promises.

use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Duration;

use crate::barrier::read_clock_before_looking;
use crate::emitter::NONE;
use crate::event::Kind;
use crate::journal::{Class, Journal};
use crate::line::{self, Lookup};
use crate::machine::Machine;
use crate::notice::Notice;
use crate::ring::{Record, Ring};
use crate::shared::{relock, Request, Shared};
use crate::sink::Sink;
use crate::timeline::Status;
use crate::words::Bye;

/// Between two looks at the rings, while anything happens and while nothing does.
const BUSY_PAUSE: Duration = Duration::from_millis(10);
const IDLE_PAUSE: Duration = Duration::from_millis(50);
/// Marks come more often than the specification asks (100 ms, 1 s), so that a late look still keeps it.
const BUSY_MARK_NS: u64 = 50_000_000;
const IDLE_MARK_NS: u64 = 900_000_000;
const STATE_NS: u64 = 1_000_000_000;
/// A wall clock that moved by more has stepped.
const STEP_NS: u64 = 500_000_000;
/// How long a stop goes on trying to write.
const STOP_TRIES: u32 = 20;
const STOP_PAUSE: Duration = Duration::from_millis(100);

/// A ring, and what the writer knows about it.
struct Seat {
    ring: Arc<Ring>,
    /// The turn that was read last.
    turn: u64,
    /// No record that is not drained yet has an earlier stamp.
    bound: u64,
}

/// Something to write.
enum Item {
    Record { record: Record, seat: u32 },
    Notice { wall_ns: u64, notice: Notice },
}

pub(crate) struct Writer<S> {
    shared: Arc<Shared>,
    journal: Journal<S>,
    machine: Machine,
    seats: Vec<Seat>,
    holds: Vec<Arc<AtomicU64>>,
    names: Lookup,
    items: Vec<(u64, Item)>,
    /// The stamp of the last look.
    looked_at: u64,
    /// The stamp of the last mark.
    marked: Option<u64>,
    stated_at: Option<u64>,
    last_event_at: u64,
    busy: bool,
    /// Events that the rings dropped.
    dropped: u64,
    /// Wall clock less monotonic clock, as last said in the file.
    wall_less_mono: i128,
    /// Instead of the usual time between marks.
    mark_pause: Option<u64>,
}

impl<S: Sink> Writer<S> {
    /// A writer whose first line is `hello`.
    pub(crate) fn new(
        shared: Arc<Shared>,
        mut journal: Journal<S>,
        machine: Machine,
        hello: &crate::Hello,
    ) -> Writer<S> {
        let (t, wall_ns) = (shared.clock.now_ns(), shared.clock.wall_ns());
        let origin_ns = shared.clock.origin_ns();
        // The anchor is the wall clock at the origin, not at this line.
        let anchor = wall_ns.saturating_sub(t);
        journal.event(Class::Notice, t, None, |out| {
            line::hello(out, t, origin_ns, anchor, hello, &machine)
        });
        journal.flush(t, true);
        Writer {
            wall_less_mono: i128::from(wall_ns) - i128::from(t),
            shared,
            journal,
            machine,
            seats: Vec::new(),
            holds: Vec::new(),
            names: Lookup::default(),
            items: Vec::new(),
            looked_at: t,
            marked: None,
            stated_at: None,
            last_event_at: t,
            busy: true,
            mark_pause: None,
            dropped: 0,
        }
    }

    #[cfg(test)]
    pub(crate) fn rings(&self) -> usize {
        self.seats.len()
    }

    /// A test wants every mark that can be made.
    #[cfg(test)]
    pub(crate) fn mark_always(&mut self) {
        self.mark_pause = Some(1);
    }

    pub(crate) fn journal(&mut self) -> &mut Journal<S> {
        &mut self.journal
    }

    /// Runs until it is asked to stop.
    pub(crate) fn run(mut self) {
        loop {
            let request = self.shared.request();
            let stop = request.stop;
            self.round(request);
            if let Some(how) = stop {
                let written = self.stop(how);
                return self.shared.answer_stop(written);
            }
            std::thread::park_timeout(if self.busy { BUSY_PAUSE } else { IDLE_PAUSE });
        }
    }

    /// One look: drains, writes, marks, answers.
    pub(crate) fn round(&mut self, request: Request) {
        let horizon = self.drain();
        let now = self.shared.clock.now_ns();
        let events = self.items.len();
        self.take_items();
        self.check_wall_clock(now);
        self.journal.flush(now, request.sync > request.synced);
        if events > 0 {
            self.last_event_at = now;
        }
        self.snapshot_if_due(now);
        self.mark_if_due(horizon);
        self.journal.flush(now, false);
        self.publish_status();
        if request.sync > request.synced {
            let synced = self.journal.sync(now, false);
            self.publish_status();
            let answer = if synced {
                Ok(())
            } else {
                Err(self.fault_in_words())
            };
            self.shared.answer_sync(request.sync, answer);
        }
    }

    /// Collects everything published into `items`. Returns the stamp that a mark may have.
    fn drain(&mut self) -> u64 {
        let now = read_clock_before_looking(&self.shared.clock);
        let mut horizon = now;
        {
            let mut new = relock(self.shared.new_holds.lock());
            self.holds.append(&mut new);
        }
        // A device clears its hold after it has emitted, so holds are read before rings.
        self.holds.retain(|hold| {
            let alive = Arc::strong_count(hold) > 1;
            let since = hold.load(Ordering::SeqCst);
            horizon = horizon.min(if since == NONE { u64::MAX } else { since });
            alive || since != NONE
        });
        {
            let mut new = relock(self.shared.new_rings.lock());
            // It was not there at the last look, so its stamps are later.
            let bound = self.looked_at;
            self.seats.extend(new.drain(..).map(|ring| Seat {
                ring,
                turn: 0,
                bound,
            }));
        }
        let items = &mut self.items;
        let looked_at = self.looked_at;
        for (index, seat) in self.seats.iter_mut().enumerate() {
            let look = seat.ring.drain(|record| {
                items.push((
                    record.t,
                    Item::Record {
                        record,
                        seat: index as u32,
                    },
                ))
            });
            if look.turn % 2 == 0 {
                seat.bound = now;
            } else if look.turn != seat.turn {
                seat.bound = looked_at;
            }
            seat.turn = look.turn;
            horizon = horizon.min(seat.bound).min(look.bound.unwrap_or(u64::MAX));
        }
        self.looked_at = now;
        let said = std::mem::take(&mut *relock(self.shared.notices.lock()));
        self.items.extend(
            said.into_iter()
                .map(|(t, wall_ns, notice)| (t, Item::Notice { wall_ns, notice })),
        );
        // Stable: each ring's order stays.
        self.items.sort_by_key(|(t, _)| *t);
        self.names
            .refresh(&self.shared.proofs, &self.shared.devices);
        horizon
    }

    /// Hands the items to the journal.
    fn take_items(&mut self) {
        let mut lost = false;
        for (t, item) in self.items.drain(..) {
            let names = &self.names;
            match item {
                Item::Record { record, seat } => {
                    let loss = (record.event.kind == Kind::Lost)
                        .then_some((record.event.a, record.event.b));
                    self.dropped += loss.map_or(0, |(count, _)| count);
                    lost |= loss.is_some();
                    let ring = self
                        .seats
                        .get(seat as usize)
                        .map_or("?", |seat| seat.ring.name());
                    self.journal.event(Class::Event, t, loss, |out| {
                        line::event(out, &record, ring, names)
                    });
                }
                Item::Notice { wall_ns, notice } => {
                    self.journal.event(Class::Notice, t, None, |out| {
                        line::notice(out, t, wall_ns, &notice, names)
                    });
                }
            }
        }
        if lost {
            self.stated_at = None;
        }
        self.items.shrink_to(1 << 17);
        self.seats.retain(|seat| !seat.ring.is_over());
    }

    fn check_wall_clock(&mut self, t: u64) {
        // The two clocks are read one after the other: a thread put aside in between would look like a step.
        let wall_ns = self.shared.clock.wall_ns();
        if self.shared.clock.now_ns().saturating_sub(t) > STEP_NS / 8 {
            return;
        }
        let moved = i128::from(wall_ns) - i128::from(t) - self.wall_less_mono;
        if moved.unsigned_abs() > u128::from(STEP_NS) {
            self.wall_less_mono += moved;
            let step = moved.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
            self.journal.event(Class::Notice, t, None, |out| {
                line::clock_step(out, t, wall_ns, step)
            });
        }
    }

    fn snapshot_if_due(&mut self, now: u64) {
        let due = self
            .stated_at
            .is_none_or(|at| now.saturating_sub(at) >= STATE_NS);
        let after_loss = self.journal.take_state_due();
        if (due || after_loss) && self.journal.failing().is_none() {
            self.snapshot();
        }
    }

    fn snapshot(&mut self) {
        // Stamped before it is taken: what happens in between is then in the snapshot and told of again, which
        // changes nothing; the other way round it would be missed.
        let t = self.shared.clock.now_ns();
        let Some(state) = self.shared.state() else {
            return;
        };
        self.names
            .refresh(&self.shared.proofs, &self.shared.devices);
        self.busy = state.is_busy();
        self.stated_at = Some(t);
        let (memory, dropped) = (
            (self.machine.memory)(),
            self.dropped + self.journal.dropped(),
        );
        let names = &self.names;
        self.journal
            .note(|out| line::state(out, t, &state, memory, dropped, names));
    }

    fn mark_if_due(&mut self, horizon: u64) {
        let recent = self.looked_at.saturating_sub(self.last_event_at) < STATE_NS;
        self.busy |= recent
            || self
                .holds
                .iter()
                .any(|hold| hold.load(Ordering::Relaxed) != NONE);
        let usual = if self.busy {
            BUSY_MARK_NS
        } else {
            IDLE_MARK_NS
        };
        let pause = self.mark_pause.unwrap_or(usual);
        if self
            .marked
            .is_none_or(|marked| horizon >= marked.saturating_add(pause))
        {
            self.mark(horizon);
        }
    }

    fn mark(&mut self, horizon: u64) {
        if self.marked.is_none_or(|marked| horizon > marked) && self.journal.failing().is_none() {
            self.marked = Some(horizon);
            self.journal.note(|out| line::mark(out, horizon));
        }
    }

    /// The last lines. Returns what kept them from the disk.
    pub(crate) fn stop(&mut self, how: Option<(Bye, i32)>) -> Result<(), String> {
        self.snapshot();
        let horizon = self.drain();
        self.take_items();
        self.journal.flush(self.looked_at, true);
        self.mark(horizon);
        if let Some((reason, exit)) = how {
            let t = self.shared.clock.now_ns();
            self.journal.event(Class::Notice, t, None, |out| {
                line::bye(out, t, reason, exit)
            });
        }
        for _ in 0..STOP_TRIES {
            let now = self.shared.clock.now_ns();
            self.journal.flush(now, true);
            if self.journal.sync(now, true) {
                self.publish_status();
                return Ok(());
            }
            self.publish_status();
            std::thread::sleep(STOP_PAUSE);
        }
        Err(self.fault_in_words())
    }

    fn fault_in_words(&self) -> String {
        match self.journal.failing() {
            Some(failing) => format!("the journal cannot be written: {}", failing.detail),
            None => "lines still wait to be written".into(),
        }
    }

    fn publish_status(&self) {
        let mut status = relock(self.shared.status.lock());
        *status = Status {
            failing: self.journal.failing().cloned(),
            dropped: self.dropped + self.journal.dropped(),
            waiting_bytes: self.journal.waiting_bytes() as u64,
            last_seq: self.journal.last_seq(),
        };
    }
}

/// A snapshot by a closure that may be wrong: the journal goes on without it.
pub(crate) fn call_source(source: &dyn Fn() -> crate::State) -> Option<crate::State> {
    catch_unwind(AssertUnwindSafe(source)).ok()
}
