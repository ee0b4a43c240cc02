/**
 * A run as Chrome trace events (the JSON that Perfetto and chrome://tracing open): one process a device or pool, one thread a row.
 * Instants are µs with decimals that keep the nanoseconds, since the first process began, so none is negative. Long runs are cut into
 * parts, each a whole file: by the run's events, so the number of parts is known before the first byte.
 */
import { CAUSE_WORDS, type Gap, type IdleReport } from '../../contract/idle.ts';
import type { EventOf, TimelineEvent } from '../../contract/timeline-events.ts';
import type { Nanoseconds } from '../../contract/units.ts';
import { RunAxis } from '../../analysis/run-axis.ts';
import type { FedLoss, RunFeed } from '../../analysis/run-feed.ts';
import { SETTLE_EVERY, SETTLE_LAG_NS, SpanTracker, type Span, type TrackedKind } from '../../analysis/spans.ts';
import { isLog } from '../../analysis/windows.ts';
import type { ExportFacts, WriteText } from '../export-facts.ts';
import { Lanes, type Lane } from './lanes.ts';

/** Runs with fewer events are one file. */
export const ONE_FILE_EVENTS = 1_000_000;
/** Of a part, so that even one full of long names stays below 250 MB. */
export const EVENTS_PER_PART = 600_000;
/** Gaps drawn at most, the longest: `otherData` says how many were left out. */
export const MOST_GAPS = 200_000;

const BATCH = 256 * 1024;
const LONGEST_NAME = 120;

const PIDS = { run: 1, synthesis: 2, permits: 3, firstDevice: 10 };
/** Order of the tracks of a device, and what a span is called where the proof is not its name. */
const TRACKS: Record<TrackedKind, { track: (span: Span) => string; order: (span: Span) => number; isStage: boolean }> = {
  kernel: { track: (span) => (span.stream ? `kernels, stream ${span.stream}` : 'kernels'), order: () => 1, isStage: true },
  copy: { track: (span) => (span.stream ? `copies, stream ${span.stream}` : 'copies'), order: () => 2, isStage: true },
  pause: { track: () => 'waits in the lock', order: () => 3, isStage: true },
  lock: { track: () => 'lock held', order: () => 4, isStage: false },
  job: { track: (span) => `worker ${span.worker} job span`, order: (span) => 10 + 2 * (span.worker ?? 0), isStage: false },
  waiting: { track: (span) => `worker ${span.worker} stages`, order: (span) => 11 + 2 * (span.worker ?? 0), isStage: true },
  prepare: { track: (span) => `worker ${span.worker} stages`, order: (span) => 11 + 2 * (span.worker ?? 0), isStage: true },
  device: { track: (span) => `worker ${span.worker} stages`, order: (span) => 11 + 2 * (span.worker ?? 0), isStage: true },
  finish: { track: (span) => `worker ${span.worker} stages`, order: (span) => 11 + 2 * (span.worker ?? 0), isStage: true },
  synthesis: { track: (span) => `synthesiser ${span.worker}`, order: (span) => span.worker ?? 0, isStage: false },
  permit: { track: () => 'waiting for a permit', order: () => 0, isStage: false },
  queue: { track: () => 'waiting for a worker', order: () => 1, isStage: false },
};
const STAGE_NAMES: Partial<Record<TrackedKind, string>> = {
  waiting: 'waits for the lock', prepare: 'prepare', device: 'device', finish: 'finish', copy: 'copy',
}; // prettier-ignore

/** When a run is cut, and after how many of its events. */
export interface Cut {
  oneFile: number;
  perPart: number;
}
export const CUT: Cut = { oneFile: ONE_FILE_EVENTS, perPart: EVENTS_PER_PART };

export function partsOf(events: number, cut = CUT): number {
  return events <= cut.oneFile ? 1 : Math.ceil(events / cut.perPart);
}

export class ChromeWriter implements RunFeed {
  readonly #facts: ExportFacts;
  readonly #write: WriteText;
  readonly #parts: number;
  readonly #cut: Cut;
  readonly #lanes = new Lanes();
  readonly #laneOf = new Map<Span, Lane>();
  readonly #names = new Map<string, string>();
  readonly #devices = new Map<string, number>();
  #losses: FedLoss[] = [];
  #axis: RunAxis | null = null;
  #tracker: SpanTracker | null = null;
  #offset = 0;
  /** What to add to an instant so that the first process's beginning is 0. */
  #shift = 0;
  #nextId = 0;
  #count = 0;
  #lastNs = 0;
  #part = 0;
  #text = '';
  #isFirst = true;

  /** `events`: of the run; decides the number of parts. */
  constructor(facts: ExportFacts, events: number, write: WriteText, cut = CUT) {
    this.#cut = cut;
    this.#facts = facts;
    this.#write = write;
    this.#parts = partsOf(events, cut);
  }

