/**
 * Runs as pictures, for the account of idle time. One line a lane; each character is one tick; column 0 is tick `from` of the run's axis.
 *
 *   A          ..a......v          proof A: a accepted, v valid, x failed, r returned
 *   A.0 s0     aaaSSSSShhqq        a partition: a waits for its permit (b: for bytes), S synthesis, h withheld, q queued from here on
 *   A.0 w0     pppKKKLLfff         worker 0 with it; @gpu1 behind the worker names a device
 *   load c     ..lllll             params of circuit c load (a proof's circuit is its name in small letters); until ! without an end
 *   process    r========!          one life: r ready from here on, else not; ! killed, e run ended, b bye; a blank ends it, the next begins anew
 *   hold       ..====              the host keeps proofs back
 *   lost       ..===               events are missing, up to the snapshot at the end
 *
 * Worker: w waits for the lock, p prepare, device stage: K kernel, C copy, B barrier, M alloc, L nothing; f finish; X dies.
 * A lane that stops at `!` loses its ends there; one at `x` (of a synthesis) fails there; `~` in a worker's lane: an event is missing.
 */
import type { Scheduler } from '../../electron/contract/scheduler.ts';
import type { EventName, EventOf, StateLine, TimelineEvent } from '../../electron/contract/timeline-events.ts';
import type { FedLoss, RunFeed } from '../../electron/analysis/run-feed.ts';
import { makeEvent, makeState, SCHEDULER } from './journal.ts';

export interface LaneProcess {
  hello: EventOf<'hello'>;
  fromStart: boolean;
  /** In the order of seq. */
  events: TimelineEvent[];
  losses: FedLoss[];
  endT: number | null;
}

export interface LaneRun {
  processes: LaneProcess[];
  holds: { fromNs: number; toNs: number | null }[];
  originT: number;
  endNs: number;
  scheduler: Scheduler;
}

export interface LaneOptions {
  scope?: 'job' | 'kernels';
  workers?: number;
  devices?: string[];
  from?: number;
  tickNs?: number;
  /** Leaves the last process alive. */
  lasts?: boolean;
}

interface Raw {
  tick: number;
  order: number;
  make: (t: number, seq: number) => TimelineEvent;
}

const STAGES: Record<string, string> = { w: 'waiting', p: 'prepare', L: 'device', K: 'device', C: 'device', B: 'device', M: 'device', f: 'finish' }; // prettier-ignore
const WAITS: Record<string, string> = { B: 'barrier', M: 'alloc' };

