//! The journal: numbers lines and appends them, and lives through a file that cannot be written.
//!
//! Lines wait in memory without numbers and get them as they go into the file, so whatever is written first is
//! numbered first and there are no holes. The file holds whole lines only: what a failed write left behind the last
//! newline is cut off before anything else is written; if even that fails, the next write starts at the same place.

use std::io;

use crate::line;
use crate::sink::Sink;
use crate::timeline::Failing;
use crate::waiting::{Heading, Waiting};
use crate::words::WriteFault;

/// Bytes handed to the system at once.
const CHUNK: usize = 256 << 10;
/// A line of the specification, less its heading and end.
const LONGEST_EVENT: usize = 65_536 - 64;
/// A `state` line.
const LONGEST_STATE: usize = (1 << 20) - 64;
const FIRST_RETRY_NS: u64 = 100_000_000;
const LAST_RETRY_NS: u64 = 2_000_000_000;

/// What happens to a line when memory runs short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Emitted by a worker: dropped beyond the bound.
    Event,
    /// Said by a control thread, or by the journal: dropped beyond twice the bound.
    Notice,
}

/// Events dropped because memory ran short.
#[derive(Clone, Copy, Debug)]
struct Overflow {
    count: u64,
    from: u64,
    to: u64,
}

struct Fault {
    failing: Failing,
    retry_at: u64,
    wait_ns: u64,
}

pub(crate) struct Journal<S> {
    sink: S,
    /// The file's whole lines.
    length: u64,
    /// Bytes behind `length` may be there.
    torn: bool,
    /// Known to be on the disk.
    synced: u64,
    /// An fsync failed: the system may have called lost pages clean. They are written again first.
    doubtful: bool,
    next_seq: u64,
    waiting: Waiting,
    bound: usize,
    overflow: Option<Overflow>,
    fault: Option<Fault>,
    dropped: u64,
    state_due: bool,
    chunk: Vec<u8>,
}

impl<S: Sink> Journal<S> {
    pub(crate) fn new(sink: S, bound: usize) -> Journal<S> {
        Journal {
            sink,
            length: 0,
            torn: false,
            synced: 0,
            doubtful: false,
            next_seq: 0,
            waiting: Waiting::default(),
            bound,
            overflow: None,
            fault: None,
            dropped: 0,
            state_due: false,
            chunk: Vec::new(),
        }
    }

    pub(crate) fn failing(&self) -> Option<&Failing> {
        self.fault.as_ref().map(|fault| &fault.failing)
    }

