//! Lines in memory until they are in the file: whole bodies without numbers, in the order they will have.

use std::collections::VecDeque;

/// What goes before a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Heading {
    /// `{"seq":N,`
    Seq,
    /// `{"upto":N,`: the last seq before this line.
    Upto,
}

/// A queue of bodies in one buffer.
#[derive(Default)]
pub(crate) struct Waiting {
    bytes: Vec<u8>,
    /// Where the first body begins: what is before it is written.
    start: usize,
    lines: VecDeque<(u32, Heading)>,
}

impl Waiting {
    /// Bytes that wait.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len() - self.start
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Adds the body that `write` appends. Returns its length; a body longer than `longest` is taken back: None.
    pub(crate) fn push(
        &mut self,
        heading: Heading,
        longest: usize,
        write: impl FnOnce(&mut Vec<u8>),
    ) -> Option<usize> {
        let before = self.bytes.len();
        write(&mut self.bytes);
        let length = self.bytes.len() - before;
        if length > longest {
            self.bytes.truncate(before);
            return None;
        }
        self.lines.push_back((length as u32, heading));
        Some(length)
    }

    /// The bodies from the first on.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u8], Heading)> {
        let mut at = self.start;
        self.lines.iter().map(move |(length, heading)| {
            let body = self
                .bytes
                .get(at..at + *length as usize)
                .unwrap_or_default();
            at += *length as usize;
            (body, *heading)
        })
    }

    /// Forgets the first `count` bodies: they are in the file.
    pub(crate) fn pop(&mut self, count: usize) {
        for (length, _) in self.lines.drain(..count.min(self.lines.len())) {
            self.start += length as usize;
        }
        if self.lines.is_empty() {
            self.bytes.clear();
            // What one bad hour needed is not kept for ever.
            self.bytes.shrink_to(1 << 20);
            self.start = 0;
        } else if self.start > self.bytes.len() / 2 {
            self.bytes.drain(..self.start);
            self.start = 0;
        }
    }
}
