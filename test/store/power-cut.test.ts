/**
 * Power cuts over database, journal and spool together. With synchronous=FULL nothing that was told is lost in any state; with NORMAL
 * the same test must find losses, or it has no teeth. Seed and counts are printed; INTERLOCK_POWER_SEED and INTERLOCK_POWER_STATES set them.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { Ingest } from '../../electron/store/ingest.ts';
import { journalFiles } from '../../electron/store/journal-files.ts';
import { LiveFeed } from '../../electron/store/live-feed.ts';
import { openWriter, type Opened } from '../../electron/store/open.ts';
import { workerClock } from '../../electron/store/worker-clock.ts';
import { PROCESS_A } from '../support/journal.ts';
import { compileRecorder, recordProgram, type Op } from '../support/power-cut/recording.ts';
import { Disk, makeRandom } from '../support/power-cut/replay.ts';
import { tempFolder } from '../support/temp-folder.ts';

const WORKLOAD = fileURLToPath(new URL('../support/power-cut/workload.ts', import.meta.url));
const STATES = Number(process.env.INTERLOCK_POWER_STATES ?? 1_000);
const SEED = Number(process.env.INTERLOCK_POWER_SEED ?? Date.now() % 1_000_000);
const PROOFS = 12;
/** Reading the journal on takes its time; every so many states it is done as well. */
const READ_ON_EVERY = 20;

interface Told {
  lastSeq: number;
  added: Set<string>;
  finished: Map<string, number>;
}

const RAM = '/dev/shm';
const library = compileRecorder(mkdtempSync(path.join(tmpdir(), 'interlock-recorder-')));

function record(level: 'FULL' | 'NORMAL'): { ops: Op[]; told: { before: number; line: string }[] } {
  const folder = tempFolder();
  const watched = path.join(folder, 'disk');
  mkdirSync(watched);
  const all = recordProgram(library ?? '', watched, path.join(folder, 'log'), [WORKLOAD, watched, level, String(PROOFS)], {});
  const ops: Op[] = [];
  const told: { before: number; line: string }[] = [];
  for (const op of all) {
    if (op.path !== 'told') ops.push(op);
    else if (op.kind === 'write') told.push(...op.data.toString('utf8').trim().split('\n').map((line) => ({ before: ops.length, line }))); // prettier-ignore
  }
  return { ops, told };
}

/** Everything told before the `cut`-th operation. */
function toldBy(told: { before: number; line: string }[], cut: number): Told {
  const sum: Told = { lastSeq: -1, added: new Set(), finished: new Map() };
  for (const { before, line } of told) {
    if (before > cut) break;
    const said = JSON.parse(line) as { lastSeq?: number; added?: string; finished?: string; bytes?: number };
    if (said.lastSeq !== undefined) sum.lastSeq = said.lastSeq;
    if (said.added !== undefined) sum.added.add(said.added);
    if (said.finished !== undefined) sum.finished.set(said.finished, said.bytes ?? 0);
  }
  return sum;
}

/** What a restart on that disk loses of what was told; empty if nothing. */
async function findLosses(folder: string, told: Told, readOn: boolean): Promise<string[]> {
  const losses: string[] = [];
  let opened: Opened;
  try {
    opened = openWriter({ folder: path.join(folder, 'data'), wallMs: 0 });
  } catch (error) {
    return [`it does not open: ${(error as Error).message}`];
  }
  const { db } = opened;
  if (!db) return ['it does not open'];
  try {
    const anything = told.lastSeq >= 0 || told.added.size > 0;
    if (anything && opened.notices.length > 0) losses.push(opened.notices[0]?.message ?? '');
    if (db.pragma('integrity_check', { simple: true }) !== 'ok') losses.push('the database is damaged');
    const stored = db.prepare('SELECT count(*) AS n, coalesce(max(seq), -1) AS last FROM event').get() as { n: number; last: number };
    if (stored.last < told.lastSeq || stored.n !== stored.last + 1)
      losses.push(`events: ${stored.n} up to ${stored.last}, told ${told.lastSeq}`);
    const proofs = new Map(
      (db.prepare('SELECT proof, state FROM proof').all() as { proof: string; state: string }[]).map((row) => [row.proof, row.state]),
    );
    for (const proof of told.added) if (!proofs.has(proof)) losses.push(`${proof} is not in the queue`);
    for (const [proof, bytes] of told.finished) {
      if (proofs.get(proof) !== 'valid') losses.push(`${proof} is ${proofs.get(proof)}, told valid`);
      const file = path.join(folder, 'process', 'spool', `${proof}.1.proof.json`);
      if (!existsSync(file) || readFileSync(file).length !== bytes) losses.push(`${proof}'s bytes are not in the spool`);
    }
    if (readOn && db.prepare('SELECT 1 FROM process').get()) {
      db.prepare('UPDATE journal SET path = ?').run(path.join(folder, 'process', 'journal.ndjson'));
      const failures: string[] = [];
      const sink = { committed: () => undefined, state: () => undefined, notice: () => undefined, failing: (f: unknown) => void (f && failures.push(JSON.stringify(f))), walLarge: () => undefined }; // prettier-ignore
      const ingest = new Ingest({
        folder: path.join(folder, 'data'),
        db,
        clock: workerClock,
        files: journalFiles,
        live: new LiveFeed(workerClock),
        sink,
      });
      ingest.follow(PROCESS_A);
      await ingest.finishFollowing(PROCESS_A);
      ingest.close();
      losses.push(...failures);
      const after = db.prepare('SELECT count(*) FROM event').pluck().get() as number;
      if (after < stored.n) losses.push('reading on lost events');
      if (db.prepare(`SELECT count(*) FROM problem WHERE kind = 'double'`).pluck().get() !== 0)
        losses.push('an event came again as something else');
    }
  } finally {
    db.close();
  }
  return losses;
}

async function cutPower(level: 'FULL' | 'NORMAL', states: number): Promise<{ lossy: number; examples: string[]; ops: number }> {
  const { ops, told } = record(level);
  const random = makeRandom(SEED);
  const cuts = Array.from({ length: states }, () => Math.floor(random() * (ops.length + 1))).sort((a, b) => a - b);
  const disk = new Disk();
  let applied = 0;
  let lossy = 0;
  const examples: string[] = [];
  for (const [index, cut] of cuts.entries()) {
    for (; applied < cut; applied++) disk.apply(ops[applied] as Op);
    const folder = mkdtempSync(path.join(existsSync(RAM) ? RAM : tmpdir(), 'interlock-cut-'));
    try {
      disk.crash(folder, random);
      const losses = await findLosses(folder, toldBy(told, cut), index % READ_ON_EVERY === 0);
      if (losses.length > 0) {
        lossy += 1;
        if (examples.length < 3) examples.push(`cut ${cut} of ${ops.length}: ${losses.join('; ')}`);
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  console.log(`power cuts, ${level}: ${states} states over ${ops.length} operations, seed ${SEED}: ${lossy} with losses`);
  return { lossy, examples, ops: ops.length };
}

test.skipIf(library === null)(`${STATES} power cuts with synchronous=FULL lose nothing that was told`, { timeout: 600_000 }, async () => {
  const { examples, ops } = await cutPower('FULL', STATES);
  expect(ops).toBeGreaterThan(300);
  expect(examples).toEqual([]);
});

test.skipIf(library === null)('the same with synchronous=NORMAL does lose: the test has teeth', { timeout: 300_000 }, async () => {
  const { lossy } = await cutPower('NORMAL', 150);
  expect(lossy).toBeGreaterThan(5);
});
