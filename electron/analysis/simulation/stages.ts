/**
 * What a run's partitions took in each stage, from its events. Waits are in no stage: not for a permit, not for the lock.
 *
 *   scope kernels   picked_up ──prepare── lock_asked ··wait·· lock_granted ──device── lock_released ──finish── put_down
 *   scope job       picked_up ··wait·· lock_granted ──prepare── prepare_ended ──device── device_ended ──finish── put_down
 *
 * A log of the cuzk daemon gives durations instead of instants: `pre_lock_cpu` is prepare, `lock_held` is device, and finish is what is
 * left of the native call; its worker goes on while a finalizer ends the partition.
 */
import type { EventOf, TimelineEvent } from '../../contract/timeline-events.ts';
import type { Nanoseconds } from '../../contract/units.ts';
import { computeMedian } from '../statistics.ts';
import type { RunFeed } from '../run-feed.ts';
import { ConcurrencyCurve } from './concurrency.ts';
import { NO_OVERHEADS, type Overheads, type SimulatedStage } from './model.ts';

/** One partition that went through all stages. `beside`: syntheses at once during each stage (further ones during synthesis), on average. */
export interface MeasuredPartition {
  proof: string;
  partition: number;
  circuit: string;
  ns: Record<SimulatedStage, Nanoseconds>;
  /** Null where the log has no kernel lines. */
  kernelNs: Nanoseconds | null;
  verifyNs: Nanoseconds;
  beside: Record<SimulatedStage, number>;
}

export interface MeasuredProof {
  proof: string;
  circuit: string;
  constraints: number;
  partitions: number;
  priority: number;
  submittedWallNs: bigint;
  deadlineWallNs: bigint | null;
  isValid: boolean;
}

export interface MeasuredRun {
  partitions: MeasuredPartition[];
  proofs: MeasuredProof[];
  /** Partitions that were picked up but of which a stage is missing. */
  incomplete: number;
  overheads: Overheads;
  devices: { device: string; kind: string }[];
  backend: string;
  /** Of an imported log: stage times are durations that it gives, not instants. */
  isByDurations: boolean;
  /** Most syntheses at once. */
  mostSyntheses: number;
  permitBytes: number | null;
  paramsBytes: number | null;
  /** The run's start by the wall clock, decimal ns. */
  startedWallNs: bigint;
}

interface Taken {
  proof: string;
  partition: number;
  process: number;
  at: Map<string, Nanoseconds>;
  kernels: [number, number][];
  durations: Record<string, number> | null;
  worker: number | null;
}

/** Listens to a run; `measure` when it has been told. */
export class StageCollector implements RunFeed {
  readonly #parts = new Map<string, Taken>();
  readonly #proofs = new Map<string, MeasuredProof & { lastEndNs: number; endedNs: number | null }>();
  readonly #curves: ConcurrencyCurve[] = [];
  readonly #devices = new Map<string, string>();
  readonly #params = new Map<string, number>();
  #backend = '';
  #startedWallNs = 0n;
  #permitBytes: number | null = null;

