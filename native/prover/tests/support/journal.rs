//! A journal, read as the format says, with the questions that tests ask of it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use serde_json::Value;

#[derive(Clone, Debug)]
pub struct Line {
    pub e: String,
    pub t: u64,
    pub body: Value,
}

impl Line {
    pub fn str(&self, field: &str) -> &str {
        self.body[field]
            .as_str()
            .unwrap_or_else(|| panic!("{field} of {}", self.body))
    }

    pub fn number(&self, field: &str) -> u64 {
        self.body[field]
            .as_u64()
            .unwrap_or_else(|| panic!("{field} of {}", self.body))
    }
}

#[derive(Clone, Debug)]
pub struct Journal(pub Vec<Line>);

/// A partition: (proof, partition).
pub type Part = (String, u64);

impl Journal {
    /// Every whole line; a torn tail is not one.
    pub fn read(path: &Path) -> Journal {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let line = |line: &str| {
            let body: Value = serde_json::from_str(line).unwrap();
            Line {
                e: body["e"].as_str().unwrap().into(),
                t: body["t"].as_u64().unwrap(),
                body,
            }
        };
        Journal(text[..whole].lines().map(line).collect())
    }

    pub fn of(&self, e: &str) -> Vec<&Line> {
        self.0.iter().filter(|line| line.e == e).collect()
    }

    pub fn has(&self, e: &str) -> bool {
        !self.of(e).is_empty()
    }

    pub fn one(&self, e: &str) -> &Line {
        let all = self.of(e);
        assert_eq!(all.len(), 1, "one {e} is expected:\n{self}");
        all[0]
    }

    /// The events in the order of what happened: by (t, seq).
    pub fn happened(&self) -> Vec<&Line> {
        let mut events: Vec<&Line> = self
            .0
            .iter()
            .filter(|line| line.body["seq"].is_u64())
            .collect();
        events.sort_by_key(|line| (line.t, line.number("seq")));
        events
    }

    /// Each partition's events, in the order of what happened.
    pub fn partitions(&self) -> BTreeMap<Part, Vec<&Line>> {
        let mut all: BTreeMap<Part, Vec<&Line>> = BTreeMap::new();
        for line in self
            .happened()
            .into_iter()
            .filter(|line| line.body["partition"].is_u64())
        {
            let part = (line.str("proof").to_owned(), line.number("partition"));
            all.entry(part).or_default().push(line);
        }
        all
    }

    /// Half-open spans from each `start` to the next `end` of the same partition and worker.
    pub fn spans(&self, start: &str, end: &str) -> Vec<(u64, u64)> {
        let mut spans = Vec::new();
        for lines in self.partitions().values() {
            let mut open = None;
            for line in lines {
                if line.e == start {
                    open = Some(line.t);
                } else if line.e == end {
                    spans.push((open.take().unwrap(), line.t));
                }
            }
        }
        spans.sort_unstable();
        spans
    }

    /// seq has no holes, hello is first.
    pub fn assert_whole(&self) {
        assert_eq!(self.0[0].e, "hello");
        let seqs = self.0.iter().filter_map(|line| line.body["seq"].as_u64());
        assert!(seqs.eq(0..self.0.iter().filter(|l| l.body["seq"].is_u64()).count() as u64));
        assert!(!self.has("lost"), "nothing may be lost");
        assert_eq!(self.0.last().unwrap().e, "bye");
        // Everything that a mark promises is written.
        let mut promised = 0;
        for line in &self.0 {
            if line.e == "mark" {
                promised = promised.max(line.t);
            } else if line.body["seq"].is_u64() {
                assert!(
                    line.t >= promised,
                    "{} comes after the mark {promised}",
                    line.body
                );
            }
        }
    }
}

/// The measure of a union of half-open spans.
pub fn union(spans: &[(u64, u64)]) -> u64 {
    let mut spans = spans.to_vec();
    spans.sort_unstable();
    let (mut sum, mut reached) = (0, 0);
    for (start, end) in spans {
        sum += end.saturating_sub(start.max(reached));
        reached = reached.max(end);
    }
    sum
}

impl fmt::Display for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in self
            .0
            .iter()
            .filter(|line| line.e != "mark" && line.e != "state")
        {
            writeln!(f, "{}", line.body)?;
        }
        Ok(())
    }
}
