/**
 * A small simulated prover, for screens and their tests: partitions go through permit, synthesis, queue and a GPU worker's stages
 * under a scheduler, in whole nanoseconds, the same for the same seed. It is no model of real hardware and its figures mean nothing.
 *
 *   synthesis 0   ▒▒▒p0▒▒▒▒▒▒p4▒▒▒            one lane each
 *   worker 0            ▒prep▒▐dev▌▒fin▒
 *   worker 1               ▒prep▒··▐dev▌▒fin▒  the device lock lets one in at a time
 *   kernels                   ▐k▌k▌ ▐k▌k▌
 */
import type { LiveSpan, PartitionState, SpanKind } from '../../electron/contract/live.ts';
import type { Scheduler } from '../../electron/contract/scheduler.ts';

export interface DemoOptions {
  seed: number;
  devices: string[];
  scheduler: Scheduler;
  proofs: number;
  partitions: number;
  /** Mean seconds of each stage. */
  seconds: { synthesis: number; prepare: number; kernels: number; finish: number };
  /** Indices of proofs whose third partition fails on the device, and of proofs whose check fails. */
  failing: number[];
  invalid: number[];
  /** What one permit claims. */
  permitBytes: number;
}

export interface DemoSpan extends Omit<LiveSpan, 'endNs'> {
  endNs: number;
  device: string | null;
}

export interface DemoProof {
  proof: string;
  acceptedNs: number;
  endedNs: number;
  outcome: 'valid' | 'invalid' | 'failed';
  /** For each partition, what it became and when, in order. */
  states: { atNs: number; state: PartitionState }[][];
  places: { device: string; worker: number }[];
}

export interface DemoTimeline {
  options: DemoOptions;
  spans: DemoSpan[];
  proofs: DemoProof[];
  endNs: number;
}

interface Task {
  proof: number;
  partition: number;
}
interface Worker {
  device: string;
  index: number;
  busy: boolean;
}

const KERNELS: [string, number][] = [
  ['ntt', 0.18],
  ['h_msm', 0.37],
  ['batch_add', 0.33],
  ['tail_msm', 0.12],
];

