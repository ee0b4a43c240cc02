/** Exports out of a real store: run files that come back to the byte, copies as databases, and what an export leaves behind. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { Exports, LEFT_ALONE_MS, MOST_EXPORTS } from '../../electron/store/export-reads.ts';
import { openReader } from '../../electron/store/open.ts';
import { Reads } from '../../electron/store/reads.ts';
import { RunReads } from '../../electron/store/run-reads.ts';
import type { Store } from '../../electron/store/store.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { exportAll } from '../support/export.ts';
import { Lines, makeRun, makeState, PROCESS_A, PROCESS_B, toText } from '../support/journal.ts';
import { beginProcess, openTestStore, SPEC } from '../support/open-store.ts';
import { tempFolder } from '../support/temp-folder.ts';

/** A process with two runs; the first has a hole, a ring's loss and a line that is no event. */
function twoRuns(first: string, second: string): string {
  const one = makeRun({ proofs: 2, partitions: 2, run: first, open: true });
  const last = one.lines.at(-1)?.t ?? 0;
  const more = new Lines();
  more.seq = one.seq;
  more
    .add('lost', last, { t_from: last - 5, t_to: last, count: 4 })
    .state(last + 10)
    .add('run_ended', last + 20, { run: first })
    .add('run_started', last + 30, { run: second })
    .add('proof_accepted', last + 40, { proof: 'p9', run: second, partitions: 1 })
    .add('proof_ended', last + 50, { proof: 'p9', code: 'device_failed', message: 'a "quoted", =odd\nmessage', outcome: 'failed' })
    .add('run_ended', last + 60, { run: second })
    .add('bye', last + 70)
    .mark(last + 80);
  const lines = [...one.lines, ...more.lines];
  const text = lines.map((line) => toText([line]));
  const at = text.findIndex((line) => line.includes('"e":"kernel_ended"'));
  // Two events are missing, and in their place stands nonsense.
  text.splice(at, 2, '{"seq":"nonsense"}\n', toText([makeState(last, 0)]));
  return text.join('');
}

async function storeOf(text: (run: string, second: string) => string, runs = 1): Promise<{ store: Store; folder: string }> {
  const folder = tempFolder();
  const store = await openTestStore(folder);
  const { run, journal } = await beginProcess(store, folder);
  writeFileSync(journal, text(run, 'r2'));
  await store.follow(PROCESS_A);
  await store.finishFollowing(PROCESS_A);
  await store.closeProcess(PROCESS_A, { ended: 'drained', exit: 0, signal: null });
  for (let n = 1; n <= runs; n++) await store.closeRun(`r${n}`, { state: 'finished', endedBy: 'drained', atLastEvent: false });
  return { store, folder };
}

async function importText(store: Store, bytes: Buffer, name: string) {
  const begun = await store.beginImport({ name, follow: false });
  for (let at = 0; at < bytes.length; at += 100_000) {
    await store.importPiece(begun.import, bytes.subarray(at, at + 100_000).toString('base64'));
  }
  return store.endImport(begun.import);
}

const runFile = async (store: Store, run: string) => (await exportAll(store, run, 'ndjson')).files.get('') as Buffer;

describe('a run file', () => {
  it('comes back to the byte: out, in elsewhere, out again', async () => {
    const { store } = await storeOf(twoRuns, 2);
    const other = await openTestStore(tempFolder());
    for (const run of ['r2', 'r1']) {
      const first = await runFile(store, run);
      const report = await importText(other, first, `${run}.interlock.ndjson`);
      expect(report.problems).toEqual([]);
      const again = await runFile(other, report.run as string);
      expect(again.toString()).toBe(first.toString());
    }
  });

  it('has the losses, the problems and the counts, in the order of the specification', async () => {
    const { store } = await storeOf(twoRuns, 2);
    const text = (await runFile(store, 'r1')).toString();
    const lines = text.trimEnd().split('\n').map((line) => JSON.parse(line) as Record<string, unknown>); // prettier-ignore
    expect(lines[0]).toMatchObject({ interlock_run: 1, run: 'r1', state: 'finished' });
    expect(lines[1]).toMatchObject({ process: PROCESS_A, seq_from: 0, unparsed: 1 });
    expect(lines.filter((line) => 'loss' in line).map(({ loss, count }) => [loss, count])).toEqual([['hole', 2], ['ring', 4]]); // prettier-ignore
    expect(lines.filter((line) => 'problem' in line)).toHaveLength(1);
    expect(lines.filter((line) => line.e === 'run_started').map(({ run }) => run)).toEqual(['r1']);
    const end = lines.at(-1) as { lines: number; events: number; sha256: string };
    const before = text.slice(0, text.lastIndexOf('{"end"'));
    expect(end.sha256).toBe(createHash('sha256').update(before).digest('hex'));
    expect([end.lines, end.events]).toEqual([lines.length - 1, lines.filter((line) => 'seq' in line).length]);
  });

  it('of a proof in the queue has what the host knows of it, without the path', async () => {
    const { store, folder } = await storeOf((run) => makeRun({ proofs: 1, partitions: 1, run, firstProof: 1 }).text);
    await store.addProofs([SPEC]);
    const { run } = await beginProcess(store, folder, PROCESS_B);
    await store.markSubmitted('p1', 1, run, PROCESS_B);
    await store.finishProof('p1', 1, { outcome: 'failed', sha256: null, path: '/home/op/x/p1.json', code: 'device_failed', message: 'lost' } as never); // prettier-ignore
    const line = (await runFile(store, run)).toString().split('\n').find((one) => one.startsWith('{"attempt_of"')); // prettier-ignore
    expect(JSON.parse(line as string)).toMatchObject({ attempt_of: 'p1', attempt: 1, outcome: 'failed', code: 'device_failed' });
    expect(line).not.toContain('/home');
  });
});

