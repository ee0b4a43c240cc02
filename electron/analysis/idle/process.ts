/**
 * One process's part of the run: takes its events in the order of (t, seq) and keeps every device's account up to date. Of a log that cannot tell
 * (docs/idle-causes.md, last section) job spans take the place of workers' states.
 */
import type { WorkerState } from '../../contract/timeline-events.ts';
import type { Nanoseconds } from '../../contract/units.ts';
import * as flag from './account.ts';
import * as code from './codes.ts';
import { CODE, type LockScope } from './codes.ts';
import { LogJobs } from './log-jobs.ts';
import { factsOf } from './next.ts';
import type { Part, PartBook, ProofRecord } from './parts.ts';
import type { Stretches } from './stretch.ts';
import { Supply } from './supply.ts';
import { earlyRowOf, FIRST_ROW_OF_NEXT, makeInstant } from './table.ts';
import { DETAILS, HOST_DETAIL } from './terms.ts';
import type { DeviceWorkers, Worker } from './workers.ts';

const COPY_DETAIL = 0;
/** Ended proofs that may still be named by a late line. */
const KEEP_ENDED = 1_000;

/** Where a worker's event happened, and its place in the file. */
export interface WorkerPlace {
  device: number;
  worker: number;
  seq: number;
}

export interface ProcessOptions {
  ready: boolean;
  scope: LockScope;
  isLog: boolean;
  /** Makes the device's account where the hello did not name it. */
  device: (device: number) => DeviceWorkers;
  stretches: Stretches | null;
  book: PartBook;
}

export class ProcessPart {
  readonly book: PartBook;
  readonly supply: Supply;
  readonly jobs = new LogJobs();
  held = false;
  alive = true;
  readonly #options: ProcessOptions;
  readonly #devices: DeviceWorkers[] = [];
  readonly #byNumber: (DeviceWorkers | undefined)[] = [];
  readonly #scratch = makeInstant();
  readonly #ended: ProofRecord[] = [];
  #losses = 0;
  #hasAccepts = false;
  #candidate: Part | null = null;
  /** Since the last {@link turn} something has changed that all devices share. */
  #shared = true;

  constructor(options: ProcessOptions) {
    this.#options = options;
    this.book = options.book;
    this.supply = new Supply(options.ready);
    this.#scratch.alive = true;
  }

  get devices(): readonly DeviceWorkers[] {
    return this.#devices;
  }

