/** One process's part of a run as it is told: events that wait for their turn, already put on the run's axis. */
import type { EventOf, EventName, StateLine, TimelineEvent } from '../../contract/timeline-events.ts';
import type { Nanoseconds } from '../../contract/units.ts';
import type { FedLoss } from '../run-feed.ts';
import { CODE, FIRST_WORKER_CODE, LOSS_BEGINS, LOSS_ENDS, type Extra } from './codes.ts';
import { EventColumns } from './event-columns.ts';
import { PartBook, type Part, type ProofRecord } from './parts.ts';

export interface NamedDevice {
  name: string;
  kind: string;
}

/** Devices of a run by number. */
export class DeviceNames {
  readonly #numbers = new Map<string, number>();
  readonly #devices: NamedDevice[] = [];

  number(name: string): number {
    let number = this.#numbers.get(name);
    if (number === undefined) {
      number = this.#devices.length;
      this.#numbers.set(name, number);
      this.#devices.push({ name, kind: '' });
    }
    return number;
  }

  of(number: number): NamedDevice {
    return this.#devices[number] as NamedDevice;
  }
}

const CODES: Partial<Record<EventName, number>> = CODE;
const NO_DEVICE = -1;
/** Comes after everything of its instant. */
const LAST = Number.POSITIVE_INFINITY;

export class ProcessStream {
  readonly fromStart: boolean;
  readonly devices: number[];
  readonly book = new PartBook();
  readonly columns = new EventColumns<Part | ProofRecord | null, Extra>();
  readonly #offset: Nanoseconds;
  readonly #names: DeviceNames;
  lastNs: Nanoseconds;
  isEnded = false;
  #hasBye = false;
  /** Told and not ended yet. */
  #losses = 0;

  constructor(hello: EventOf<'hello'>, offset: Nanoseconds, fromStart: boolean, names: DeviceNames) {
    this.fromStart = fromStart;
    this.#offset = offset;
    this.#names = names;
    this.devices = (hello.devices as { device: string; kind: string }[]).map(({ device, kind }) => {
      const number = names.number(device);
      names.of(number).kind = kind;
      return number;
    });
    const at = hello.t + offset;
    this.lastNs = at;
    this.columns.push(at, -1, CODE.hello, null, NO_DEVICE, -1, null);
  }

  /** On the run's axis. */
  axisOf(t: Nanoseconds): Nanoseconds {
    return t + this.#offset;
  }

  take(event: TimelineEvent): void {
    const at = event.t + this.#offset;
    if (at > this.lastNs) this.lastNs = at;
    const code = CODES[event.e];
    if (code === undefined || code === CODE.hello) return;
    if (code === CODE.bye) this.#hasBye = true;
    if (code >= FIRST_WORKER_CODE) {
      const { proof, attempt, partition, device, worker } = event as WorkerEvent;
      const part = code === CODE.worker_dead ? null : this.book.part(proof, attempt, partition);
      this.columns.push(at, event.seq, code, part, this.#names.number(device), worker, extraOfWorker(event as WorkerEvent));
    } else if (code === CODE.proof_accepted || code === CODE.proof_ended || code === CODE.proof_returned) {
      const { proof, attempt } = event as EventOf<'proof_returned'>;
      this.columns.push(at, event.seq, code, this.book.proof(proof, attempt), NO_DEVICE, -1, extraOf(event));
    } else if (code >= CODE.permit_asked && code <= CODE.stage_failed) {
      const { proof, attempt, partition } = event as EventOf<'queued'>;
      const synthesiser = (event as Partial<EventOf<'synthesis_started'>>).synthesiser ?? -1;
      this.columns.push(at, event.seq, code, this.book.part(proof, attempt, partition), NO_DEVICE, synthesiser, extraOf(event));
    } else this.columns.push(at, event.seq, code, null, NO_DEVICE, -1, extraOf(event));
  }

  takeLoss(loss: FedLoss): void {
    this.columns.push(loss.tFrom + this.#offset, -1, LOSS_BEGINS, null, NO_DEVICE, -1, null);
    if (loss.healedT === null) this.#losses += 1;
    else this.#endLoss(loss.healedT, loss.state);
  }

  /** Ends the losses that were told before it. */
  takeState(state: StateLine): void {
    for (; this.#losses > 0; this.#losses--) this.#endLoss(state.t, state);
  }

  end(endT: Nanoseconds | null): void {
    if (this.isEnded) return;
    this.isEnded = true;
    if (this.#hasBye) return;
    const at = Math.max(this.lastNs, endT === null ? this.lastNs : endT + this.#offset);
    this.columns.push(at, LAST, CODE.bye, null, NO_DEVICE, -1, null);
  }

  #endLoss(t: Nanoseconds, state: StateLine | null): void {
    this.columns.push(t + this.#offset, state ? state.upto + 0.5 : -1, LOSS_ENDS, null, NO_DEVICE, -1, { state });
  }
}

type WorkerEvent = Extract<TimelineEvent, { partition: number; worker: number }>;

function extraOf(event: TimelineEvent): Extra {
  switch (event.e) {
    case 'proof_accepted':
      return { circuit: event.circuit, priority: event.priority };
    case 'proof_ended':
    case 'partition_ended':
      return event.outcome;
    case 'permit_granted':
      return event.waited_for;
    case 'params_load_started':
    case 'params_load_ended':
      return event.circuit;
    case 'clock_step':
      return event.step_ns;
    default:
      return null;
  }
}

function extraOfWorker(event: WorkerEvent): Extra {
  switch (event.e) {
    case 'kernel_started':
    case 'kernel_ended':
      return event.stream === 0 ? event.kernel : { kernel: event.kernel, stream: event.stream };
    case 'copy_started':
    case 'copy_ended':
      return event.stream;
    case 'wait_started':
    case 'wait_ended':
      return event.wait;
    case 'measured':
      return (event.durations as Partial<Record<string, number>>)['lock_error'] ?? 0;
    default:
      return null;
  }
}
