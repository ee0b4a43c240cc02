/**
 * `npm test`: every test of the project, Rust, TypeScript and whole programs, in three parts one after another (two cores are not
 * many). Prints what was skipped by name, a table of minutes, and as its last line `N passed, N failed, N skipped` over all of it.
 *
 *   npm test                       everything
 *   npm test -- rust|unit|e2e      one part or several
 *   npm test -- unit WORD          of the TypeScript tests those whose file name contains WORD
 */
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { ensure, launch, needProgram, NODE, ROOT, run, say } from './bootstrap.mjs';

const REPORTS = path.join(ROOT, 'out/test');

/** Counts of one part; a runner that died without a failing test counts as one failure, so it can never look green. */
function tally(part) {
  return { part, passed: 0, failed: 0, skipped: 0, skippedNames: [], failedNames: [], minutes: 0 };
}

/** Reads cargo's human output: one `test result:` line a binary, `test NAME ... ignored` for what did not run. */
export function readCargo(output, code, counts) {
  for (const match of output.matchAll(/^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored;/gm)) {
    counts.passed += Number(match[1]);
    counts.failed += Number(match[2]);
    counts.skipped += Number(match[3]);
  }
  for (const match of output.matchAll(/^test (.+?) \.\.\. (ignored|FAILED)(?:, (.*))?$/gm)) {
    const name = match[3] ? `${match[1]} (${match[3]})` : match[1];
    (match[2] === 'ignored' ? counts.skippedNames : counts.failedNames).push(name);
  }
  if (code !== 0 && counts.failed === 0) {
    counts.failed = 1;
    counts.failedNames.push('cargo test itself');
  }
  return counts;
}

/** Reads vitest's JSON report. */
export function readVitest(text, code, counts) {
  let report = { testResults: [] };
  try {
    report = JSON.parse(text);
  } catch {
    code ||= 1;
  }
  for (const file of report.testResults) {
    const where = path.relative(ROOT, file.name);
    // A file whose set-up failed has tests that only look skipped.
    if (file.status === 'failed' && !file.assertionResults.some(({ status }) => status === 'failed')) {
      counts.failed += 1;
      counts.failedNames.push(`${where}: could not be run`);
    }
    for (const { status, fullName } of file.assertionResults) {
      if (status === 'passed') counts.passed += 1;
      else if (status === 'failed') {
        counts.failed += 1;
        counts.failedNames.push(`${where}: ${fullName}`);
      } else {
        counts.skipped += 1;
        counts.skippedNames.push(`${where}: ${fullName}`);
      }
    }
  }
  if (code !== 0 && counts.failed === 0) {
    counts.failed = 1;
    counts.failedNames.push('vitest itself (see above)');
  }
  return counts;
}

async function timed(part, work) {
  const begun = performance.now();
  say(`\n── ${part}`);
  const counts = await work(tally(part));
  counts.minutes = (performance.now() - begun) / 60_000;
  return counts;
}

function rust() {
  return timed('rust', async (counts) => {
    const args = ['test', '--release', '--locked', '--workspace', '--manifest-path', 'native/Cargo.toml', '--no-fail-fast'];
    const { code, output } = await run(needProgram('cargo'), args, { quiet: true });
    say(
      output
        .replace(/^\s*(Compiling|Running|Doc-tests|Finished|Downloaded|Downloading)[^\n]*\n/gm, '')
        .replace(/^(test .* ok|running .*|)\n/gm, '')
        .trim(),
    );
    return readCargo(output, code, counts);
  });
}

function vitest(part, projects, words) {
  return timed(part, async (counts) => {
    const file = path.join(REPORTS, `${part}.json`);
    rmSync(file, { force: true });
    const args = [
      'node_modules/vitest/vitest.mjs',
      'run',
      '--passWithNoTests',
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${file}`,
    ];
    const { code } = await run(NODE, [...args, ...projects.flatMap((name) => ['--project', name]), ...words]);
    let text = '';
    try {
      text = readFileSync(file, 'utf8');
    } catch {
      // readVitest says so
    }
    return readVitest(text, code, counts);
  });
}

/** `.ci/run` passes what `npm run check` found, so that the closing line covers it too. */
function checksBefore() {
  const match = /^(\d+),(\d+),([\d.]+)$/.exec(process.env.INTERLOCK_CHECKS ?? '');
  return match ? [{ ...tally('checks'), passed: Number(match[1]), failed: Number(match[2]), minutes: Number(match[3]) }] : [];
}

const PARTS = ['rust', 'unit', 'e2e'];

if (import.meta.filename === undefined || process.argv[1] === import.meta.filename) {
  await launch(async (argv) => {
    const asked = argv.filter((argument) => PARTS.includes(argument));
    const words = argv.filter((argument) => !PARTS.includes(argument));
    const parts = asked.length > 0 ? asked : words.length > 0 ? ['unit', 'e2e'] : PARTS;
    mkdirSync(REPORTS, { recursive: true });
    const results = checksBefore();
    let begun = performance.now();
    await ensure(['prover', 'renderer', 'window']);
    results.push({ ...tally('build'), minutes: (performance.now() - begun) / 60_000 });
    if (parts.includes('rust')) results.push(await rust());
    if (parts.includes('unit')) results.push(await vitest('unit', ['node', 'renderer'], words));
    if (parts.includes('e2e')) results.push(await vitest('e2e', ['e2e'], words));

    const sum = (key) => results.reduce((total, counts) => total + counts[key], 0);
    const skipped = results.flatMap((counts) => counts.skippedNames);
    if (skipped.length > 0) say(`\nskipped:\n${skipped.map((name) => `  ${name}`).join('\n')}`);
    const failed = results.flatMap((counts) => counts.failedNames);
    if (failed.length > 0) say(`\nfailed:\n${failed.map((name) => `  ${name}`).join('\n')}`);
    say('\n part     minutes  passed  failed  skipped');
    for (const counts of results) {
      const cells = [
        counts.minutes.toFixed(1).padStart(7),
        ...['passed', 'failed', 'skipped'].map((key) => String(counts[key]).padStart(key.length + 1)),
      ];
      say(` ${counts.part.padEnd(8)} ${cells.join(' ')}`);
    }
    say(`\n${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped`);
    return sum('failed') === 0 ? 0 : 1;
  });
}
