/** A commit that fails, before or after it reached the disk: everything is told once, and what is stored can be read. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { TimelineEvent } from '../../electron/contract/timeline-events.ts';
import { Ingest } from '../../electron/store/ingest.ts';
import { journalFiles } from '../../electron/store/journal-files.ts';
import { LiveFeed } from '../../electron/store/live-feed.ts';
import { openWriter, type Db } from '../../electron/store/open.ts';
import { Reads } from '../../electron/store/reads.ts';
import { workerClock } from '../../electron/store/worker-clock.ts';
import { makeRun, PROCESS_A, toText } from '../support/journal.ts';
import { tempFolder } from '../support/temp-folder.ts';

/** Follows a journal whose first commits fail as said. `reached`: the commit took place all the same. */
async function ingestWith(failure: { code: string; reached: boolean; times: number }, text: string) {
  const folder = tempFolder();
  const { db } = openWriter({ folder, wallMs: 0 });
  if (!db) throw new Error('not opened');
  const journal = path.join(folder, 'journal.ndjson');
  writeFileSync(journal, text);
  const heard: TimelineEvent[] = [];
  const failing: (string | null)[] = [];
  const ingest = new Ingest({
    folder,
    db,
    clock: workerClock,
    files: journalFiles,
    live: new LiveFeed(workerClock),
    sink: {
      committed: (_process, events) => void heard.push(...events),
      state: () => undefined,
      notice: () => undefined,
      failing: (now) => void failing.push(now?.code ?? null),
      walLarge: () => undefined,
    },
  });
  onTestFinished(() => {
    ingest.close();
    ingest.db.close();
  });
  ingest.processes.addProcess({ process: PROCESS_A, pid: 1, startTicks: '1', folder, journal, backend: 'cpu', run: null });
  breakCommits(db, failure);
  ingest.follow(PROCESS_A);
  await ingest.finishFollowing(PROCESS_A);
  return { ingest, first: db, heard, failing, stored: new Reads(ingest.db).readPage(1, 0, Number.MAX_SAFE_INTEGER, 100_000) };
}

function breakCommits(db: Db, failure: { code: string; reached: boolean; times: number }): void {
  const exec = db.exec.bind(db);
  let left = failure.times;
  db.exec = (sql: string) => {
    if (sql !== 'COMMIT' || left-- <= 0) return exec(sql);
    if (failure.reached) exec(sql);
    throw Object.assign(new Error('injected'), { code: failure.code });
  };
}

const lines = makeRun({ proofs: 3, partitions: 2 });

test.each([true, false])('an I/O error: a fresh connection goes on from what the disk has (reached it: %s)', async (reached) => {
  const { ingest, first, heard, failing, stored } = await ingestWith({ code: 'SQLITE_IOERR_FSYNC', reached, times: 1 }, lines.text);
  expect(ingest.db).not.toBe(first);
  expect(first.open).toBe(false);
  expect(heard).toEqual(lines.events);
  expect(stored).toEqual(lines.events);
  expect(failing).toEqual(['read_only', null]);
});

test.each([1, 3])('a full disk, %d times: the batch is kept and tried again on the same connection', async (times) => {
  const { ingest, first, heard, failing, stored } = await ingestWith({ code: 'SQLITE_FULL', reached: false, times }, lines.text);
  expect(ingest.db).toBe(first);
  expect(heard).toEqual(lines.events);
  expect(stored).toEqual(lines.events);
  expect(failing).toEqual(['disk_full', null]);
});

test('a hole that a failed commit had found is found again', async () => {
  const holed = toText(lines.lines.filter((line) => line.e === 'mark' || line.e === 'state' || line.seq !== 20));
  const { ingest } = await ingestWith({ code: 'SQLITE_FULL', reached: false, times: 1 }, holed);
  expect(ingest.db.prepare('SELECT seq_from AS "from", count FROM loss').all()).toEqual([{ from: 20, count: 1 }]);
});

test('a locked database is waited for', async () => {
  const { heard, failing } = await ingestWith({ code: 'SQLITE_BUSY', reached: false, times: 2 }, lines.text);
  expect(heard).toEqual(lines.events);
  expect(failing).toEqual(['busy', null]);
});