  addDevice(device: DeviceWorkers, t: Nanoseconds): void {
    this.#devices.push(device);
    if (this.#hasAccepts) device.account.hasAccepts = true;
    this.#byNumber[device.device] = device;
    this.#turn(device, t);
  }

  /** An event that names no worker. Those of the run itself are the caller's. */
  take(kind: number, subject: Part | ProofRecord | null, worker: number, extra: code.Extra, t: Nanoseconds, nowNs: Nanoseconds): void {
    const { supply } = this;
    const { stretches } = this.#options;
    switch (kind) {
      case CODE.ready:
        supply.ready = true;
        break;
      case CODE.params_load_started:
        supply.load(extra as string, true);
        break;
      case CODE.params_load_ended:
        supply.load(extra as string, false);
        break;
      case CODE.proof_accepted: {
        const { circuit, priority } = extra as code.Acceptance;
        supply.accept(subject as ProofRecord, circuit, priority, t);
        this.#hasAccepts = true;
        for (const { account } of this.#devices) account.hasAccepts = true;
        break;
      }
      case CODE.permit_asked:
        supply.ask(subject as Part, t);
        break;
      case CODE.permit_granted:
        supply.grant(subject as Part, extra === 'bytes', t);
        break;
      case CODE.synthesis_started:
        supply.startSynthesis(subject as Part, worker);
        stretches?.startSynthesis(subject as Part, t);
        break;
      case CODE.synthesis_ended:
        stretches?.endSynthesis(subject as Part, t, supply.synthesising.has(subject as Part));
        supply.endSynthesis(subject as Part);
        break;
      case CODE.queued:
        supply.queue(subject as Part, t);
        break;
      case CODE.partition_ended:
      case CODE.stage_failed:
        this.#endPart(subject as Part, kind === CODE.partition_ended ? (extra as string) : null, nowNs);
        break;
      case CODE.proof_ended:
      case CODE.proof_returned:
        this.#endProof(subject as ProofRecord, kind === CODE.proof_ended ? (extra as string) : 'interrupted', nowNs);
        break;
      default:
        return;
    }
    stretches?.count(supply.synthesising.size, t);
    this.#shared = true;
    this.turn(nowNs);
  }

  takeWorker(kind: number, part: Part | null, at: WorkerPlace, extra: code.Extra, t: Nanoseconds, nowNs: Nanoseconds): void {
    const { worker: number, seq } = at;
    let device = this.#byNumber[at.device];
    if (!device) this.addDevice((device = this.#options.device(at.device)), nowNs);
    if (this.#options.isLog) {
      if (kind === CODE.picked_up) this.#pickUp(device, part as Part, t, nowNs);
      this.jobs.take(kind, device, part, number, extra, nowNs);
      if (kind !== CODE.picked_up) return;
    } else {
      // It takes its slot with the first event that is its own: a pick-up, its death, or what a snapshot says of it.
      const isFirst = kind === CODE.picked_up || kind === CODE.worker_dead;
      const worker = isFirst ? device.worker(number) : device.find(number);
      // What a dead one, or one that has something else, is said to do says nothing.
      if (worker && worker.state !== code.DEAD && (isFirst || (part !== null && worker.part === part))) {
        if (kind === CODE.picked_up) this.#pickUp(device, part as Part, t, nowNs);
        this.#advance(kind, device, worker, part, seq, extra, nowNs);
      } else if (isEnd(kind)) device.unmatched += 1;
    }
    if (this.#shared) this.turn(nowNs);
    else this.#turn(device, nowNs);
  }

  beginLoss(fromNs: Nanoseconds, nowNs: Nanoseconds): void {
    this.#losses += 1;
    for (const device of this.#devices) {
      device.account.paint('unknown', fromNs, nowNs, null);
      this.#turn(device, nowNs);
    }
  }

  endLoss({ state }: code.Ending, nowNs: Nanoseconds): void {
    this.#losses -= 1;
    if (state !== null) {
      for (const worker of state.workers) this.#place(worker, nowNs);
      for (const { device, holder } of state.lock) this.#devices.find((one) => one.account.name === device)?.placeLock(holder);
      const synthesising = new Set(state.synthesisers.map(({ proof, attempt, partition }) => `${proof} ${attempt} ${partition}`));
      for (const part of [...this.supply.synthesising.keys()]) {
        if (!synthesising.has(`${part.of.proof} ${part.of.attempt} ${part.partition}`)) this.supply.synthesising.delete(part);
      }
      this.supply.dropQueued(state.queued);
      this.supply.dropWithheld(state.withheld);
      this.supply.setLoading(new Set(state.params.filter(({ is }) => is === 'loading').map(({ circuit }) => circuit)));
      this.supply.ready = state.phase !== 'starting';
    }
    this.#shared = true;
    this.turn(nowNs);
  }

  setHeld(held: boolean, nowNs: Nanoseconds): void {
    this.held = held;
    this.#shared = true;
    this.turn(nowNs);
  }

  /** Nothing that is open will end, and nothing will be picked up any more. `untilNs` stands in for queue times that are missing. */
  end(t: Nanoseconds, untilNs: Nanoseconds): void {
    this.alive = false;
    for (const device of this.#devices) {
      device.end(t);
      this.jobs.end(device, t);
      device.account.decideWithout(t, untilNs);
    }
  }

  /** Puts into every account what holds from now on. */
  turn(nowNs: Nanoseconds): void {
    if (this.#shared) {
      this.#candidate = this.supply.candidate();
      this.#shared = false;
    }
    for (const device of this.#devices) this.#turn(device, nowNs);
  }

  #turn(device: DeviceWorkers, nowNs: Nanoseconds): void {
    const { supply } = this;
    const { counts, account } = device;
    const lossy = this.#losses > 0 ? flag.LOSSY : 0;
    const at = this.#scratch;
    let row = FIRST_ROW_OF_NEXT;
    if (!this.#options.isLog) {
      const dead = counts[code.DEAD] as number;
      at.allDead = dead > 0 && dead === device.slots;
      at.inDevice = (counts[code.DEVICE] as number) > 0;
      at.waiting = (counts[code.WAITING] as number) > 0;
      at.lockHeld = device.locks > 0;
      at.inPrepare = (counts[code.PREPARE] as number) > 0;
      row = earlyRowOf(at);
    }
    if (row < FIRST_ROW_OF_NEXT) {
      account.turn(nowNs, row, lossy, at.inDevice && !at.allDead ? detailOf(device) : -1, flag.NOTHING_LOADS, null, device.packed);
      return;
    }
    const flags =
      lossy |
      (supply.ready ? flag.READY : 0) |
      (supply.allQueuedLoad ? flag.ALL_QUEUED_LOAD : 0) |
      ((counts[code.FINISH] as number) > 0 ? flag.IN_FINISH : 0) |
      ((counts[code.FREE] as number) > 0 ? flag.HAS_FREE : 0) |
      (supply.isEligible ? flag.ELIGIBLE : 0) |
      (supply.withheld.size > 0 ? flag.WITHHELD : 0) |
      (this.held ? flag.HELD : 0) |
      (at.waiting && at.lockHeld ? flag.WAITS_FOR_HELD : 0);
    account.turn(nowNs, row, flags, -1, supply.loading, this.#candidate, this.#options.isLog ? 0 : device.packed);
  }

  #pickUp(device: DeviceWorkers, part: Part, t: Nanoseconds, nowNs: Nanoseconds): void {
    device.account.decide(nowNs, factsOf(part, t, device.account.lastProof));
    device.account.lastProof = part.of.proof;
    this.supply.pickUp(part);
    this.#shared = true;
  }

  #advance(kind: number, device: DeviceWorkers, worker: Worker, part: Part | null, seq: number, extra: code.Extra, t: Nanoseconds): void {
    for (const kernel of worker.kernels) if (Number.isNaN(kernel.nextNs)) kernel.nextNs = t;
    const { scope, stretches } = this.#options;
    const busy = worker.state !== code.FREE;
    switch (kind) {
      case CODE.picked_up:
        device.pickUp(worker, part as Part, code.stateAfter(scope, kind), t);
        break;
      case CODE.put_down:
        device.putDown(worker, t);
        break;
      case CODE.worker_dead:
        device.die(worker, t);
        break;
      case CODE.kernel_started:
        if (busy) device.startKernel(worker, kernelOf(extra), streamOf(extra), t, seq);
        break;
      case CODE.kernel_ended:
        device.endKernel(worker, kernelOf(extra), streamOf(extra), t, seq);
        break;
      case CODE.copy_started:
        if (busy) device.startCopy(worker, extra as number, t);
        break;
      case CODE.copy_ended:
        device.endCopy(worker, extra as number, t);
        break;
      case CODE.wait_started:
        if (busy) device.startWait(worker, extra as string);
        break;
      case CODE.wait_ended:
        device.endWait(worker, extra as string);
        break;
      case CODE.call_started:
        worker.calledNs = t;
        break;
      default: {
        if (kind === CODE.lock_granted) device.grant(worker, t);
        else if (kind === CODE.lock_released) device.release(worker, t);
        const state = code.stateAfter(scope, kind);
        if (state >= 0) device.change(worker, state, t);
      }
    }
    stretches?.move(kind, part, t);
    worker.lastEventNs = t;
  }

  #endPart(part: Part, outcome: string | null, nowNs: Nanoseconds): void {
    if (outcome !== null) part.outcome = outcome;
    else part.outcome ??= 'failed';
    if (part.outcome !== 'valid') waste(part);
    this.supply.endPart(part);
    if (this.#options.isLog) for (const device of this.#devices) this.jobs.lose(device, part, nowNs);
  }

  #endProof(record: ProofRecord, outcome: string, nowNs: Nanoseconds): void {
    record.outcome = outcome;
    if (outcome !== 'valid') for (const part of record.parts.values()) waste(part);
    this.supply.endProof(record);
    if (this.#options.isLog) {
      for (const part of record.parts.values()) for (const device of this.#devices) this.jobs.lose(device, part, nowNs);
    }
    this.#ended.push(record);
    if (this.#ended.length <= KEEP_ENDED || this.#options.stretches !== null) return;
    const oldest = this.#ended.shift() as ProofRecord;
    if (oldest.ended) this.book.forget(oldest);
  }

  /** A snapshot's word of one worker. */
  #place(said: WorkerState, t: Nanoseconds): void {
    const device = this.#devices.find((one) => one.account.name === said.device);
    if (!device) return;
    const part = said.proof === null ? null : this.book.part(said.proof, said.attempt ?? 0, said.partition ?? 0);
    device.place(device.worker(said.worker), part, code.STATE_NUMBER[said.is], t);
  }
}

function detailOf(device: DeviceWorkers): number {
  if (device.copies > 0) return COPY_DETAIL;
  const wait = device.waits.at(-1)?.wait;
  const detail = wait === undefined ? HOST_DETAIL : DETAILS.indexOf(wait as (typeof DETAILS)[number]);
  return detail < 0 ? HOST_DETAIL : detail;
}

function isEnd(kind: number): boolean {
  return kind === CODE.kernel_ended || kind === CODE.copy_ended || kind === CODE.wait_ended || kind === CODE.lock_released || kind === CODE.put_down; // prettier-ignore
}

function kernelOf(extra: code.Extra): string {
  return typeof extra === 'string' ? extra : (extra as code.KernelKey).kernel;
}

function streamOf(extra: code.Extra): number {
  return typeof extra === 'string' ? 0 : (extra as code.KernelKey).stream;
}

/** Its kernels were for nothing; what it computes in another try counts anew. */
function waste(part: Part): void {
  part.wastedNs += part.kernelNs;
  part.kernelNs = 0;
}
