/**
 * A prover process in miniature, one nanosecond a step: permits, synthesis, queue, workers with a lock, kernels, failures and deaths, told
 * by the events that the real one writes. It holds no rule of the analysis: it only makes what may happen.
 */
import type { EventName, StateLine } from '../../electron/contract/timeline-events.ts';
import type { Scheduler } from '../../electron/contract/scheduler.ts';
import { makeState } from './journal.ts';
import type { Random } from './random.ts';

export interface Told {
  t: number;
  ring: string;
  e: EventName;
  fields: Record<string, unknown>;
}

export interface ProofPlan {
  proof: string;
  attempt: number;
  circuit: string;
  partitions: number;
  priority: number;
  acceptAt: number;
}

interface Partition {
  proof: ProofPlan;
  partition: number;
  is: 'new' | 'asked' | 'permitted' | 'synthesis' | 'withheld' | 'queued' | 'job' | 'over';
  until: number;
  synthesiser: number;
  askAt: number;
  asked: number;
}

interface GpuWorker {
  number: number;
  device: string;
  is: StateLine['workers'][number]['is'];
  at: Partition | null;
  until: number;
  since: number;
  /** What happens inside the device stage, in order of time. */
  inside: Told[];
}

export interface ProcessPlan {
  devices: string[];
  scheduler: Scheduler;
  proofs: ProofPlan[];
  loads: { circuit: string; from: number; to: number }[];
  readyAt: number;
  fromT: number;
  untilT: number;
  /** Instants at which a snapshot is wanted. */
  snapshotsAt: number[];
  /** Chance of a failure at each stage, and of a death. */
  failure: number;
  death: number;
  /** Kernel stamps may lie past the stage by as much: a device clock of its own. */
  skew: number;
}

export class RandomProcess {
  readonly told: Told[] = [];
  readonly snapshots = new Map<number, StateLine>();
  /** Proofs that did not end. */
  readonly left = new Set<ProofPlan>();
  readonly #plan: ProcessPlan;
  readonly #random: Random;
  readonly #partitions: Partition[] = [];
  readonly #workers: GpuWorker[] = [];
  readonly #lock = new Map<string, GpuWorker>();
  readonly #revive: { at: number; device: string }[] = [];
  #nextWorker = 0;
  #now = 0;

