/** One followed process: its journal's tail, what was read and is not committed yet, and the numbers that the next lines depend on. */
import type { JournalTail } from '../formats/journal/tail.ts';
import type { JournalBatch, JournalCursor } from './event-writer.ts';

export interface Follower {
  process: string;
  cursor: JournalCursor;
  tail: JournalTail;
  batch: JournalBatch;
  horizonNs: number | null;
  heardNs: number | null;
  /** Raw monotonic ns of the process's origin, from its hello. */
  originNs: bigint | null;
  committedBytes: number;
  /** Resolvers of finishFollowing. */
  finishing: (() => void)[];
  /** The last read met the end of the file; only asked once the process has ended. */
  atEnd: boolean;
  /** Not for us: nothing more is read. */
  stopped: boolean;
}

export function emptyBatch(committedBytes: number): JournalBatch {
  return { lines: [], offsets: [], problems: [], committedBytes };
}
