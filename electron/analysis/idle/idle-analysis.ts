/**
 * Why each device of a whole run was idle, from its events in the order of the file: the batch form of idle-tracker.ts. The causes are
 * defined in docs/idle-causes.md.
 */
import { IDLE_SCHEMA, type GapsReport, type IdleReport } from '../../contract/idle.ts';
import type { RunState } from '../../contract/run-report.ts';
import type { Scheduler } from '../../contract/scheduler.ts';
import type { EventOf, TimelineEvent } from '../../contract/timeline-events.ts';
import type { Nanoseconds } from '../../contract/units.ts';
import { ProofBook } from '../proof-book.ts';
import { RunAxis } from '../run-axis.ts';
import type { FedLoss, RunFeed } from '../run-feed.ts';
import { mostAtOnce } from '../run-report.ts';
import { computeSecondsPerProof } from '../throughput.ts';
import { HOLD_BEGINS, HOLD_ENDS } from './codes.ts';
import { reportDevice, wordsOf } from './device-report.ts';
import { PieceLog, rankGaps } from './gaps.ts';
import { DeviceNames, ProcessStream } from './stream.ts';
import { Stretches } from './stretch.ts';
import { Sweep } from './sweep.ts';

/** What is known of a run beside its events. */
export interface IdleFacts {
  run: string;
  state: RunState;
  engine: string;
  scheduler: Scheduler | null;
  /** Null: as many as were in work at the same time. */
  proofsInFlight: number | null;
}

export class IdleAnalysis implements RunFeed {
  readonly #names = new DeviceNames();
  readonly #streams: ProcessStream[] = [];
  readonly #holds: { fromNs: Nanoseconds; toNs: Nanoseconds | null }[] = [];
  readonly #book = new ProofBook(false);
  readonly #pieces = new Map<number, PieceLog>();
  #run = '';
  #axis: RunAxis | null = null;
  #inexact: number[] = [];
  #losses = 0;

  beginProcess(hello: EventOf<'hello'>, originT: Nanoseconds, fromStart: boolean): void {
    this.endProcess(null, true);
    this.#axis ??= new RunAxis(hello, originT);
    this.#streams.push(new ProcessStream(hello, this.#axis.offsetOf(hello), fromStart, this.#names));
    if (!this.#axis.isExact(hello)) this.#inexact.push(this.#streams.length);
  }

  take(event: TimelineEvent): void {
    const stream = this.#streams.at(-1);
    if (!stream) return;
    stream.take(event);
    if (event.e === 'proof_accepted' || event.e === 'proof_ended' || event.e === 'proof_returned') {
      this.#book.take(event, stream.axisOf(event.t), this.#streams.length);
    }
  }

  takeLoss(loss: FedLoss): void {
    this.#losses += 1;
    this.#streams.at(-1)?.takeLoss(loss);
  }

  /** `endT` null: it lives. */
  endProcess(endT: Nanoseconds | null, isGone = endT !== null): void {
    const stream = this.#streams.at(-1);
    if (!stream || !isGone || stream.isEnded) return;
    stream.end(endT);
    this.#book.endProcess(this.#streams.length, stream.lastNs);
  }

  takeHold(fromNs: Nanoseconds, toNs: Nanoseconds | null): void {
    this.#holds.push({ fromNs, toNs });
  }

  /** `horizonNs`: of a run that still lasts, how far everything is known; null: it is over. Once. */
  build(facts: IdleFacts, horizonNs: Nanoseconds | null): IdleReport {
    const j = Math.max(1, facts.proofsInFlight ?? mostAtOnce(this.#book.entries.values()));
    const isLog = facts.engine === 'cuzk';
    const stretches = new Stretches();
    const sweep = new Sweep(this.#names, { isLog, scheduler: facts.scheduler, steadyFrom: j, stretches, sink: (device) => this.#log(device).add }); // prettier-ignore
    for (const stream of this.#streams) sweep.add(stream);
    for (const { fromNs, toNs } of this.#holds) {
      sweep.hold(fromNs, HOLD_BEGINS);
      if (toNs !== null) sweep.hold(toNs, HOLD_ENDS);
    }
    const lastNs = Math.max(0, ...this.#streams.map((stream) => stream.lastNs));
    if (horizonNs === null) {
      this.endProcess(null, true);
      sweep.capNs = lastNs;
    }
    sweep.advance(horizonNs ?? Number.POSITIVE_INFINITY);
    sweep.note();
    this.#run = facts.run;
    const wallNs = Math.max(0, Math.min(horizonNs ?? lastNs, sweep.wallEndNs));
    const isOver = horizonNs === null || sweep.wallEndNs <= wallNs;
    const devices = sweep.devices.map((device) => reportDevice(sweep, device, { wallNs, isOver, isLog, j, streams: this.#streams }));
    return {
      schema: IDLE_SCHEMA,
      run: facts.run,
      state: facts.state,
      engine: facts.engine,
      scheduler: facts.scheduler,
      wall_ns: wallNs,
      s_per_proof: computeSecondsPerProof(sweep.validEnds, j).value,
      devices,
      stretch: stretches.build(),
      partial: this.#losses > 0 || devices.some((device) => device.unknown_ns > 0),
      notes: wordsOf(sweep, isLog, this.#inexact),
    };
  }

  /** Of the account that {@link build} made: gaps of at least `minNs`, the longest `limit` of them. */
  gaps(minNs: Nanoseconds, limit: number): GapsReport {
    const gaps = [...this.#pieces].flatMap(([number, log]) => [...log.gaps(this.#names.of(number).name, minNs)]);
    return rankGaps(this.#run, minNs, limit, gaps);
  }

  #log(device: number): PieceLog {
    let log = this.#pieces.get(device);
    if (!log) this.#pieces.set(device, (log = new PieceLog()));
    return log;
  }
}