export function parseRun(picture: string, options: LaneOptions = {}): LaneRun {
  const { scope = 'kernels', workers = 1, devices = ['cpu0'], from = 0, tickNs = 1_000_000, lasts = false } = options;
  const raw: Raw[] = [];
  const add = <E extends EventName>(tick: number, e: E, fields: object = {}) => {
    raw.push({ tick, order: raw.length, make: (t, seq) => makeEvent(e, t, seq, fields as Partial<EventOf<E>>) });
  };
  const lanes = picture
    .split('\n')
    .map((text) => text.trim())
    .filter((text) => text !== '');
  let endTick = 0;
  let process = '';
  const holds: LaneRun['holds'] = [];
  const lost: { fromTick: number; toTick: number }[] = [];
  for (const lane of lanes) {
    const match = /^(load\s+\S+|\S+(?:\s+[sw]\d+(?:@\S+)?)?)\s+(\S.*)$/.exec(lane);
    if (!match) throw new Error(`not a lane: ${lane}`);
    const [, head = '', cells = ''] = match;
    endTick = Math.max(endTick, from + cells.length);
    const [name = '', role = ''] = head.split(/\s+/);
    if (name === 'process') process = cells;
    else if (name === 'hold') holds.push(stretchOf(cells, '=', from, tickNs));
    else if (name === 'lost') lost.push({ fromTick: from + cells.indexOf('='), toTick: from + cells.lastIndexOf('=') + 1 });
    else if (name === 'load') {
      add(from + cells.indexOf('l'), 'params_load_started', { circuit: role });
      const end = cells.lastIndexOf('l') + 1;
      if (cells[end] !== '!') add(from + end, 'params_load_ended', { circuit: role });
    } else if (!name.includes('.')) readProof(name, cells, from, add);
    else {
      const [proof = '', partition = '0'] = name.split('.');
      const key = { proof, attempt: 1, partition: Number(partition) };
      const [, kind, index = '0', device = devices[0]] = /^([sw])(\d+)(?:@(\S+))?$/.exec(role) ?? [];
      if (kind === 's') readPartition(cells, { ...key, synthesiser: Number(index) }, from, add);
      else readWorker(cells, { ...key, device, worker: Number(index) }, scope, from, add);
    }
  }
  raw.sort((a, b) => a.tick - b.tick || a.order - b.order);
  const scheduler = { ...SCHEDULER, gpu_workers: workers, lock_scope: scope };
  const lives = livesOf(process || `r${'='.repeat(endTick - from)}`, from);
  const processes = lives.map((life, index): LaneProcess => {
    const startNs = life.fromTick * tickNs;
    const at = (tick: number) => tick * tickNs - startNs;
    const hello = makeEvent('hello', 0, 0, {
      process: `3f2b8c1e-0000-4000-8000-00000000000${index}`,
      monotonic_ns: String(5_000_000_000 + startNs - from * tickNs),
      devices: devices.map((device) => ({ device, kind: 'cpu', name: device, workers_max: 2, clock: 'host' })),
    });
    const events: TimelineEvent[] = [hello];
    const put = (t: number, make: Raw['make']) => events.push(make(t, events.length));
    const own: Raw[] = raw.filter(
      ({ tick }) => tick >= life.fromTick && (tick < life.toTick || (life.end !== '!' && tick === life.toTick)),
    );
    const extra: Raw[] = [];
    const note = (tick: number, order: number, e: EventName) => extra.push({ tick, order, make: (t, seq) => makeEvent(e, t, seq) });
    if (life.readyTick !== null) note(life.readyTick, -2, 'ready');
    note(Math.max(0, life.fromTick), -1, 'run_started');
    if (life.end === 'e' || life.end === 'b') note(life.toTick, 1e6, 'run_ended');
    if (life.end === 'b') note(life.toTick, 1e6 + 1, 'bye');
    for (const { tick, make } of [...own, ...extra].sort((a, b) => a.tick - b.tick || a.order - b.order)) put(at(tick), make);
    const losses = lost
      .filter(({ fromTick }) => fromTick >= life.fromTick && fromTick < life.toTick)
      .map(({ fromTick, toTick }): FedLoss => ({ tFrom: at(fromTick), tTo: at(toTick), count: 1, healedT: at(toTick), state: makeState(at(toTick), -1) })); // prettier-ignore
    const isLast = index === lives.length - 1;
    return { hello, fromStart: true, events, losses, endT: isLast && lasts ? null : at(life.toTick) };
  });
  return { processes, holds, originT: -from * tickNs, endNs: endTick * tickNs, scheduler };
}

/** Tells it as the store does. `state`: replaces the snapshot that ends the losses. */
export function tellRun(run: LaneRun, feed: RunFeed, state?: Partial<StateLine>): void {
  for (const process of run.processes) {
    feed.beginProcess(process.hello, run.originT, process.fromStart);
    for (const event of process.events) feed.take(event);
    for (const loss of process.losses) feed.takeLoss?.(state && loss.state ? { ...loss, state: { ...loss.state, ...state } } : loss);
    feed.endProcess?.(process.endT);
  }
  for (const { fromNs, toNs } of run.holds) feed.takeHold?.(fromNs, toNs);
}

interface Life {
  fromTick: number;
  toTick: number;
  readyTick: number | null;
  end: string;
}

function livesOf(cells: string, from: number): Life[] {
  const lives: Life[] = [];
  for (const match of cells.matchAll(/[^ !eb]+[!eb]?/g)) {
    const text = match[0];
    const fromTick = from + match.index;
    const end = /[!eb]$/.exec(text)?.[0] ?? '';
    const ready = text.indexOf('r');
    lives.push({ fromTick, toTick: fromTick + text.length - (end === '' ? 0 : 1), readyTick: ready < 0 ? null : fromTick + ready, end });
  }
  return lives;
}

function stretchOf(cells: string, mark: string, from: number, tickNs: number): { fromNs: number; toNs: number } {
  return { fromNs: (from + cells.indexOf(mark)) * tickNs, toNs: (from + cells.lastIndexOf(mark) + 1) * tickNs };
}

