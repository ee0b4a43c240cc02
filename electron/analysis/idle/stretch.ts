/**
 * Stretch: how much slower than at its best a stage ran, against how many syntheses ran beside it. Slow busy time, which idle causes cannot show.
 *
 *   syntheses   1 1 1 2 2 2 2 1 1     a stage from ├ to ┤ has a time average of those that ran beside it
 *   a stage         ├───────┤
 */
import type { StageStretch } from '../../contract/idle.ts';
import type { Nanoseconds } from '../../contract/units.ts';
import { CODE } from './codes.ts';
import type { Part } from './parts.ts';

type StageName = StageStretch['stage'];
const STAGES: StageName[] = ['synthesis', 'prepare', 'device', 'finish'];

const STARTS: Partial<Record<number, StageName>> = { [CODE.prepare_started]: 'prepare', [CODE.device_started]: 'device', [CODE.finish_started]: 'finish' }; // prettier-ignore
const ENDS: Partial<Record<number, StageName>> = { [CODE.prepare_ended]: 'prepare', [CODE.device_ended]: 'device', [CODE.finish_ended]: 'finish' }; // prettier-ignore

interface Durations {
  stage: StageName;
  circuit: string;
  ns: number[];
  beside: number[];
}

export class Stretches {
  readonly #durations = new Map<StageName, Map<string, Durations>>(STAGES.map((stage) => [stage, new Map()]));
  /** ∫ syntheses dt up to `#atNs`. */
  #integral = 0;
  #syntheses = 0;
  #atNs = 0;

  /** So many run from `t` on. */
  count(syntheses: number, t: Nanoseconds): void {
    if (syntheses === this.#syntheses) return;
    this.#integral = this.#integralAt(t);
    this.#atNs = Math.max(this.#atNs, t);
    this.#syntheses = syntheses;
  }

  startSynthesis(part: Part, t: Nanoseconds): void {
    part.stageNs = t;
    part.stageBeside = this.#integralAt(t);
  }

  /** `isOpen`: it began, and nothing has ended it since. */
  endSynthesis(part: Part, t: Nanoseconds, isOpen: boolean): void {
    if (isOpen) this.#end('synthesis', part, t, 1);
  }

  /** A worker's event of a partition that it has. */
  move(kind: number, part: Part | null, t: Nanoseconds): void {
    if (part === null) return;
    if (STARTS[kind] !== undefined) this.startSynthesis(part, t);
    else {
      const stage = ENDS[kind];
      if (stage !== undefined) this.#end(stage, part, t, 0);
    }
  }

  build(): StageStretch[] {
    const found: StageStretch[] = [];
    for (const stage of STAGES) {
      const circuits = [...(this.#durations.get(stage) as Map<string, Durations>).values()];
      for (const one of circuits.sort((a, b) => a.circuit.localeCompare(b.circuit))) {
        const stretch = computeStretch(one);
        if (stretch) found.push(stretch);
      }
    }
    return found;
  }

  #end(stage: StageName, part: Part, t: Nanoseconds, itself: number): void {
    const startNs = part.stageNs;
    part.stageNs = Number.NaN;
    if (!(t > startNs)) return;
    const circuits = this.#durations.get(stage) as Map<string, Durations>;
    const { circuit } = part.of;
    let durations = circuits.get(circuit);
    if (!durations) circuits.set(circuit, (durations = { stage, circuit, ns: [], beside: [] }));
    durations.ns.push(t - startNs);
    durations.beside.push(Math.max(0, Math.round((this.#integralAt(t) - part.stageBeside) / (t - startNs) - itself)));
  }

  #integralAt(t: Nanoseconds): number {
    return this.#integral + this.#syntheses * Math.max(0, t - this.#atNs);
  }
}

/** Percentiles are by nearest rank. Null of nothing. */
function computeStretch({ stage, circuit, ns, beside }: Durations): StageStretch | null {
  const sorted = Float64Array.from(ns).sort();
  const rank = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] as number;
  const p10 = rank(0.1);
  if (sorted.length === 0 || !(p10 > 0)) return null;
  const by = new Map<number, { n: number; sum: number }>();
  let sum = 0;
  ns.forEach((duration, index) => {
    const stretch = duration / p10;
    sum += stretch;
    const syntheses = beside[index] as number;
    const group = by.get(syntheses) ?? { n: 0, sum: 0 };
    by.set(syntheses, { n: group.n + 1, sum: group.sum + stretch });
  });
  return {
    stage,
    circuit,
    n: ns.length,
    p10_ns: p10,
    p50_ns: rank(0.5),
    p90_ns: rank(0.9),
    stretch: sum / ns.length,
    by_syntheses: [...by].sort(([a], [b]) => a - b).map(([syntheses, group]) => ({ syntheses, n: group.n, stretch: group.sum / group.n })),
  };
}