  beginProcess(hello: EventOf<'hello'>, originT: Nanoseconds): void {
    if (this.#curves.length === 0) this.#startedWallNs = BigInt(hello.wall_ns) + BigInt(originT);
    this.#curves.push(new ConcurrencyCurve());
    this.#backend = hello.backend;
    for (const { device, kind } of hello.devices as { device: string; kind: string }[]) this.#devices.set(device, kind);
  }

  take(event: TimelineEvent): void {
    switch (event.e) {
      case 'proof_accepted':
        this.#accept(event);
        return;
      case 'proof_ended': {
        const proof = this.#proofs.get(event.proof);
        if (!proof) return;
        proof.isValid = event.outcome === 'valid';
        proof.endedNs = event.t;
        return;
      }
      case 'params_load_started':
        this.#params.set(event.circuit, event.bytes);
        return;
      case 'permit_asked':
        this.#permitBytes = Math.max(this.#permitBytes ?? 0, event.bytes);
        return;
      case 'synthesis_started':
        this.#curves.at(-1)?.step(event.t, 1);
        break;
      case 'synthesis_ended':
        this.#curves.at(-1)?.step(event.t, -1);
        break;
      case 'kernel_started':
      case 'kernel_ended':
        return this.#takeKernel(event);
      case 'measured':
        this.#measured(event);
        return;
    }
    if (!('partition' in event)) return;
    const part = this.#part(event);
    part.at.set(event.e, event.t);
    if (event.e === 'picked_up') part.worker = event.worker;
    if (event.e === 'partition_ended') {
      const proof = this.#proofs.get(event.proof);
      if (proof) proof.lastEndNs = Math.max(proof.lastEndNs, event.t);
    }
  }

  measure(): MeasuredRun {
    const parts = [...this.#parts.values()];
    const isByDurations = parts.some(({ durations }) => durations !== null);
    for (const curve of this.#curves) curve.finish();
    const partitions = parts.flatMap((part) => (isByDurations ? this.#byDurations(part) : this.#byInstants(part)) ?? []);
    const pickedUp = parts.filter(({ at }) => at.has('picked_up')).length;
    const proofs = [...this.#proofs.values()];
    const bytes = [...this.#params.values()];
    return {
      partitions,
      proofs,
      incomplete: pickedUp - partitions.length,
      overheads: isByDurations
        ? { ...NO_OVERHEADS, turnaroundNs: turnaroundOf(parts) }
        : { ...overheadsOf(parts), closeNs: closeOf(proofs) },
      devices: [...this.#devices].map(([device, kind]) => ({ device, kind })),
      backend: this.#backend,
      isByDurations,
      mostSyntheses: Math.max(0, ...this.#curves.map((curve) => curve.most)),
      permitBytes: this.#permitBytes,
      paramsBytes: bytes.length > 0 ? bytes.reduce((sum, one) => sum + one, 0) : null,
      startedWallNs: this.#startedWallNs,
    };
  }

  /** An imported log may tell it again once it knows more. */
  #accept(event: EventOf<'proof_accepted'>): void {
    const before = this.#proofs.get(event.proof);
    this.#proofs.set(event.proof, {
      proof: event.proof,
      circuit: event.circuit,
      constraints: event.constraints,
      partitions: event.partitions,
      priority: event.priority,
      submittedWallNs: BigInt(event.submitted_wall_ns),
      deadlineWallNs: event.deadline_wall_ns === null ? null : BigInt(event.deadline_wall_ns),
      isValid: before?.isValid ?? false,
      lastEndNs: before?.lastEndNs ?? 0,
      endedNs: before?.endedNs ?? null,
    });
  }

  /** Several lines may tell of one partition. */
  #measured(event: EventOf<'measured'>): void {
    const part = this.#part(event);
    part.durations = { ...part.durations, ...(event.durations as Record<string, number>) };
  }

  #takeKernel(event: EventOf<'kernel_started'> | EventOf<'kernel_ended'>): void {
    const { kernels } = this.#part(event);
    if (event.e === 'kernel_started') kernels.push([event.t, Number.NaN]);
    else {
      // On one stream kernels follow each other; on several the one that began first is as good as any: their union is what counts.
      const open = kernels.find(([, end]) => Number.isNaN(end));
      if (open) open[1] = event.t;
    }
  }

  #part(event: { proof: string; attempt: number; partition: number }): Taken {
    const key = `${event.proof} ${event.attempt} ${event.partition}`;
    const process = this.#curves.length - 1;
    let part = this.#parts.get(key);
    // Taken up again by another process: what it did before is not this try.
    if (part && part.process !== process) part = undefined;
    if (!part) {
      this.#parts.set(
        key,
        (part = { proof: event.proof, partition: event.partition, process, at: new Map(), kernels: [], durations: null, worker: null }),
      );
    }
    return part;
  }

  #circuitOf({ proof }: Taken): string {
    return this.#proofs.get(proof)?.circuit ?? '';
  }

  #byInstants(part: Taken): MeasuredPartition | null {
    const at = (name: string) => part.at.get(name) ?? Number.NaN;
    const isJob = at('lock_granted') <= at('prepare_started');
    const prepare: Stretch = isJob ? [at('lock_granted'), at('prepare_ended')] : [at('picked_up'), at('lock_asked')];
    const device: Stretch = isJob ? [at('prepare_ended'), at('device_ended')] : [at('lock_granted'), at('lock_released')];
    const finish: Stretch = [device[1], at('put_down')];
    const synthesis: Stretch = [at('synthesis_started'), at('synthesis_ended')];
    const stages = { synthesis, prepare, device, finish };
    if (Object.values(stages).some(([from, to]) => !(to >= from))) return null;
    const curve = this.#curves[part.process] as ConcurrencyCurve;
    const length = ([from, to]: Stretch) => to - from;
    return {
      proof: part.proof,
      partition: part.partition,
      circuit: this.#circuitOf(part),
      ns: { synthesis: length(synthesis), prepare: length(prepare), device: length(device), finish: length(finish) },
      kernelNs: Math.min(length(device), unionOf(part.kernels)),
      verifyNs: Math.max(0, (part.at.get('partition_ended') ?? at('put_down')) - at('put_down')),
      beside: {
        synthesis: Math.max(0, curve.average(...synthesis) - 1),
        prepare: curve.average(...prepare),
        device: curve.average(...device),
        finish: curve.average(...finish),
      },
    };
  }

