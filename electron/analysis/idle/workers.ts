/** The workers of one device: who is in which state, who holds the lock, which kernels, copies and waits are open. Paints what is over. */
import type { Nanoseconds } from '../../contract/units.ts';
import type { Account, OpenSpan } from './account.ts';
import { DEAD, DEVICE, FREE } from './codes.ts';
import type { DeviceSums } from './device-sums.ts';
import type { Part } from './parts.ts';
import { DIGIT, WORKER_STATE_COUNT } from './tally.ts';

export interface OpenKernel {
  kernel: string;
  stream: number;
  startNs: Nanoseconds;
  /** The worker's next event after its start; NaN: none yet. */
  nextNs: Nanoseconds;
}

export interface Worker {
  readonly worker: number;
  state: number;
  part: Part | null;
  changedNs: Nanoseconds;
  lastEventNs: Nanoseconds;
  holds: boolean;
  /** Since when; NaN: that line was lost. */
  lockNs: Nanoseconds;
  /** NaN: not recorded. */
  pickedNs: Nanoseconds;
  calledNs: Nanoseconds;
  kernels: OpenKernel[];
  copies: { stream: number; startNs: Nanoseconds }[];
  /** The last end that found no start, by its place in the file. */
  stray: { kernel: string; stream: number; seq: number } | null;
}

export class DeviceWorkers {
  readonly device: number;
  readonly account: Account;
  readonly sums: DeviceSums;
  /** By state, over slots. */
  readonly counts = new Int32Array(WORKER_STATE_COUNT);
  locks = 0;
  copies = 0;
  /** Names, in the order in which they began. */
  readonly waits: { worker: Worker; wait: string }[] = [];
  unmatched = 0;
  /** Ends that are stamped before their start. */
  reversed = 0;
  readonly #workers = new Map<number, Worker>();
  /** Dead ones that still take their slot. */
  readonly #dead: Worker[] = [];
  #untaken: number;

  constructor(device: number, account: Account, sums: DeviceSums, slots: number) {
    this.device = device;
    this.account = account;
    this.sums = sums;
    this.#untaken = slots;
    this.counts[FREE] = slots;
  }

  get slots(): number {
    return this.counts.reduce((sum, count) => sum + count, 0);
  }

  /** Counts by state in one number. */
  get packed(): number {
    let packed = 0;
    for (let state = WORKER_STATE_COUNT - 1; state >= 0; state--)
      packed = packed * DIGIT + Math.min(DIGIT - 1, this.counts[state] as number);
    return packed;
  }

  find(number: number): Worker | undefined {
    return this.#workers.get(number);
  }