type Add = <E extends EventName>(tick: number, e: E, fields?: object) => void;

function readProof(proof: string, cells: string, from: number, add: Add): void {
  [...cells].forEach((cell, column) => {
    const key = { proof, attempt: 1 };
    if (cell === 'a') add(from + column, 'proof_accepted', { ...key, circuit: proof.toLowerCase() });
    else if (cell === 'v') add(from + column, 'proof_ended', key);
    else if (cell === 'x') add(from + column, 'proof_ended', { ...key, outcome: 'failed' });
    else if (cell === 'r') add(from + column, 'proof_returned', key);
  });
}

function readPartition(
  cells: string,
  key: { proof: string; attempt: number; partition: number; synthesiser: number },
  from: number,
  add: Add,
): void {
  const { synthesiser, ...part } = key;
  let before = '.';
  [...cells, '.'].forEach((cell, column) => {
    const tick = from + column;
    if (cell === before) return;
    if ('ab'.includes(before) && cell !== '!') add(tick, 'permit_granted', { ...part, waited_for: before === 'b' ? 'bytes' : 'count' });
    if ('ab'.includes(cell)) add(tick, 'permit_asked', part);
    if (before === 'S' && cell === 'x') add(tick, 'stage_failed', { ...part, stage: 'synthesis' });
    else if (before === 'S' && cell !== '!') add(tick, 'synthesis_ended', { ...part, synthesiser });
    if (cell === 'S') add(tick, 'synthesis_started', { ...part, synthesiser });
    if (cell === 'q') add(tick, 'queued', part);
    before = cell;
  });
}

function readWorker(
  cells: string,
  key: { proof: string; attempt: number; partition: number; device: string | undefined; worker: number },
  scope: 'job' | 'kernels',
  from: number,
  add: Add,
): void {
  let stage: string | undefined;
  let before = '.';
  let picked = false;
  let locked = false;
  for (let column = 0; column <= cells.length; column++) {
    const cell = cells[column] ?? '.';
    const tick = from + column;
    if (cell === '!') return;
    if (cell === '~') {
      // Whatever ends here does so unseen.
      stage = undefined;
      before = '.';
      continue;
    }
    if (cell === 'X') {
      add(tick, 'worker_dead', { device: key.device, worker: key.worker });
      return;
    }
    const next = STAGES[cell];
    if (before !== cell) {
      if (before === 'K') add(tick, 'kernel_ended', { ...key, stream: 0, kernel: 'h_msm' });
      if (before === 'C') add(tick, 'copy_ended', { ...key, stream: 1 });
      if (WAITS[before]) add(tick, 'wait_ended', { ...key, wait: WAITS[before] });
    }
    if (next !== undefined && !picked) {
      add(tick, 'picked_up', key);
      picked = true;
    }
    if (next !== stage) {
      if (stage === 'prepare') add(tick, 'prepare_ended', key);
      if (stage === 'device') {
        add(tick, 'device_ended', key);
        if (scope === 'kernels') add(tick, 'lock_released', key);
      }
      if (stage === 'finish') {
        add(tick, 'finish_ended', key);
        if (scope === 'job') add(tick, 'lock_released', key);
      }
      if (next === 'waiting' || (next !== undefined && !locked && (scope === 'job' || next === 'device'))) {
        if (stage !== 'waiting') add(tick, 'lock_asked', key);
      }
      if (next !== undefined && next !== 'waiting' && !locked && (scope === 'job' || next === 'device')) {
        add(tick, 'lock_granted', key);
        locked = true;
      }
      if (next === 'prepare') add(tick, 'prepare_started', key);
      if (next === 'device') add(tick, 'device_started', key);
      if (next === 'finish') add(tick, 'finish_started', key);
      stage = next;
    }
    if (before !== cell) {
      if (cell === 'K') add(tick, 'kernel_started', { ...key, stream: 0, kernel: 'h_msm' });
      if (cell === 'C') add(tick, 'copy_started', { ...key, stream: 1 });
      if (WAITS[cell]) add(tick, 'wait_started', { ...key, wait: WAITS[cell] });
    }
    before = cell;
    if (next === undefined && picked) {
      add(tick, 'put_down', key);
      return;
    }
  }
}
