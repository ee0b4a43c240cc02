/** What is summed of closed spans of a device, whatever the account says of the time beside: windows, the legacy figure, wasted kernels. */
import type { Nanoseconds } from '../../contract/units.ts';
import type { Part } from './parts.ts';
import { noLogSpans } from '../windows.ts';
import { UnionSum } from './union-sum.ts';

export class DeviceSums {
  readonly kernel = new UnionSum();
  readonly lock = new UnionSum();
  readonly job = new UnionSum();
  readonly copy = new UnionSum();
  readonly legacy = new UnionSum();
  legacyFromNs = Number.POSITIVE_INFINITY;
  legacyToNs = Number.NEGATIVE_INFINITY;
  /** Of a log: jobs that began, that ended, those of them with a native call, and those without a lock window, called or not. */
  readonly spans = noLogSpans();
  unplaced = 0;
  unplacedCalled = 0;
  lockErrorNs = 0;
  readonly #device: number;
  readonly #counts: boolean;

  /** `counts` false: nobody asks, and nothing is kept. */
  constructor(device: number, counts: boolean) {
    this.#device = device;
    this.#counts = counts;
    this.close(counts ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY);
  }

  /** The run ends: nothing counts beyond. */
  close(t: Nanoseconds): void {
    const limitNs = this.#counts ? t : Number.NEGATIVE_INFINITY;
    for (const sum of [this.kernel, this.lock, this.job, this.copy, this.legacy]) sum.limitNs = limitNs;
  }

  /** From the native call, where the log has it, else from the pick-up. */
  endLegacy(fromNs: Nanoseconds, endNs: Nanoseconds): void {
    // Before the run's start it is no span of the run.
    if (Number.isNaN(fromNs) || endNs <= 0) return;
    this.legacy.add(fromNs, endNs);
    if (fromNs < this.legacyFromNs) this.legacyFromNs = fromNs;
    this.legacyToNs = Math.max(this.legacyToNs, Math.min(endNs, this.legacy.limitNs));
  }

  endKernel(part: Part, startNs: Nanoseconds, endNs: Nanoseconds): void {
    this.kernel.add(startNs, endNs);
    part.kernelNs += Math.max(0, endNs - Math.max(0, startNs));
    part.device = this.#device;
  }

  /** |∪| and Σ over last end − first start. */
  legacyFigures(): { efficiency: number | null; sum: number | null } {
    const overNs = this.legacyToNs - Math.max(0, this.legacyFromNs);
    if (!(overNs > 0)) return { efficiency: null, sum: null };
    const { union, sum } = this.legacy.total(this.legacyToNs, []);
    return { efficiency: union / overNs, sum: sum / overNs };
  }
}
