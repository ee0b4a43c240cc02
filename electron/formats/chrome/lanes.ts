/**
 * Rows of a Chrome trace. Readers pair what lies on one row by nesting, so two spans that overlap would swap their ends or vanish: each
 * of them gets a row of its own. A row is free again when its span has ended.
 *
 *   worker 0      |── p1/0 ──|     |── p1/2 ──|
 *   worker 0 (2)        |── p1/1 ──|
 */
import type { Nanoseconds } from '../../contract/units.ts';

export interface Lane {
  pid: number;
  tid: number;
  name: string;
  /** Order within its process. */
  order: number;
  /** A span lies open on it. */
  isOpen: boolean;
  /** End of the last span. */
  endNs: Nanoseconds;
}

interface Track {
  pid: number;
  name: string;
  order: number;
  lanes: Lane[];
}

/** Rows of one track that are kept in order before those of the next. */
const LANES_PER_TRACK = 1_000;

export class Lanes {
  readonly all: Lane[] = [];
  readonly #tracks = new Map<string, Track>();

  /** A row of the track that is free from `startNs` on. `order`: of the track within its process. */
  open(pid: number, name: string, order: number, startNs: Nanoseconds): Lane {
    const track = this.#track(pid, name, order);
    let lane = track.lanes.find((one) => !one.isOpen && one.endNs <= startNs);
    if (!lane) {
      const number = track.lanes.length + 1;
      lane = {
        pid,
        tid: this.all.length + 1,
        name: number === 1 ? name : `${name} (${number})`,
        order: order * LANES_PER_TRACK + Math.min(number, LANES_PER_TRACK - 1),
        isOpen: false,
        endNs: Number.NEGATIVE_INFINITY,
      };
      track.lanes.push(lane);
      this.all.push(lane);
    }
    lane.isOpen = true;
    return lane;
  }

  /** `endNs` null: nothing was drawn, the row is as it was. */
  close(lane: Lane, endNs: Nanoseconds | null): void {
    lane.isOpen = false;
    if (endNs !== null) lane.endNs = endNs;
  }

  #track(pid: number, name: string, order: number): Track {
    const key = `${pid} ${name}`;
    let track = this.#tracks.get(key);
    if (!track) this.#tracks.set(key, (track = { pid, name, order, lanes: [] }));
    return track;
  }
}
