/**
 * A stored run on its way out: one generator for each export that is open, stepped when a piece is asked for. Nothing is read ahead, and
 * no query is open between two pieces. An export that nobody asks for any more is given up.
 */
import { randomUUID } from 'node:crypto';
import type { CallOutput, CheckedInput } from '../contract/api.ts';
import type { Clock, Timer } from '../contract/clock.ts';
import { InterlockError } from '../contract/errors.ts';
import { beginFormat, type BegunExport } from './export-formats.ts';
import { Pieces } from './export-pieces.ts';
import type { RunReads } from './run-reads.ts';
import { workerClock } from './worker-clock.ts';

export const MOST_EXPORTS = 8;
export const LEFT_ALONE_MS = 10 * 60_000;

interface OpenExport extends BegunExport {
  pieces: Pieces;
  isWritten: boolean;
  timer: Timer | null;
}

export class Exports {
  readonly #open = new Map<string, OpenExport>();
  readonly #clock: Clock;
  #beginning = 0;

  constructor(clock: Clock = workerClock) {
    this.#clock = clock;
  }

  /** Fails with `not_found` for the run, with `busy` where too many exports are open. */
  async begin(runs: RunReads, input: CheckedInput<'export_begin'>): Promise<CallOutput<'export_begin'>> {
    if (this.#open.size + this.#beginning >= MOST_EXPORTS) {
      throw new InterlockError('busy', `${MOST_EXPORTS} exports are open already; one that nobody reads ends after ten minutes.`);
    }
    this.#beginning += 1;
    try {
      const pieces = new Pieces();
      const begun = await beginFormat(runs, input, pieces);
      const id = randomUUID();
      const open = { ...begun, pieces, isWritten: false, timer: null };
      this.#open.set(id, open);
      this.#touch(id, open);
      return { export: id, name: begun.name, files: begun.files };
    } finally {
      this.#beginning -= 1;
    }
  }

  /** The next bytes. Fails with `not_found` for one that is over, and ends the export where it cannot go on. */
  piece(id: string): CallOutput<'export_piece'> {
    const open = this.#open.get(id);
    if (!open) throw new InterlockError('not_found', 'This export is over, or was left alone for ten minutes.');
    this.#touch(id, open);
    try {
      let piece = open.pieces.take(false);
      while (piece === null && !open.isWritten) {
        open.isWritten = open.steps.next().done === true;
        piece = open.pieces.take(open.isWritten);
      }
      piece ??= open.pieces.take(true);
      const done = open.isWritten && open.pieces.isEmpty;
      if (done) this.stop(id);
      const bytes = piece?.bytes ?? new Uint8Array();
      const base64 = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
      return { file: piece?.file ?? open.files.length - 1, base64, done };
    } catch (error) {
      this.stop(id);
      throw error;
    }
  }

  stop(id: string): void {
    const open = this.#open.get(id);
    if (!open) return;
    this.#open.delete(id);
    open.timer?.cancel();
    // Runs the generator's `finally`: a temporary file goes.
    open.steps.return(undefined);
    open.close?.();
  }

  #touch(id: string, open: OpenExport): void {
    open.timer?.cancel();
    open.timer = this.#clock.after(LEFT_ALONE_MS, () => this.stop(id));
  }
}
