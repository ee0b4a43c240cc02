/**
 * Moves through a run's processes in time and keeps every device's account. Both forms are this one: the batch feeds everything and moves to the
 * end, the live one moves to each horizon.
 *
 *   process A   hello ───────────── bye|
 *   process B                               hello ─────── ▶
 *   devices     ───── as A's workers are ── down ── B's ── ▶ #nowNs
 */
import type { Scheduler } from '../../contract/scheduler.ts';
import type { Nanoseconds } from '../../contract/units.ts';
import { Account, type OpenSpan } from './account.ts';
import { CODE, FIRST_WORKER_CODE, HOLD_BEGINS, LOSS_BEGINS, LOSS_ENDS, type Ending } from './codes.ts';
import { DeviceSums } from './device-sums.ts';
import type { Part, ProofRecord } from './parts.ts';
import { ProcessPart } from './process.ts';
import type { DeviceNames, ProcessStream } from './stream.ts';
import type { Stretches } from './stretch.ts';
import { Tally, type PieceSink } from './tally.ts';
import { DeviceWorkers } from './workers.ts';

/** A run begins at 0; what lies before shapes the state at 0. */
const BEFORE = Number.NEGATIVE_INFINITY;
const COMMIT_AT = 48;

export interface SweepOptions {
  isLog: boolean;
  scheduler: Scheduler | null;
  /** The valid proof, counted from 1, whose end begins the steady stretch. */
  steadyFrom: number;
  /** Null: neither stretch nor windows are asked for; what is kept does not grow then. */
  stretches: Stretches | null;
  /** Null: pieces of time are not needed. */
  sink: ((device: number) => PieceSink) | null;
}

export interface SweptDevice {
  number: number;
  account: Account;
  sums: DeviceSums;
  unmatched: number;
  reversed: number;
  /** Most at any time. */
  slots: number;
}

export interface DeviceShares {
  all: Tally;
  final: Tally;
  provisional: Tally;
}

export class Sweep {
  readonly devices: SweptDevice[] = [];
  /** Instants at which valid proofs ended. */
  readonly validEnds: Nanoseconds[] = [];
  readonly clockSteps: string[] = [];
  wallEndNs = Number.POSITIVE_INFINITY;
  /** Stands in for the wall's end where it is known to come earlier than a process's. */
  capNs = Number.POSITIVE_INFINITY;
  readonly #options: SweepOptions;
  readonly #names: DeviceNames;
  readonly #byNumber: (SweptDevice | undefined)[] = [];
  readonly #streams: { stream: ProcessStream; done: number }[] = [];
  #process: ProcessPart | null = null;
  /** Filled anew for each event. */
  readonly #place = { device: 0, worker: 0, seq: 0 };
  #nowNs = BEFORE;
  readonly #holds: { t: Nanoseconds; step: 1 | -1 }[] = [];
  #held = 0;

  constructor(names: DeviceNames, options: SweepOptions) {
    this.#names = names;
    this.#options = options;
  }

  add(stream: ProcessStream): void {
    this.#streams.push({ stream, done: 0 });
    for (const device of stream.devices) this.#device(device);
  }

