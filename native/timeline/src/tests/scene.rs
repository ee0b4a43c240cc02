//! The actors of the golden files.

use super::*;

/// The largest exact number.
pub(crate) const FAR: u64 = (1 << 53) - 1;

/// Says things one microsecond apart.
pub(crate) struct Scene {
    pub(crate) bench: Bench,
    pub(crate) worker_ring: Emitter,
}

impl Scene {
    pub(crate) fn new() -> Scene {
        let bench = Bench::new();
        let worker_ring = bench.emitter("worker-0");
        Scene { bench, worker_ring }
    }

    pub(crate) fn say(&mut self, notice: Notice) {
        self.bench.hands.advance(1_000);
        let shared = &self.bench.shared;
        relock(shared.notices.lock()).push((shared.clock.now_ns(), shared.clock.wall_ns(), notice));
    }

    pub(crate) fn emit(&mut self, event: Event) {
        self.bench.hands.advance(1_000);
        self.worker_ring.emit(event);
    }

    /// Every event of a partition, in the order of its scope.
    pub(crate) fn partition(
        &mut self,
        p: Partition,
        w: Worker,
        scope: LockScope,
        synthesiser: u16,
        stream: u16,
        bytes: u64,
    ) {
        let device = [
            Event::device_started(p, w),
            Event::copy_started(p, w, stream),
            Event::copy_ended(p, w, stream),
            Event::device_ended(p, w),
        ];
        self.emit(Event::permit_asked(p, bytes));
        self.emit(Event::permit_granted(p, bytes, WaitedFor::None));
        self.emit(Event::synthesis_started(p, synthesiser));
        self.emit(Event::synthesis_ended(p, synthesiser));
        self.emit(Event::queued(p));
        self.emit(Event::picked_up(p, w));
        if scope == LockScope::Job {
            self.emit(Event::lock_asked(p, w));
            self.emit(Event::lock_granted(p, w));
        }
        self.emit(Event::prepare_started(p, w));
        self.emit(Event::prepare_ended(p, w));
        if scope == LockScope::Kernels {
            self.emit(Event::lock_asked(p, w));
            self.emit(Event::lock_granted(p, w));
        }
        device[..3].iter().for_each(|event| self.emit(*event));
        for kernel in Kernel::ALL {
            self.emit(Event::kernel_started(p, w, stream, *kernel));
            self.emit(Event::kernel_ended(p, w, stream, *kernel));
        }
        for wait in Wait::ALL {
            self.emit(Event::wait_started(p, w, *wait));
            self.emit(Event::wait_ended(p, w, *wait));
        }
        self.emit(device[3]);
        if scope == LockScope::Kernels {
            self.emit(Event::lock_released(p, w));
        }
        self.emit(Event::finish_started(p, w));
        self.emit(Event::finish_ended(p, w));
        if scope == LockScope::Job {
            self.emit(Event::lock_released(p, w));
        }
        self.emit(Event::put_down(p, w));
        self.emit(Event::permit_released(p, bytes));
        self.emit(Event::partition_ended(p, Outcome::Valid));
    }
}

pub(crate) fn scheduler(lock_scope: LockScope) -> Scheduler {
    Scheduler {
        preset: "interlock".into(),
        overrides: vec![],
        dispatch: Dispatch::Partition,
        gpu_workers: 2,
        lock_scope,
        partitions_in_flight: 4,
        proofs_in_flight: 2,
        synthesis_workers: 2,
        synthesis_threads: 4,
        device_threads: 2,
        memory_budget_bytes: 17_179_869_184,
        order: "fifo".into(),
        reserve_post: false,
    }
}

pub(crate) const DIGEST: &str = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
pub(crate) const NASTY: &str = "disk said: \"no\" \\ path\n\ttab\r bell \u{7} del \u{7f} nul \u{0} – naïve 証明 😀 \u{202e}rtl \u{2028} end";

pub(crate) fn failure(code: Code, message: &str) -> Option<Failure> {
    Some(Failure {
        code,
        message: message.into(),
    })
}

pub(crate) fn state(s: &Scene, p: Partition, far: Partition) -> State {
    let device = |index| DeviceId(index);
    let worker = |worker, is, partition, since, progress| WorkerState {
        worker,
        device: device(0),
        is,
        partition,
        since,
        progress,
    };
    let mut workers: Vec<WorkerState> = WorkerIs::ALL
        .iter()
        .enumerate()
        .map(|(n, is)| {
            let at = !matches!(is, WorkerIs::Free | WorkerIs::Dead);
            worker(
                n as u16,
                *is,
                at.then_some(p),
                at.then_some(1_000 * n as u64),
                n as u64,
            )
        })
        .collect();
    workers.push(worker(
        u16::MAX,
        WorkerIs::Device,
        Some(far),
        Some(FAR),
        FAR,
    ));
    State {
        phase: Phase::Ready,
        run: Some("r1".into()),
        queued: 3,
        withheld: u32::MAX,
        permits: Permits {
            used: 2,
            total: 4,
            bytes_used: 1 << 30,
            bytes_total: FAR,
        },
        workers,
        synthesisers: vec![
            SynthesiserState {
                synthesiser: 0,
                partition: Some(p),
                since: Some(5_000),
                progress: 12,
            },
            SynthesiserState {
                synthesiser: u16::MAX,
                partition: None,
                since: None,
                progress: 0,
            },
        ],
        lock: vec![
            (device(0), Some(3)),
            (device(1), None),
            (device(2), Some(u16::MAX)),
        ],
        proofs: vec![
            ProofState {
                proof: p.proof,
                attempt: 1,
                partitions: 10,
                done: 9,
            },
            ProofState {
                proof: far.proof,
                attempt: u32::MAX,
                partitions: u32::MAX,
                done: 0,
            },
        ],
        params: ParamsIs::ALL
            .iter()
            .map(|is| (format!("squarings-{}", s.bench.records), *is))
            .collect(),
    }
}
