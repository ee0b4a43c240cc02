/** simulate: how the command line and a table of stage times become a call, and how the answer reads. */
import { describe, expect, it } from 'vitest';
import { parseArguments } from '../../../electron/doors/cli/arguments.ts';
import { COMMANDS } from '../../../electron/doors/cli/flags.ts';
import { simulationText } from '../../../electron/doors/cli/simulate-text.ts';
import { simulateInput } from '../../../electron/doors/cli/simulate.ts';
import { parseStageTable } from '../../../electron/doors/cli/stage-table.ts';
import { resolveScheduler } from '../../../electron/contract/scheduler.ts';
import type { SimulationReport } from '../../../electron/contract/what-if.ts';

const HEADER = 'partition,synthesis_s,prepare_s,device_s,finish_s';
const parse = (...argv: string[]) => parseArguments(argv, COMMANDS.simulate.flags, COMMANDS.simulate.mostWords);

describe('a table of stage times', () => {
  it('reads CSV and JSON alike', () => {
    const csv = parseStageTable(`\uFEFF${HEADER}\r\n0,29.1,1.9,"1.824",.5\r\n\r\n1,30,2,1.9,0.4\r\n0,28,1e0,2,0\r\n`, 't.csv');
    expect(csv).toEqual({ partitions: 2, synthesis: [29.1, 30, 28], prepare: [1.9, 2, 1], device: [1.824, 1.9, 2], finish: [0.5, 0.4, 0] });
    const rows = [{ partition: 0, synthesis_s: 1, prepare_s: 2, device_s: 3, finish_s: 4 }];
    expect(parseStageTable(JSON.stringify(rows), 't.json')).toEqual({
      partitions: 1,
      synthesis: [1],
      prepare: [2],
      device: [3],
      finish: [4],
    });
  });

  it('takes the columns in any order', () => {
    const shuffled = parseStageTable('finish_s,partition,device_s,prepare_s,synthesis_s\n4,0,3,2,1\n', 't');
    expect(shuffled).toEqual({ partitions: 1, synthesis: [1], prepare: [2], device: [3], finish: [4] });
  });

  const wrong: [string, string, RegExp][] = [
    ['an unknown column', 'partition,synthesis_s,prepare_s,devise_s,finish_s\n', /^t:1:33: devise_s is no column of stage times; did you mean device_s\?/],
    ['a column that is missing', 'partition,synthesis_s\n0,1\n', /^t:1:1: the column prepare_s is missing/],
    ['a column that is there twice', `${HEADER},device_s\n`, /^t:1:51: the column device_s is there twice/],
    ['a word', `${HEADER}\n0,29.1,soon,1,1\n`, /^t:2:8: prepare_s: soon is not a number/],
    ['an empty value', `${HEADER}\n0,29.1,,1,1\n`, /^t:2:8: prepare_s: nothing is not a number/],
    ['a negative time', `\n${HEADER}\n0,1,1,1,-2\n`, /^t:3:9: finish_s must be from 0/],
    ['a time beyond a month', `${HEADER}\n0,1,1,1,2592001\n`, /^t:2:9: finish_s must be from 0/],
    ['half a partition', `${HEADER}\n0.5,1,1,1,1\n`, /^t:2:1: partition must be a whole number/],
    ['too few values', `${HEADER}\n0,1,1,1\n`, /^t:2:8: 4 values where the header has 5/],
    ['too many values', `${HEADER}\n0,1,1,1,1, 1\n`, /^t:2:12: 6 values where the header has 5/],
    ['no rows', `${HEADER}\n`, /no rows/],
    ['nothing', '', /is no column|no rows/],
    ['broken JSON', '[{"partition":0,\n "synthesis_s": oops}]', /^t:2:17: this is not JSON/],
    ['JSON that ends early', '[{"partition":0', /^t:1:16: this is not JSON/],
    ['JSON that is no table', '{"a":1}', /^t:1:1: the JSON is not an array/],
    ['a JSON row that is none', '[\n {"partition":0,"synthesis_s":1,"prepare_s":1,"device_s":1,"finish_s":1},\n 7]', /^t:3:2: a row is an object/],
    ['a JSON value that is none', '[{"partition":0,"synthesis_s":1,\n"prepare_s":"1","device_s":1,"finish_s":1}]', /^t:2:1: prepare_s: 1 is not a number/],
    ['a JSON key that is unknown', '[{"partition":0, "synthesis":1}]', /^t:1:18: synthesis is no column of stage times; did you mean synthesis_s\?/],
    ['a JSON key that is missing', '[{"partition":0,"synthesis_s":1,"prepare_s":1,"device_s":1}]', /^t:1:2: finish_s is missing/],
  ]; // prettier-ignore
  it.each(wrong)('refuses %s by line and column', (_, text, message) => {
    expect(() => parseStageTable(text, 't')).toThrow(message);
  });
});

