/**
 * Which room may import what: the table of ARCHITECTURE.md as data, and the check that reads every import of .ts, .mjs, .svelte and
 * Cargo.toml against it. A file belongs to the first room whose `in` matches; a file that belongs to none is itself a violation, so a
 * new folder has to be given a place here first.
 *
 *   node build/import-rules.mjs            check the tree
 *   node build/import-rules.mjs --table    print the table
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { listSources, lineOf, stripComments } from './sources.mjs';

const NODE = 'node:';
const TOOLS = ['esbuild', 'vite', 'vitest', 'typescript', '@sveltejs/vite-plugin-svelte', 'svelte'];
/** What doors share: the router, and what every door that shows the page says of it. */
const DOOR_PARTS = ['electron/doors/router.ts', 'electron/doors/page-policy.ts', 'electron/doors/shell.ts', 'electron/doors/own-folder.ts'];
const SCREENS = ['live', 'run', 'runs', 'compare', 'queue', 'schedulers', 'doctor', 'settings'];

/**
 * `rooms`: prefixes that may be imported (the own room always may). `types`: prefixes of which only types may be. `packages`: package
 * names, or `node:` for all of Node, or one `node:name`.
 */
export const ROOMS = [
  { room: 'electron/contract', in: 'electron/contract/', rooms: [], packages: ['valibot'] },
  { room: 'electron/analysis', in: 'electron/analysis/', rooms: ['electron/contract/'], packages: [] },
  {
    room: 'electron/formats',
    in: 'electron/formats/',
    rooms: ['electron/contract/', 'electron/analysis/'],
    packages: ['node:stream', 'node:stream/promises', 'node:string_decoder', 'node:buffer', 'node:crypto', 'valibot'],
  },
  {
    room: 'electron/store',
    in: 'electron/store/',
    rooms: ['electron/contract/', 'electron/analysis/', 'electron/formats/'],
    packages: [NODE, 'better-sqlite3'],
  },
  { room: 'electron/engines', in: 'electron/engines/', rooms: ['electron/contract/', 'electron/formats/'], packages: [NODE, 'valibot'] },
  {
    room: 'electron/host',
    in: 'electron/host/',
    rooms: ['electron/contract/', 'electron/analysis/', 'electron/formats/', 'electron/store/', 'electron/engines/'],
    packages: [NODE, 'smol-toml', 'valibot'],
  },
  {
    room: 'electron/doors/window',
    in: 'electron/doors/window/',
    rooms: ['electron/contract/', ...DOOR_PARTS, 'electron/doors/socket/'],
    types: ['electron/host/'],
    packages: [NODE, 'electron', 'valibot'],
  },
  {
    room: 'electron/doors/web',
    in: 'electron/doors/web/',
    rooms: ['electron/contract/', ...DOOR_PARTS],
    types: ['electron/host/'],
    packages: [NODE, 'ws', 'valibot'],
  },
  {
    room: 'electron/doors/cli',
    in: 'electron/doors/cli/',
    rooms: ['electron/contract/', 'electron/doors/router.ts', 'electron/doors/socket/'],
    types: ['electron/host/'],
    packages: [NODE, 'valibot'],
  },
  {
    room: 'electron/doors',
    in: 'electron/doors/',
    rooms: ['electron/contract/'],
    types: ['electron/host/'],
    packages: [NODE, 'valibot'],
  },
  { room: 'electron/preload.ts', in: 'electron/preload.ts', rooms: ['electron/contract/'], packages: ['electron'] },
  ...['main', 'headless', 'cli'].map((name) => ({
    room: `electron/${name}.ts`,
    in: `electron/${name}.ts`,
    rooms: ['electron/'],
    packages: [NODE, ...(name === 'main' ? ['electron'] : [])],
  })),
  { room: 'renderer/link', in: 'renderer/link/', rooms: ['electron/contract/'], packages: [] },
  { room: 'renderer/shared', in: 'renderer/shared/', rooms: [], packages: ['svelte', 'uplot', 'bits-ui'] },
  { room: 'renderer/parts', in: 'renderer/parts/', rooms: ['renderer/shared/', 'electron/contract/'], packages: ['svelte'] },
  ...SCREENS.map((name) => ({
    room: `renderer/${name}`,
    in: `renderer/${name}/`,
    rooms: ['renderer/parts/', 'renderer/shared/', 'renderer/link/', 'electron/contract/'],
    packages: ['svelte'],
  })),
  { room: 'renderer/app', in: 'renderer/app/', rooms: ['renderer/', 'electron/contract/'], packages: ['svelte'] },
  { room: 'renderer/vite.config.ts', in: 'renderer/vite.config.ts', rooms: ['build/shell-manifest.mjs'], packages: [NODE, ...TOOLS] },
  { room: 'renderer/svelte.config.js', in: 'renderer/svelte.config.js', rooms: [], packages: TOOLS },
  // The one entry that index.html names.
  {
    room: 'renderer/main.ts',
    in: 'renderer/main.ts',
    rooms: ['renderer/app/', 'renderer/link/', 'renderer/shared/'],
    packages: ['svelte'],
  },
  { room: 'test', in: 'test/', rooms: ['electron/', 'renderer/', 'build/', 'test/'], packages: ['*'] },
  { room: 'build', in: 'build/', rooms: [], packages: [NODE, ...TOOLS] },
  { room: 'vitest.config.ts', in: 'vitest.config.ts', rooms: [], packages: [NODE, ...TOOLS] },
];

/** Crates of the workspace: which of the others each may depend on (dev-dependencies too). */
export const CRATES = {
  timeline: [],
  interlock: ['interlock-timeline'],
  groth16: ['interlock-timeline', 'interlock'],
  circuits: ['interlock-groth16'],
  pipeline: ['interlock-timeline', 'interlock', 'interlock-groth16', 'interlock-circuits'],
  sampler: ['interlock-timeline'],
  prover: ['interlock-timeline', 'interlock', 'interlock-groth16', 'interlock-circuits', 'interlock-pipeline'],
};

