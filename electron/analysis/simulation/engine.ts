/**
 * The prover again, in virtual time: synthesis workers, permits, the queue, GPU workers and the device lock, from one event to the next.
 *
 *   synthesis 0   ▒▒▒p0▒▒▒▒▒▒p4▒▒▒            asks for a permit in dispatch order, then lasts its time
 *   worker 0            ▒prep▒▐dev▌▒fin▒       the worker that has been free longest picks up
 *   worker 1               ▒prep▒··▐dev▌▒fin▒  the lock is granted in the order of asking
 *
 * Who goes next is decided by board.ts; what this file adds is time. A stage that others slow down keeps the work that is left and
 * goes on at another speed whenever the number of syntheses changes.
 */
import { InterlockError } from '../../contract/errors.ts';
import type { Nanoseconds } from '../../contract/units.ts';
import { Agenda } from './agenda.ts';
import { Board, type BoardProof, type Part } from './board.ts';
import type { Teller, Untold } from './emit.ts';
import { feedWindow, type SimulatedStage, type SimulationSetup } from './model.ts';

export interface SimulatedEnds {
  /** Ends of the proofs, ascending, and accepted → durable of each, in the same order. */
  endsNs: Nanoseconds[];
  latenciesNs: Nanoseconds[];
  /** When the last partition was put down. */
  makespanNs: Nanoseconds;
  /** Most syntheses at once. */
  mostSyntheses: number;
}

interface Device {
  name: string;
  holder: Worker | null;
  waiting: { worker: Worker; part: Part }[];
}
interface Worker {
  device: Device;
  number: number;
  freeSince: Nanoseconds;
  isFree: boolean;
  /** It will look at the queue at a planned instant. */
  isWaking: boolean;
}
type Piece = SimulatedStage | 'kernel';
/** A stage under way. `left`: its time without contention. */
interface Activity {
  part: Part;
  worker: Worker | null;
  piece: Piece;
  left: number;
  since: Nanoseconds;
  stretch: number;
  version: number;
  synthesiser: number;
}
type Happening =
  | { is: 'submitted' }
  | { is: 'ends'; activity: Activity; version: number }
  | { is: 'looks'; worker: Worker }
  | { is: 'granted'; worker: Worker; part: Part }
  | { is: 'verified'; part: Part }
  | { is: 'closed'; proof: BoardProof };

/**
 * Simulates one run. With a `teller` every event is told.
 *
 * Errors: `budget_too_small` where the scheduler could never start a proof.
 */
export function simulateRun(setup: SimulationSetup, teller: Teller | null = null): SimulatedEnds {
  return new Simulation(setup, teller).run();
}

class Simulation {
  readonly #setup: SimulationSetup;
  readonly #teller: Teller | null;
  readonly #agenda = new Agenda<Happening>();
  readonly #board: Board;
  readonly #workers: Worker[] = [];
  readonly #idle: number[] = [];
  readonly #active = new Set<Activity>();
  readonly #slows: boolean;
  readonly #scopeIsJob: boolean;
  readonly #acceptedNs = new Map<BoardProof, Nanoseconds>();
  readonly #ends: { at: Nanoseconds; latency: Nanoseconds }[] = [];
  #now: Nanoseconds = 0;
  #next = 0;
  #inProver = 0;
  #syntheses = 0;
  #mostSyntheses = 0;
  #verifierFreeNs = 0;
  #makespanNs = 0;

  constructor(setup: SimulationSetup, teller: Teller | null) {
    this.#setup = setup;
    this.#teller = teller;
    this.#board = new Board(setup);
    this.#scopeIsJob = setup.scheduler.lock_scope === 'job';
    this.#slows = Object.values(setup.contention).some((stretch) => stretch > 0);
    let number = 0;
    for (const name of setup.devices) {
      const device: Device = { name, holder: null, waiting: [] };
      for (let rank = 0; rank < setup.scheduler.gpu_workers; rank++) {
        this.#workers.push({ device, number: number++, freeSince: 0, isFree: true, isWaking: false });
      }
    }
    for (let synthesiser = setup.scheduler.synthesis_workers - 1; synthesiser >= 0; synthesiser--) this.#idle.push(synthesiser);
  }

