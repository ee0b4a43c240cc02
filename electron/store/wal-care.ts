/**
 * Keeps the WAL small: between bursts it is folded into the database, so that a crash has little to replay; a reader that keeps it from
 * being folded is told of long before the bound.
 */
import { statSync } from 'node:fs';
import path from 'node:path';
import type { Clock, Timer } from '../contract/clock.ts';
import { DATABASE_NAME } from './folder.ts';
import { WAL_LIMIT_BYTES } from './open.ts';

export interface WalCareOptions {
  folder: string;
  clock: Clock;
  /** From which size on it is told; a quarter of the bound unless given. */
  tellBytes?: number | undefined;
  onLarge: (bytes: number) => void;
  checkpoint: () => void;
}

const COMMITS_PER_LOOK = 10;
const IDLE_MS = 1_000;

export class WalCare {
  readonly #options: WalCareOptions;
  #timer: Timer | null = null;
  #commits = 0;

  constructor(options: WalCareOptions) {
    this.#options = options;
  }

  afterCommit(): void {
    this.#timer?.cancel();
    this.#timer = this.#options.clock.after(IDLE_MS, () => {
      this.#timer = null;
      this.#options.checkpoint();
    });
    this.#commits += 1;
    if (this.#commits % COMMITS_PER_LOOK !== 0) return;
    const size = statSync(path.join(this.#options.folder, `${DATABASE_NAME}-wal`), { throwIfNoEntry: false })?.size ?? 0;
    if (size > (this.#options.tellBytes ?? WAL_LIMIT_BYTES / 4)) this.#options.onLarge(size);
  }

  close(): void {
    this.#timer?.cancel();
  }
}
