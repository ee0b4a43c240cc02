/** Journals made by hand: events with defaults, and whole runs of any size. */
import {
  EVENTS,
  type EventName,
  type EventOf,
  type JournalLine,
  type StateLine,
  type TimelineEvent,
} from '../../electron/contract/timeline-events.ts';
import type { Scheduler } from '../../electron/contract/scheduler.ts';
import { encodeLine } from '../../electron/formats/journal/encode.ts';

export const PROCESS_A = '3f2b8c1e-0000-4000-8000-00000000000a';
export const PROCESS_B = '3f2b8c1e-0000-4000-8000-00000000000b';

export const SCHEDULER: Scheduler = {
  preset: 'interlock', overrides: [], dispatch: 'partition', gpu_workers: 2, lock_scope: 'kernels', partitions_in_flight: 10,
  proofs_in_flight: 2, synthesis_workers: 1, synthesis_threads: 2, device_threads: 2, memory_budget_bytes: 2 ** 30, order: 'fifo',
  reserve_post: false,
}; // prettier-ignore

const DEFAULTS: Record<string, unknown> = {
  format: 1, process: PROCESS_A, pid: 4711, start_ticks: '123456', boot_id: 'boot-1', monotonic_ns: '5000000000',
  wall_ns: '1796043668729000001', version: '0.1.0', engine: 'builtin', backend: 'cpu',
  devices: [{ device: 'cpu0', kind: 'cpu', name: 'CPU device', workers_max: 2, clock: 'host' }],
  grace_ns: 600_000_000_000, host_cpus: 2, memory_total_bytes: 8 * 2 ** 30, run: 'r1', scheduler: SCHEDULER, emulate: null,
  reason: 'drained', exit: 0, proof: 'p1', attempt: 1, partition: 0, device: 'cpu0', worker: 0, synthesiser: 0, stream: 0,
  kernel: 'h_msm', bytes: 1_000_000, waited_for: 'none', wait: 'host', circuit: 'squarings-1000', partitions: 2, constraints: 1000,
  priority: 2, submitted_wall_ns: '1796043668729000001', deadline_wall_ns: null, outcome: 'valid', sha256: 'ab'.repeat(32),
  file: 'p1.1.proof.json', code: null, message: null, ring: 'w0', count: 3, t_from: 0, t_to: 0, since: 0, detail: '', step_ns: '-5',
  deadline: 0, by: 'command', ok: true, digest: 'cd'.repeat(32), stage: 'device', device_ns: '17', error_ns: 5,
  name: 'C2 of sector 1 (f01000)', kind: 'porep-c2', durations: { lock_held: 5 },
}; // prettier-ignore

/** An event with every field filled in, those given replaced. Codes and messages that may not be null become words. */
export function makeEvent<E extends EventName>(e: E, t: number, seq: number, fields: Partial<EventOf<E>> = {}): EventOf<E> {
  const event: Record<string, unknown> = { seq, t, e };
  for (const [name, kind] of Object.entries(EVENTS[e])) {
    const value = DEFAULTS[name];
    event[name] = value === null && !(kind as string).endsWith('?') ? 'word' : value;
  }
  return { ...event, ...fields } as unknown as EventOf<E>;
}

export function makeState(t: number, upto: number, fields: Partial<StateLine> = {}): StateLine {
  return {
    e: 'state', t, upto, phase: 'ready', run: 'r1', queued: 0, withheld: 0,
    permits: { used: 0, total: 2, bytes_used: 0, bytes_total: 2 ** 30 },
    workers: [], synthesisers: [], lock: [], proofs: [], params: [], rss_bytes: 1000, peak_rss_bytes: 2000, dropped: 0, ...fields,
  }; // prettier-ignore
}

