//! How partitions move forward: permits, synthesis, release, pick-up.

use interlock_timeline::{Dispatch, Partition};

use super::{At, Board, Proof};
use crate::order::{self, Queued, Waiting};
use crate::permits::{Claim, Shortage};
use crate::scheduler::POST_PRIORITY;

/// A partition that may start its synthesis now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Granted {
    /// Which.
    pub id: Partition,
    /// Its permit.
    pub bytes: u64,
    /// What it had to wait for.
    pub waited_for: Option<Shortage>,
}

/// One step of the dispatcher.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Partitions that ask for a permit for the first time, with the bytes.
    pub asked: Vec<(Partition, u64)>,
    /// The one that was granted a permit.
    pub granted: Option<Granted>,
}

impl<J> Board<J> {
    /// What the dispatcher does when `idle` synthesis workers have nothing to do: the next `idle`
    /// partitions ask for permits, and the first of them gets one if there is one. Permits are
    /// granted in dispatch order: a small partition does not slip past a large one.
    pub fn dispatch(&mut self, idle: usize) -> Step {
        let mut step = Step::default();
        let Some(scheduler) = &self.scheduler else {
            return step;
        };
        let places = scheduler.proofs_in_flight as usize;
        let (how, order) = (scheduler.dispatch, scheduler.order);
        let reserve_post = scheduler.reserve_post;
        let here: Vec<usize> = (0..self.proofs.len())
            .filter(|i| !self.proofs[*i].ended())
            .collect();
        let waiting: Vec<Waiting> = here.iter().map(|i| self.proofs[*i].waiting()).collect();
        let mut starts = order::next_starts(order, places, &waiting, idle.max(1));
        if how == Dispatch::Batch {
            self.put_begun_batches_first(&here, &waiting, &mut starts, idle.max(1));
        }

        let mut first_shortage = None;
        for (n, (i, partition)) in starts.into_iter().enumerate() {
            let proof = &mut self.proofs[here[i]];
            let (id, bytes) = (proof.id(partition), proof.what.partition_bytes);
            let promised = proof.promised > 0;
            let claim = match how {
                Dispatch::Partition => proof.claim(1),
                Dispatch::Batch => proof.claim(proof.unstarted()),
            };
            let spare = if reserve_post && proof.what.priority < POST_PRIORITY {
                proof.claim(1)
            } else {
                Claim::default()
            };
            let part = &mut proof.parts[partition as usize];
            if !part.asked {
                part.asked = true;
                step.asked.push((id, bytes));
            }
            let shortage = match first_shortage {
                Some(shortage) => Some(shortage),
                None if promised => None,
                None => self.permits.shortage(claim, spare),
            };
            if let Some(shortage) = shortage {
                first_shortage = Some(shortage);
                part.shortage = Some(shortage);
                continue;
            }
            if n > 0 {
                // The first one was granted; the others are looked at again once it has started.
                continue;
            }
            if how == Dispatch::Batch && !promised {
                self.permits.promise(claim);
                proof.promised = u32::try_from(claim.count).unwrap_or(u32::MAX);
            }
            if how == Dispatch::Batch {
                self.permits.unpromise(Claim { count: 1, bytes });
                proof.promised -= 1;
            }
            self.permits.take(bytes);
            let part = &mut proof.parts[partition as usize];
            part.at = At::Synthesis;
            part.permit = true;
            step.granted = Some(Granted {
                id,
                bytes,
                waited_for: part.shortage,
            });
            for passed in order::passed_by_start(&waiting, i) {
                self.proofs[here[passed]].passed += 1;
            }
            // Only idle − 1 workers are left to ask for more; they will.
            break;
        }
        step
    }

    /// A batch that has begun is synthesised to its end before another begins, whatever the order,
    /// the priority or the places say: its withheld partitions hold permits until the last one is
    /// synthesised, so whoever went first would wait for them for ever.
    fn put_begun_batches_first(
        &self,
        here: &[usize],
        waiting: &[Waiting],
        starts: &mut Vec<(usize, u32)>,
        limit: usize,
    ) {
        let begun = |i: &usize| self.proofs[here[*i]].promised > 0;
        let mut first: Vec<(usize, u32)> = (0..here.len())
            .filter(begun)
            .flat_map(|i| waiting[i].partitions.iter().map(move |p| (i, *p)))
            .collect();
        starts.retain(|(i, _)| !begun(i));
        first.append(starts);
        first.truncate(limit);
        *starts = first;
    }

