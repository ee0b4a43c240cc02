/**
 * A whole run as data, told both ways: as the text of a run file (native/timeline/FORMAT.md, section 10), which the oracle in Python
 * reads, and to a RunFeed, which is how the analysis hears of it. It has no reader: what it writes it got from a generator or by hand.
 */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import type { FedLoss, RunFeed } from '../../electron/analysis/run-feed.ts';
import type { Scheduler } from '../../electron/contract/scheduler.ts';
import type { EventOf, StateLine, TimelineEvent } from '../../electron/contract/timeline-events.ts';

export interface SampleLoss {
  ring: string | null;
  count: number;
  filled: number;
  t_from: number;
  t_to: number;
  healed_t: number | null;
  state: StateLine | null;
}

export interface SampleProcess {
  hello: EventOf<'hello'>;
  seqFrom: number;
  startedT: number;
  /** In the order of `seq`; the hello among them where the part begins with it. */
  events: TimelineEvent[];
  losses: SampleLoss[];
  /** Set where the run ended in it. */
  seqTo: number | null;
  endedT: number | null;
  ended: string | null;
  /** Its last mark. */
  horizon: number | null;
}

export interface SampleRun {
  name: string;
  engine: 'builtin' | 'cuzk';
  scheduler: Scheduler | null;
  state: 'running' | 'finished' | 'interrupted';
  processes: SampleProcess[];
  holds: { from: number; to: number | null }[];
}

/** On the run's axis; null where nothing of it lives any more. */
export function horizonOf(run: SampleRun): number | null {
  const last = run.processes.at(-1) as SampleProcess;
  return lives(run, last) ? (last.horizon as number) + offsetOf(run, last) : null;
}

/** What to add to a `t` of the process to get ns since the run's start. */
export function offsetOf(run: SampleRun, process: SampleProcess): number {
  const first = run.processes[0] as SampleProcess;
  return Number(BigInt(process.hello.monotonic_ns) - BigInt(first.hello.monotonic_ns)) - first.startedT;
}

function lives(run: SampleRun, process: SampleProcess): boolean {
  return process === run.processes.at(-1) && run.state === 'running' && process.ended === null && process.endedT === null;
}

export function writeRunFile(run: SampleRun): string {
  const lines: unknown[] = [
    {
      interlock_run: 1, run: run.name, uid: run.name, state: run.state, ended_by: null, engine: run.engine, backend: 'cpu', emulate: null,
      scheduler: run.scheduler, found: {}, started_wall_ns: '0',
    },
  ]; // prettier-ignore
  let events = 0;
  for (const one of run.processes) {
    lines.push({
      process: one.hello.process, pid: one.hello.pid, start_ticks: one.hello.start_ticks, seq_from: one.seqFrom, seq_to: one.seqTo,
      started_seq: one.seqFrom, started_t: one.startedT, ended_t: one.endedT, reason: null, ended: one.ended, exit: null, signal: null,
      horizon: one.horizon, peak_rss_bytes: null, unparsed: 0,
    }); // prettier-ignore
    lines.push(one.hello, ...one.events.filter((event) => event.e !== 'hello'));
    events += one.events.length;
    for (const { ring, ...loss } of one.losses) lines.push({ loss: 'ring', seq_from: 0, seq_to: 0, ring, ...loss });
  }
  for (const { from, to } of run.holds) lines.push({ hold_from_ns: from, hold_to_ns: to });
  lines.push({ end: true, events, lines: lines.length, sha256: '' });
  return lines.map((line) => JSON.stringify(line) + '\n').join('');
}

export function feedRun(run: SampleRun, feed: RunFeed): void {
  const originT = (run.processes[0] as SampleProcess).startedT;
  for (const one of run.processes) {
    feed.beginProcess(one.hello, originT, one.seqFrom === 0);
    for (const event of one.events) feed.take(event);
    for (const loss of one.losses) if (loss.count > loss.filled) feed.takeLoss?.(toFed(loss));
    const lastT = one.events.reduce((last, event) => Math.max(last, event.t), 0);
    feed.endProcess?.(lives(run, one) ? null : Math.max(lastT, one.seqTo === null ? (one.horizon ?? 0) : 0));
  }
  for (const { from, to } of run.holds) feed.takeHold?.(from, to);
}

function toFed(loss: SampleLoss): FedLoss {
  return { tFrom: loss.t_from, tTo: loss.t_to, count: loss.count - loss.filled, healedT: loss.healed_t, state: loss.state };
}

/** What the oracle says of a device. */
export interface OracleDevice {
  wall_ns: number;
  kernel_ns: number | null;
  idle_ns: Record<string, number>;
  details: { in_lock: Record<string, number>; permit: Record<string, number> };
  groups: Record<string, number>;
  unknown_ns: number;
  worker_ns: Record<string, number>;
  windows: Record<'kernel' | 'lock' | 'job' | 'copy', { ns: number; sum_ns: number } | null>;
  legacy_efficiency: number | null;
  legacy_sum: number | null;
  provisional_ns: number;
  provisional: Record<string, number>;
  gaps: OracleGap[];
}
export interface OracleGap {
  start_ns: number;
  length_ns: number;
  parts: Record<string, number>;
  cause: string;
  before: [string, number, number] | null;
  after: [string, number, number] | null;
}
export interface OracleRun {
  run: string;
  wall_ns: number;
  devices: Record<string, OracleDevice>;
}

const ORACLE = path.join(import.meta.dirname, 'idle.py');

/** Null where there is no python3 to ask. */
export function findPython(): string | null {
  return spawnSync('python3', ['--version']).status === 0 ? 'python3' : null;
}

/** The oracle's answers, in the order of the runs in the text. */
export function askOracle(text: string): OracleRun[] {
  const answer = spawnSync('python3', ['-B', ORACLE], { input: text, maxBuffer: 2 ** 30, encoding: 'utf8' });
  if (answer.status !== 0) throw new Error(`the oracle failed: ${answer.stderr}`);
  return answer.stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as OracleRun);
}
