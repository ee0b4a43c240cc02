/** Each house rule finds what it is there for, leaves alone what looks like it, and keeps its exceptions. */
import { describe, expect, test } from 'vitest';
import { LINTS, lintFile } from '../../build/lints.mjs';

const named = (rule: string) => (LINTS as { name: string; rule: string }[]).find((lint) => lint.name === rule)?.rule;
const rulesOf = (file: string, text: string) => lintFile(file, text).map(({ rule }: { rule: string }) => rule);

const PLANTED: [string, string, string][] = [
  ['ipc-gate', 'electron/main.ts', "ipcMain.handle('x', () => {})"],
  ['ipc-gate', 'electron/doors/window/other.ts', "ipcMain . on('x', f)"],
  ['one-clock', 'electron/host/host.ts', 'const t = Date.now()'],
  ['one-clock', 'renderer/live/x.ts', 'const t = new Date()'],
  ['one-clock', 'electron/store/x.ts', 'performance.now()'],
  ['one-clock', 'electron/engines/x.ts', 'process.hrtime.bigint()'],
  ['no-markup-from-strings', 'renderer/live/Live.svelte', '<p>{@html text}</p>'],
  ['no-markup-from-strings', 'renderer/parts/x.ts', 'node.innerHTML = text'],
  ['no-eval', 'electron/analysis/x.ts', "new Function('return 1')"],
  ['no-eval', 'renderer/app/x.ts', "setTimeout('x()', 1)"],
  ['sql-in-store', 'electron/store/x.ts', 'db.prepare(`SELECT * FROM run WHERE id = ${id}`)'],
  ['sql-in-store', 'electron/store/x.ts', "db.exec('DELETE FROM ' + table)"],
  ['sql-only-in-store', 'electron/host/x.ts', "const q = 'SELECT a FROM run'"],
  ['no-shell', 'electron/engines/x.ts', "spawn('x', [], { shell: true })"],
  ['no-shell', 'electron/engines/x.ts', "execSync('x')"],
  ['folders-by-level', 'electron/host/x.ts', 'mkdirSync(folder, { recursive: true, mode: 0o700 })'],
  ['ts-ignore', 'electron/host/x.ts', '// @ts-ignore'],
  ['sandbox-stays-on', 'build/launch/start.mjs', "args.push('--no-sandbox')"],
  ['sandbox-stays-on', 'electron/doors/window/x.ts', 'const o = { nodeIntegration: true }'],
  ['interlock-does-no-io', 'native/interlock/src/lib.rs', 'use std::fs;'],
];

describe('found', () => {
  test.each(PLANTED)('%s in %s: %s', (name, file, text) => expect(rulesOf(file, text)).toContain(named(name)));
  test('every rule has one', () =>
    expect((LINTS as { name: string }[]).map(({ name }) => name).filter((name) => !PLANTED.some(([planted]) => planted === name))).toEqual(
      [],
    ));
  test('a file of 401 lines', () => {
    expect(rulesOf('electron/host/x.ts', '\n'.repeat(401)).length).toBe(1);
    expect(rulesOf('electron/host/x.ts', `/** Long because it is a table. */${'\n'.repeat(401)}`)).toEqual([]);
  });
});

test.each([
  ['electron/doors/window/ipc-gate.ts', 'ipcMain.handle(CHANNELS.call, f)'],
  ['electron/host/clock.ts', 'Date.now()'],
  ['electron/host/x.ts', '// Date.now() is for the clock alone'],
  ['electron/host/x.ts', 'new Date(wallMs)'],
  ['electron/store/x.ts', 'db.prepare(`${SELECT_RUN} WHERE run = ?`)'],
  ['electron/store/x.ts', "db.prepare('SELECT a FROM run')"],
  ['test/e2e/window.test.ts', "args: ['--no-sandbox']"],
  ['native/pipeline/src/lib.rs', 'use std::fs;'],
])('left alone in %s: %s', (file, text) => expect(rulesOf(file, text)).toEqual([]));