  #byDurations(part: Taken): MeasuredPartition | null {
    const { pre_lock_cpu: prepare, lock_held: device, lock_wait: wait = 0, start_fn: call } = part.durations ?? {};
    const at = (name: string) => part.at.get(name) ?? Number.NaN;
    const synthesis: Stretch = [at('synthesis_started'), at('synthesis_ended')];
    if (prepare === undefined || device === undefined || !(synthesis[1] >= synthesis[0])) return null;
    const finish = call === undefined ? 0 : Math.max(0, call - prepare - wait - device);
    const curve = this.#curves[part.process] as ConcurrencyCurve;
    const begun = part.at.get('call_started') ?? at('picked_up');
    const beside = (from: number, length: number) => (Number.isFinite(from) ? curve.average(from, from + length) : 0);
    return {
      proof: part.proof,
      partition: part.partition,
      circuit: this.#circuitOf(part),
      ns: { synthesis: synthesis[1] - synthesis[0], prepare, device, finish },
      kernelNs: null,
      verifyNs: 0,
      beside: {
        synthesis: Math.max(0, curve.average(...synthesis) - 1),
        prepare: beside(begun, prepare),
        device: beside(begun + prepare + wait, device),
        finish: beside(begun + prepare + wait + device, finish),
      },
    };
  }
}

type Stretch = [from: Nanoseconds, to: Nanoseconds];

function unionOf(kernels: readonly [number, number][]): Nanoseconds {
  let covered = 0;
  let reached = Number.NEGATIVE_INFINITY;
  for (const [start, end] of kernels.filter(([start, end]) => end > start).sort((a, b) => a[0] - b[0])) {
    covered += Math.max(0, end - Math.max(start, reached));
    reached = Math.max(reached, end);
  }
  return covered;
}

function median(values: readonly number[]): Nanoseconds {
  return Math.max(0, Math.round(computeMedian(values) ?? 0));
}

/** Medians of what passes between stages, over all partitions. */
function overheadsOf(parts: readonly Taken[]): Omit<Overheads, 'closeNs'> {
  const turnaround: number[] = [];
  const wake: number[] = [];
  for (const [before, part] of neighboursOnWorkers(parts, 'put_down')) {
    const picked = part.at.get('picked_up') as number;
    const queued = part.at.get('queued') ?? Number.NaN;
    if (queued <= before) turnaround.push(picked - before);
    else if (queued > before) wake.push(picked - queued);
  }
  const releases = parts.flatMap((part) => part.at.get('lock_released') ?? []).sort((a, b) => a - b);
  const handoff: number[] = [];
  for (const part of parts) {
    const [asked, granted] = [part.at.get('lock_asked') ?? Number.NaN, part.at.get('lock_granted') ?? Number.NaN];
    const released = lastBefore(releases, granted);
    if (released !== null && asked < released) handoff.push(granted - released);
  }
  return { turnaroundNs: median(turnaround), wakeNs: median(wake), handoffNs: median(handoff) };
}

/** Of a log with durations: from the end of the worker's native call to its next pick-up of something that waited. */
function turnaroundOf(parts: readonly Taken[]): Nanoseconds {
  const values: number[] = [];
  for (const part of parts) {
    const call = part.durations?.start_fn;
    const begun = part.at.get('call_started');
    if (call !== undefined && begun !== undefined) part.at.set('call_ended', begun + call);
  }
  for (const [before, part] of neighboursOnWorkers(parts, 'call_ended')) {
    if ((part.at.get('queued') ?? Number.NaN) <= before) values.push((part.at.get('picked_up') as number) - before);
  }
  return median(values);
}

function closeOf(proofs: readonly { lastEndNs: number; endedNs: number | null }[]): Nanoseconds {
  return median(proofs.flatMap(({ lastEndNs, endedNs }) => (endedNs === null || lastEndNs === 0 ? [] : endedNs - lastEndNs)));
}

/** (end of what a worker did before, the partition that it then picked up), in each process. */
function* neighboursOnWorkers(parts: readonly Taken[], end: string): Generator<[Nanoseconds, Taken]> {
  const byWorker = new Map<string, Taken[]>();
  for (const part of parts) {
    if (part.worker === null || !part.at.has('picked_up')) continue;
    const key = `${part.process} ${part.worker}`;
    const of = byWorker.get(key);
    if (of) of.push(part);
    else byWorker.set(key, [part]);
  }
  for (const of of byWorker.values()) {
    of.sort((a, b) => (a.at.get('picked_up') as number) - (b.at.get('picked_up') as number));
    for (let index = 1; index < of.length; index++) {
      const before = (of[index - 1] as Taken).at.get(end);
      if (before !== undefined) yield [before, of[index] as Taken];
    }
  }
}

function lastBefore(sorted: readonly number[], t: number): number | null {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as number) <= t) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? null : (sorted[low - 1] as number);
}
