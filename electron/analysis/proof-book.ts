/** What became of each proof and partition: one book for a run, over all its processes. Instants are ns since the run's start. */
import type { PartitionState } from '../contract/live.ts';
import type { PartitionReport, ProofOutcome, Stage, StageSpan } from '../contract/run-report.ts';
import type { EventOf, TimelineEvent } from '../contract/timeline-events.ts';
import type { Nanoseconds } from '../contract/units.ts';
import type { Span, TrackedKind } from './spans.ts';

export interface PartitionEntry {
  partition: number;
  state: PartitionState;
  /** Where the state comes from: the latest event by (t, seq), whatever the order of the lines. */
  stateNs: Nanoseconds;
  stateSeq: number;
  outcome: PartitionReport['outcome'];
  device: string | null;
  worker: number | null;
  stages: Partial<Record<Stage, StageSpan>>;
  kernels: (StageSpan & { kernel: string })[];
}

export interface ProofEntry {
  proof: string;
  attempt: number;
  /** Another engine's own name of it. */
  name: string | null;
  circuit: string;
  partitionCount: number;
  acceptedNs: Nanoseconds | null;
  endedNs: Nanoseconds | null;
  /** Null until it ended; `returned` ones never do. */
  outcome: ProofOutcome | null;
  returned: boolean;
  sha256: string | null;
  file: string | null;
  error: { code: string; message: string } | null;
  partitions: Map<number, PartitionEntry>;
  /** Which process it is in: a proof that the next process accepts again begins anew. */
  process: number;
}

/** A reader shows no more than this many partitions of a proof, whatever a journal claims. */
export const MAX_PARTITIONS = 4096;

const STATE_OF: Partial<Record<TimelineEvent['e'], PartitionState>> = {
  permit_asked: 'permit', synthesis_started: 'synthesis', synthesis_ended: 'withheld', queued: 'queued', picked_up: 'prepare',
  lock_asked: 'waiting', lock_granted: 'device', prepare_started: 'prepare', device_started: 'device', finish_started: 'finish',
  stage_failed: 'failed',
}; // prettier-ignore

const STAGE_OF: Partial<Record<TrackedKind, Stage>> = {
  permit: 'permit', synthesis: 'synthesis', queue: 'queue', job: 'job', waiting: 'lock_wait', prepare: 'prepare', lock: 'lock',
  device: 'device', finish: 'finish',
}; // prettier-ignore

const PARTITION_OUTCOMES = new Set(['valid', 'invalid', 'failed', 'cancelled']);

export class ProofBook {
  readonly entries = new Map<string, ProofEntry>();
  readonly #keepDetail: boolean;
  #last: ProofEntry | null = null;

  /** `keepDetail`: stages and kernels of every partition, for a report; a live view draws from the spans instead. */
  constructor(keepDetail: boolean) {
    this.#keepDetail = keepDetail;
  }

  forget(key: string): void {
    this.entries.delete(key);
    this.#last = null;
  }

  /** Returns the entry that changed, or null. */
  take(event: TimelineEvent, at: Nanoseconds, process: number): ProofEntry | null {
    switch (event.e) {
      case 'proof_accepted':
        return this.#accept(event, at, process);
      case 'proof_named': {
        const entry = this.#entry(event.proof, event.attempt, process);
        entry.name = event.name;
        return entry;
      }
      case 'proof_ended':
        return this.#end(event, at, process);
      case 'proof_returned': {
        const entry = this.#entry(event.proof, event.attempt, process);
        entry.returned = true;
        entry.endedNs = at;
        return entry;
      }
      case 'partition_ended': {
        const { entry, part } = this.#part(event, process);
        if (!part) return entry;
        part.outcome = PARTITION_OUTCOMES.has(event.outcome) ? (event.outcome as PartitionReport['outcome']) : 'failed';
        part.state = part.outcome ?? 'failed';
        part.stateNs = Number.POSITIVE_INFINITY;
        return entry;
      }
      default:
        return 'partition' in event ? this.#move(event, at, process) : null;
    }
  }

