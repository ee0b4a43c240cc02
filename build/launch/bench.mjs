/**
 * `npm run bench`: what is fast enough and what is not, measured here and now, one thing after another. Prints one table, writes
 * out/bench.json and leaves out nothing that falls short. `npm run bench -- WORD` runs the benches whose name contains WORD.
 *
 * A bench is a program that prints one JSON array of rows `{name, ours, reference, target, met}` as its last line when
 * INTERLOCK_BENCH_JSON is set: every test/bench/*.bench.ts, and what is listed here.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import os from 'node:os';
import path from 'node:path';
import { ensure, findProgram, launch, NODE, ROOT, run, say } from './bootstrap.mjs';

function rowsOf(output) {
  const line = output
    .trimEnd()
    .split('\n')
    .findLast((text) => text.startsWith('['));
  return line ? JSON.parse(line) : null;
}

/** Seconds from `npm start` to an answered request for the page, median of five. */
async function secondStart() {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'interlock-bench-'));
  const took = [];
  for (let round = 0; round < 6; round++) {
    const from = performance.now();
    const child = spawn('npm', ['start', '--silent', '--', '--headless', '--no-first-proof', '--port', '0', '--data-dir', folder], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const link = await new Promise((resolve) => {
      let text = '';
      child.stdout.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
        const found = /http:\/\/\S+(?=\/#code=)/.exec(text);
        if (found) resolve(found[0]);
      });
    });
    const page = await fetch(`${link}/`);
    await page.text();
    // The first one may have had to build.
    if (round > 0) took.push((performance.now() - from) / 1000);
    child.kill('SIGINT');
    await new Promise((resolve) => child.once('exit', resolve));
  }
  rmSync(folder, { recursive: true, force: true });
  const median = took.sort((a, b) => a - b)[2];
  return [{ name: 'second start to a served page, s', ours: median, reference: null, target: 3, met: median <= 3 }];
}

/** E1: emission, from the figures that the crate's own example prints. */
async function emission() {
  const cargo = findProgram('cargo');
  const args = [
    'run',
    '--release',
    '--locked',
    '--quiet',
    '--manifest-path',
    'native/Cargo.toml',
    '-p',
    'interlock-timeline',
    '--example',
    'emit_cost',
  ];
  const { output } = await run(cargo, args, { quiet: true });
  const figure = (name) => Number(new RegExp(`^${name}\\s+([\\d.]+) ns`, 'm').exec(output)?.[1] ?? NaN);
  const [emit, line] = [figure('emit'), figure('eprintln')];
  return [
    { name: 'E1 emission of an event, ns', ours: emit, reference: null, target: 30, met: emit <= 30 },
    { name: 'E1 a line to stderr over an emission', ours: line / emit, reference: line, target: 50, met: line / emit >= 50 },
  ];
}

function fileBench(name) {
  return async () => {
    const { code, output } = await run(NODE, [path.join('test/bench', name)], { quiet: true, env: { INTERLOCK_BENCH_JSON: '1' } });
    const rows = rowsOf(output);
    if (code !== 0 || !rows) throw new Error(output.trim().split('\n').slice(-5).join('\n'));
    return rows;
  };
}

const short = (value) => (typeof value === 'number' ? (Math.abs(value) >= 1000 ? value.toFixed(0) : value.toPrecision(4)) : '–');

await launch(async (argv) => {
  await ensure(['prover', 'renderer']);
  const files = readdirSync(path.join(ROOT, 'test/bench')).filter((name) => name.endsWith('.bench.ts'));
  const benches = [
    ['start', secondStart],
    ['emission', emission],
    ...files.map((name) => [name.replace('.bench.ts', ''), fileBench(name)]),
  ];
  const rows = [];
  for (const [name, work] of benches) {
    if (argv.length > 0 && !argv.some((word) => name.includes(word))) continue;
    say(`  ${name} …`);
    try {
      rows.push(...(await work()));
    } catch (error) {
      rows.push({ name, ours: null, reference: null, target: null, met: false, failed: error.message });
    }
  }
  const width = Math.max(...rows.map((row) => row.name.length), 4);
  say(`\n${'name'.padEnd(width)}       ours  reference     target  met?`);
  for (const row of rows) {
    const cells = [row.ours, row.reference, row.target].map((value) => short(value).padStart(10));
    say(
      `${row.name.padEnd(width)} ${cells.join(' ')}  ${row.met === null ? '' : row.met ? 'yes' : 'NO'}${row.failed ? `  ${row.failed}` : ''}`,
    );
  }
  mkdirSync(path.join(ROOT, 'out'), { recursive: true });
  writeFileSync(
    path.join(ROOT, 'out/bench.json'),
    `${JSON.stringify({ cpus: os.cpus().length, cpu: os.cpus()[0]?.model ?? '', rows }, null, 2)}\n`,
  );
  return 0;
});