    /// A partition's synthesis ended well. The partitions that are queued by that: itself, or under
    /// `batch` all of its proof once the last one is synthesised.
    pub fn synthesised(&mut self, id: Partition, job: J) -> Vec<Partition> {
        let batch = self
            .scheduler
            .as_ref()
            .is_some_and(|s| s.dispatch == Dispatch::Batch);
        let mut since = self.queued;
        let Some(proof) = self.find_mut(id) else {
            return Vec::new();
        };
        if proof.ending.is_some() {
            return Vec::new();
        }
        let Some(part) = proof.parts.get_mut(id.partition as usize) else {
            return Vec::new();
        };
        part.job = Some(job);
        part.at = At::Withheld;
        let unready = |p: &super::Part<J>| matches!(p.at, At::Waiting | At::Synthesis);
        let mut queued = Vec::new();
        if !(batch && proof.parts.iter().any(unready)) {
            for (partition, part) in (0_u32..).zip(&mut proof.parts) {
                if part.at == At::Withheld {
                    part.at = At::Queued;
                    part.since = since;
                    since += 1;
                    queued.push(Partition { partition, ..id });
                }
            }
        }
        self.queued = since;
        queued
    }

    /// The partition that a GPU worker picks up now, among those whose circuit's params are
    /// `resident`.
    pub fn pick(&mut self, resident: impl Fn(&str) -> bool) -> Option<(Partition, J)> {
        let order = self.scheduler.as_ref()?.order;
        let mut places = Vec::new();
        let mut queued = Vec::new();
        for (i, proof) in self.proofs.iter().enumerate() {
            let mut rank = None;
            for (partition, part) in (0_u32..).zip(&proof.parts) {
                if part.at == At::Queued {
                    if rank.is_none() && !resident(&proof.what.circuit) {
                        break;
                    }
                    let rank = *rank.get_or_insert_with(|| proof.rank());
                    places.push((i, partition));
                    queued.push(Queued {
                        rank,
                        partition,
                        since: part.since,
                        passed: part.passed,
                    });
                }
            }
        }
        let chosen = order::next_pick(order, &queued)?;
        for passed in order::passed_by_pick(&queued, chosen) {
            let (i, partition) = places[passed];
            self.proofs[i].parts[partition as usize].passed += 1;
        }
        let (i, partition) = places[chosen];
        let proof = &mut self.proofs[i];
        let id = proof.id(partition);
        let part = &mut proof.parts[partition as usize];
        part.at = At::Worker;
        part.job.take().map(|job| (id, job))
    }

    /// A partition's proof was made and is to be verified.
    pub fn begin_verify(&mut self, id: Partition) {
        if let Some(part) = self.part_mut(id) {
            part.at = At::Verify;
        }
    }

    /// (queued, withheld)
    pub fn count_waiting(&self) -> (u32, u32) {
        let count = |at: At| {
            let all = self.proofs.iter().flat_map(|p| &p.parts);
            u32::try_from(all.filter(|p| p.at == at).count()).unwrap_or(u32::MAX)
        };
        (count(At::Queued), count(At::Withheld))
    }
}

impl<J> Proof<J> {
    fn waiting(&self) -> Waiting {
        let open = self.ending.is_none();
        let unstarted = |(_, p): &(u32, &super::Part<J>)| open && p.at == At::Waiting;
        Waiting {
            rank: self.rank(),
            partitions: (0_u32..)
                .zip(&self.parts)
                .filter(unstarted)
                .map(|(n, _)| n)
                .collect(),
        }
    }

    fn unstarted(&self) -> u32 {
        let unstarted = self.parts.iter().filter(|p| p.at == At::Waiting).count();
        u32::try_from(unstarted).unwrap_or(u32::MAX)
    }
}
