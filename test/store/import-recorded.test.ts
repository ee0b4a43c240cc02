/** Every recorded log of the real daemon through the store: into the history, out as a run file, into another history, out again. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openStore, type Store } from '../../electron/store/store.ts';
import { workerClock } from '../../electron/store/worker-clock.ts';
import { tempFolder } from '../support/temp-folder.ts';

const FOLDER = new URL('../fixtures/cuzk/', import.meta.url);
const logs = readdirSync(FOLDER).filter((name) => name.endsWith('.log'));

async function importAll(store: Store, bytes: Buffer, name: string) {
  const { import: id } = await store.beginImport({ name, follow: false });
  for (let at = 0; at < bytes.length; at += 10_000) await store.importPiece(id, bytes.subarray(at, at + 10_000).toString('base64'));
  return store.endImport(id);
}

async function exportAll(store: Store, run: string): Promise<Buffer> {
  const { export: id } = await store.beginExport({ run, format: 'ndjson', redact: false });
  const parts: Buffer[] = [];
  for (;;) {
    const piece = await store.exportPiece(id);
    parts.push(Buffer.from(piece.base64, 'base64'));
    if (piece.done) return Buffer.concat(parts);
  }
}

test('a run that came from a log comes back byte for byte, with the same idle causes', async () => {
  const [first, second] = [
    await openStore({ folder: tempFolder(), clock: workerClock }),
    await openStore({ folder: tempFolder(), clock: workerClock }),
  ];
  let runs = 0;
  for (const name of logs) {
    const report = await importAll(first, readFileSync(new URL(name, FOLDER)), name);
    for (const { run } of report.runs) {
      runs += 1;
      const file = await exportAll(first, run);
      const again = await importAll(second, file, `${name}.interlock.ndjson`);
      expect([name, again.problems, again.events]).toEqual([name, [], report.events]);
      const there = again.run ?? '';
      expect((await exportAll(second, there)).equals(file)).toBe(true);
      expect({ ...(await second.idle(there)), run }).toEqual(await first.idle(run));
      const { imported_from: _file, run: _run, ...shown } = await second.showRun(there);
      expect(await first.showRun(run)).toMatchObject(shown);
    }
  }
  expect(runs).toBeGreaterThan(10);
  await first.close();
  await second.close();
});
