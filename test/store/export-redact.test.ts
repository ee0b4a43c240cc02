/** `--redact`: secrets planted in every free text of a run, looked for in the bytes of every format. */
import { homedir, hostname, userInfo } from 'node:os';
import { expect, it } from 'vitest';
import { EVENTS, type EventName } from '../../electron/contract/timeline-events.ts';
import { EXPORT_FORMATS } from '../../electron/contract/transfer.ts';
import { createRedactor } from '../../electron/formats/redact/redact.ts';
import { exportAll } from '../support/export.ts';
import { Lines } from '../support/journal.ts';
import { openTestStore } from '../support/open-store.ts';
import { RunFileWriter } from '../../electron/formats/run-file/writer.ts';
import { tempFolder } from '../support/temp-folder.ts';

/** What is planted, and what of it may not be seen again. */
const PLANTED: [text: string, secret: string][] = [
  ['at /home/alice.b/params/x.params', 'alice'],
  ['in /Users/bobby/Library', 'bobby'],
  ['C:\\Users\\carola\\AppData', 'carola'],
  ['under /root/.config', '/root'],
  ['as dagmar@prover-7.mine.example.com', 'dagmar'],
  ['from https://eve:pa55@pool.mine.io:8443/x?y=1', 'pool.mine'],
  ['to storage-3.rack9.internal', 'rack9'],
  ['peer 10.11.12.13:4455 gone', '10.11.12.13'],
  ['peer fe80:0:0:0:aaaa:bbbb:cccc:dddd gone', 'aaaa:bbbb'],
  ['API_TOKEN=s3cr3tvalue0', 's3cr3tvalue0'],
  ['password: "hunter2 hunter2"', 'hunter2'],
  ['Authorization: Bearer abcdef0123456789', 'abcdef0123456789'],
  ['key ghp_0123456789abcdefABCDEF0123456789abcd', 'ghp_0123'],
  ['jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl', 'eyJhbGci'],
  ['LD_LIBRARY_PATH=/opt/franz/lib', 'franz'],
  ['hostname=gpu-box-gerda', 'gerda'],
  ['-----BEGIN PRIVATE KEY-----\nTUlJRXZ\n-----END PRIVATE KEY-----', 'TUlJRXZ'],
  [`it is ${homedir()}/x`, homedir()],
  [`on ${hostname()} itself`, hostname()],
  ...(userInfo().username === 'root' ? [] : ([[`by ${userInfo().username} alone`, userInfo().username]] as [string, string][])),
];
const ALL = PLANTED.map(([text]) => text).join(' ; ');

it('takes out what is secret and leaves what is said', () => {
  const redact = createRedactor({ home: homedir(), host: hostname(), user: userInfo().username });
  for (const [text, secret] of PLANTED) expect(redact(text), text).not.toContain(secret);
  for (const plain of [
    'partition 3, device: out of memory while allocating 1.5 GiB (cudaErrorMemoryAllocation)',
    'the device stage failed: index 12 of 10, at 12:30:59',
    'proof 7c9e6679-7425-40de-944b-e07fc1f90ae7 of sector 9007199254740993 is not on the curve',
    'synthesis=300ms,prepare=20ms,kernels=180ms,finish=70ms,jitter=10%,seed=7',
    'sha256-62500, 32 GiB PoRep C2, worker 1',
  ]) expect(redact(plain)).toBe(plain); // prettier-ignore
});

/** A run file whose every free text holds everything that is planted. */
function plantedRun(): string {
  const lines = new Lines();
  const shown = (e: EventName) => Object.fromEntries(Object.entries(EVENTS[e]).flatMap(([field, kind]) => (kind.startsWith('text') && field !== 'ring' ? [[field, ALL]] : []))); // prettier-ignore
  lines.add('hello', 0, {
    ...shown('hello'),
    boot_id: 'boot-of-heidi',
    devices: [{ device: 'cpu0', kind: 'cpu', name: ALL, workers_max: 2, clock: 'host' }],
  });
  const order = (Object.keys(EVENTS) as EventName[]).filter((name) => !['hello', 'measured', 'bye', 'run_ended', 'run_started'].includes(name)); // prettier-ignore
  lines.add('run_started', 5, shown('run_started') as object);
  for (const [index, name] of order.entries()) lines.add(name, 10 + index * 10, { ...shown(name), ...(name === 'proof_ended' ? { outcome: 'failed' } : {}) } as object); // prettier-ignore
  lines.add('run_ended', 9000).add('bye', 9001);
  let text = '';
  const writer = new RunFileWriter((part) => (text += part));
  const hello = lines.events[0] as never;
  writer.head({ run: 'r1', uid: 'planted', state: 'failed', endedBy: null, engine: 'builtin', backend: 'cpu', emulate: ALL, scheduler: null, found: { setting: ALL, [ALL.slice(0, 200)]: 'x' }, startedWallNs: '1796043668739000001' }); // prettier-ignore
  writer.process({ hello, seqFrom: 0, seqTo: lines.seq - 2, startedSeq: 1, startedT: 5, endedT: 9000, reason: 'failed', ended: 'failed', exit: 1, signal: null, horizon: 9001, peakRssBytes: null, unparsed: 0 }); // prettier-ignore
  for (const event of lines.events) writer.event(event);
  writer.loss({ kind: 'ring', seqFrom: 4, seqTo: 4, ring: ALL, count: 1, filled: 0, tFrom: 30, tTo: 31, healedT: 40, state: null });
  writer.problem({ offset: 1, bytes: 2, kind: 'unparsed', problem: ALL });
  writer.attempt({ proof: 'p1', attempt: 1, outcome: 'failed', sha256: null, file: 'of-dagmar@prover-7.mine.example.com.json', code: 'x', message: ALL }); // prettier-ignore
  writer.end();
  return text;
}

it('leaves nothing planted in the bytes of any format, and everything where it is not asked for', { timeout: 60_000 }, async () => {
  const folder = tempFolder();
  const store = await openTestStore(folder);
  const begun = await store.beginImport({ name: 'of-dagmar@prover-7.mine.example.com.ndjson', follow: false });
  await store.importPiece(begun.import, Buffer.from(plantedRun()).toString('base64'));
  const report = await store.endImport(begun.import);
  expect(report.problems.map(({ problem }) => problem)).toEqual([]);
  for (const format of EXPORT_FORMATS) {
    const redacted = await exportAll(store, report.run as string, format, true);
    const bytes = Buffer.concat([...redacted.files.values()]);
    for (const [text, secret] of PLANTED) expect(bytes.includes(secret), `${format}: ${text}`).toBe(false);
    for (const id of ['heidi', 'dagmar', 'mine.example']) if (format !== 'csv') expect(bytes.includes(id), `${format}: ${id}`).toBe(false);
    const open = await exportAll(store, report.run as string, format, false);
    // The reports of a run show its errors, so there is something to take out.
    expect(Buffer.concat([...open.files.values()]).includes('hunter2'), format).toBe(true);
  }
});
