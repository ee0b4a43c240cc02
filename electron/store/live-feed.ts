/**
 * Feeds the live view of the newest run with what was committed, and after a restart with what the history has of it. A run's view stays
 * until the next run begins. A log that is followed has a view of its own, which is shown while it grows, and until our own run goes on.
 */
import { LiveView } from '../analysis/live-view.ts';
import type { Clock } from '../contract/clock.ts';
import type { LiveMessage, LiveSnapshot } from '../contract/live.ts';
import type { FedLoss } from '../analysis/run-feed.ts';
import type { Scheduler } from '../contract/scheduler.ts';
import type { EventOf, JournalLine, StateLine, TimelineEvent } from '../contract/timeline-events.ts';
import type { Nanoseconds } from '../contract/units.ts';
import type { EventWriter, Written } from './event-writer.ts';
import type { Db } from './open.ts';
import type { HoldStart } from './types.ts';

/** Figures go out twice a second, batches as often as {@link LiveFeed.takeMessages} is called. */
const FIGURES_MS = 500;
const PAGE = 5_000;
const MOST_HOLDS = 64;

interface KnownProcess {
  hello: EventOf<'hello'>;
  /** What came since its last run, or since its start: the params may have been loading. */
  before: TimelineEvent[];
  /** It has served a run, and its last one is over. */
  served: boolean;
  over: boolean;
}

/** What a followed import tells, in the order in which it became durable. */
export interface ImportedLive {
  beginRun(run: string, scheduler: Scheduler | null): void;
  /** `originT`: the first process's `run_started`. */
  beginProcess(hello: EventOf<'hello'>, originT: Nanoseconds, fromStart: boolean): void;
  takeEvents(events: readonly TimelineEvent[]): void;
  takeHorizon(t: Nanoseconds): void;
  takeLoss(loss: FedLoss): void;
  takeHold(fromNs: Nanoseconds, toNs: Nanoseconds | null): void;
  endProcess(): void;
  endRun(): void;
}

export class LiveFeed implements ImportedLive {
  readonly #clock: Clock;
  readonly #processes = new Map<string, KnownProcess>();
  #view: LiveView | null = null;
  /** The process that serves the view's run now. */
  #current: string | null = null;
  #originNs: bigint | null = null;
  #snapshotDue = true;
  #noRunTold = false;
  #figuresAtNs = 0;
  /** The newest holds, on the machine's clock. */
  readonly #holds = new Map<number, { fromNs: string; toNs: string | null }>();
  /** Of the run that is imported and followed. */
  #imported: LiveView | null = null;
  #following = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Somebody begins to listen: the next message is a snapshot. */
  restart(): void {
    this.#snapshotDue = true;
    this.#noRunTold = false;
  }

