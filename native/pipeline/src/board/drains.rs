//! Whatever the scheduler, the priorities and the moment, the board never stands still: thousands of small timelines, by
//! a seeded generator, each driven until every proof has ended.

use super::tests::{board, ids, submission};
use super::*;
use interlock_timeline::{Dispatch, LockScope};

use crate::scheduler::Order;

/// xorshift: the same timelines on every machine.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }

    fn number(&mut self, least: u32, most: u32) -> u32 {
        least + u32::try_from(self.below(u64::from(most - least + 1))).unwrap()
    }
}

/// Everything that could happen next; one of it does.
struct Works {
    in_synthesis: Vec<Partition>,
    on_workers: Vec<Partition>,
}

fn drive(seed: u64) -> Result<(), String> {
    let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let batch = dice.below(2) == 0;
    let most_partitions = 6;
    let synthesis_workers = dice.number(1, 4) as usize;
    let gpu_workers = dice.number(1, 4) as usize;
    let mut board = board(|s| {
        s.dispatch = if batch {
            Dispatch::Batch
        } else {
            Dispatch::Partition
        };
        s.lock_scope = LockScope::Kernels;
        s.order = [
            Order::Fifo,
            Order::ProofFirst,
            Order::ShortestFirst,
            Order::Deadline,
        ][dice.below(4) as usize];
        s.partitions_in_flight = dice.number(if batch { most_partitions + 1 } else { 2 }, 12);
        s.proofs_in_flight = dice.number(1, 4);
        s.reserve_post = dice.below(4) == 0;
        // Between what one proof needs with a permit to spare, and plenty.
        s.memory_budget_bytes = u64::from(dice.number(10 * (most_partitions + 1), 200));
    });
    board.set_params_bytes(0);
    let mut works = Works {
        in_synthesis: Vec::new(),
        on_workers: Vec::new(),
    };
    let mut arrivals = dice.number(1, ids().len() as u32) as usize;
    let mut next_id = 0;
    loop {
        let idle = synthesis_workers - works.in_synthesis.len();
        let mut can = Vec::new();
        if arrivals > 0 {
            can.push("arrive");
        }
        if !works.in_synthesis.is_empty() {
            can.push("synthesised");
        }
        if !works.on_workers.is_empty() {
            can.push("proved");
        }
        // What the threads do by themselves happens as soon as it can.
        if idle > 0 {
            if let Some(granted) = board.dispatch(idle).granted {
                works.in_synthesis.push(granted.id);
                continue;
            }
        }
        if works.on_workers.len() < gpu_workers {
            if let Some((id, _)) = board.pick(|_| true) {
                works.on_workers.push(id);
                continue;
            }
        }
        if can.is_empty() {
            break;
        }
        match can[dice.below(can.len() as u64) as usize] {
            "arrive" => {
                arrivals -= 1;
                board.accept(Submission {
                    priority: dice.number(1, 4) as u8,
                    deadline_wall_ns: (dice.below(2) == 0).then(|| dice.below(1000)),
                    constraints: u64::from(dice.number(1, 1000)),
                    ..submission(next_id, dice.number(1, most_partitions))
                });
                next_id += 1;
            }
            "synthesised" => {
                let at = dice.below(works.in_synthesis.len() as u64) as usize;
                board.synthesised(works.in_synthesis.swap_remove(at), 0);
            }
            _ => {
                let at = dice.below(works.on_workers.len() as u64) as usize;
                let id = works.on_workers.swap_remove(at);
                board.release_permit(id);
                if board.end_partition(id, Outcome::Valid, None).is_some() {
                    board.remove(id.proof, id.attempt);
                }
            }
        }
    }
    if board.is_quiescent() && board.permits.held() == Claim::default() {
        return Ok(());
    }
    Err(format!(
        "seed {seed}: stands still with {} proofs and {:?} held under {:?}",
        board.proofs.len(),
        board.permits.held(),
        board.scheduler
    ))
}

#[test]
fn every_timeline_drains() {
    for seed in 1..20_000 {
        if let Err(words) = drive(seed) {
            panic!("{words}");
        }
    }
}