  run(): SimulatedEnds {
    for (const { submittedNs } of this.#setup.proofs) if (submittedNs > 0) this.#agenda.plan(submittedNs, { is: 'submitted' });
    this.#feed();
    for (let planned = this.#agenda.next(); planned; planned = this.#agenda.next()) {
      this.#now = planned.t;
      this.#happen(planned.what);
    }
    if (this.#ends.length < this.#setup.proofs.length)
      throw new InterlockError('internal', 'The simulated run came to a stop before its end.');
    this.#teller?.end();
    this.#ends.sort((a, b) => a.at - b.at);
    return {
      endsNs: this.#ends.map(({ at }) => at),
      latenciesNs: this.#ends.map(({ latency }) => latency),
      makespanNs: this.#makespanNs,
      mostSyntheses: this.#mostSyntheses,
    };
  }

  #happen(what: Happening): void {
    switch (what.is) {
      case 'submitted':
        return this.#feed();
      case 'ends':
        if (what.activity.version === what.version) this.#endPiece(what.activity);
        return;
      case 'looks':
        return this.#look(what.worker);
      case 'granted':
        return this.#granted(what.worker, what.part);
      case 'verified':
        return this.#verified(what.part);
      case 'closed':
        return this.#closed(what.proof);
    }
  }

  /** The host gives the prover a few proofs more than it works on. */
  #feed(): void {
    const { proofs, scheduler } = this.#setup;
    const most = feedWindow(scheduler.proofs_in_flight);
    for (; this.#inProver < most; this.#inProver++) {
      const what = proofs[this.#next];
      if (!what || what.submittedNs > this.#now) break;
      const proof = this.#board.accept(`p${++this.#next}`, what);
      this.#acceptedNs.set(proof, this.#now);
      if (this.#teller) {
        this.#teller.tell(this.#now, {
          e: 'proof_accepted', proof: proof.id, attempt: 1, run: 'simulated', circuit: what.circuit, partitions: what.partitions.length,
          constraints: what.constraints, priority: what.priority, submitted_wall_ns: String(what.submittedNs),
          deadline_wall_ns: what.deadline === null ? null : String(what.deadline),
        }); // prettier-ignore
      }
    }
    this.#dispatch();
  }

  #dispatch(): void {
    while (this.#idle.length > 0) {
      const { asked, granted } = this.#board.dispatch(this.#idle.length);
      const bytes = this.#setup.memory?.partitionBytes ?? 0;
      if (this.#teller) for (const part of asked) this.#tell({ e: 'permit_asked', ...nameOf(part), bytes });
      if (!granted) return;
      const synthesiser = this.#idle.pop() as number;
      if (this.#teller) {
        this.#tell({ e: 'permit_granted', ...nameOf(granted), bytes, waited_for: granted.shortage ?? 'none' });
        this.#tell({ e: 'synthesis_started', ...nameOf(granted), synthesiser });
      }
      this.#changeSyntheses(1);
      this.#begin('synthesis', granted, null, granted.times.synthesisNs, synthesiser);
    }
  }