  beginProcess(hello: EventOf<'hello'>, originT: Nanoseconds): void {
    this.#tracker?.endProcess();
    if (this.#axis === null) {
      this.#axis = new RunAxis(hello, originT);
      this.#shift = originT;
      this.#openPart();
    }
    this.#offset = this.#axis.offsetOf(hello);
    for (const { device, kind } of hello.devices as { device: string; kind: string }[]) this.#device(device, kind);
    this.#tracker = new SpanTracker(this.#offset, (span) => this.#span(span), () => this.#nextId++, isLog(hello)); // prettier-ignore
  }

  take(event: TimelineEvent): void {
    const part = Math.min(Math.floor(this.#count / this.#cut.perPart), this.#parts - 1);
    if (part !== this.#part) {
      this.#closePart();
      this.#part = part;
      this.#openPart();
    }
    const at = event.t + this.#offset;
    if (at > this.#lastNs) this.#lastNs = at;
    this.#tracker?.take(event);
    this.#notable(event, at);
    if (++this.#count % SETTLE_EVERY === 0) this.#tracker?.settle(this.#lastNs - SETTLE_LAG_NS);
  }

  takeLoss(loss: FedLoss): void {
    this.#losses.push(loss);
  }

  endProcess(endT: Nanoseconds | null): void {
    if (endT !== null) this.#tracker?.endProcess();
    const endNs = endT === null ? this.#lastNs : endT + this.#offset;
    for (const loss of this.#losses.sort((a, b) => a.tFrom - b.tFrom)) {
      const to = loss.healedT === null ? endNs : loss.healedT + this.#offset;
      this.#slice(PIDS.run, 'events missing', 1, `${loss.count} events missing`, 'unknown', loss.tFrom + this.#offset, to, {});
    }
    this.#losses = [];
  }

  takeHold(fromNs: Nanoseconds, toNs: Nanoseconds | null): void {
    this.#slice(PIDS.run, 'held by the host', 2, 'held', 'held', Math.max(fromNs, -this.#shift), toNs ?? this.#lastNs, {});
  }

  /** After the run was told. `gaps`: longest first. */
  finish(idle: IdleReport, gaps: readonly Gap[]): void {
    if (this.#axis === null) this.#openPart();
    for (const span of this.#laneOf.keys()) this.#instant(span, 'still open');
    const drawn = gaps.slice(0, MOST_GAPS).sort((a, b) => a.start_ns - b.start_ns);
    for (const gap of drawn) {
      const parts = Object.fromEntries(Object.entries(gap.parts).map(([cause, ns]) => [`${cause}_ns`, ns]));
      const { name } = CAUSE_WORDS[gap.cause];
      this.#slice(
        this.#device(gap.device, ''),
        'idle, by largest cause',
        0,
        name,
        'idle',
        gap.start_ns,
        gap.start_ns + gap.length_ns,
        parts,
      );
    }
    this.#closePart({ wall_ns: idle.wall_ns, gaps_left_out: gaps.length - drawn.length });
  }

  #device(device: string, kind: string): number {
    let pid = this.#devices.get(device);
    if (pid === undefined) {
      this.#devices.set(device, (pid = PIDS.firstDevice + this.#devices.size));
      this.#names.set(String(pid), kind === '' ? device : `${device} (${kind})`);
    }
    return pid;
  }

  #pidOf(span: Span): number {
    if (span.device !== null) return this.#device(span.device, '');
    return span.kind === 'synthesis' ? PIDS.synthesis : PIDS.permits;
  }

  #span(span: Span): void {
    let lane = this.#laneOf.get(span);
    if (!lane) {
      const { track, order } = TRACKS[span.kind];
      lane = this.#lanes.open(this.#pidOf(span), track(span), order(span), span.startNs);
      this.#laneOf.set(span, lane);
    }
    if (span.state === 'open') return;
    this.#laneOf.delete(span);
    this.#lanes.close(lane, span.state === 'closed' ? span.endNs : null);
    if (span.state === 'abandoned') this.#instant(span, 'no end seen', lane);
    else {
      const { proof, attempt, partition, startNs, endNs } = span;
      this.#event(
        `{"name":${JSON.stringify(nameOf(span))},"cat":"${span.kind}","ph":"X","ts":${this.#us(startNs)},"dur":${micros((endNs ?? startNs) - startNs)},` +
          `"pid":${lane.pid},"tid":${lane.tid},"args":{"proof":"${proof}","attempt":${attempt},"partition":${partition}}}`,
      );
    }
  }

  /** A span whose end never came has no length that could be drawn: a mark where it began. */
  #instant(span: Span, why: string, lane = this.#laneOf.get(span)): void {
    if (!lane) return;
    const args = { proof: span.proof, attempt: span.attempt, partition: span.partition };
    const name = `${nameOf(span)}: ${why}`;
    this.#event(JSON.stringify({ name, cat: 'open', ph: 'i', s: 't', ts: 0, pid: lane.pid, tid: lane.tid, args }).replace('"ts":0', `"ts":${this.#us(span.startNs)}`)); // prettier-ignore
  }