function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function simulate(options: DemoOptions): DemoTimeline {
  const { scheduler } = options;
  const random = createRandom(options.seed);
  const around = (seconds: number) => Math.round(seconds * (0.85 + 0.3 * random()) * 1e9);
  const spans: DemoSpan[] = [];
  const proofs: DemoProof[] = [];
  const events: { atNs: number; order: number; run: () => void }[] = [];
  let nowNs = 0;
  let order = 0;
  const at = (atNs: number, run: () => void) => {
    const event = { atNs, order: order++, run };
    let index = events.length;
    while (index > 0 && events[index - 1]!.atNs > atNs) index--;
    events.splice(index, 0, event);
  };

  const waiting: Task[] = [];
  const queue: Task[] = [];
  const withheld = new Map<number, Task[]>();
  const synthesisers = Array.from({ length: scheduler.synthesis_workers }, () => false);
  const workers: Worker[] = options.devices.flatMap((device) =>
    Array.from({ length: scheduler.gpu_workers }, (_, index) => ({ device, index, busy: false })),
  );
  const lockHeld = new Map<string, boolean>(options.devices.map((device) => [device, false]));
  const lockQueue = new Map<string, (() => void)[]>(options.devices.map((device) => [device, []]));
  let permits = 0;
  let next = 0;
  let open = 0;

  const setState = (task: Task, state: PartitionState) => proofs[task.proof]!.states[task.partition]!.push({ atNs: nowNs, state });
  const addSpan = (
    lane: string,
    kind: SpanKind,
    task: Task,
    startNs: number,
    endNs: number,
    device: string | null,
    detail: string | null = null,
  ) => {
    spans.push({
      id: spans.length + 1,
      lane,
      kind,
      startNs,
      endNs,
      proof: proofs[task.proof]!.proof,
      attempt: 1,
      partition: task.partition,
      detail,
      device,
    });
  };

  function accept(): void {
    while (open < scheduler.proofs_in_flight && next < options.proofs) {
      const index = next++;
      open += 1;
      proofs.push({
        proof: `s-t01000-${index + 12}`,
        acceptedNs: nowNs,
        endedNs: 0,
        outcome: options.failing.includes(index) ? 'failed' : options.invalid.includes(index) ? 'invalid' : 'valid',
        states: Array.from({ length: options.partitions }, () => []),
        places: [],
      });
      for (let partition = 0; partition < options.partitions; partition++) {
        const task = { proof: index, partition };
        setState(task, 'pending');
        waiting.push(task);
      }
    }
    synthesise();
  }

  function synthesise(): void {
    for (;;) {
      const free = synthesisers.indexOf(false);
      const task = waiting[0];
      if (free < 0 || !task) return;
      if (permits >= scheduler.partitions_in_flight) {
        if (proofs[task.proof]!.states[task.partition]!.at(-1)!.state !== 'permit') setState(task, 'permit');
        return;
      }
      waiting.shift();
      permits += 1;
      synthesisers[free] = true;
      setState(task, 'synthesis');
      const startNs = nowNs;
      const endNs = startNs + around(options.seconds.synthesis);
      addSpan(`synthesis:${free}`, 'synthesis', task, startNs, endNs, null);
      at(endNs, () => {
        synthesisers[free] = false;
        offer(task);
        synthesise();
      });
    }
  }

  function offer(task: Task): void {
    if (scheduler.dispatch === 'batch') {
      const kept = withheld.get(task.proof) ?? [];
      kept.push(task);
      withheld.set(task.proof, kept);
      if (kept.length < options.partitions) {
        setState(task, 'withheld');
        return;
      }
      for (const one of kept) {
        setState(one, 'queued');
        queue.push(one);
      }
    } else {
      setState(task, 'queued');
      queue.push(task);
    }
    pickUp();
  }

  function pickUp(): void {
    for (;;) {
      // The device with fewest busy workers first, so that two devices share the work.
      const free = workers.filter((worker) => !worker.busy).sort((a, b) => busyOn(a.device) - busyOn(b.device) || a.index - b.index)[0];
      const task = free && queue.shift();
      if (!free || !task) return;
      free.busy = true;
      proofs[task.proof]!.places[task.partition] = { device: free.device, worker: free.index };
      const lane = `worker:${free.device}:${free.index}`;
      if (scheduler.lock_scope === 'job') void takeLock(free, task, lane, () => prepare(free, task, lane));
      else prepare(free, task, lane);
    }
  }
  const busyOn = (device: string) => workers.filter((worker) => worker.device === device && worker.busy).length;

  function takeLock(worker: Worker, task: Task, lane: string, then: () => void): void {
    const askedNs = nowNs;
    const granted = () => {
      lockHeld.set(worker.device, true);
      if (nowNs > askedNs) addSpan(lane, 'waiting', task, askedNs, nowNs, worker.device);
      then();
    };
    if (!lockHeld.get(worker.device)) return granted();
    setState(task, 'waiting');
    lockQueue.get(worker.device)!.push(granted);
  }
  function releaseLock(worker: Worker, task: Task, sinceNs: number): void {
    addSpan(`lock:${worker.device}:0`, 'lock', task, sinceNs, nowNs, worker.device);
    lockHeld.set(worker.device, false);
    lockQueue.get(worker.device)!.shift()?.();
  }

  function prepare(worker: Worker, task: Task, lane: string): void {
    const startNs = nowNs;
    const endNs = startNs + around(options.seconds.prepare);
    setState(task, 'prepare');
    addSpan(lane, 'prepare', task, startNs, endNs, worker.device);
    at(endNs, () => {
      if (scheduler.lock_scope === 'kernels') takeLock(worker, task, lane, () => onDevice(worker, task, lane, nowNs));
      else onDevice(worker, task, lane, startNs);
    });
  }

  function onDevice(worker: Worker, task: Task, lane: string, lockSinceNs: number): void {
    const startNs = nowNs;
    let cursorNs = startNs + around(0.03);
    setState(task, 'device');
    addSpan(`copy:${worker.device}:0`, 'copy', task, startNs, cursorNs, worker.device);
    for (const [kernel, share] of KERNELS) {
      const lengthNs = around(options.seconds.kernels * share);
      addSpan(`kernel:${worker.device}:0`, 'kernel', task, cursorNs, cursorNs + lengthNs, worker.device, kernel);
      cursorNs += lengthNs + (kernel === 'h_msm' ? around(options.seconds.kernels * 0.12) : 0);
    }
    const endNs = cursorNs + around(0.008);
    addSpan(lane, 'device', task, startNs, endNs, worker.device);
    at(endNs, () => {
      if (scheduler.lock_scope === 'kernels') releaseLock(worker, task, lockSinceNs);
      if (proofs[task.proof]!.outcome === 'failed' && task.partition === 2) return endPartition(worker, task, 'failed', lockSinceNs);
      const finishNs = nowNs + around(options.seconds.finish);
      setState(task, 'finish');
      addSpan(lane, 'finish', task, nowNs, finishNs, worker.device);
      at(finishNs, () =>
        endPartition(worker, task, proofs[task.proof]!.outcome === 'invalid' && task.partition === 4 ? 'invalid' : 'valid', lockSinceNs),
      );
    });
  }

  function endPartition(worker: Worker, task: Task, outcome: 'valid' | 'invalid' | 'failed', lockSinceNs: number): void {
    const proof = proofs[task.proof]!;
    if (scheduler.lock_scope === 'job') releaseLock(worker, task, lockSinceNs);
    worker.busy = false;
    permits -= 1;
    setState(task, outcome);
    const ended = proof.states.filter((history) => ['valid', 'invalid', 'failed', 'cancelled'].includes(history.at(-1)!.state)).length;
    if (ended === options.partitions) {
      proof.endedNs = nowNs;
      open -= 1;
      accept();
    }
    pickUp();
    synthesise();
  }

  accept();
  for (let event = events.shift(); event; event = events.shift()) {
    nowNs = event.atNs;
    event.run();
  }
  spans.sort((a, b) => a.startNs - b.startNs);
  spans.forEach((span, index) => (span.id = index + 1));
  return { options, spans, proofs, endNs: nowNs };
}
