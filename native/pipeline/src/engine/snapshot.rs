//! The snapshot of the pipeline: the source of the journal's `state` lines.

use interlock_timeline::{Permits, ProofState, State, SynthesiserState, WorkerIs, WorkerState};
use std::sync::atomic::Ordering;

use super::shared::{Shared, Slot};

/// Called on the journal's writer thread: waits for the board's lock only, whose holders wait for
/// nothing.
pub(super) fn take(shared: &Shared) -> State {
    let lock = shared
        .devices
        .iter()
        .map(|d| (d.id, d.lock.holder()))
        .collect();
    let inner = shared.lock();
    let (queued, withheld) = inner.board.count_waiting();
    let (held, total) = (inner.board.permits.held(), inner.board.permits.total());
    let small = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    let gpu_workers = inner.gpu_workers();
    let worker = |slot: &Slot| {
        let now = slot.now();
        WorkerState {
            worker: slot.number,
            device: shared.devices[slot.device].id,
            is: now.is,
            partition: now.partition,
            since: now.partition.map(|_| now.since),
            progress: slot.progress.load(Ordering::Relaxed),
        }
    };
    let synthesiser = |slot: &Slot| {
        let now = slot.now();
        SynthesiserState {
            synthesiser: slot.number,
            partition: now.partition,
            since: now.partition.map(|_| now.since),
            progress: slot.progress.load(Ordering::Relaxed),
        }
    };
    let works =
        |slot: &&std::sync::Arc<Slot>| slot.rank < gpu_workers || slot.now().is == WorkerIs::Dead;
    State {
        phase: inner.phase,
        run: inner.run.clone(),
        queued,
        withheld,
        permits: Permits {
            used: small(held.count),
            total: small(total.count),
            bytes_used: held.bytes,
            bytes_total: total.bytes,
        },
        workers: inner
            .workers
            .iter()
            .filter(works)
            .map(|s| worker(s))
            .collect(),
        synthesisers: inner
            .synthesisers
            .iter()
            .filter(|slot| slot.rank < inner.synthesis_workers())
            .map(|s| synthesiser(s))
            .collect(),
        lock,
        proofs: inner
            .board
            .proofs
            .iter()
            .map(|p| ProofState {
                proof: p.what.id,
                attempt: p.what.attempt,
                partitions: p.what.partitions,
                done: p.done(),
            })
            .collect(),
        params: inner
            .params
            .iter()
            .map(|(name, p)| (name.to_string(), p.is))
            .collect(),
    }
}
