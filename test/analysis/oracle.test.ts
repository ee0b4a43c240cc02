/**
 * The idle causes of 10,000 random runs, computed by the analysis and by the oracle in Python, must agree to the nanosecond. What differs
 * is made small and left under out/oracle/.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { CAUSES, GROUPS } from '../../electron/contract/idle.ts';
import { analyse, findDifferences, shrinkRun } from '../oracle/compare.ts';
import { askOracle, findPython, writeRunFile, type OracleRun, type SampleRun } from '../oracle/run-sample.ts';
import { readRecordedLogs, readRecordedRuns } from '../oracle/recorded-runs.ts';
import { makeRandomRun } from '../support/random-run.ts';

const RUNS = Number(process.env['ORACLE_RUNS'] ?? 10_000);
const FIRST_SEED = Number(process.env['ORACLE_SEED'] ?? 0);
const BATCH = 1000;
const python = findPython();
const missing = python ? '' : ' (not run here: python3 is missing)';

/** Where a run that differs was left, and what differs in it. */
function explain(run: SampleRun): string {
  const small = shrinkRun(run);
  const text = writeRunFile(small);
  const folder = path.resolve('out', 'oracle');
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, `${run.name}.interlock.ndjson`);
  writeFileSync(file, text);
  const differences = findDifferences(askOracle(text)[0] as OracleRun, analyse(small));
  return `seed ${run.name.slice(1)}, ${file}:\n  ${differences.join('\n  ')}`;
}

test.skipIf(!python)(
  `${RUNS} random runs: analysis and oracle agree to the nanosecond${missing}`,
  () => {
    const wrong: string[] = [];
    const met = new Set<string>();
    let seen = 0;
    for (let from = 0; from < RUNS; from += BATCH) {
      const runs = Array.from({ length: Math.min(BATCH, RUNS - from) }, (_, index) => makeRandomRun(FIRST_SEED + from + index));
      const answers = askOracle(runs.map(writeRunFile).join(''));
      for (const [index, run] of runs.entries()) {
        seen += 1;
        const answer = answers[index] as OracleRun;
        for (const device of Object.values(answer.devices)) {
          const parts = { ...device.idle_ns, ...device.groups, kernel: device.kernel_ns, unknown: device.unknown_ns };
          for (const [name, ns] of Object.entries(parts)) if (ns) met.add(name);
        }
        if (findDifferences(answer, analyse(run)).length > 0) wrong.push(wrong.length < 5 ? explain(run) : `seed ${run.name.slice(1)}`);
      }
    }
    expect(seen).toBe(RUNS);
    if (RUNS >= 1000) expect([...met].sort()).toEqual([...CAUSES, ...GROUPS, 'kernel', 'unknown'].sort());
    expect(wrong.length, `${wrong.length} of ${RUNS} runs differ:\n${wrong.slice(0, 50).join('\n')}`).toBe(0);
  },
  600_000,
);

function expectSame(runs: SampleRun[]): void {
  const answers = askOracle(runs.map(writeRunFile).join(''));
  for (const [index, run] of runs.entries()) expect(findDifferences(answers[index] as OracleRun, analyse(run)), run.name).toEqual([]);
}

test.skipIf(!python)(`recorded journals of the real prover: the same${missing}`, () => {
  const runs = readRecordedRuns();
  expect(runs.length).toBe(4);
  expectSame(runs);
});

test.skipIf(!python)(`recorded logs of the cuzk daemon: the same${missing}`, () => {
  const runs = readRecordedLogs().filter((run) => run.processes.length > 0);
  expect(runs.length).toBeGreaterThanOrEqual(5);
  expectSame(runs);
});
