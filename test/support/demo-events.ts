/**
 * The events that a prover would have written for a simulated run, so that the product's own analysis computes what the demo screens
 * show. What was lost is left out and told as a loss with the snapshot that heals it.
 */
import type { RunFeed } from '../../electron/analysis/run-feed.ts';
import type { EventName, EventOf, StateLine, TimelineEvent, WorkerState } from '../../electron/contract/timeline-events.ts';
import type { DemoSpan, DemoTimeline } from './demo-simulation.ts';
import { makeEvent, makeState } from './journal.ts';

/** Of several events at one instant: ends before beginnings, outer beginnings before inner ones. */
const RANK: Partial<Record<EventName, number>> = {
  hello: -3, ready: -2, run_started: -1, kernel_ended: 0, copy_ended: 0, prepare_ended: 1, device_ended: 1, lock_released: 2, finish_ended: 3,
  stage_failed: 3, put_down: 4, permit_released: 5, partition_ended: 5, proof_ended: 6, synthesis_ended: 7, proof_accepted: 8,
  permit_asked: 9, permit_granted: 10, synthesis_started: 11, queued: 12, picked_up: 13, lock_asked: 14, lock_granted: 15,
  prepare_started: 16, device_started: 16, finish_started: 16, copy_started: 17, kernel_started: 18, run_ended: 20, bye: 21,
}; // prettier-ignore

export interface DemoLoss {
  startNs: number;
  endNs: number;
  count: number;
}

export interface DemoEvents {
  /** In the order of (t, seq), without what was lost. The run's axis is the process's clock. */
  events: TimelineEvent[];
  /** Tells the run up to `horizonNs` (null: to its end) as the store would. */
  tell(feed: RunFeed, horizonNs: number | null): void;
}

export function makeDemoEvents(timeline: DemoTimeline, run: string, loss: DemoLoss | null): DemoEvents {
  const raw: TimelineEvent[] = [];
  const add = <E extends EventName>(e: E, t: number, fields: Partial<EventOf<E>> = {}) => raw.push(makeEvent(e, t, 0, fields));
  const { options } = timeline;
  add('hello', 0, {
    devices: options.devices.map((device) => ({ device, kind: 'cpu', name: device, workers_max: 4, clock: 'host' })),
    backend: 'cpu',
  });
  add('ready', 0);
  add('run_started', 0, { run, scheduler: options.scheduler });
  for (const proof of timeline.proofs) {
    const id = { proof: proof.proof, attempt: 1 };
    add('proof_accepted', proof.acceptedNs, { ...id, run, circuit: 'sha256', partitions: options.partitions });
    add('proof_ended', proof.endedNs, { ...id, outcome: proof.outcome });
    proof.states.forEach((history, partition) => addPartition(timeline, { ...id, partition }, history, add));
  }
  add('run_ended', timeline.endNs, { run });
  add('bye', timeline.endNs, {});
  raw.sort((a, b) => a.t - b.t || (RANK[a.e] ?? 19) - (RANK[b.e] ?? 19));
  raw.forEach((event, seq) => (event.seq = seq));
  const events = loss ? raw.filter((event) => event.t < loss.startNs || event.t >= loss.endNs) : raw;

  return {
    events,
    tell(feed, horizonNs) {
      const [hello] = raw;
      const known = horizonNs === null ? events : events.filter((event) => event.t < horizonNs);
      feed.beginProcess(hello as EventOf<'hello'>, 0, true);
      let told = loss === null || loss.startNs >= (horizonNs ?? Infinity);
      const tellLoss = () => {
        told = true;
        const healed = loss !== null && loss.endNs <= (horizonNs ?? Infinity);
        feed.takeLoss?.({
          tFrom: loss!.startNs,
          tTo: loss!.endNs,
          count: loss!.count,
          healedT: healed ? loss!.endNs : null,
          state: healed ? stateAt(timeline, loss!.endNs, run) : null,
        });
      };
      for (const event of known) {
        if (!told && event.t >= loss!.endNs) tellLoss();
        feed.take(event);
      }
      if (!told) tellLoss();
      feed.endProcess?.(horizonNs === null || horizonNs >= timeline.endNs ? timeline.endNs : null);
    },
  };
}

type Add = <E extends EventName>(e: E, t: number, fields?: Partial<EventOf<E>>) => void;

