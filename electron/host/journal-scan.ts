/**
 * What a journal says about its proofs, read straight from the file. The host needs it where a notification cannot be relied on: events
 * that were committed by an earlier host, which may have died before it acted on them.
 */
import { createReadStream } from 'node:fs';
import { LineSplitter } from '../formats/journal/lines.ts';
import { decodeLine } from '../formats/journal/decode.ts';
import type { EventOf } from '../contract/timeline-events.ts';

export interface ProofFate {
  proof: string;
  attempt: number;
  run: string | null;
  partitions: number;
  /** Partitions that ended valid. */
  valid: number;
  ended: EventOf<'proof_ended'> | null;
  returned: EventOf<'proof_returned'> | null;
}

export interface JournalScan {
  /** By `proof.attempt`. */
  fates: Map<string, ProofFate>;
  /** Runs begun in it, in order. */
  runs: string[];
  bye: EventOf<'bye'> | null;
  /** Wall clock of the origin, ms; null without a `hello`. */
  originWallMs: number | null;
  bootId: string | null;
  /** When the host was lost for the last time, ns since the origin; null if it was not, or came back. */
  hostLostNs: number | null;
  /** `t` of the newest line looked at. */
  lastNs: number;
}

const WANTED = /"e":\s*"(?:hello|bye|proof_accepted|proof_ended|proof_returned|partition_ended|run_started|host_lost|host_attached)"/;
const INSTANT = /"t":\s*(\d{1,16})/;

/** Reads up to `bytes` of the file (all of it if not given). A missing file reads as an empty one. */
export async function scanJournal(path: string, bytes?: number): Promise<JournalScan> {
  const scan: JournalScan = { fates: new Map(), runs: [], bye: null, originWallMs: null, bootId: null, hostLostNs: null, lastNs: 0 };
  if (bytes === 0) return scan;
  const splitter = new LineSplitter();
  const sink = {
    line(text: string, offset: number) {
      const t = INSTANT.exec(text)?.[1];
      if (t !== undefined) scan.lastNs = Math.max(scan.lastNs, Number(t));
      if (WANTED.test(text)) take(scan, text, offset);
    },
    bad() {
      // Counted by the ingest.
    },
  };
  try {
    const stream = createReadStream(path, bytes === undefined ? {} : { end: bytes - 1 });
    for await (const chunk of stream) splitter.push(chunk as Buffer, sink);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return scan;
}

function take(scan: JournalScan, text: string, offset: number): void {
  const decoded = decodeLine(text, offset);
  if (!decoded.ok) return;
  const { line } = decoded;
  const fate = (proof: string, attempt: number): ProofFate => {
    const key = `${proof}.${attempt}`;
    let found = scan.fates.get(key);
    if (!found) scan.fates.set(key, (found = { proof, attempt, run: null, partitions: 0, valid: 0, ended: null, returned: null }));
    return found;
  };
  switch (line.e) {
    case 'hello':
      scan.originWallMs = Number(BigInt(line.wall_ns) / 1_000_000n);
      scan.bootId = line.boot_id;
      break;
    case 'bye':
      scan.bye = line;
      break;
    case 'run_started':
      scan.runs.push(line.run);
      break;
    case 'host_lost':
      scan.hostLostNs = line.t;
      break;
    case 'host_attached':
      scan.hostLostNs = null;
      break;
    case 'proof_accepted': {
      const found = fate(line.proof, line.attempt);
      found.run = line.run;
      found.partitions = line.partitions;
      // The same attempt may be handed over again after it was returned.
      found.returned = null;
      break;
    }
    case 'partition_ended':
      if (line.outcome === 'valid') fate(line.proof, line.attempt).valid++;
      break;
    case 'proof_ended':
      fate(line.proof, line.attempt).ended = line;
      break;
    case 'proof_returned':
      fate(line.proof, line.attempt).returned = line;
      break;
    default:
  }
}
