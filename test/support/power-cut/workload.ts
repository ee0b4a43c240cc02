/**
 * A host and a prover in one process, at work below one folder: `node workload.ts FOLDER FULL|NORMAL PROOFS`. The prover writes spool
 * files and the journal as FORMAT.md says; the host is the store's own open, ingest and queue. What the host tells is written to
 * `told`, which the replayer reads off the recording and does not treat as a file.
 */
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import type { TimelineEvent } from '../../../electron/contract/timeline-events.ts';
import { Ingest } from '../../../electron/store/ingest.ts';
import { journalFiles } from '../../../electron/store/journal-files.ts';
import { LiveFeed } from '../../../electron/store/live-feed.ts';
import { openWriter } from '../../../electron/store/open.ts';
import { workerClock } from '../../../electron/store/worker-clock.ts';
import { syncFolder } from '../../../electron/store/folder.ts';
import { makeRun, PROCESS_A, SCHEDULER, toText } from '../journal.ts';
import { SPEC } from '../store-spec.ts';

const [folder = '', synchronous, count = '10'] = process.argv.slice(2);
const told = openSync(path.join(folder, 'told'), 'a');
const tell = (what: object) => void writeSync(told, `${JSON.stringify(what)}\n`);
const data = path.join(folder, 'data');
const own = path.join(folder, 'process');
const spool = path.join(own, 'spool');
mkdirSync(own);
mkdirSync(spool);

const level = synchronous === 'NORMAL' ? 'NORMAL' : 'FULL';
const { db } = openWriter({ folder: data, wallMs: 0, synchronous: level, trustSynchronous: level === 'NORMAL' });
if (!db) throw new Error('not opened');
const committed: TimelineEvent[] = [];
let heard: () => void = () => undefined;
const ingest = new Ingest({
  folder: data,
  db,
  clock: workerClock,
  files: journalFiles,
  live: new LiveFeed(workerClock),
  sink: {
    committed(_process, events, lastSeq) {
      tell({ lastSeq });
      committed.push(...events);
      heard();
    },
    state: () => undefined,
    notice: (notice) => tell({ notice }),
    failing: (failing) => tell({ failing }),
    walLarge: () => undefined,
  },
});
const { run } = ingest.processes.createRun({ scheduler: SCHEDULER, backend: 'cpu', engine: 'builtin', emulate: null });
const journal = path.join(own, 'journal.ndjson');
ingest.processes.addProcess({ process: PROCESS_A, pid: 1, startTicks: '1', folder: own, journal, backend: 'cpu', run });
ingest.follow(PROCESS_A);

const out = openSync(journal, 'a', 0o600);
syncFolder(own);
const { lines } = makeRun({ proofs: Number(count), partitions: 2 });
let next = 0;
for (let n = 1; n <= Number(count); n++) {
  const [proof = ''] = ingest.guard(() => ingest.queue.addProofs([SPEC]));
  tell({ added: proof });
  ingest.guard(() => ingest.queue.markSubmitted(proof, 1, run, PROCESS_A));
  // The prover: the proof's bytes first, durable under their name, then the line that says so, then the journal's fsync.
  const file = path.join(spool, `${proof}.1.proof.json`);
  const bytes = JSON.stringify({ proof, filler: 'x'.repeat(700 + n) });
  writeFileSync(`${file}.tmp`, bytes, { mode: 0o600 });
  const descriptor = openSync(`${file}.tmp`, 'r+');
  fsyncSync(descriptor);
  closeSync(descriptor);
  renameSync(`${file}.tmp`, file);
  syncFolder(spool);
  while (next < lines.length) {
    const line = lines[next++];
    if (!line) break;
    writeSync(out, toText([line]));
    if (line.e === 'proof_ended') break;
  }
  fsyncSync(out);
  while (!committed.some((event) => event.e === 'proof_ended' && event.proof === proof)) {
    await new Promise<void>((resolve) => (heard = resolve));
  }
  const answer = ingest.guard(() =>
    ingest.queue.finishProof(proof, 1, { outcome: 'valid', sha256: 'ab'.repeat(32), path: file, code: null, message: null }),
  );
  if (answer.accepted) tell({ finished: proof, bytes: bytes.length });
  if (n % 4 === 0) ingest.db.pragma(`wal_checkpoint(${n % 8 === 0 ? 'TRUNCATE' : 'PASSIVE'})`);
}
ingest.close();
ingest.db.close();
