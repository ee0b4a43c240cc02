/** What comes in (`import`) and goes out (`export`). Bytes cross every door in base64 pieces; paths never do. */
import type { RunState } from './run-report.ts';

export const TRANSFER_SCHEMA = 1;
/** Bytes of one piece at most, before base64. */
export const PIECE_BYTES = 512 * 1024;

export const EXPORT_FORMATS = ['csv', 'ndjson', 'chrome', 'sqlite', 'html'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** A stretch of what was imported that made no sense, or that needs a word. */
export interface ImportProblem {
  /** 1-based. */
  line: number;
  /** Byte offset of the line in the (unpacked) input. */
  offset: number;
  bytes: number;
  /** `unparsed`: not understood. `torn`: cut by another writer. `lost_work`: work that the engine lost. `dropped`: the logger says that lines are missing. `note`: understood, but worth telling. */
  kind: 'unparsed' | 'torn' | 'lost_work' | 'dropped' | 'note';
  problem: string;
  /** The beginning of the line, at most 200 characters. */
  text: string;
}

export interface ImportProgress {
  bytes: number;
  lines: number;
  events: number;
  unparsed: number;
  /** Runs begun so far. */
  runs: string[];
}

export interface ImportReport {
  schema: number;
  /** The newest run of the import; null if it held none. */
  run: string | null;
  runs: { run: string; name: string; state: RunState; events: number; proofs: number; again: boolean }[];
  bytes: number;
  lines: number;
  events: number;
  unparsed: number;
  problems: ImportProblem[];
  /** Problems beyond those listed. */
  more_problems: number;
}