const IMPORTS = [
  /(?:^|[^.\w$'"`])(import|export)\s+(type\s+)?(?:[\w$*\s{},]|type\s)*?\bfrom\s*(['"])([^'"\n]+)\3/g,
  /(?:^|[^.\w$'"`])(import)\s*()(['"])([^'"\n]+)\3/g,
  /(?:^|[^.\w$'"`])(import|require)\s*\(\s*()(['"])([^'"\n]+)\3\s*\)/g,
];

/** Every import of a source text: `{specifier, typeOnly, line}`. */
export function importsOf(text) {
  const code = stripComments(text);
  const found = [];
  for (const pattern of IMPORTS) {
    for (const match of code.matchAll(pattern)) {
      found.push({ specifier: match[4], typeOnly: Boolean(match[2]), line: lineOf(code, match.index + match[0].length - 1) });
    }
  }
  return found.sort((a, b) => a.line - b.line);
}

/** `@scope/name/sub` → `@scope/name`; `node:fs` stays. */
function packageOf(specifier) {
  if (specifier.startsWith(NODE)) return specifier;
  const parts = specifier.split('/');
  return specifier.startsWith('@') ? parts.slice(0, 2).join('/') : parts[0];
}

function allowed(rule, file, { specifier, typeOnly }) {
  if (specifier.startsWith('.') || specifier.startsWith('/')) {
    const target = path.posix.normalize(path.posix.join(path.posix.dirname(file), specifier.split('?')[0]));
    if (rule.in.endsWith('/') && target.startsWith(rule.in)) return true;
    if (rule.rooms.some((prefix) => target.startsWith(prefix))) return true;
    return typeOnly && (rule.types ?? []).some((prefix) => target.startsWith(prefix));
  }
  const name = packageOf(specifier);
  return rule.packages.some((entry) => entry === '*' || entry === name || (entry === NODE && name.startsWith(NODE)));
}

function describe(rule) {
  const types = (rule.types ?? []).map((prefix) => `types of ${prefix}`);
  const list = [...rule.rooms, ...types, ...rule.packages.map((name) => (name === NODE ? 'node:*' : name))];
  return list.length > 0 ? list.join(', ') : 'nothing outside itself';
}

/** Violations of one source file, `{file, line, found, rule, fix}`. */
export function checkFile(file, text) {
  const rule = ROOMS.find((room) => (room.in.endsWith('/') ? file.startsWith(room.in) : file === room.in));
  if (!rule) {
    return [
      {
        file,
        line: 1,
        found: file,
        rule: 'every file belongs to a room',
        fix: 'move it, or give its folder a row in build/import-rules.mjs and ARCHITECTURE.md',
      },
    ];
  }
  return importsOf(text)
    .filter((found) => !allowed(rule, file, found))
    .map(({ specifier, line }) => ({
      file,
      line,
      found: `import '${specifier}'`,
      rule: `${rule.room} may import ${describe(rule)}`,
      fix: 'move the code to a room that may, or pass what it needs in as a parameter',
    }));
}

/** Violations of one crate's Cargo.toml. */
export function checkCargo(file, text) {
  const crate = file.split('/')[1];
  const may = CRATES[crate];
  if (!may) {
    return [
      {
        file,
        line: 1,
        found: `crate ${crate}`,
        rule: 'every crate has a row',
        fix: 'add it to CRATES in build/import-rules.mjs and to ARCHITECTURE.md',
      },
    ];
  }
  const violations = [];
  let inDependencies = false;
  text.split('\n').forEach((row, index) => {
    const section = /^\s*\[([^\]]+)\]/.exec(row);
    if (section) inDependencies = /dependencies(\.|$)/.test(section[1]);
    const table = section && /dependencies\.(interlock[\w-]*)$/.exec(section[1]);
    const name = table?.[1] ?? (inDependencies ? /^\s*(interlock[\w-]*)\s*[.=]/.exec(row)?.[1] : undefined);
    if (name && !may.includes(name)) {
      violations.push({
        file,
        line: index + 1,
        found: `dependency ${name}`,
        rule: `native/${crate} may depend on ${may.join(', ') || 'no other crate of the workspace'}`,
        fix: 'move the code down, or take what it needs as a parameter or a trait',
      });
    }
  });
  return violations;
}

/** Checks the whole tree at `root`. */
export function checkTree(root) {
  const violations = [];
  for (const file of listSources(root, ['.ts', '.mts', '.js', '.mjs', '.cjs', '.svelte'])) {
    violations.push(...checkFile(file, readFileSync(path.join(root, file), 'utf8')));
  }
  for (const file of listSources(root, ['Cargo.toml'])) {
    if (/^native\/[^/]+\/Cargo\.toml$/.test(file)) violations.push(...checkCargo(file, readFileSync(path.join(root, file), 'utf8')));
  }
  return violations;
}

export function printViolations(violations) {
  for (const { file, line, found, rule, fix } of violations) {
    console.error(`${file}:${line}  ${found}\n    rule: ${rule}\n    fix:  ${fix}`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv.includes('--table')) {
    for (const rule of ROOMS) console.log(`${rule.room.padEnd(28)} ${describe(rule)}`);
    for (const [crate, may] of Object.entries(CRATES)) console.log(`native/${crate.padEnd(21)} ${may.join(', ') || '–'}`);
  } else {
    const violations = checkTree(path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..'));
    printViolations(violations);
    if (violations.length > 0) process.exitCode = 1;
    else console.log('import rules: ok');
  }
}