  #slice(pid: number, track: string, order: number, name: string, cat: string, fromNs: Nanoseconds, toNs: Nanoseconds, args: object): void {
    if (toNs < fromNs) return;
    const lane = this.#lanes.open(pid, track, order, fromNs);
    this.#lanes.close(lane, toNs);
    const head = JSON.stringify({ name: name.slice(0, LONGEST_NAME), cat, ph: 'X' }).slice(0, -1);
    this.#event(
      `${head},"ts":${this.#us(fromNs)},"dur":${micros(toNs - fromNs)},"pid":${pid},"tid":${lane.tid},"args":${JSON.stringify(args)}}`,
    );
  }

  /** What a reader of the timeline wants to see without a span. */
  #notable(event: TimelineEvent, at: Nanoseconds): void {
    let name: string;
    switch (event.e) {
      case 'stage_failed':
        name = `${event.proof}/${event.partition} ${event.stage} failed: ${event.code}`;
        break;
      case 'worker_dead':
        name = `worker ${event.worker} dead: ${event.code}`;
        break;
      case 'proof_ended':
        name = `${event.proof} ${event.outcome}`;
        break;
      case 'clock_step':
      case 'write_failed':
      case 'run_started':
      case 'run_ended':
        name = event.e.replace('_', ' ');
        break;
      default:
        return;
    }
    const head = JSON.stringify({ name: name.slice(0, LONGEST_NAME), cat: 'event', ph: 'i', s: 'p' }).slice(0, -1);
    this.#event(`${head},"ts":${this.#us(at)},"pid":${PIDS.run},"tid":0}`);
  }

  #us(ns: Nanoseconds): string {
    return micros(ns + this.#shift);
  }

  #event(json: string): void {
    this.#text += this.#isFirst ? json : `,\n${json}`;
    this.#isFirst = false;
    if (this.#text.length >= BATCH) this.#flush();
  }

  #flush(): void {
    if (this.#text !== '') this.#write(this.#part, this.#text);
    this.#text = '';
  }

  #openPart(): void {
    this.#isFirst = true;
    this.#text += `{"displayTimeUnit":"ns","traceEvents":[\n`;
  }

  /** Names of rows come last: by then all of them are known. */
  #closePart(more: Record<string, unknown> = {}): void {
    const pids: [number, string, number][] = [
      [PIDS.run, 'run', 0],
      [PIDS.synthesis, 'synthesis', 200],
      [PIDS.permits, 'permits and queue', 201],
    ];
    for (const pid of this.#devices.values()) pids.push([pid, this.#names.get(String(pid)) ?? '', pid]);
    for (const [pid, name, order] of pids) {
      this.#event(JSON.stringify({ name: 'process_name', ph: 'M', pid, args: { name } }));
      this.#event(JSON.stringify({ name: 'process_sort_index', ph: 'M', pid, args: { sort_index: order } }));
    }
    for (const { pid, tid, name, order } of this.#lanes.all) {
      this.#event(JSON.stringify({ name: 'thread_name', ph: 'M', pid, tid, args: { name } }));
      this.#event(JSON.stringify({ name: 'thread_sort_index', ph: 'M', pid, tid, args: { sort_index: order } }));
    }
    const facts = { ...this.#facts, part: this.#part + 1, parts: this.#parts, run_starts_at_ns: this.#shift, ...more };
    this.#text += `\n],"otherData":${JSON.stringify(Object.fromEntries(Object.entries(facts).map(([key, value]) => [key, plain(value)])))}}\n`;
    this.#flush();
  }
}

/** µs, its decimals the nanoseconds. */
function micros(ns: Nanoseconds): string {
  const whole = Math.floor(ns / 1000);
  const rest = ns - whole * 1000;
  return rest === 0 ? String(whole) : `${whole}.${String(rest).padStart(3, '0')}`;
}

function nameOf(span: Span): string {
  if (!TRACKS[span.kind].isStage) return `${span.proof}/${span.partition}`;
  return STAGE_NAMES[span.kind] ?? span.detail ?? span.kind;
}

/** Readers show texts and numbers here, nothing nested. */
function plain(value: unknown): string | number | null {
  return value === null || typeof value === 'number' || typeof value === 'string' ? value : JSON.stringify(value);
}
