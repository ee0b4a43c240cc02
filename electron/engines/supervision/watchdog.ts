/**
 * Judges a living prover by two signals, apart: *alive* (it answers) and *progress* (each worker's own counter or stage moves). Answering
 * without progress is a hang all the same. Limits come from what this machine has shown itself to need, never below a floor.
 *
 *   the judge's own ticks:  | | | |             | ← a gap of more than two periods (suspend, SIGSTOP, a frozen disk):
 *                                                 everything is judged afresh from here, nothing before it is held against the prover
 */
import type { ProverState } from '../engine.ts';
import type { Nanoseconds } from '../../contract/units.ts';

export interface WatchdogLimits {
  periodMs: number;
  /** No limit is ever below this. */
  floorMs: number;
  /** The limit of a stage of which this machine has shown too little yet. */
  withoutHistoryMs: number;
}

export const WATCHDOG_LIMITS: WatchdogLimits = { periodMs: 2_000, floorMs: 30_000, withoutHistoryMs: 600_000 };

export type Verdict =
  | { is: 'well' }
  | { is: 'silent' | 'no_progress'; ms: number; limitMs: number; message: string; proof: string | null; partition: number | null };

/** How long each stage's counter has stood still on this machine, by stage and work: a large circuit is not judged by a small one. */
export class StageHistory {
  readonly #still = new Map<string, number[]>();

  constructor(saved: Record<string, number[]> = {}) {
    for (const [stage, list] of Object.entries(saved)) this.#still.set(stage, list.filter(Number.isFinite).slice(-1000));
  }

  add(stage: string, ms: number): void {
    const list = this.#still.get(stage) ?? [];
    list.push(Math.round(ms));
    if (list.length > 1000) list.shift();
    this.#still.set(stage, list);
  }

  /** Three times the 99.9th percentile, at least the floor; the cautious limit while there are fewer than ten observations. */
  limitMs(stage: string, limits: WatchdogLimits): number {
    const list = this.#still.get(stage) ?? [];
    if (list.length < 10) return Math.max(limits.withoutHistoryMs, limits.floorMs);
    const sorted = list.toSorted((a, b) => a - b);
    const p999 = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.999))] ?? 0;
    return Math.max(limits.floorMs, 3 * p999);
  }

  save(): Record<string, number[]> {
    return Object.fromEntries(this.#still);
  }
}

interface Unit {
  stage: string;
  key: string;
  changedNs: Nanoseconds;
  label: string;
  proof: string | null;
  partition: number | null;
}

/** `waiting` and `free` workers wait for others: no progress is expected of them. */
const WORKING = new Set(['prepare', 'device', 'finish']);

export class Watchdog {
  readonly #limits: WatchdogLimits;
  readonly #history: StageHistory;
  readonly #workOf: (proof: string) => string;
  readonly #units = new Map<string, Unit>();
  #lastTickNs: Nanoseconds;
  #lastAnswerNs: Nanoseconds;
  #graces = 0;

  /** `workOf` names what a proof is made of (backend and circuit): stages are compared only with those of the same work. */
  constructor(
    nowNs: Nanoseconds,
    history = new StageHistory(),
    limits: WatchdogLimits = WATCHDOG_LIMITS,
    workOf: (proof: string) => string = () => '',
  ) {
    this.#workOf = workOf;
    this.#limits = limits;
    this.#history = history;
    this.#lastTickNs = nowNs;
    this.#lastAnswerNs = nowNs;
  }

  /** How often everything was judged afresh. */
  get graces(): number {
    return this.#graces;
  }

  /** Takes an answer of the prover. */
  observe(state: ProverState, nowNs: Nanoseconds): void {
    this.#lastAnswerNs = nowNs;
    const seen = new Set<string>();
    const see = (id: string, kind: string, key: string, label: string, proof: string | null, partition: number | null) => {
      seen.add(id);
      const work = proof === null ? '' : this.#workOf(proof);
      const stage = work === '' ? kind : `${kind} ${work}`;
      const before = this.#units.get(id);
      if (before?.key === key) return;
      if (before) this.#history.add(before.stage, (nowNs - before.changedNs) / 1e6);
      this.#units.set(id, { stage, key, changedNs: nowNs, label, proof, partition });
    };
    for (const w of state.workers) {
      if (!WORKING.has(w.is)) continue;
      const label = `GPU worker ${w.worker} of ${w.device} in ${w.is}`;
      see(`w${w.worker}`, w.is, `${w.is} ${w.proof} ${w.partition} ${w.since} ${w.progress}`, label, w.proof, w.partition);
    }
    for (const s of state.synthesisers) {
      if (s.proof === null) continue;
      const key = `${s.proof} ${s.partition} ${s.since} ${s.progress}`;
      see(`s${s.synthesiser}`, 'synthesis', key, `synthesis worker ${s.synthesiser}`, s.proof, s.partition);
    }
    const loading = state.params.some((p) => p.is === 'loading');
    if (seen.size === 0 && state.proofs.length > 0 && !loading && state.phase !== 'starting') {
      const key = state.proofs.map((p) => `${p.proof}.${p.done}`).join(' ');
      see(
        'dispatch',
        'dispatch',
        key,
        'nothing is being worked on although proofs are there: dispatch',
        state.proofs[0]?.proof ?? null,
        null,
      );
    }
    for (const [id, unit] of this.#units) {
      if (seen.has(id)) continue;
      this.#history.add(unit.stage, (nowNs - unit.changedNs) / 1e6);
      this.#units.delete(id);
    }
  }

  /** Judges; to be called each period. */
  tick(nowNs: Nanoseconds): Verdict {
    const gapMs = (nowNs - this.#lastTickNs) / 1e6;
    this.#lastTickNs = nowNs;
    if (gapMs > 2 * this.#limits.periodMs) {
      this.#graces++;
      this.#lastAnswerNs = nowNs;
      for (const unit of this.#units.values()) unit.changedNs = nowNs;
      return { is: 'well' };
    }
    const silentMs = (nowNs - this.#lastAnswerNs) / 1e6;
    if (silentMs > this.#limits.floorMs) {
      const message = `The prover has not answered for ${seconds(silentMs)} (limit ${seconds(this.#limits.floorMs)}).`;
      return { is: 'silent', ms: silentMs, limitMs: this.#limits.floorMs, message, proof: null, partition: null };
    }
    for (const unit of this.#units.values()) {
      const ms = (nowNs - unit.changedNs) / 1e6;
      const limitMs = this.#history.limitMs(unit.stage, this.#limits);
      if (ms <= limitMs) continue;
      const message = `The prover answers but makes no progress: ${unit.label} has stood still for ${seconds(ms)} (limit ${seconds(limitMs)}).`;
      return { is: 'no_progress', ms, limitMs, message, proof: unit.proof, partition: unit.partition };
    }
    return { is: 'well' };
  }
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(0)} s`;
}
