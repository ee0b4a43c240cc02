/**
 * The story that this product began with (FIELD.md), as the events of a journal: ten sectors of ten partitions, one worker, lock scope
 * `job`, with FIELD's stage times, and four gaps between sectors as the field's own log had them: from a GPU_END to the next GPU_START.
 *
 *   worker    ├p0┤├p1┤ … ├p9┤ ······ 125.9 s ······ ├p0┤ …          17 ms between two partitions
 *   job       ├─prepare 1.909─┤ntt+h 0.690┤ 0.401 no kernel ┤additions 0.650┤tails 0.083├─finish 0.484─┤
 *   synthesis               ├──29-36 s──┤ ends where the gap does
 */
import type { RunFeed } from '../../electron/analysis/run-feed.ts';
import { resolveScheduler, type Scheduler } from '../../electron/contract/scheduler.ts';
import type { EventOf, TimelineEvent } from '../../electron/contract/timeline-events.ts';

const S = 1e9;
/** FIELD.md, Phase 9, s. */
export const SEED_STAGES = {
  prepare: 1.909,
  h: 0.69,
  wait: 0.401,
  additions: 0.65,
  tails: 0.083,
  finish: 0.484,
  turnaround: 0.017,
} as const;
/** Between one sector's last GPU_END and the next one's first GPU_START, s. */
export const SEED_GAPS = [125.9, 54.1, 32.9, 29.3] as const;
export const SECTORS = 10;
export const PARTITIONS = 10;

export const SEED_SCHEDULER: Scheduler = resolveScheduler(
  { preset: 'per-partition', synthesis_workers: 10, partitions_in_flight: 20, proofs_in_flight: 2, memory_budget_bytes: 2 ** 39 },
  { cpus: 96, memoryBytes: 2 ** 40 },
);

type Untimed = TimelineEvent extends infer E ? (E extends TimelineEvent ? Omit<E, 'seq' | 't'> : never) : never;

export function makeSeedStory(): TimelineEvent[] {
  const told: { at: number; event: Untimed }[] = [];
  const tell = (seconds: number, event: Untimed) => told.push({ at: Math.round(seconds * S), event });
  tell(0, {
    e: 'hello', format: 1, process: 'seed', pid: 1, start_ticks: '1', boot_id: 'seed', monotonic_ns: '0', wall_ns: '1796043668739000001', version: '0.1.0',
    engine: 'builtin', backend: 'emulated', devices: [{ device: 'gpu0', kind: 'emulated', name: 'RTX 5070 Ti', workers_max: 1, clock: 'host' }], grace_ns: 1,
    host_cpus: 96, memory_total_bytes: 2 ** 40,
  }); // prettier-ignore
  tell(0, { e: 'ready' });
  tell(0, { e: 'run_started', run: 'seed', scheduler: SEED_SCHEDULER, emulate: null });
  for (let sector = 0; sector < SECTORS; sector++) {
    tell(0, {
      e: 'proof_accepted', proof: `s${sector}`, attempt: 1, run: 'seed', circuit: 'porep-32g', partitions: PARTITIONS, constraints: 130_000_000, priority: 2,
      submitted_wall_ns: '1796043668739000001', deadline_wall_ns: null,
    }); // prettier-ignore
  }
  const { turnaround } = SEED_STAGES;
  let end = 29 - turnaround;
  let begunBefore = 0;
  for (let sector = 0; sector < SECTORS; sector++) {
    const gap = sector === 0 ? turnaround : (SEED_GAPS[sector - 1] ?? turnaround);
    const begins = end + gap;
    // Where there is no gap they ran beside the device’s work for the sector before, once the ten workers had its own behind them.
    const starts = gap > turnaround || sector === 0 ? begins - 29 : begunBefore + 9;
    for (let partition = 0; partition < PARTITIONS; partition++) {
      const name = { proof: `s${sector}`, attempt: 1, partition };
      const from = starts + 0.1 * partition;
      tell(from, { e: 'permit_asked', ...name, bytes: 14 * 2 ** 30 });
      tell(from, { e: 'permit_granted', ...name, bytes: 14 * 2 ** 30, waited_for: 'none' });
      tell(from, { e: 'synthesis_started', ...name, synthesiser: partition });
      const queued = from + 29 + (6.9 * partition) / (PARTITIONS - 1);
      tell(queued, { e: 'synthesis_ended', ...name, synthesiser: partition });
      tell(queued, { e: 'queued', ...name });
      end = tellJob(tell, name, partition === 0 ? begins : end + turnaround);
    }
    tell(end, {
      e: 'proof_ended',
      proof: `s${sector}`,
      attempt: 1,
      outcome: 'valid',
      sha256: null,
      file: null,
      bytes: null,
      code: null,
      message: null,
    });
    begunBefore = begins;
  }
  tell(end, { e: 'run_ended', run: 'seed', reason: 'drained' });
  tell(end, { e: 'bye', reason: 'drained', exit: 0 });
  told.sort((a, b) => a.at - b.at);
  return told.map(({ at, event }, seq) => ({ ...event, seq, t: at }) as TimelineEvent);
}

/** Answers when it is put down, s. */
function tellJob(
  tell: (seconds: number, event: Untimed) => void,
  name: { proof: string; attempt: number; partition: number },
  from: number,
): number {
  const at = { ...name, device: 'gpu0', worker: 0 };
  let now = from;
  for (const e of ['picked_up', 'lock_asked', 'lock_granted', 'prepare_started'] as const) tell(now, { e, ...at });
  now += SEED_STAGES.prepare;
  tell(now, { e: 'prepare_ended', ...at });
  tell(now, { e: 'device_started', ...at });
  const run = (kernel: string, seconds: number) => {
    tell(now, { e: 'kernel_started', ...at, stream: 0, kernel });
    now += seconds;
    tell(now, { e: 'kernel_ended', ...at, stream: 0, kernel });
  };
  run('h_msm', SEED_STAGES.h);
  tell(now, { e: 'wait_started', ...at, wait: 'barrier' });
  now += SEED_STAGES.wait;
  tell(now, { e: 'wait_ended', ...at, wait: 'barrier' });
  run('l_msm', SEED_STAGES.additions);
  run('a_msm', SEED_STAGES.tails);
  tell(now, { e: 'device_ended', ...at });
  tell(now, { e: 'finish_started', ...at });
  now += SEED_STAGES.finish;
  tell(now, { e: 'finish_ended', ...at });
  tell(now, { e: 'permit_released', ...name, bytes: 14 * 2 ** 30 });
  tell(now, { e: 'lock_released', ...at });
  tell(now, { e: 'put_down', ...at });
  tell(now, { e: 'partition_ended', ...name, outcome: 'valid' });
  return now;
}

/** Tells a run of one process. */
export function feedEvents(events: readonly TimelineEvent[], ...feeds: RunFeed[]): void {
  const hello = events[0] as EventOf<'hello'>;
  for (const feed of feeds) {
    feed.beginProcess(hello, 0, true);
    for (const event of events) feed.take(event);
    feed.endProcess?.(events.at(-1)?.t ?? 0);
  }
}