  /** What the history has of the newest open run, before a process's journal is followed on. */
  restore(db: Db, writer: EventWriter, process: string): void {
    const stretches = db
      .prepare(
        `SELECT p.id, p.process, rp.seq_from AS seqFrom, rp.seq_to AS seqTo FROM run_process rp JOIN process p ON p.id = rp.process
         WHERE rp.run = (SELECT r.run FROM run r JOIN run_process mine ON mine.run = r.run JOIN process me ON me.id = mine.process
                         WHERE me.process = ? AND r.state = 'running' ORDER BY r.id DESC LIMIT 1) ORDER BY p.id`,
      )
      .all(process) as { id: number; process: string; seqFrom: number; seqTo: number | null }[];
    if (this.#processes.has(process)) return;
    if (stretches.length === 0 || this.#view !== null) {
      // No run is open: only its hello is wanted.
      const row = db.prepare('SELECT id FROM process WHERE process = ?').pluck().get(process) as number;
      for (const event of writer.readFrom(row, 0, 100)) this.#takeEvent(process, event);
      return;
    }
    for (const hold of db
      .prepare('SELECT id, from_ns AS fromNs, to_ns AS toNs FROM hold WHERE run IS NULL ORDER BY id DESC LIMIT ?')
      .all(MOST_HOLDS)
      .toReversed()) {
      const { id, fromNs, toNs } = hold as { id: number; fromNs: string; toNs: string | null };
      this.#holds.set(id, { fromNs, toNs });
    }
    for (const stretch of stretches) {
      for (const event of writer.readFrom(stretch.id, 0, 1)) this.#takeEvent(stretch.process, event);
      const known = this.#processes.get(stretch.process);
      if (known) known.served = stretch.seqFrom > 0;
      for (let seq = Math.max(1, stretch.seqFrom); ;) {
        const page = writer.readFrom(stretch.id, seq, PAGE).filter((event) => stretch.seqTo === null || event.seq <= stretch.seqTo);
        for (const event of page) this.#takeEvent(stretch.process, event);
        const last = page.at(-1);
        if (!last || page.length < PAGE) break;
        seq = last.seq + 1;
      }
      for (const loss of readLosses(db, stretch)) this.#ifCurrent(stretch.process)?.takeLoss(loss);
      if (stretch.process !== process) this.processEnded(stretch.process);
    }
  }

  take(process: string, lines: JournalLine[], written: Written): void {
    const isNew = new Set<JournalLine>(written.events);
    for (const line of lines) {
      if (line.e === 'mark' || line.e === 'state') {
        // What is missing is told before a promise passes it.
        this.#tellLosses(process, written, line.t);
        if (line.e === 'mark') this.#ifCurrent(process)?.takeMark(line);
        else this.#ifCurrent(process)?.takeState(line);
      } else if (isNew.has(line)) this.#takeEvent(process, line);
    }
    this.#tellLosses(process, written, Number.POSITIVE_INFINITY);
  }

  processEnded(process: string): void {
    this.#ifCurrent(process)?.endProcess();
    this.#processes.delete(process);
  }

  runClosed(run: string): void {
    if (this.#view?.run === run) this.#view.close();
  }

  holdBegan(id: number, { fromNs }: Pick<HoldStart, 'fromNs'>): void {
    this.#holds.set(id, { fromNs, toNs: null });
    if (this.#holds.size > MOST_HOLDS) this.#holds.delete(this.#holds.keys().next().value ?? 0);
    this.#tellHold(id);
  }

  holdEnded(id: number, toNs: string): void {
    const hold = this.#holds.get(id);
    if (!hold) return;
    hold.toNs = toNs;
    this.#tellHold(id);
  }

  snapshot(run?: string): LiveSnapshot | null {
    const view = this.#imported ?? this.#view;
    if (!view || (run !== undefined && run !== 'last' && run !== view.run)) return null;
    return view.snapshot(this.#nowNs());
  }

  beginRun(run: string, scheduler: Scheduler | null): void {
    this.#imported?.close();
    this.#following = true;
    this.#imported = new LiveView({
      run,
      scheduler,
    });
    this.#snapshotDue = true;
  }

  beginProcess(hello: EventOf<'hello'>, originT: Nanoseconds, fromStart: boolean): void {
    this.#imported?.beginProcess(hello, originT, fromStart);
  }

  takeEvents(events: readonly TimelineEvent[]): void {
    for (const event of events) this.#imported?.take(event);
  }

  takeHorizon(t: Nanoseconds): void {
    this.#imported?.takeMark({ e: 'mark', t, upto: -1 });
  }

  takeLoss(loss: FedLoss): void {
    this.#imported?.takeLoss(loss);
  }

  takeHold(fromNs: Nanoseconds, toNs: Nanoseconds | null): void {
    this.#imported?.takeHold(fromNs, toNs);
  }

  endProcess(): void {
    this.#imported?.endProcess();
  }

  endRun(): void {
    this.#imported?.close();
  }

  /** It is shown until something of our own happens. */
  importEnded(): void {
    this.#following = false;
  }

  takeMessages(): LiveMessage[] {
    const view = this.#imported ?? this.#view;
    if (!view) {
      if (this.#noRunTold) return [];
      this.#noRunTold = true;
      return [{ kind: 'no_run' }];
    }
    if (this.#snapshotDue) {
      this.#snapshotDue = false;
      return [{ kind: 'snapshot', live: view.snapshot(this.#nowNs()) }];
    }
    const now = this.#clock.nowNs();
    const withFigures = now - this.#figuresAtNs >= FIGURES_MS * 1e6;
    const batch = view.takeBatch(this.#nowNs(), withFigures);
    if (batch && withFigures) this.#figuresAtNs = now;
    return batch ? [batch] : [];
  }

  #takeEvent(process: string, event: TimelineEvent): void {
    if (event.e === 'hello') {
      this.#processes.set(process, { hello: event, before: [event], served: false, over: false });
      return;
    }
    const known = this.#processes.get(process);
    if (!known) return;
    if (event.e === 'run_started') this.#startRun(process, known, event);
    if (this.#imported && !this.#following) this.#showOwn();
    const view = this.#ifCurrent(process);
    view?.take(event);
    if (event.e === 'run_ended') known.over = true;
    else if ((!view || known.over) && known.before.length < 1_000) known.before.push(event);
  }

  #startRun(process: string, known: KnownProcess, event: EventOf<'run_started'>): void {
    const scheduler = event.scheduler as Scheduler;
    if (this.#view?.run !== event.run) {
      this.#view?.close();
      this.#view = new LiveView({
        run: event.run,
        scheduler,
      });
      this.#snapshotDue = true;
    } else if (this.#current === process) return;
    this.#current = process;
    this.#originNs = BigInt(known.hello.monotonic_ns);
    this.#view.beginProcess(known.hello, event.t, !known.served);
    for (const earlier of known.before) if (earlier.e !== 'bye') this.#view.take(earlier);
    known.before = [];
    known.served = true;
    known.over = false;
    for (const id of this.#holds.keys()) this.#tellHold(id);
  }

  #tellHold(id: number): void {
    const hold = this.#holds.get(id);
    const known = this.#current === null ? undefined : this.#processes.get(this.#current);
    const axis = this.#view?.axis;
    if (!hold || !known || !axis) return;
    const onAxis = (ns: string) => Math.max(0, Number(BigInt(ns) - BigInt(known.hello.monotonic_ns)) + axis.offsetOf(known.hello));
    this.#view?.takeHold(onAxis(hold.fromNs), hold.toNs === null ? null : onAxis(hold.toNs));
  }

  #showOwn(): void {
    this.#imported = null;
    this.#snapshotDue = true;
  }

  #tellLosses(process: string, written: Written, uptoT: number): void {
    if (written.losses.length === 0) return;
    const view = this.#ifCurrent(process);
    for (const loss of written.losses) if (loss.tTo <= uptoT) view?.takeLoss({ ...loss, healedT: null, state: null });
    written.losses = written.losses.filter((loss) => loss.tTo > uptoT);
  }

  #ifCurrent(process: string): LiveView | null {
    return process === this.#current ? this.#view : null;
  }

  /** Now on the run's clock: the prover and this host read the same monotonic clock. */
  #nowNs(): number {
    // A log's clock is not ours: nothing is known beyond what it says.
    if (this.#imported) return this.#imported.horizonNs;
    const view = this.#view;
    const known = this.#current === null ? undefined : this.#processes.get(this.#current);
    if (!view?.axis || !known || this.#originNs === null) return view?.horizonNs ?? 0;
    return this.#clock.nowNs() - Number(this.#originNs) + view.axis.offsetOf(known.hello);
  }
}

/** What is missing of a stretch that is stored. */
function readLosses(db: Db, stretch: { id: number; seqFrom: number; seqTo: number | null }): FedLoss[] {
  const rows = db
    .prepare(
      `SELECT count - filled AS count, t_from AS tFrom, t_to AS tTo, healed_t AS healedT, healed_state AS state FROM loss
       WHERE process = ? AND seq_from >= ? AND seq_from <= ? AND count > filled ORDER BY t_from`,
    )
    .all(stretch.id, stretch.seqFrom, stretch.seqTo ?? Number.MAX_SAFE_INTEGER) as (Omit<FedLoss, 'state'> & { state: string | null })[];
  return rows.map((row) => ({ ...row, state: row.state === null ? null : (JSON.parse(row.state) as StateLine) }));
}