describe('a database', () => {
  it('has this run alone, passes the check and opens in another SQLite', async () => {
    const { store, folder } = await storeOf(twoRuns, 2);
    await store.recordNotice({ severity: 'info', code: 'info', message: 'nobody else’s business' });
    await store.recordStep(null, 'host_started', {});
    await store.recordStep(PROCESS_A, 'exit', { code: 0 });
    await store.addProofs([SPEC, SPEC]);
    const bytes = (await exportAll(store, 'r1', 'sqlite')).files.get('') as Buffer;
    const file = path.join(folder, 'copy.sqlite');
    writeFileSync(file, bytes);
    const counts = execFileSync('python3', ['-c', COUNT, file]).toString();
    expect(JSON.parse(counts)).toEqual({
      check: 'ok', run: ['r1'], run_process: 1, process: 1, notice: 0, step: 1, proof: 0, started: 1, hello: 1, loss: 2,
    }); // prettier-ignore
    expect(bytes.includes('nobody else')).toBe(false);
    // What the reports say of the copy is what they say of the original.
    const copy = new RunReads(new Reads(openReader(moved(file)) as never)).showRun('r1');
    expect(copy).toEqual(await store.showRun('r1'));
  });
});

const COUNT = `
import json, sqlite3, sys
db = sqlite3.connect('file:' + sys.argv[1] + '?mode=ro', uri=True)
one = lambda sql: db.execute(sql).fetchone()[0]
out = {'check': one('PRAGMA integrity_check'), 'run': [r[0] for r in db.execute('SELECT run FROM run')]}
for table in ['run_process', 'process', 'notice', 'step', 'proof', 'loss']:
    out[table] = one('SELECT count(*) FROM ' + table)
named = 'SELECT count(*) FROM event WHERE e = (SELECT id FROM word WHERE word = %r)'
out['started'] = one(named % 'run_started')
out['hello'] = one(named % 'hello')
print(json.dumps(out))
`;

/** The store opens its database by folder. */
function moved(file: string): string {
  const folder = tempFolder();
  execFileSync('cp', [file, path.join(folder, 'history.sqlite')]);
  return folder;
}

describe('exports that are open', () => {
  async function opened() {
    const { folder } = await storeOf((run) => makeRun({ proofs: 1, partitions: 1, run }).text);
    const clock = new ManualClock();
    return { exports: new Exports(clock), clock, runs: new RunReads(new Reads(openReader(folder) as never)) };
  }
  const input = { run: 'last', format: 'ndjson', redact: false } as const;

  it('are at most eight; one that is left alone for ten minutes ends', async () => {
    const { exports, clock, runs } = await opened();
    const first = await exports.begin(runs, input);
    for (let n = 1; n < MOST_EXPORTS; n++) await exports.begin(runs, input);
    await expect(exports.begin(runs, input)).rejects.toMatchObject({ code: 'busy' });
    await clock.advance(LEFT_ALONE_MS - 1);
    expect(exports.piece(first.export).done).toBe(true);
    const ninth = await exports.begin(runs, input);
    await expect(exports.begin(runs, input)).rejects.toMatchObject({ code: 'busy' });
    await clock.advance(1);
    for (let n = 1; n < MOST_EXPORTS; n++) await exports.begin(runs, input);
    await expect(exports.begin(runs, input)).rejects.toMatchObject({ code: 'busy' });
    expect(exports.piece(ninth.export).done).toBe(true);
  });

  it('are not found once they are over or stopped', async () => {
    const { exports, runs } = await opened();
    const { export: id } = await exports.begin(runs, input);
    expect(exports.piece(id).done).toBe(true);
    expect(() => exports.piece(id)).toThrow(/over/);
    const other = await exports.begin(runs, input);
    exports.stop(other.export);
    expect(() => exports.piece(other.export)).toThrow(/over/);
    await expect(exports.begin(runs, { ...input, run: 'r77' })).rejects.toMatchObject({ code: 'not_found' });
  });

  it('of a database leave no file behind, read or not', async () => {
    const { exports, runs } = await opened();
    const left = () => readdirSync(tmpdir()).filter((name) => name.startsWith('interlock-export-'));
    const before = left();
    const { export: id } = await exports.begin(runs, { ...input, format: 'sqlite' });
    expect(left()).toEqual(before);
    const descriptors = () => readdirSync('/proc/self/fd').length;
    const open = descriptors();
    exports.stop(id);
    expect(descriptors()).toBe(open - 1);
  });
});
