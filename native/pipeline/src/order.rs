//! The dispatcher's decisions: which partition starts synthesis next, and which queued partition
//! a GPU worker picks up next. Pure functions over what the pipeline knows; no clock, no lock.
//!
//! Priorities overtake at partition boundaries. Within one priority nothing starves: whoever was
//! passed over [`OVERTAKE_LIMIT`] times by a younger one goes first.

use std::cmp::{Ordering, Reverse};

use crate::scheduler::Order;

/// How often a younger proof or partition of the same priority may go first.
pub const OVERTAKE_LIMIT: u32 = 32;

/// What the order looks at in one proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rank {
    /// 1 to 4; 4 goes first.
    pub priority: u8,
    /// A counter of acceptance: smaller is older.
    pub accepted: u64,
    /// Wall-clock deadline in nanoseconds.
    pub deadline: Option<u64>,
    /// Constraints of its partitions that have not ended.
    pub work_left: u64,
    /// One of its partitions has started and it has not ended: it holds a place.
    pub started: bool,
    /// How often a younger proof of its priority went first.
    pub passed: u32,
}

impl Rank {
    fn overdue(&self) -> bool {
        self.passed >= OVERTAKE_LIMIT
    }

    fn key(&self, order: Order) -> (u64, u64) {
        match order {
            _ if self.overdue() => (0, self.accepted),
            Order::Fifo | Order::ProofFirst => (0, self.accepted),
            Order::ShortestFirst => (self.work_left, self.accepted),
            Order::Deadline => (self.deadline.unwrap_or(u64::MAX), self.accepted),
        }
    }

    fn compare(&self, other: &Rank, order: Order) -> Ordering {
        let place = |r: &Rank| (Reverse(r.priority), !r.overdue(), r.key(order));
        place(self).cmp(&place(other))
    }
}

/// One proof that has not ended, as the dispatcher sees it.
#[derive(Clone, Debug)]
pub struct Waiting {
    /// Its rank.
    pub rank: Rank,
    /// Its partitions whose synthesis has not started, ascending.
    pub partitions: Vec<u32>,
}

/// A partition that a GPU worker may pick up.
#[derive(Clone, Copy, Debug)]
pub struct Queued {
    /// Its proof's rank.
    pub rank: Rank,
    /// Its number.
    pub partition: u32,
    /// A counter of queueing: smaller has waited longer.
    pub since: u64,
    /// How often a younger partition of its priority was picked up before it.
    pub passed: u32,
}

/// The partitions that start synthesis next, best first, at most `limit`: (index into `proofs`,
/// partition).
///
/// At most `places` proofs are in flight. A proof with a started partition keeps its place, unless
/// one of a higher priority takes it; then its running partitions go on and no new one starts.
pub fn next_starts(
    order: Order,
    places: usize,
    proofs: &[Waiting],
    limit: usize,
) -> Vec<(usize, u32)> {
    let rank = |i: &usize| &proofs[*i].rank;
    let mut admitted: Vec<usize> = (0..proofs.len()).collect();
    admitted.sort_by(|a, b| {
        let (a, b) = (rank(a), rank(b));
        let place = |r: &Rank| (Reverse(r.priority), !r.started);
        place(a).cmp(&place(b)).then_with(|| a.compare(b, order))
    });
    admitted.truncate(places);
    admitted.sort_by(|a, b| rank(a).compare(rank(b), order));
    admitted
        .into_iter()
        .flat_map(|i| proofs[i].partitions.iter().map(move |p| (i, *p)))
        .take(limit)
        .collect()
}

/// The proofs that are passed over when a partition of `chosen` starts.
pub fn passed_by_start(proofs: &[Waiting], chosen: usize) -> Vec<usize> {
    let winner = &proofs[chosen].rank;
    let passed = |w: &Waiting| {
        !w.partitions.is_empty()
            && w.rank.priority == winner.priority
            && w.rank.accepted < winner.accepted
    };
    (0..proofs.len()).filter(|i| passed(&proofs[*i])).collect()
}

/// The queued partition that a worker picks up next: an index into `queued`.
pub fn next_pick(order: Order, queued: &[Queued]) -> Option<usize> {
    let key = |q: &Queued| {
        let overdue = q.passed >= OVERTAKE_LIMIT;
        let inner = match order {
            _ if overdue => (0, 0, 0, q.since),
            Order::Fifo => (0, 0, 0, q.since),
            _ => {
                let (first, second) = q.rank.key(order);
                (first, second, q.partition, q.since)
            }
        };
        (Reverse(q.rank.priority), !overdue, inner)
    };
    (0..queued.len()).min_by_key(|i| key(&queued[*i]))
}

