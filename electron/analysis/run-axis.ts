/**
 * One axis for a run that several processes served, one after another. Its origin is the `run_started` of the first.
 *
 *   process A   |hello ─────── run_started ───────── killed|
 *   process B                                               |hello ── run_started ──────|
 *   run axis                   0 ──────────────────────────────────────────────────────▶
 *
 * Two processes of the same boot share CLOCK_MONOTONIC, so the difference of their origins is exact. After a reboot only the wall
 * clocks are left; they may have been set, so an instant mapped that way is approximate, and the second process is never put
 * before the first.
 */
import type { EventOf } from '../contract/timeline-events.ts';
import type { Nanoseconds } from '../contract/units.ts';

export class RunAxis {
  readonly #first: EventOf<'hello'>;
  readonly #originT: Nanoseconds;

  /** `originT`: the run's start on the first process's clock. */
  constructor(first: EventOf<'hello'>, originT: Nanoseconds) {
    this.#first = first;
    this.#originT = originT;
  }

  /** The run's start on the wall clock, decimal ns, by the first process's anchor. */
  get startedWallNs(): string {
    return String(BigInt(this.#first.wall_ns) + BigInt(this.#originT));
  }

  /** What to add to a `t` of that process to get ns since the run's start. Negative instants lie before the run. */
  offsetOf(hello: EventOf<'hello'>): Nanoseconds {
    if (hello.boot_id === this.#first.boot_id) {
      return Number(BigInt(hello.monotonic_ns) - BigInt(this.#first.monotonic_ns)) - this.#originT;
    }
    const byWall = Number(BigInt(hello.wall_ns) - BigInt(this.#first.wall_ns)) - this.#originT;
    return Math.max(byWall, 0);
  }

  /** False where wall clocks had to do. */
  isExact(hello: EventOf<'hello'>): boolean {
    return hello.boot_id === this.#first.boot_id;
  }
}
