/**
 * Gaps: the longest stretches of a device without kernel and without unknown (of a log that cannot tell: without g1, g2 and unknown), with what they
 * are made of.
 *
 *   pieces   |kernel|in_lock|epilogue|preamble|in_lock|kernel|
 *   gap             |──────────────────────────────────|
 *            before ^                                  ^ after
 */
import type { Gap, GapEnd, GapsReport } from '../../contract/idle.ts';
import type { Nanoseconds } from '../../contract/units.ts';
import type { Part } from './parts.ts';
import { INSIDE_JOB, KERNEL, LOCK_OR_KERNEL, TERMS, UNKNOWN } from './terms.ts';

type Parts = Gap['parts'];
type Name = keyof Parts;

/** Every piece of one device, in the order of time. */
export class PieceLog {
  readonly #terms: number[] = [];
  readonly #starts: Nanoseconds[] = [];
  readonly #parts: (Part | null)[] = [];
  #endNs = 0;

  readonly add = (term: number, startNs: Nanoseconds, endNs: Nanoseconds, part: Part | null): void => {
    this.#endNs = endNs;
    const last = this.#terms.length - 1;
    if (last >= 0 && this.#terms[last] === term && (part === null || this.#parts[last] === part)) return;
    this.#terms.push(term);
    this.#starts.push(startNs);
    this.#parts.push(part);
  };

  /** Gaps of at least `minNs`, in the order of time. */
  *gaps(device: string, minNs: Nanoseconds): Iterable<Gap> {
    let before: Part | null = null;
    let from = -1;
    for (let index = 0; index <= this.#terms.length; index++) {
      const term = this.#terms[index];
      if (term !== undefined && isIdle(term)) {
        if (from < 0) from = index;
        continue;
      }
      if (from >= 0) {
        const startNs = this.#starts[from] as number;
        const length = (this.#starts[index] ?? this.#endNs) - startNs;
        const after = term !== undefined && term !== UNKNOWN ? (this.#parts[index] ?? null) : null;
        if (length >= minNs && length > 0) yield this.#gap(device, from, index, before, after);
        from = -1;
      }
      if (term !== undefined && term !== UNKNOWN) before = this.#parts[index] ?? null;
    }
  }

  #gap(device: string, from: number, to: number, before: Part | null, after: Part | null): Gap {
    const sums = new Map<number, Nanoseconds>();
    for (let index = from; index < to; index++) {
      const term = this.#terms[index] as number;
      const ns = (this.#starts[index + 1] ?? this.#endNs) - (this.#starts[index] as number);
      sums.set(term, (sums.get(term) ?? 0) + ns);
    }
    const ordered = [...sums].sort(([a], [b]) => a - b);
    const [largest] = ordered.reduce((best, one) => (one[1] > best[1] ? one : best));
    const startNs = this.#starts[from] as number;
    return {
      device,
      start_ns: startNs,
      length_ns: (this.#starts[to] ?? this.#endNs) - startNs,
      cause: TERMS[largest] as Name,
      parts: Object.fromEntries(ordered.map(([term, ns]) => [TERMS[term], ns])) as Parts,
      before: endOf(before),
      after: endOf(after),
    };
  }
}

/** The longest `limit` gaps of all devices, and what they add up to. */
export function rankGaps(run: string, minNs: Nanoseconds, limit: number, gaps: Iterable<Gap>): GapsReport {
  const listed = [...gaps].sort((a, b) => b.length_ns - a.length_ns || a.start_ns - b.start_ns).slice(0, limit);
  const byCause: GapsReport['by_cause'] = {};
  const byProof = new Map<string, { ns: Nanoseconds; parts: Parts }>();
  for (const gap of listed) {
    for (const [name, ns] of Object.entries(gap.parts) as [Name, number][]) {
      const sum = (byCause[name] ??= { ns: 0, gaps: 0 });
      sum.ns += ns;
    }
    (byCause[gap.cause] as { gaps: number }).gaps += 1;
    if (!gap.after) continue;
    const { proof } = gap.after;
    const of: { ns: Nanoseconds; parts: Parts } = byProof.get(proof) ?? { ns: 0, parts: {} };
    of.ns += gap.length_ns;
    for (const [name, ns] of Object.entries(gap.parts) as [Name, number][]) of.parts[name] = (of.parts[name] ?? 0) + ns;
    byProof.set(proof, of);
  }
  return {
    schema: 1,
    run,
    min_ns: minNs,
    gaps: listed,
    by_cause: byCause,
    by_proof: [...byProof].map(([proof, of]) => ({ proof, ...of })).sort((a, b) => b.ns - a.ns),
  };
}

function isIdle(term: number): boolean {
  return term !== KERNEL && term !== UNKNOWN && term !== LOCK_OR_KERNEL && term !== INSIDE_JOB;
}

function endOf(part: Part | null): GapEnd | null {
  return part && { proof: part.of.proof, attempt: part.of.attempt, partition: part.partition };
}