  /** With its first event a worker takes a slot: one that nobody took, else a dead one's, else a new one. */
  worker(number: number): Worker {
    let worker = this.#workers.get(number);
    if (worker) return worker;
    worker = {
      worker: number, state: FREE, part: null, changedNs: Number.NaN, lastEventNs: Number.NaN, holds: false, lockNs: Number.NaN, pickedNs: Number.NaN,
      calledNs: Number.NaN, kernels: [], copies: [], stray: null,
    }; // prettier-ignore
    this.#workers.set(number, worker);
    if (this.#untaken > 0) this.#untaken -= 1;
    else {
      if (this.#dead.length > 0) {
        this.#dead.shift();
        this.counts[DEAD] = (this.counts[DEAD] as number) - 1;
      }
      this.counts[FREE] = (this.counts[FREE] as number) + 1;
    }
    return worker;
  }

  /** Picks `part` up: what it had and did not put down never ended. */
  pickUp(worker: Worker, part: Part, state: number, t: Nanoseconds): void {
    const isOther = worker.part !== part;
    if (isOther) {
      if (isBusy(worker)) this.account.paint('unknown', worker.changedNs, t, null);
      this.#leaveDevice(worker);
      this.#letGo(worker, t);
    }
    worker.part = part;
    worker.pickedNs = t;
    worker.calledNs = Number.NaN;
    this.change(worker, state, t, isOther);
  }

  change(worker: Worker, state: number, t: Nanoseconds, always = false): void {
    if (worker.state === state && !always) return;
    if (state !== DEVICE && worker.state !== state) this.#leaveDevice(worker);
    this.counts[worker.state] = (this.counts[worker.state] as number) - 1;
    this.counts[state] = (this.counts[state] as number) + 1;
    worker.state = state;
    worker.changedNs = t;
  }

  putDown(worker: Worker, t: Nanoseconds): void {
    if (!Number.isNaN(worker.pickedNs)) this.sums.job.add(worker.pickedNs, t);
    this.sums.endLegacy(Number.isNaN(worker.calledNs) ? worker.pickedNs : worker.calledNs, t);
    this.change(worker, FREE, t);
    this.#letGo(worker, t);
  }

  die(worker: Worker, t: Nanoseconds): void {
    if (worker.state === DEAD) return;
    if (isBusy(worker)) this.account.paint('unknown', worker.changedNs, t, null);
    this.change(worker, DEAD, t);
    this.#letGo(worker, t);
    this.#dead.push(worker);
  }

  grant(worker: Worker, t: Nanoseconds): void {
    if (!worker.holds) this.locks += 1;
    worker.holds = true;
    worker.lockNs = t;
  }

  release(worker: Worker, t: Nanoseconds): void {
    if (!worker.holds) this.unmatched += 1;
    else {
      if (!Number.isNaN(worker.lockNs)) this.sums.lock.add(worker.lockNs, t);
      this.dropLock(worker);
    }
  }

  dropLock(worker: Worker): void {
    if (!worker.holds) return;
    worker.holds = false;
    worker.lockNs = Number.NaN;
    this.locks -= 1;
  }

  /** A snapshot's word: in this state since now, with this partition (null: it keeps what it had last). */
  place(worker: Worker, part: Part | null, state: number, t: Nanoseconds): void {
    if (state !== DEVICE || (part !== null && part !== worker.part)) this.#dropKernels(worker, t);
    if (part !== null && part !== worker.part) {
      this.#letGo(worker, t);
      worker.part = part;
    }
    if (state === DEAD && worker.state !== DEAD) this.#dead.push(worker);
    this.counts[worker.state] = (this.counts[worker.state] as number) - 1;
    this.counts[state] = (this.counts[state] as number) + 1;
    worker.state = state;
    worker.changedNs = t;
    worker.lastEventNs = t;
    if (!isBusy(worker)) this.#letGo(worker, t);
  }

  /** A snapshot's word: the lock is held by this one, or by nobody. */
  placeLock(holder: number | null): void {
    for (const worker of this.#workers.values()) {
      if (worker.worker !== holder) this.dropLock(worker);
      else if (!worker.holds) {
        worker.holds = true;
        this.locks += 1;
      }
    }
  }

  startKernel(worker: Worker, kernel: string, stream: number, t: Nanoseconds, seq: number): void {
    const { stray } = worker;
    if (stray && stray.seq > seq && stray.kernel === kernel && stray.stream === stream) {
      this.reversed += 1;
      this.unmatched -= 1;
      worker.stray = null;
    }
    const open = worker.kernels.findIndex((one) => one.stream === stream && one.kernel === kernel);
    // The same once more: the first one's end never came.
    if (open >= 0) this.#loseKernel(worker.kernels.splice(open, 1)[0] as OpenKernel, t);
    worker.kernels.push({ kernel, stream, startNs: t, nextNs: Number.NaN });
  }

  endKernel(worker: Worker, kernel: string, stream: number, t: Nanoseconds, seq: number): void {
    const open = worker.kernels.findIndex((one) => one.stream === stream && one.kernel === kernel);
    if (open >= 0) {
      const [{ startNs }] = worker.kernels.splice(open, 1) as [OpenKernel];
      this.sums.endKernel(worker.part as Part, startNs, t);
      this.account.paint('kernels', startNs, t, worker.part);
      return;
    }
    this.unmatched += 1;
    worker.stray = { kernel, stream, seq };
    if (isBusy(worker)) this.account.paint('unknown', worker.lastEventNs, t, null);
  }

  startCopy(worker: Worker, stream: number, t: Nanoseconds): void {
    this.#endCopy(worker, stream);
    worker.copies.push({ stream, startNs: t });
    this.copies += 1;
  }

  endCopy(worker: Worker, stream: number, t: Nanoseconds): void {
    const startNs = this.#endCopy(worker, stream);
    if (startNs === null) this.unmatched += 1;
    else this.sums.copy.add(startNs, t);
  }

  /** One that begins again takes the place of the first. */
  startWait(worker: Worker, wait: string): void {
    const at = this.waits.findIndex((one) => one.worker === worker && one.wait === wait);
    if (at >= 0) this.waits.splice(at, 1);
    this.waits.push({ worker, wait });
  }

  endWait(worker: Worker, wait: string): void {
    const at = this.waits.findIndex((one) => one.worker === worker && one.wait === wait);
    if (at < 0) this.unmatched += 1;
    else this.waits.splice(at, 1);
  }

  /** The process ends: what is busy or open never ends. */
  end(t: Nanoseconds): void {
    for (const worker of this.#workers.values()) {
      if (isBusy(worker)) this.account.paint('unknown', worker.changedNs, t, null);
      this.#letGo(worker, t);
    }
  }

  all(): IterableIterator<Worker> {
    return this.#workers.values();
  }

  /** What may still be painted begins no earlier. */
  certainUntil(t: Nanoseconds): Nanoseconds {
    let until = t;
    for (const worker of this.#workers.values()) {
      if (isBusy(worker) && worker.changedNs < until) until = worker.changedNs;
      for (const { startNs } of worker.kernels) if (startNs < until) until = startNs;
    }
    return until;
  }

  open(): OpenSpan[] {
    const open: OpenSpan[] = [];
    for (const worker of this.#workers.values()) {
      for (const { startNs } of worker.kernels) open.push({ startNs, paint: 'kernels', part: worker.part });
    }
    return open;
  }

  /** A snapshot says that it is elsewhere: nobody knows when its kernels ended. */
  #dropKernels(worker: Worker, t: Nanoseconds): void {
    for (const { startNs } of worker.kernels) this.account.paint('unknown', startNs, t, null);
    worker.kernels.length = 0;
    this.#leaveDevice(worker);
  }