    /// Events dropped for want of memory.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    pub(crate) fn waiting_bytes(&self) -> usize {
        self.waiting.len()
    }

    /// The seq of the last line in the file.
    pub(crate) fn last_seq(&self) -> i64 {
        self.next_seq as i64 - 1
    }

    /// Adds an event that happened at `t`. `lost`: it is itself the record of so many lost since then.
    /// Returns whether it was taken.
    pub(crate) fn event(
        &mut self,
        class: Class,
        t: u64,
        lost: Option<(u64, u64)>,
        write: impl FnOnce(&mut Vec<u8>),
    ) -> bool {
        let room = match class {
            Class::Event => self.bound,
            Class::Notice => self.bound.saturating_mul(2),
        };
        if self.waiting.len() < self.bound {
            self.tell_of_overflow();
        }
        if self.waiting.len() < room
            && self
                .waiting
                .push(Heading::Seq, LONGEST_EVENT, write)
                .is_some()
        {
            return true;
        }
        let (count, from) = lost.unwrap_or((1, t));
        let overflow = self.overflow.get_or_insert(Overflow {
            count: 0,
            from,
            to: t,
        });
        overflow.count += count;
        overflow.from = overflow.from.min(from);
        overflow.to = overflow.to.max(t);
        self.dropped += if lost.is_some() { 0 } else { count };
        false
    }

    fn tell_of_overflow(&mut self) -> bool {
        let Some(lost) = self.overflow.take() else {
            return false;
        };
        self.state_due = true;
        let record = crate::ring::Record {
            t: lost.to,
            event: crate::event::Event::lost(lost.count, lost.from),
        };
        self.waiting.push(Heading::Seq, LONGEST_EVENT, |out| {
            line::event(out, &record, "journal", &Default::default())
        });
        true
    }

    /// Adds a `mark` or a `state`. While the file cannot be written there are none.
    pub(crate) fn note(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        if self.fault.is_none() {
            self.waiting.push(Heading::Upto, LONGEST_STATE, write);
        }
    }

    /// Whether a `lost` was told of and no snapshot since.
    pub(crate) fn take_state_due(&mut self) -> bool {
        self.fault.is_none() && std::mem::take(&mut self.state_due)
    }

    /// Writes what waits, unless a fault's retry is not due.
    pub(crate) fn flush(&mut self, now: u64, at_once: bool) {
        if let Some(fault) = &self.fault {
            if !at_once && now < fault.retry_at {
                return;
            }
            if let Err(error) = self.recover(now) {
                return self.note_fault(now, &error);
            }
        }
        loop {
            while !self.waiting.is_empty() {
                let lines = self.fill_chunk(0);
                if let Err(error) = self.write_chunk(lines, false) {
                    return self.note_fault(now, &error);
                }
            }
            if !self.tell_of_overflow() {
                return;
            }
        }
    }

    /// fsync, of the folder too if asked.
    pub(crate) fn sync(&mut self, now: u64, folder: bool) -> bool {
        if self.fault.is_some() || !self.waiting.is_empty() {
            return false;
        }
        let result = self.sink.sync().and_then(|()| {
            if folder {
                self.sink.sync_folder()
            } else {
                Ok(())
            }
        });
        match result {
            Ok(()) => {
                self.synced = self.length;
                true
            }
            Err(error) => {
                self.doubtful = true;
                self.note_fault(now, &error);
                false
            }
        }
    }

    /// Puts numbered lines from the front of the queue into the chunk, behind what it holds if `kept`.
    fn fill_chunk(&mut self, kept: usize) -> usize {
        self.chunk.truncate(kept);
        let mut seq = self.next_seq + u64::from(kept > 0);
        let mut lines = 0;
        for (body, heading) in self.waiting.iter() {
            if self.chunk.len() >= CHUNK {
                break;
            }
            lines += 1;
            match heading {
                Heading::Seq => {
                    self.chunk.extend_from_slice(b"{\"seq\":");
                    crate::json::number(&mut self.chunk, seq);
                    seq += 1;
                }
                Heading::Upto => {
                    self.chunk.extend_from_slice(b"{\"upto\":");
                    crate::json::integer(&mut self.chunk, seq as i64 - 1);
                }
            }
            self.chunk.push(b',');
            self.chunk.extend_from_slice(body);
            self.chunk.extend_from_slice(b"}\n");
        }
        lines
    }

    /// Writes the chunk. Of a failed write the whole lines count as written, or (`all`) none do; the rest is cut off.
    fn write_chunk(&mut self, lines: usize, all: bool) -> io::Result<()> {
        let chunk = std::mem::take(&mut self.chunk);
        let mut written = 0;
        let mut result = Ok(());
        while written < chunk.len() && result.is_ok() {
            match self.sink.write_at(
                chunk.get(written..).unwrap_or_default(),
                self.length + written as u64,
            ) {
                Ok(0) => result = Err(io::ErrorKind::WriteZero.into()),
                Ok(bytes) => written += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => result = Err(error),
            }
        }
        let kept = match &result {
            Ok(()) => chunk.len(),
            Err(_) if all => 0,
            Err(_) => chunk
                .get(..written)
                .and_then(|c| c.iter().rposition(|b| *b == b'\n'))
                .map_or(0, |at| at + 1),
        };
        self.torn = written > kept;
        let whole = chunk.get(..kept).unwrap_or_default();
        let count = if result.is_ok() {
            lines
        } else {
            whole.iter().filter(|b| **b == b'\n').count()
        };
        let numbered = self
            .waiting
            .iter()
            .take(count)
            .filter(|(_, h)| *h == Heading::Seq)
            .count();
        // A `write_failed` before the queue's lines is numbered too; it is only ever written as part of `all`.
        self.next_seq += numbered as u64 + u64::from(all && result.is_ok());
        self.length += kept as u64;
        self.waiting.pop(count);
        self.chunk = chunk;
        if self.torn && self.sink.truncate(self.length).is_ok() {
            self.torn = false;
        }
        result
    }

    /// Tries the file again: what is doubtful is written again, a torn end cut off; then `write_failed` and the first
    /// waiting lines, all of them or none, so that a disk with room for a line does not fill with `write_failed`.
    fn recover(&mut self, now: u64) -> io::Result<()> {
        let Some(fault) = &self.fault else {
            return Ok(());
        };
        let Failing {
            reason,
            since,
            detail,
        } = fault.failing.clone();
        if self.torn {
            self.sink.truncate(self.length)?;
            self.torn = false;
        }
        if self.doubtful {
            self.write_again()?;
        }
        self.chunk.clear();
        self.chunk.extend_from_slice(b"{\"seq\":");
        crate::json::number(&mut self.chunk, self.next_seq);
        self.chunk.push(b',');
        line::write_failed(&mut self.chunk, now, reason, since, &detail);
        self.chunk.extend_from_slice(b"}\n");
        let lines = self.fill_chunk(self.chunk.len());
        self.write_chunk(lines, true)?;
        self.fault = None;
        Ok(())
    }

    /// Writes the bytes since the last good fsync over themselves, so that they are dirty again, and fsyncs.
    fn write_again(&mut self) -> io::Result<()> {
        let mut buffer = vec![0; CHUNK];
        let mut at = self.synced;
        while at < self.length {
            let want = (self.length - at).min(CHUNK as u64) as usize;
            let Some(part) = buffer.get_mut(..want) else {
                break;
            };
            let read = self.sink.read_at(part, at)?;
            let mut rest = part.get(..read).unwrap_or_default();
            if rest.is_empty() {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            while !rest.is_empty() {
                let written = self.sink.write_at(rest, at)?;
                if written == 0 {
                    return Err(io::ErrorKind::WriteZero.into());
                }
                at += written as u64;
                rest = rest.get(written..).unwrap_or_default();
            }
        }
        self.sink.sync()?;
        self.synced = self.length;
        self.doubtful = false;
        Ok(())
    }

    fn note_fault(&mut self, now: u64, error: &io::Error) {
        let wait_ns = self
            .fault
            .as_ref()
            .map_or(FIRST_RETRY_NS, |f| (f.wait_ns * 2).min(LAST_RETRY_NS));
        let retry_at = now.saturating_add(wait_ns);
        match &mut self.fault {
            Some(fault) => (fault.retry_at, fault.wait_ns) = (retry_at, wait_ns),
            None => {
                let failing = Failing {
                    reason: reason(error),
                    since: now,
                    detail: error.to_string(),
                };
                self.fault = Some(Fault {
                    failing,
                    retry_at,
                    wait_ns,
                });
            }
        }
    }
}

fn reason(error: &io::Error) -> WriteFault {
    match error.raw_os_error() {
        Some(libc::ENOSPC | libc::EDQUOT | libc::EFBIG) => WriteFault::DiskFull,
        Some(libc::EROFS | libc::EACCES | libc::EPERM) => WriteFault::ReadOnly,
        _ => WriteFault::Io,
    }
}