  #changeSyntheses(by: number): void {
    this.#syntheses += by;
    this.#mostSyntheses = Math.max(this.#mostSyntheses, this.#syntheses);
    if (!this.#slows) return;
    for (const activity of this.#active) {
      const stretch = this.#stretchOf(activity.piece);
      if (stretch === activity.stretch) continue;
      activity.left = Math.max(0, activity.left - (this.#now - activity.since) / activity.stretch);
      activity.since = this.#now;
      activity.stretch = stretch;
      activity.version += 1;
      this.#planEnd(activity);
    }
  }

  #stretchOf(piece: Piece): number {
    if (piece === 'synthesis') return 1 + this.#setup.contention.synthesis * Math.max(0, this.#syntheses - 1);
    return 1 + this.#setup.contention[piece === 'kernel' ? 'device' : piece] * this.#syntheses;
  }

  #begin(piece: Piece, part: Part, worker: Worker | null, left: Nanoseconds, synthesiser = -1): void {
    const stretch = this.#slows ? this.#stretchOf(piece) : 1;
    const activity = { part, worker, piece, left, since: this.#now, stretch, version: 0, synthesiser };
    if (this.#slows) this.#active.add(activity);
    this.#planEnd(activity);
  }

  #planEnd(activity: Activity): void {
    const { left, stretch, version } = activity;
    this.#agenda.plan(this.#now + Math.round(left * stretch), { is: 'ends', activity, version });
  }

  #endPiece(activity: Activity): void {
    this.#active.delete(activity);
    const { part, worker, piece } = activity;
    if (piece === 'synthesis' || worker === null) return this.#endSynthesis(part, activity.synthesiser);
    switch (piece) {
      case 'prepare':
        if (this.#teller) this.#tell({ e: 'prepare_ended', ...placeOf(part, worker) });
        if (this.#scopeIsJob) this.#device(worker, part);
        else this.#ask(worker, part);
        return;
      case 'kernel':
        if (this.#teller) this.#tell({ e: 'kernel_ended', ...placeOf(part, worker), stream: 0, kernel: 'simulated' });
        return this.#begin('device', part, worker, part.times.deviceNs - part.times.kernelNs);
      case 'device':
        if (this.#teller) this.#tell({ e: 'device_ended', ...placeOf(part, worker) });
        if (!this.#scopeIsJob) this.#release(worker, part);
        if (this.#teller) this.#tell({ e: 'finish_started', ...placeOf(part, worker) });
        return this.#begin('finish', part, worker, part.times.finishNs);
      case 'finish':
        return this.#putDown(worker, part);
    }
  }

  #endSynthesis(part: Part, synthesiser: number): void {
    if (this.#teller) this.#tell({ e: 'synthesis_ended', ...nameOf(part), synthesiser });
    this.#idle.push(synthesiser);
    this.#changeSyntheses(-1);
    const queued = this.#board.synthesised(part);
    if (this.#teller) for (const one of queued) this.#tell({ e: 'queued', ...nameOf(one) });
    if (queued.length > 0) this.#wake(queued.length);
    this.#dispatch();
  }

  /** The workers that have been free longest look at the queue. */
  #wake(count: number): void {
    const free = this.#workers.filter(({ isFree, isWaking }) => isFree && !isWaking).sort((a, b) => a.freeSince - b.freeSince);
    for (const worker of free.slice(0, count)) this.#planLook(worker, this.#setup.overheads.wakeNs);
  }

  #planLook(worker: Worker, inNs: Nanoseconds): void {
    worker.isWaking = true;
    this.#agenda.plan(this.#now + inNs, { is: 'looks', worker });
  }

  #look(worker: Worker): void {
    worker.isWaking = false;
    const part = this.#board.pick();
    if (!part) return;
    worker.isFree = false;
    if (this.#teller) this.#tell({ e: 'picked_up', ...placeOf(part, worker) });
    if (this.#scopeIsJob) this.#ask(worker, part);
    else this.#prepare(worker, part);
  }

  #prepare(worker: Worker, part: Part): void {
    if (this.#teller) this.#tell({ e: 'prepare_started', ...placeOf(part, worker) });
    this.#begin('prepare', part, worker, part.times.prepareNs);
  }

  #ask(worker: Worker, part: Part): void {
    const { device } = worker;
    if (this.#teller) this.#tell({ e: 'lock_asked', ...placeOf(part, worker) });
    if (device.holder !== null) device.waiting.push({ worker, part });
    else {
      device.holder = worker;
      this.#granted(worker, part);
    }
  }

  #granted(worker: Worker, part: Part): void {
    if (this.#teller) this.#tell({ e: 'lock_granted', ...placeOf(part, worker) });
    if (this.#scopeIsJob) this.#prepare(worker, part);
    else this.#device(worker, part);
  }

  #release(worker: Worker, part: Part): void {
    const { device } = worker;
    if (this.#teller) this.#tell({ e: 'lock_released', ...placeOf(part, worker) });
    const next = device.waiting.shift();
    device.holder = next?.worker ?? null;
    if (next) this.#agenda.plan(this.#now + this.#setup.overheads.handoffNs, { is: 'granted', ...next });
  }

  #device(worker: Worker, part: Part): void {
    if (this.#teller) this.#tell({ e: 'device_started', ...placeOf(part, worker) });
    if (part.times.kernelNs <= 0) return this.#begin('device', part, worker, part.times.deviceNs);
    if (this.#teller) this.#tell({ e: 'kernel_started', ...placeOf(part, worker), stream: 0, kernel: 'simulated' });
    this.#begin('kernel', part, worker, part.times.kernelNs);
  }

  #putDown(worker: Worker, part: Part): void {
    if (this.#teller) {
      this.#tell({ e: 'finish_ended', ...placeOf(part, worker) });
      this.#tell({ e: 'permit_released', ...nameOf(part), bytes: this.#setup.memory?.partitionBytes ?? 0 });
    }
    this.#board.releasePermit();
    this.#dispatch();
    if (this.#scopeIsJob) this.#release(worker, part);
    if (this.#teller) this.#tell({ e: 'put_down', ...placeOf(part, worker) });
    this.#makespanNs = this.#now;
    part.at = 'verify';
    this.#verifierFreeNs = Math.max(this.#now, this.#verifierFreeNs) + part.times.verifyNs;
    if (this.#verifierFreeNs === this.#now) this.#verified(part);
    else this.#agenda.plan(this.#verifierFreeNs, { is: 'verified', part });
    worker.isFree = true;
    worker.freeSince = this.#now;
    this.#planLook(worker, this.#board.queued > 0 ? this.#setup.overheads.turnaroundNs : 0);
  }

  #verified(part: Part): void {
    if (this.#teller) this.#tell({ e: 'partition_ended', ...nameOf(part), outcome: 'valid' });
    if (this.#board.endPartition(part)) {
      const { closeNs } = this.#setup.overheads;
      if (closeNs > 0) this.#agenda.plan(this.#now + closeNs, { is: 'closed', proof: part.proof });
      else this.#closed(part.proof);
    }
    this.#dispatch();
  }

  #closed(proof: BoardProof): void {
    if (this.#teller) {
      this.#tell({
        e: 'proof_ended', proof: proof.id, attempt: 1, outcome: 'valid', sha256: null, file: null, bytes: null, code: null, message: null,
      }); // prettier-ignore
    }
    this.#ends.push({ at: this.#now, latency: this.#now - (this.#acceptedNs.get(proof) as number) });
    this.#inProver -= 1;
    this.#feed();
  }

  #tell(event: Untold): void {
    this.#teller?.tell(this.#now, event);
  }
}

function nameOf(part: Part): { proof: string; attempt: number; partition: number } {
  return { proof: part.proof.id, attempt: 1, partition: part.partition };
}

function placeOf(part: Part, worker: Worker): { proof: string; attempt: number; partition: number; device: string; worker: number } {
  return { ...nameOf(part), device: worker.device.name, worker: worker.number };
}
