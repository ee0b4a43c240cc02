/** A sink that keeps what a reader of cuzk logs tells, and what the tests ask of it. */
import { readFileSync } from 'node:fs';
import { createCuzkReader } from '../../electron/formats/cuzk/reader.ts';
import type { EventName, EventOf, TimelineEvent } from '../../electron/contract/timeline-events.ts';
import type { ImportProblem } from '../../electron/contract/transfer.ts';
import type { ImportedLoss, ImportedProcess, ImportedProcessEnd, ImportedRun, ImportSink } from '../../electron/formats/import-sink.ts';

export interface ToldRun {
  run: ImportedRun;
  process: ImportedProcess | null;
  events: TimelineEvent[];
  losses: ImportedLoss[];
  end: ImportedProcessEnd | null;
  state: string | null;
  endedBy: string | null;
}

export class Told implements ImportSink {
  runs: ToldRun[] = [];
  problems: ImportProblem[] = [];
  horizons: number[] = [];
  /** An event told with an instant before a horizon that had been told: by (event, horizon). */
  late: { event: TimelineEvent; horizon: number }[] = [];

  get last(): ToldRun {
    const last = this.runs.at(-1);
    if (!last) throw new Error('no run');
    return last;
  }

  beginRun(run: ImportedRun): void {
    this.runs.push({ run, process: null, events: [], losses: [], end: null, state: null, endedBy: null });
    this.horizons = [];
  }
  beginProcess(process: ImportedProcess): void {
    this.last.process = process;
  }
  event(event: TimelineEvent): void {
    this.last.events.push(event);
    const horizon = this.horizons.at(-1) ?? 0;
    if (event.t < horizon) this.late.push({ event, horizon });
  }
  horizon(t: number): void {
    this.horizons.push(t);
  }
  loss(loss: ImportedLoss): void {
    this.last.losses.push(loss);
  }
  oldProblem(): void {}
  endProcess(end: ImportedProcessEnd): void {
    this.last.end = end;
  }
  hold(): void {}
  attempt(): void {}
  endRun(end: { state: string; endedBy: string | null }): void {
    this.last.state = end.state;
    this.last.endedBy = end.endedBy;
  }
  problem(problem: ImportProblem): void {
    this.problems.push(problem);
  }
}

export function fixture(name: string): Buffer {
  return readFileSync(new URL(`../fixtures/cuzk/${name}.log`, import.meta.url));
}

/** Pieces are pushed one after another; `end` false leaves the input open. */
export function read(input: string | Uint8Array | readonly Uint8Array[], end = true): Told {
  const told = new Told();
  const reader = createCuzkReader(told, { name: 'test.log' });
  const pieces = typeof input === 'string' ? [Buffer.from(input)] : input instanceof Uint8Array ? [input] : input;
  for (const piece of pieces) reader.push(piece);
  if (end) reader.end();
  return told;
}

export function of<E extends EventName>(run: ToldRun, name: E): EventOf<E>[] {
  return run.events.filter((event) => event.e === name) as EventOf<E>[];
}

export function countsOf(run: ToldRun): Partial<Record<EventName, number>> {
  const counts: Partial<Record<EventName, number>> = {};
  for (const { e } of run.events) counts[e] = (counts[e] ?? 0) + 1;
  return counts;
}

/** `proof attempt outcome code`, in order. */
export function verdicts(run: ToldRun): string[] {
  const names = new Map(of(run, 'proof_named').map((event) => [event.proof, event.name]));
  return of(run, 'proof_ended').map(({ proof, attempt, outcome, code }) =>
    [names.get(proof) ?? proof, attempt, outcome, code].filter((part) => part !== null).join(' '),
  );
}

export interface LockTable {
  windows: number;
  heldMs: number;
  windowMs: number;
  errorMs: number;
  overlapNs: number;
}

/** The windows of a run, against what the log says of them. */
export function locksOf(run: ToldRun): LockTable {
  const key = (event: { proof: string; attempt: number; partition: number }) => `${event.proof} ${event.attempt} ${event.partition}`;
  const table: LockTable = { windows: 0, heldMs: 0, windowMs: 0, errorMs: 0, overlapNs: 0 };
  const granted = new Map(of(run, 'lock_granted').map((event) => [key(event), event]));
  const lastEnd = new Map<string, number>();
  for (const released of of(run, 'lock_released')) {
    const from = granted.get(key(released))?.t;
    if (from === undefined) throw new Error('a window without a start');
    table.windows += 1;
    table.windowMs += (released.t - from) / 1e6;
    table.overlapNs = Math.max(table.overlapNs, (lastEnd.get(released.device) ?? 0) - from);
    lastEnd.set(released.device, released.t);
  }
  for (const { durations } of of(run, 'measured') as (EventOf<'measured'> & { durations: Record<string, number> })[]) {
    table.heldMs += (durations.lock_held ?? 0) / 1e6;
    table.errorMs += (durations.lock_error ?? 0) / 1e6;
  }
  return table;
}

/** Spans by (proof, attempt, partition): how many of each kind began and ended. */
export function spansOf(run: ToldRun, from: EventName, to: EventName): { begun: number; ended: number; open: string[] } {
  const key = (event: TimelineEvent) => ('partition' in event && 'proof' in event ? `${event.proof}.${event.partition}` : '');
  const begun = run.events.filter((event) => event.e === from).map(key);
  const ended = new Set(run.events.filter((event) => event.e === to).map(key));
  return { begun: begun.length, ended: ended.size, open: begun.filter((one) => !ended.has(one)) };
}

/** Lines as the daemon writes them. */
export const line = (ms: number, event: string, job: string, detail: string) => `TIMELINE,${ms},${event},${job},${detail}\n`;
/** One partition through all six lines. */
export const whole = (from: number, job: string, partition = 0, worker = 0) =>
  line(from, 'SYNTH_START', job, `partition=${partition}`) +
  line(from + 10, 'SYNTH_END', job, `partition=${partition},synth_ms=10`) +
  line(from + 10, 'GPU_QUEUE', job, `partition=${partition}`) +
  line(from + 11, 'GPU_PICKUP', job, `worker=${worker},partition=${partition}`) +
  line(from + 11, 'GPU_START', job, `worker=${worker},partition=${partition}`) +
  line(from + 40, 'GPU_END', job, `worker=${worker},partition=${partition},gpu_ms=29`);

export const WALL = Date.UTC(2026, 10, 30, 14, 23, 30);
/** A tracing line `us` after the engine's start. */
export const tracing = (us: number, rest: string, level = ' INFO') => {
  const iso = new Date(WALL + Math.floor(us / 1000)).toISOString().slice(0, 23);
  return `${iso}${String(us % 1000).padStart(3, '0')}Z ${level} ${rest}\n`;
};
export const START = tracing(0, 'cuzk_core::engine: starting cuzk engine pipeline_enabled=true');
export const enqueued = (us: number, job: string, kind = 'porep-c2') =>
  tracing(us, `cuzk_core::scheduler: job enqueued job_id=${job} proof_kind=${kind} priority=Normal queue_position=0`) +
  tracing(us + 10, `cuzk_core::scheduler: job dequeued for proving job_id=${job} proof_kind=${kind}`);