  takeSpan(span: Span, process: number): void {
    if (!this.#keepDetail) return;
    const { part } = this.#part(span, process);
    if (!part) return;
    // An abandoned span was begun, and its end is not known.
    const stage: StageSpan = { start_ns: span.startNs, end_ns: span.state === 'closed' ? span.endNs : null };
    if (span.kind === 'kernel') {
      if (span.state === 'open') return;
      part.kernels.push({ ...stage, kernel: span.detail ?? '' });
    } else {
      const name = STAGE_OF[span.kind];
      if (name) part.stages[name] = stage;
    }
  }

  /** The process is gone: what it had not ended is interrupted. */
  endProcess(process: number, at: Nanoseconds): ProofEntry[] {
    const changed: ProofEntry[] = [];
    for (const entry of this.entries.values()) {
      if (entry.process !== process || entry.outcome !== null || entry.returned) continue;
      entry.outcome = 'interrupted';
      entry.endedNs = at;
      changed.push(entry);
    }
    return changed;
  }

  #accept(event: EventOf<'proof_accepted'>, at: Nanoseconds, process: number): ProofEntry {
    const key = keyOf(event.proof, event.attempt);
    const known = this.entries.get(key);
    const again = known !== undefined && (known.process !== process || known.returned);
    if (again) this.forget(key);
    const entry = this.#entry(event.proof, event.attempt, process);
    entry.circuit = event.circuit;
    entry.partitionCount = Math.min(event.partitions, MAX_PARTITIONS);
    entry.acceptedNs = at;
    return entry;
  }

  #end(event: EventOf<'proof_ended'>, at: Nanoseconds, process: number): ProofEntry {
    const entry = this.#entry(event.proof, event.attempt, process);
    entry.endedNs = at;
    entry.sha256 = event.sha256;
    entry.file = event.file;
    const { outcome } = event;
    entry.outcome = outcome === 'valid' || outcome === 'invalid' ? outcome : outcome === 'cancelled' ? 'interrupted' : 'failed';
    if (event.code !== null || event.message !== null) entry.error = { code: event.code ?? 'internal', message: event.message ?? '' };
    return entry;
  }

  #move(event: Extract<TimelineEvent, { partition: number }>, at: Nanoseconds, process: number): ProofEntry | null {
    const { entry, part } = this.#part(event, process);
    if (event.e === 'stage_failed' && entry.error === null) {
      entry.error = { code: event.code, message: `partition ${event.partition}, ${event.stage}: ${event.message}` };
    }
    if (!part) return entry;
    if (event.e === 'picked_up') {
      part.device = event.device;
      part.worker = event.worker;
    }
    const state = STATE_OF[event.e];
    if (state === undefined) return null;
    if (at < part.stateNs || (at === part.stateNs && event.seq < part.stateSeq)) return null;
    const changed = part.state !== state;
    part.state = state;
    part.stateNs = at;
    part.stateSeq = event.seq;
    return changed ? entry : null;
  }

  #entry(proof: string, attempt: number, process: number): ProofEntry {
    // Events of one proof come in rows.
    const last = this.#last;
    if (last !== null && last.proof === proof && last.attempt === attempt) return last;
    const key = keyOf(proof, attempt);
    let entry = this.entries.get(key);
    if (!entry) {
      entry = {
        proof, attempt, name: null, circuit: '', partitionCount: 0, acceptedNs: null, endedNs: null, outcome: null, returned: false, sha256: null,
        file: null, error: null, partitions: new Map(), process,
      }; // prettier-ignore
      this.entries.set(key, entry);
    }
    this.#last = entry;
    return entry;
  }

  #part(of: { proof: string; attempt: number; partition: number }, process: number): { entry: ProofEntry; part: PartitionEntry | null } {
    const entry = this.#entry(of.proof, of.attempt, process);
    let part = entry.partitions.get(of.partition) ?? null;
    if (!part && entry.partitions.size < MAX_PARTITIONS) {
      part = {
        partition: of.partition, state: 'pending', stateNs: Number.NEGATIVE_INFINITY, stateSeq: -1, outcome: null, device: null,
        worker: null, stages: {}, kernels: [],
      }; // prettier-ignore
      entry.partitions.set(of.partition, part);
    }
    return { entry, part };
  }
}

function keyOf(proof: string, attempt: number): string {
  return `${proof} ${attempt}`;
}