  constructor(plan: ProcessPlan, random: Random) {
    this.#plan = plan;
    this.#random = random;
    for (const device of plan.devices) for (let n = 0; n < plan.scheduler.gpu_workers; n++) this.#hire(device);
    for (this.#now = plan.fromT; this.#now <= plan.untilT; this.#now++) {
      this.#arrive();
      while (this.#stir());
      if (plan.snapshotsAt.includes(this.#now)) this.snapshots.set(this.#now, this.#snapshot());
      if (this.left.size === 0 && this.#workers.every((worker) => worker.at === null) && !this.#willArrive()) break;
    }
  }

  /** When it had nothing left to do, or was stopped. */
  get endT(): number {
    return Math.min(this.#now, this.#plan.untilT);
  }

  #willArrive(): boolean {
    const later = [this.#plan.readyAt, ...this.#plan.proofs.map((proof) => proof.acceptAt), ...this.#plan.loads.map((load) => load.to)];
    return later.some((at) => at > this.#now) || this.#plan.snapshotsAt.some((at) => at > this.#now);
  }

  #say(ring: string, e: EventName, fields: Record<string, unknown> = {}, t = this.#now): void {
    this.told.push({ t, ring, e, fields });
  }

  #hire(device: string): void {
    this.#workers.push({ number: this.#nextWorker++, device, is: 'free', at: null, until: 0, since: this.#now, inside: [] });
  }

  #arrive(): void {
    const t = this.#now;
    if (t === this.#plan.readyAt) this.#say('main', 'ready');
    for (const load of this.#plan.loads) {
      if (load.from === t) this.#say('main', 'params_load_started', { circuit: load.circuit });
      if (load.to === t) this.#say('main', 'params_load_ended', { circuit: load.circuit });
    }
    for (const proof of this.#plan.proofs) {
      if (proof.acceptAt !== t) continue;
      const { acceptAt: _, ...fields } = proof;
      this.#say('main', 'proof_accepted', fields);
      this.left.add(proof);
      for (let partition = 0; partition < proof.partitions; partition++) {
        const askAt = t + (this.#random.chance(0.7) ? 0 : this.#random.int(0, 20));
        this.#partitions.push({ proof, partition, is: 'new', until: 0, synthesiser: 0, askAt, asked: 0 });
      }
    }
    for (const { at, device } of this.#revive) if (at === t) this.#hire(device);
    for (const worker of this.#workers) {
      while (worker.inside[0] && worker.inside[0].t <= t) this.told.push(worker.inside.shift() as Told);
    }
  }

  /** One change; false once nothing changes any more at this instant. */
  #stir(): boolean {
    for (const one of this.#partitions) if (this.#stirPartition(one)) return true;
    for (const worker of this.#workers) if (this.#stirWorker(worker)) return true;
    return false;
  }

  #name(one: Partition): Record<string, unknown> {
    return { proof: one.proof.proof, attempt: one.proof.attempt, partition: one.partition };
  }

  #isLoading(circuit: string): boolean {
    return this.#plan.loads.some((load) => load.circuit === circuit && load.from <= this.#now && this.#now < load.to);
  }

  #stirPartition(one: Partition): boolean {
    const { scheduler } = this.#plan;
    const t = this.#now;
    if (one.is === 'new' && t >= one.askAt) {
      one.is = 'asked';
      one.asked = t;
      this.#say('dispatch', 'permit_asked', this.#name(one));
      return true;
    }
    if (one.is === 'asked') {
      const taken = this.#partitions.filter((other) => !['new', 'asked', 'over'].includes(other.is)).length;
      if (taken >= scheduler.partitions_in_flight) return false;
      one.is = 'permitted';
      one.until = t + this.#random.int(0, 1);
      this.#say('dispatch', 'permit_granted', {
        ...this.#name(one),
        waited_for: t === one.asked ? 'none' : this.#random.pick(['bytes', 'count']),
      });
      return true;
    }
    if (one.is === 'permitted' && t >= one.until) {
      const busy = this.#partitions.filter((other) => other.is === 'synthesis').map((other) => other.synthesiser);
      const free = [...Array(scheduler.synthesis_workers).keys()].find((number) => !busy.includes(number));
      if (free === undefined) return false;
      one.is = 'synthesis';
      one.synthesiser = free;
      one.until = t + this.#random.int(0, 35);
      this.#say(`s${free}`, 'synthesis_started', { ...this.#name(one), synthesiser: free });
      return true;
    }
    if (one.is === 'synthesis' && t >= one.until) {
      if (this.#random.chance(this.#plan.failure)) return this.#fail(one, 'synthesis', `s${one.synthesiser}`);
      one.is = 'withheld';
      one.until = t + this.#random.int(0, 1);
      this.#say(`s${one.synthesiser}`, 'synthesis_ended', { ...this.#name(one), synthesiser: one.synthesiser });
      return true;
    }
    if (one.is === 'withheld' && t >= one.until) {
      const mates = this.#partitions.filter((other) => other.proof === one.proof);
      if (scheduler.dispatch === 'batch' && mates.some((mate) => ['new', 'asked', 'permitted', 'synthesis'].includes(mate.is)))
        return false;
      one.is = 'queued';
      one.until = t + (this.#random.chance(0.6) ? 0 : this.#random.int(0, 6));
      this.#say('dispatch', 'queued', this.#name(one));
      return true;
    }
    return false;
  }

  #fail(one: Partition, stage: string, ring: string): true {
    this.#say(ring, 'stage_failed', { ...this.#name(one), stage });
    this.#endPartition(one, 'failed', ring);
    return true;
  }

  #endPartition(one: Partition, outcome: string, ring: string): void {
    one.is = 'over';
    this.#say(ring, 'partition_ended', { ...this.#name(one), outcome });
    this.#say('dispatch', 'permit_released', this.#name(one));
    const mates = this.#partitions.filter((other) => other.proof === one.proof);
    if (mates.every((mate) => mate.is === 'over') && this.left.delete(one.proof)) {
      this.#say('main', 'proof_ended', { proof: one.proof.proof, attempt: one.proof.attempt, outcome });
    }
  }

  #stirWorker(worker: GpuWorker): boolean {
    const t = this.#now;
    if (worker.is === 'dead') return false;
    if (worker.at === null) {
      const next = this.#partitions.find((one) => one.is === 'queued' && t >= one.until && !this.#isLoading(one.proof.circuit));
      if (!next || t < worker.until) return false;
      next.is = 'job';
      worker.at = next;
      this.#tell(worker, 'picked_up');
      if (this.#isJobScope) {
        this.#tell(worker, 'lock_asked');
        this.#become(worker, 'waiting', 0);
      } else {
        this.#tell(worker, 'prepare_started');
        this.#become(worker, 'prepare', this.#random.int(0, 8));
      }
      return true;
    }
    if (t < worker.until) return false;
    if (worker.is !== 'waiting' && this.#random.chance(this.#plan.death)) return this.#die(worker);
    return this.#advance(worker, worker.at);
  }

  get #isJobScope(): boolean {
    return this.#plan.scheduler.lock_scope === 'job';
  }

  #tell(worker: GpuWorker, e: EventName, fields: Record<string, unknown> = {}): void {
    this.#say(`w${worker.number}`, e, { ...this.#name(worker.at as Partition), device: worker.device, worker: worker.number, ...fields });
  }