describe('the command line', () => {
  it('passes on what is given, and nothing else', () => {
    const given = parse(
      'r7',
      '--scheduler',
      'interlock',
      '--gpu-workers',
      '2',
      '--partitions-in-flight=12',
      '--lock-scope',
      'job',
      '--rounds',
      '5',
      '--seed',
      '0',
    );
    expect(simulateInput(given, () => '')).toEqual({
      run: 'r7', preset: 'interlock', rounds: 5, seed: 0, change: { gpu_workers: 2, partitions_in_flight: 12, lock_scope: 'job' },
    }); // prettier-ignore
    const fit = simulateInput(parse('--fit', 'x.csv', '--proofs', '3'), (file) => `${HEADER}\n0,1,2,3,${file.length}\n`);
    expect(fit).toEqual({ stages: { partitions: 1, synthesis: [1], prepare: [2], device: [3], finish: [5] }, proofs: 3, change: {} });
  });

  it.each([
    [[], /needs a run .* or --fit FILE/],
    [['r1', '--fit', 'x.csv'], /not both/],
    [['r1', '--gpu-workers', '5'], /from 1 to 4/],
    [['r1', '--lock-scope', 'kernel'], /did you mean kernels\?/],
    [['r1', '--rounds', '0'], /from 1 to 200/],
  ] as [string[], RegExp][])('refuses %j', (argv, message) => {
    expect(() => simulateInput(parse(...argv), () => '')).toThrow(message);
  });
});

describe('the text', () => {
  const own = resolveScheduler({ preset: 'per-partition' }, { cpus: 8, memoryBytes: 2 ** 34 });
  const other = { ...own, gpu_workers: 2 };
  const report = (then: [number, number, number], now: [number, number, number] = [44.9, 44.1, 45.6]): SimulationReport => ({
    schema: 1, run: 'r3', seed: 1, rounds: 20, proofs: 8, scheduler: other,
    base: {
      scheduler: own, predicted_s_per_proof: { value: now[0], low: now[1], high: now[2] }, measured_s_per_proof: 45.4,
      error_ratio: now[0] / 45.4 - 1, devices: [],
    },
    s_per_proof: { value: then[0], low: then[1], high: then[2] }, latency_s: null, devices: [],
    bound: { makespan_s: 350, bound_s: 341, ratio: 0.974, term: 'the device' },
    contention: [{ stage: 'synthesis', per_synthesis: 0.031, seen_up_to: 10, extrapolated: false }],
    shares_cores: false,
    rests_on: ['80 partitions'],
  }); // prettier-ignore

  it('sets measured, simulated and predicted beside each other', () => {
    const text = simulationText(report([42.5, 41.9, 43.2]), null);
    expect(text).toContain('r3: gpu_workers 1 → 2  (20 simulated runs of 8 proofs, seed 1)');
    expect(text).toContain('now     45.4 s/proof measured (44.9 simulated, −1.1 %)');
    expect(text).toContain('then    42.5 (41.9 to 43.2) s/proof  −5.3 % against today, simulated');
    expect(text).toContain('each synthesis at once adds 3.1 % to synthesis');
    expect(text).toContain('seen up to 10 syntheses at once');
    expect(text).toContain('    80 partitions');
  });

  it('claims no difference that the spread hides', () => {
    expect(simulationText(report([44.5, 43.8, 45.1]), null)).toContain('−0.9 %: within the spread, so no difference can be told');
  });

  it('says what is extrapolated and what is not known', () => {
    const beyond = report([42.5, 41.9, 43.2]);
    beyond.contention = [{ stage: 'synthesis', per_synthesis: 0, seen_up_to: 4, extrapolated: true }];
    beyond.s_per_proof = null;
    const text = simulationText(beyond, null);
    expect(text).toContain('EXTRAPOLATED');
    expect(text).toContain('too few proofs to say');
  });
});