  hold(t: Nanoseconds, code: number): void {
    const step = code === HOLD_BEGINS ? 1 : -1;
    let at = this.#holds.length;
    while (at > 0 && (this.#holds[at - 1] as { t: number }).t > t) at -= 1;
    this.#holds.splice(at, 0, { t, step });
  }

  /** Takes every event before `toNs`. */
  advance(toNs: Nanoseconds): void {
    for (let current = this.#streams[0]; current; current = this.#streams[0]) {
      const { columns } = current.stream;
      const order = columns.order();
      let { done } = current;
      for (; done < order.length; done++) {
        const index = order[done] as number;
        const t = columns.t[index] as number;
        if (t >= toNs) break;
        this.#takeHolds(t);
        if (t > this.#nowNs) this.#nowNs = t;
        this.#step(current.stream, index, t);
      }
      if (done < order.length || !current.stream.isEnded) {
        columns.drop(done);
        break;
      }
      this.#streams.shift();
    }
    this.#takeHolds(toNs);
    if (toNs > this.#nowNs && toNs !== Number.POSITIVE_INFINITY) this.#nowNs = toNs;
  }

  /** A device's time up to `toNs`: what {@link advance} was told. `isOver`: nothing can change any more. */
  shares(device: SweptDevice, toNs: Nanoseconds, isOver: boolean): DeviceShares {
    const { account } = device;
    const until = Math.min(toNs, this.wallEndNs);
    const workers = this.#process?.alive ? this.#process.devices.find((one) => one.device === device.number) : undefined;
    const open: OpenSpan[] = workers ? [...workers.open(), ...(this.#process as ProcessPart).jobs.open(workers)] : [];
    const finalNs = isOver ? Number.POSITIVE_INFINITY : this.#certain(workers);
    account.commit(Math.min(until, finalNs));
    const { steadyFrom, sink } = this.#options;
    const pieces = sink?.(device.number) ?? null;
    const shares: DeviceShares = {
      all: new Tally(steadyFrom, account.tally.valid, null),
      final: new Tally(steadyFrom, account.tally.valid, pieces),
      provisional: new Tally(steadyFrom, account.tally.valid, pieces),
    };
    account.tail(until, finalNs, Math.min(until, this.capNs), open, shares.final, shares.provisional);
    shares.final.addAll(account.tally);
    shares.all.addAll(shares.final);
    shares.all.addAll(shares.provisional);
    if (isOver) return { all: shares.all, final: shares.all, provisional: new Tally(steadyFrom, 0, null) };
    return shares;
  }

  /** Starts of spans that are open, for windows that count up to the horizon. */
  openStarts(device: SweptDevice): Record<'kernel' | 'lock' | 'job' | 'copy', Nanoseconds[]> {
    const starts: Record<'kernel' | 'lock' | 'job' | 'copy', Nanoseconds[]> = { kernel: [], lock: [], job: [], copy: [] };
    const process = this.#process;
    const workers = process?.alive ? process.devices.find((one) => one.device === device.number) : undefined;
    if (!process || !workers) return starts;
    if (this.#options.isLog) return { ...starts, ...process.jobs.starts(workers) };
    for (const worker of workers.all()) {
      for (const { startNs } of worker.kernels) starts.kernel.push(startNs);
      for (const { startNs } of worker.copies) starts.copy.push(startNs);
      if (!Number.isNaN(worker.lockNs)) starts.lock.push(worker.lockNs);
      if (!Number.isNaN(worker.pickedNs)) starts.job.push(worker.pickedNs);
    }
    return starts;
  }

  #step(stream: ProcessStream, index: number, t: Nanoseconds): void {
    const { columns } = stream;
    const code = columns.code[index] as number;
    const subject = columns.subject[index] as Part | ProofRecord | null;
    const now = this.#nowNs;
    if (code === CODE.hello) return this.#begin(stream);
    const process = this.#process;
    if (!process?.alive) return;
    if (code >= FIRST_WORKER_CODE && code < LOSS_BEGINS) {
      const device = columns.device[index] as number;
      const at = this.#place;
      at.device = device;
      at.worker = columns.worker[index] as number;
      at.seq = columns.seq[index] as number;
      process.takeWorker(code, subject as Part | null, at, columns.extra[index] ?? null, t, now);
      const swept = this.#byNumber[device];
      if (swept && swept.account.pending > COMMIT_AT) this.#commit(process.devices.find((one) => one.device === device));
      return;
    }
    switch (code) {
      case CODE.bye:
        return this.#endProcess(process);
      case CODE.run_ended:
        this.wallEndNs = now;
        for (const { account, sums } of this.devices) {
          account.split(now);
          sums.close(now);
        }
        return;
      case CODE.run_started:
        this.wallEndNs = Number.POSITIVE_INFINITY;
        for (const { sums } of this.devices) sums.close(this.wallEndNs);
        return;
      case CODE.clock_step:
        this.clockSteps.push(columns.extra[index] as string);
        return;
      case LOSS_BEGINS:
        return process.beginLoss(t, now);
      case LOSS_ENDS:
        return process.endLoss(columns.extra[index] as Ending, now);
      case CODE.proof_ended: {
        const isNew = (subject as ProofRecord).outcome !== 'valid';
        process.take(code, subject, -1, columns.extra[index] ?? null, t, now);
        if (isNew && columns.extra[index] === 'valid') this.#takeValid(now);
        return;
      }
      default:
        process.take(code, subject, columns.worker[index] as number, columns.extra[index] ?? null, t, now);
    }
    for (const workers of process.devices) if (workers.account.pending > COMMIT_AT) this.#commit(workers);
  }

  #begin(stream: ProcessStream): void {
    const { isLog, scheduler, stretches } = this.#options;
    const process = new ProcessPart({
      ready: !stream.fromStart,
      scope: scheduler?.lock_scope ?? 'kernels',
      isLog,
      book: stream.book,
      stretches,
      device: (device) => this.#enter(device),
    });
    this.#process = process;
    process.held = this.#held > 0;
    for (const device of stream.devices) process.addDevice(this.#enter(device), this.#nowNs);
  }

  /** The device of the process that begins now. */
  #enter(number: number): DeviceWorkers {
    const swept = this.#device(number);
    swept.account.lastProof = null;
    return new DeviceWorkers(number, swept.account, swept.sums, this.#options.scheduler?.gpu_workers ?? 1);
  }

  #endProcess(process: ProcessPart): void {
    const now = this.#nowNs;
    process.end(now, Math.min(now, this.wallEndNs, this.capNs));
    for (const workers of process.devices) {
      this.#note(workers);
      workers.account.down(now);
      this.#commit(workers);
    }
  }

  #note(workers: DeviceWorkers): void {
    const swept = this.#device(workers.device);
    swept.unmatched += workers.unmatched;
    swept.reversed += workers.reversed;
    workers.unmatched = 0;
    workers.reversed = 0;
    swept.slots = Math.max(swept.slots, workers.slots);
  }

  /** Counts of what has ended, of a process that lives too. */
  note(): void {
    for (const workers of this.#process?.devices ?? []) this.#note(workers);
  }

  #takeValid(now: Nanoseconds): void {
    this.validEnds.push(now);
    for (const { account } of this.devices) account.takeValid(now);
  }

  #takeHolds(toNs: Nanoseconds): void {
    while (this.#holds.length > 0 && (this.#holds[0] as { t: number }).t <= toNs) {
      const { t, step } = this.#holds.shift() as { t: number; step: number };
      if (t > this.#nowNs) this.#nowNs = t;
      this.#held += step;
      if (this.#process?.alive) this.#process.setHeld(this.#held > 0, this.#nowNs);
    }
  }

  #commit(workers: DeviceWorkers | undefined): void {
    if (workers) workers.account.commit(Math.min(this.#certain(workers), this.wallEndNs, this.capNs));
  }

  #certain(workers: DeviceWorkers | undefined): Nanoseconds {
    if (!workers || !this.#process?.alive) return this.#nowNs;
    return Math.min(workers.certainUntil(this.#nowNs), this.#process.jobs.certainUntil(workers, this.#nowNs));
  }

  #device(number: number): SweptDevice {
    let swept = this.#byNumber[number];
    if (!swept) {
      const { steadyFrom, sink, isLog, stretches } = this.#options;
      const tally = new Tally(steadyFrom, this.validEnds.length, sink?.(number) ?? null);
      // Down from the run's beginning until a process says otherwise.
      const account = new Account(this.#names.of(number), Math.min(0, this.#nowNs), isLog, tally);
      swept = { number, account, sums: new DeviceSums(number, stretches !== null), unmatched: 0, reversed: 0, slots: 0 };
      this.#byNumber[number] = swept;
      this.devices.push(swept);
    }
    return swept;
  }
}