/// The queued partitions that are passed over when `chosen` is picked up.
pub fn passed_by_pick(queued: &[Queued], chosen: usize) -> Vec<usize> {
    let winner = &queued[chosen];
    let passed = |q: &Queued| q.rank.priority == winner.rank.priority && q.since < winner.since;
    (0..queued.len()).filter(|i| passed(&queued[*i])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank(priority: u8, accepted: u64) -> Rank {
        Rank {
            priority,
            accepted,
            deadline: None,
            work_left: 10,
            started: false,
            passed: 0,
        }
    }

    fn proof(rank: Rank, partitions: std::ops::Range<u32>) -> Waiting {
        Waiting {
            rank,
            partitions: partitions.collect(),
        }
    }

    #[test]
    fn starts_follow_the_order_the_priority_and_the_places() {
        let short = Rank {
            work_left: 1,
            ..rank(1, 2)
        };
        let urgent = Rank {
            deadline: Some(5),
            ..rank(1, 2)
        };
        let late = Rank {
            deadline: Some(9),
            ..rank(1, 1)
        };
        let started = Rank {
            started: true,
            ..rank(1, 2)
        };
        let tired = Rank {
            passed: OVERTAKE_LIMIT,
            ..rank(1, 1)
        };
        // (what it shows, order, places, proofs, the partitions that start, in order)
        type Row = (&'static str, Order, usize, Vec<Waiting>, Vec<(usize, u32)>);
        let table: Vec<Row> = vec![
            (
                "fifo takes the older proof's partitions first",
                Order::Fifo,
                2,
                vec![proof(rank(1, 2), 0..2), proof(rank(1, 1), 0..2)],
                vec![(1, 0), (1, 1), (0, 0), (0, 1)],
            ),
            (
                "a higher priority overtakes at the next partition",
                Order::Fifo,
                2,
                vec![
                    proof(
                        Rank {
                            started: true,
                            ..rank(2, 1)
                        },
                        3..5,
                    ),
                    proof(rank(4, 2), 0..1),
                ],
                vec![(1, 0), (0, 3), (0, 4)],
            ),
            (
                "it takes a place even if none is free",
                Order::Fifo,
                1,
                vec![
                    proof(
                        Rank {
                            started: true,
                            ..rank(2, 1)
                        },
                        3..5,
                    ),
                    proof(rank(4, 2), 0..1),
                ],
                vec![(1, 0)],
            ),
            (
                "an equal priority does not",
                Order::ShortestFirst,
                1,
                vec![proof(started, 1..2), proof(short, 0..1)],
                vec![(0, 1)],
            ),
            (
                "a proof in flight with nothing left to start still holds its place",
                Order::Fifo,
                1,
                vec![proof(started, 0..0), proof(rank(1, 3), 0..1)],
                vec![],
            ),
            (
                "shortest first",
                Order::ShortestFirst,
                2,
                vec![proof(rank(1, 1), 0..1), proof(short, 0..1)],
                vec![(1, 0), (0, 0)],
            ),
            (
                "the earliest deadline first, none last",
                Order::Deadline,
                3,
                vec![
                    proof(rank(1, 0), 0..1),
                    proof(late, 0..1),
                    proof(urgent, 0..1),
                ],
                vec![(2, 0), (1, 0), (0, 0)],
            ),
            (
                "who was passed over often enough goes first",
                Order::ShortestFirst,
                1,
                vec![proof(tired, 0..1), proof(short, 0..1)],
                vec![(0, 0)],
            ),
        ];
        for (shows, order, places, proofs, expected) in table {
            assert_eq!(next_starts(order, places, &proofs, 9), expected, "{shows}");
        }
    }

    #[test]
    fn pick_up_follows_the_order() {
        let queued = |rank, partition, since| Queued {
            rank,
            partition,
            since,
            passed: 0,
        };
        let young_first = [queued(rank(1, 2), 0, 1), queued(rank(1, 1), 7, 2)];
        let short = Rank {
            work_left: 1,
            ..rank(1, 3)
        };
        let table = [
            (
                "fifo: as queued",
                Order::Fifo,
                young_first.to_vec(),
                Some(0),
            ),
            (
                "proof-first: the oldest proof",
                Order::ProofFirst,
                young_first.to_vec(),
                Some(1),
            ),
            (
                "priority before anything",
                Order::ProofFirst,
                vec![queued(rank(1, 1), 0, 1), queued(rank(3, 9), 0, 2)],
                Some(1),
            ),
            (
                "shortest first",
                Order::ShortestFirst,
                vec![queued(rank(1, 1), 0, 1), queued(short, 0, 2)],
                Some(1),
            ),
            (
                "passed over often enough",
                Order::ShortestFirst,
                vec![
                    Queued {
                        passed: OVERTAKE_LIMIT,
                        ..queued(rank(1, 1), 0, 1)
                    },
                    queued(short, 0, 2),
                ],
                Some(0),
            ),
            ("nothing queued", Order::Fifo, vec![], None),
        ];
        for (shows, order, queued, expected) in table {
            assert_eq!(next_pick(order, &queued), expected, "{shows}");
        }
    }

    #[test]
    fn a_long_proof_does_not_starve_among_endless_short_ones() {
        let mut long = Rank {
            work_left: 1_000_000,
            ..rank(2, 0)
        };
        for round in 1..=u64::from(OVERTAKE_LIMIT) + 1 {
            let short = Rank {
                work_left: 1,
                ..rank(2, round)
            };
            let proofs = [proof(long, 0..1), proof(short, 0..1)];
            let (chosen, _) = next_starts(Order::ShortestFirst, 1, &proofs, 1)[0];
            if chosen == 0 {
                assert_eq!(round, u64::from(OVERTAKE_LIMIT) + 1);
                return;
            }
            assert_eq!(passed_by_start(&proofs, chosen), [0]);
            long.passed += 1;
        }
        panic!("the long proof never started");
    }

    #[test]
    fn being_overtaken_by_a_higher_priority_is_not_counted() {
        let proofs = [proof(rank(1, 0), 0..1), proof(rank(4, 1), 0..1)];
        assert!(passed_by_start(&proofs, 1).is_empty());
        let queued = |rank, since| Queued {
            rank,
            partition: 0,
            since,
            passed: 0,
        };
        assert!(passed_by_pick(&[queued(rank(1, 0), 0), queued(rank(4, 1), 1)], 1).is_empty());
        assert_eq!(
            passed_by_pick(&[queued(rank(4, 0), 0), queued(rank(4, 1), 1)], 1),
            [0]
        );
    }
}