function addPartition(
  timeline: DemoTimeline,
  id: { proof: string; attempt: number; partition: number },
  history: { atNs: number; state: string }[],
  add: Add,
): void {
  const mine = timeline.spans.filter((span) => span.proof === id.proof && span.partition === id.partition);
  const of = (kind: string) => mine.find((span) => span.kind === kind);
  const synthesis = of('synthesis')!;
  const waited = history.find((entry) => entry.state === 'permit');
  const synthesiser = Number(synthesis.lane.split(':')[1]);
  add('permit_asked', waited?.atNs ?? synthesis.startNs, { ...id, bytes: timeline.options.permitBytes });
  add('permit_granted', synthesis.startNs, { ...id, bytes: timeline.options.permitBytes, waited_for: waited ? 'count' : 'none' });
  add('synthesis_started', synthesis.startNs, { ...id, synthesiser });
  add('synthesis_ended', synthesis.endNs, { ...id, synthesiser });
  const queued = history.find((entry) => entry.state === 'queued');
  if (queued) add('queued', queued.atNs, id);
  const onWorker = mine.filter((span) => span.lane.startsWith('worker:'));
  const [, device = '', worker = '0'] = onWorker[0]!.lane.split(':');
  const at = { ...id, device, worker: Number(worker) };
  const lock = of('lock')!;
  const startNs = Math.min(...onWorker.map((span) => span.startNs));
  const endNs = Math.max(...onWorker.map((span) => span.endNs));
  add('picked_up', startNs, at);
  add('lock_asked', of('waiting')?.startNs ?? lock.startNs, at);
  add('lock_granted', lock.startNs, at);
  add('lock_released', lock.endNs, at);
  const pair = (span: DemoSpan | undefined, name: 'prepare' | 'device' | 'finish') => {
    if (!span) return;
    add(`${name}_started`, span.startNs, at);
    add(`${name}_ended`, span.endNs, at);
  };
  pair(of('prepare'), 'prepare');
  pair(of('device'), 'device');
  pair(of('finish'), 'finish');
  for (const span of mine) {
    if (span.kind === 'kernel') {
      add('kernel_started', span.startNs, { ...at, kernel: span.detail ?? 'h_msm' });
      add('kernel_ended', span.endNs, { ...at, kernel: span.detail ?? 'h_msm' });
    } else if (span.kind === 'copy') {
      add('copy_started', span.startNs, at);
      add('copy_ended', span.endNs, at);
    }
  }
  const end = history.at(-1)!;
  if (end.state === 'failed') add('stage_failed', endNs, { ...id, stage: 'device' });
  add('put_down', endNs, at);
  add('permit_released', endNs, { ...id, bytes: timeline.options.permitBytes });
  add('partition_ended', end.atNs, { ...id, outcome: end.state });
}

/** The snapshot that a prover writes after a loss: what every worker and synthesiser does at `ns`, and how many wait. */
function stateAt(timeline: DemoTimeline, ns: number, run: string): StateLine {
  const { options, spans } = timeline;
  const now = spans.filter((span) => span.startNs <= ns && span.endNs > ns);
  const states = timeline.proofs.flatMap((proof) => proof.states.map((history) => history.findLast((entry) => entry.atNs <= ns)?.state));
  const workers = options.devices.flatMap((device) =>
    Array.from({ length: options.scheduler.gpu_workers }, (_, worker): WorkerState => {
      const span = now.find((one) => one.lane === `worker:${device}:${worker}`);
      return {
        worker,
        device,
        is: (span?.kind ?? 'free') as WorkerState['is'],
        proof: span?.proof ?? null,
        attempt: span?.attempt ?? null,
        partition: span?.partition ?? null,
        since: span?.startNs ?? null,
        progress: 1,
      };
    }),
  );
  return makeState(ns, 0, {
    run,
    queued: states.filter((state) => state === 'queued').length,
    withheld: states.filter((state) => state === 'withheld').length,
    workers,
    synthesisers: now
      .filter((span) => span.kind === 'synthesis')
      .map((span) => ({
        synthesiser: Number(span.lane.split(':')[1]),
        proof: span.proof,
        attempt: span.attempt,
        partition: span.partition,
        since: span.startNs,
        progress: 1,
      })),
    lock: options.devices.map((device) => ({
      device,
      holder: workers.find((worker) => worker.device === device && worker.is === 'device')?.worker ?? null,
    })),
    params: [{ circuit: 'sha256', is: 'resident' }],
  });
}