  #leaveDevice(worker: Worker): void {
    this.copies -= worker.copies.length;
    worker.copies.length = 0;
    this.#dropWaits(worker);
  }

  /** It has nothing in hand any more: what is open never ends. */
  #letGo(worker: Worker, t: Nanoseconds): void {
    for (const kernel of worker.kernels) this.#loseKernel(kernel, t);
    worker.kernels.length = 0;
    this.dropLock(worker);
    worker.pickedNs = Number.NaN;
    worker.calledNs = Number.NaN;
  }

  #loseKernel(kernel: OpenKernel, t: Nanoseconds): void {
    this.account.paint('unknown', kernel.startNs, Number.isNaN(kernel.nextNs) ? t : kernel.nextNs, null);
  }

  #endCopy(worker: Worker, stream: number): Nanoseconds | null {
    const at = worker.copies.findIndex((one) => one.stream === stream);
    if (at < 0) return null;
    this.copies -= 1;
    return (worker.copies.splice(at, 1)[0] as { startNs: Nanoseconds }).startNs;
  }

  #dropWaits(worker: Worker): void {
    for (let at = this.waits.length - 1; at >= 0; at--) if (this.waits[at]?.worker === worker) this.waits.splice(at, 1);
  }
}

export function isBusy(worker: Worker): boolean {
  return worker.state !== FREE && worker.state !== DEAD;
}