  #become(worker: GpuWorker, is: GpuWorker['is'], lasts: number): void {
    worker.is = is;
    worker.since = this.#now;
    worker.until = this.#now + lasts;
  }

  #advance(worker: GpuWorker, at: Partition): boolean {
    if (worker.is === 'prepare') {
      this.#tell(worker, 'prepare_ended');
      if (this.#isJobScope) return this.#enterDevice(worker);
      this.#tell(worker, 'lock_asked');
      this.#become(worker, 'waiting', 0);
    } else if (worker.is === 'waiting') {
      if (this.#lock.has(worker.device)) return false;
      if (this.#random.chance(0.2)) {
        worker.until = this.#now + this.#random.int(1, 4);
        return false;
      }
      this.#lock.set(worker.device, worker);
      this.#tell(worker, 'lock_granted');
      if (!this.#isJobScope) return this.#enterDevice(worker);
      this.#tell(worker, 'prepare_started');
      this.#become(worker, 'prepare', this.#random.int(0, 8));
    } else if (worker.is === 'device') {
      for (const late of worker.inside.splice(0)) this.told.push(late);
      if (this.#random.chance(this.#plan.failure)) {
        this.#fail(at, 'device', `w${worker.number}`);
        if (this.#random.chance(0.5)) this.#tell(worker, 'lock_released');
        return this.#putDown(worker);
      }
      this.#tell(worker, 'device_ended');
      if (!this.#isJobScope) this.#release(worker);
      this.#tell(worker, 'finish_started');
      this.#become(worker, 'finish', this.#random.int(0, 12));
    } else {
      this.#tell(worker, 'finish_ended');
      if (this.#isJobScope) this.#release(worker);
      this.#endPartition(at, 'valid', `w${worker.number}`);
      return this.#putDown(worker);
    }
    return true;
  }

  #release(worker: GpuWorker): void {
    this.#tell(worker, 'lock_released');
    this.#lock.delete(worker.device);
  }

  #putDown(worker: GpuWorker): true {
    if (this.#lock.get(worker.device) === worker) this.#lock.delete(worker.device);
    this.#tell(worker, 'put_down');
    worker.at = null;
    this.#become(worker, 'free', this.#random.chance(0.7) ? 0 : this.#random.int(1, 4));
    return true;
  }

  #die(worker: GpuWorker): true {
    const at = worker.at as Partition;
    if (this.#lock.get(worker.device) === worker) this.#lock.delete(worker.device);
    worker.inside = [];
    this.#say(`w${worker.number}`, 'worker_dead', { device: worker.device, worker: worker.number });
    if (this.#random.chance(0.7)) this.#fail(at, 'device', `w${worker.number}`);
    else this.#endPartition(at, 'failed', 'main');
    this.#become(worker, 'dead', 0);
    worker.at = null;
    this.#revive.push({ at: this.#now + this.#random.int(1, 8), device: worker.device });
    return true;
  }

  /** The device stage: kernels on two streams, copies and waits, anywhere within. */
  #enterDevice(worker: GpuWorker): true {
    const lasts = this.#random.int(0, 20);
    this.#become(worker, 'device', lasts);
    this.#tell(worker, 'device_started');
    const within = (ring: string, base: string, fields: Record<string, unknown>, skew: number) => {
      const from = this.#random.int(0, lasts);
      const to = this.#random.int(from, lasts) + (skew > 0 && this.#random.chance(0.3) ? this.#random.int(0, skew) : 0);
      const named = { ...this.#name(worker.at as Partition), device: worker.device, worker: worker.number, ...fields };
      worker.inside.push({ t: this.#now + from, ring, e: `${base}_started` as EventName, fields: named });
      worker.inside.push({ t: this.#now + to, ring, e: `${base}_ended` as EventName, fields: named });
    };
    const kernels = this.#random.int(0, 3);
    for (let n = 0; n < kernels; n++) {
      const kernel = ['ntt', 'h_msm', 'l_msm'][n];
      within(`${worker.device}.clock`, 'kernel', { stream: this.#random.int(0, 1), kernel }, this.#plan.skew);
    }
    if (this.#random.chance(0.25)) within(`w${worker.number}`, 'copy', { stream: 7 }, 0);
    if (this.#random.chance(0.25)) within(`w${worker.number}`, 'wait', { wait: this.#random.pick(['barrier', 'alloc', 'host']) }, 0);
    if (this.#random.chance(0.1)) within(`w${worker.number}`, 'wait', { wait: this.#random.pick(['barrier', 'alloc']) }, 0);
    worker.inside.sort((one, other) => one.t - other.t);
    while (worker.inside[0] && worker.inside[0].t <= this.#now) this.told.push(worker.inside.shift() as Told);
    return true;
  }

  #snapshot(): StateLine {
    const count = (is: Partition['is']) => this.#partitions.filter((one) => one.is === is).length;
    const where = (at: Partition | null) => ({
      proof: at?.proof.proof ?? null,
      attempt: at?.proof.attempt ?? null,
      partition: at?.partition ?? null,
    });
    return makeState(this.#now, 0, {
      phase: this.#now >= this.#plan.readyAt ? 'ready' : 'starting',
      queued: count('queued'),
      withheld: count('withheld'),
      workers: this.#workers.map((one) => ({
        worker: one.number, device: one.device, is: one.is, ...where(one.at), since: one.since, progress: 0,
      })),
      synthesisers: this.#partitions
        .filter((one) => one.is === 'synthesis')
        .map((one) => ({ synthesiser: one.synthesiser, ...where(one), since: this.#now, progress: 0 })),
      lock: this.#plan.devices.map((device) => ({ device, holder: this.#lock.get(device)?.number ?? null })),
      params: [...new Set(this.#plan.loads.map((load) => load.circuit))].map((circuit) => ({
        circuit,
        is: this.#isLoading(circuit) ? 'loading' : 'resident',
      })),
    }); // prettier-ignore
  }
}
