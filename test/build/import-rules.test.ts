/** The import rules see each kind of violation; every room's row is tried with one import that it must not have. */
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkCargo, checkFile, CRATES, importsOf, ROOMS } from '../../build/import-rules.mjs';

type Room = { room: string; in: string; rooms: string[]; types?: string[]; packages: string[] };
const rooms = ROOMS as Room[];
const fileIn = (room: Room) => (room.in.endsWith('/') ? `${room.in}planted.ts` : room.in);
const relative = (from: string, to: string) => {
  const found = path.posix.relative(path.posix.dirname(from), to);
  return found.startsWith('.') ? found : `./${found}`;
};
/** One module of every place that somebody may want to import. */
const TARGETS = ['electron/contract/x.ts', 'electron/analysis/x.ts', 'electron/formats/x.ts', 'electron/store/x.ts', 'electron/engines/x.ts', 'electron/host/x.ts', 'electron/doors/web/x.ts', 'electron/doors/window/x.ts', 'electron/doors/socket/x.ts', 'electron/main.ts', 'renderer/link/x.ts', 'renderer/shared/x.ts', 'renderer/parts/x.ts', 'renderer/live/x.ts', 'renderer/app/x.ts', 'test/support/x.ts', 'build/x.mjs']; // prettier-ignore
const PACKAGES = ['electron', 'better-sqlite3', 'ws', 'valibot', 'svelte', 'uplot', 'node:fs', 'node:http', 'smol-toml', 'left-pad'];

describe('rooms', () => {
  test.each(rooms.map((room) => [room.room, room] as const))('%s: what its row does not name is found', (_name, room) => {
    const file = fileIn(room);
    for (const target of TARGETS) {
      const may = room.rooms.some((prefix) => target.startsWith(prefix)) || (room.in.endsWith('/') && target.startsWith(room.in));
      expect(checkFile(file, `import { x } from '${relative(file, target)}';`).length, `${file} → ${target}`).toBe(may ? 0 : 1);
    }
    for (const name of PACKAGES) {
      const may = room.packages.some((entry) => entry === '*' || entry === name || (entry === 'node:' && name.startsWith('node:')));
      expect(checkFile(file, `import x from '${name}';`).length, `${file} → ${name}`).toBe(may ? 0 : 1);
    }
  });

  test('a violation names the import, the rule and the fix', () => {
    expect(checkFile('renderer/live/x.ts', "\nimport { Store } from '../../electron/store/store.ts';\n")).toEqual([
      {
        file: 'renderer/live/x.ts',
        line: 2,
        found: "import '../../electron/store/store.ts'",
        rule: expect.stringContaining('renderer/live may import') as string,
        fix: expect.stringContaining('move the code') as string,
      },
    ]);
  });

  test('types alone may come from where only types may', () => {
    expect(checkFile('electron/doors/web/x.ts', "import type { X } from '../../host/host.ts';")).toEqual([]);
    expect(checkFile('electron/doors/web/x.ts', "import { X } from '../../host/host.ts';").length).toBe(1);
  });

  test('only the window imports electron', () => {
    const may = ['electron/doors/window/x.ts', 'electron/main.ts', 'electron/preload.ts'];
    expect(may.flatMap((file) => checkFile(file, "import { app } from 'electron';"))).toEqual([]);
    expect(
      ['electron/doors/web/x.ts', 'electron/host/x.ts', 'electron/headless.ts', 'renderer/live/x.ts'].every(
        (file) => checkFile(file, "import { app } from 'electron';").length === 1,
      ),
    ).toBe(true);
  });

  test('a folder without a row is itself found', () => {
    expect(checkFile('electron/helpers/x.ts', '').map(({ rule }: { rule: string }) => rule)).toEqual(['every file belongs to a room']);
  });
});

describe('imports are seen', () => {
  test.each([
    ["import a from './a.ts'", './a.ts', false],
    ["import './a.css'", './a.css', false],
    ["import { a,\n  b } from './a.ts'", './a.ts', false],
    ["import type { A } from './a.ts'", './a.ts', true],
    ["import a, * as b from './a.ts'", './a.ts', false],
    ["export * from './a.ts'", './a.ts', false],
    ["export { a } from './a.ts'", './a.ts', false],
    ["const a = await import('./a.ts')", './a.ts', false],
    ["const a = require('./a.cjs')", './a.cjs', false],
  ])('%s', (text, specifier, typeOnly) => expect(importsOf(text)).toEqual([{ specifier, typeOnly, line: expect.any(Number) as number }]));

  test.each(["// import a from './a.ts'", "/* import './a.ts' */", "<!-- import './a.ts' -->", 'const a = "import \'./a.ts\'"'])(
    '%s is none',
    (text) => expect(importsOf(text)).toEqual([]),
  );
});

describe('crates', () => {
  const crates = Object.entries(CRATES as Record<string, string[]>);
  const names = ['interlock-timeline', 'interlock', 'interlock-groth16', 'interlock-circuits', 'interlock-pipeline'];
  test.each(crates)('%s: what its row does not name is found', (crate, may) => {
    for (const name of names) {
      for (const text of [
        `[dependencies]\n${name}.workspace = true\n`,
        `[dev-dependencies]\n${name} = { path = "../x" }\n`,
        `[dependencies.${name}]\npath = "../x"\n`,
      ]) {
        expect(checkCargo(`native/${crate}/Cargo.toml`, text).length, `${crate} → ${name}`).toBe(may.includes(name) ? 0 : 1);
      }
    }
  });
  test('a package of that name is no dependency', () =>
    expect(checkCargo('native/timeline/Cargo.toml', '[package]\nname = "x"\ninterlock = 1\n')).toEqual([]));
  test('an unknown crate is found', () => expect(checkCargo('native/extra/Cargo.toml', '').length).toBe(1));
});