/** Numbers events 0, 1, 2 … as they come. */
export class Lines {
  readonly lines: JournalLine[] = [];
  seq = 0;
  add<E extends EventName>(e: E, t: number, fields: Partial<EventOf<E>> = {}): this {
    this.lines.push(makeEvent(e, t, this.seq++, fields));
    return this;
  }
  mark(t: number): this {
    this.lines.push({ e: 'mark', t, upto: this.seq - 1 });
    return this;
  }
  state(t: number, fields: Partial<StateLine> = {}): this {
    this.lines.push(makeState(t, this.seq - 1, fields));
    return this;
  }
  get events(): TimelineEvent[] {
    return this.lines.filter((line): line is TimelineEvent => line.e !== 'mark' && line.e !== 'state');
  }
  get text(): string {
    return toText(this.lines);
  }
}

export function toText(lines: JournalLine[]): string {
  return lines.map((line) => encodeLine(line) + '\n').join('');
}

const MS = 1_000_000;

export interface RunShape {
  process?: string;
  run?: string;
  proofs: number;
  partitions: number;
  /** ms of a partition's stages. */
  prepareMs?: number;
  deviceMs?: number;
  finishMs?: number;
  kernels?: number;
  firstProof?: number;
  /** Leave out run_ended and bye. */
  open?: boolean;
}

/** A whole process that serves one run: partitions one after another on two workers that take turns. A mark after each proof. */
export function makeRun(shape: RunShape): Lines {
  const { process = PROCESS_A, run = 'r1', prepareMs = 20, deviceMs = 100, finishMs = 60, kernels = 5, firstProof = 1 } = shape;
  const lines = new Lines();
  lines
    .add('hello', 0, { process })
    .add('ready', 5 * MS)
    .add('run_started', 10 * MS, { run });
  let deviceFree = 10 * MS;
  for (let p = 0; p < shape.proofs; p++) {
    const proof = `p${firstProof + p}`;
    lines.add('proof_accepted', deviceFree, { proof, partitions: shape.partitions, run });
    let end = deviceFree;
    for (let partition = 0; partition < shape.partitions; partition++) {
      const worker = partition % 2;
      const key = { proof, partition, worker };
      const begin = deviceFree;
      lines.add('permit_asked', begin, key as object).add('permit_granted', begin, { proof, partition });
      lines.add('synthesis_started', begin, { proof, partition }).add('synthesis_ended', begin + 1 * MS, { proof, partition });
      lines.add('queued', begin + 1 * MS, { proof, partition }).add('picked_up', begin + 1 * MS, key);
      lines.add('prepare_started', begin + 1 * MS, key).add('prepare_ended', begin + prepareMs * MS, key);
      const locked = begin + prepareMs * MS;
      lines.add('lock_asked', locked, key).add('lock_granted', locked, key).add('device_started', locked, key);
      for (let k = 0; k < kernels; k++) {
        const from = locked + Math.floor((k * deviceMs * MS) / kernels);
        lines.add('kernel_started', from, key).add('kernel_ended', locked + Math.floor(((k + 1) * deviceMs * MS) / kernels), key);
      }
      const released = locked + deviceMs * MS;
      lines.add('device_ended', released, key).add('lock_released', released, key).add('finish_started', released, key);
      end = released + finishMs * MS;
      lines.add('finish_ended', end, key).add('put_down', end, key).add('permit_released', end, { proof, partition });
      lines.add('partition_ended', end, { proof, partition });
      deviceFree = released;
    }
    lines.add('proof_ended', end, { proof, file: `${proof}.1.proof.json` }).mark(end);
  }
  const last = (lines.lines.at(-1)?.t ?? 10 * MS) + MS;
  lines.state(last);
  if (!shape.open)
    lines
      .add('run_ended', last, { run })
      .add('bye', last + MS)
      .mark(last + MS);
  // `picked_up` and its like have no partition-only form: drop what a spread brought along.
  for (const line of lines.lines) tidy(line);
  return lines;
}

function tidy(line: JournalLine): void {
  if (line.e === 'mark' || line.e === 'state') return;
  const known = new Set(['seq', 't', 'e', ...Object.keys(EVENTS[line.e])]);
  for (const key of Object.keys(line)) if (!known.has(key)) delete (line as unknown as Record<string, unknown>)[key];
}
