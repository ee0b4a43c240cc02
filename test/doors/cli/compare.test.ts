/** `compare` and `experiment` as a person meets them: what is printed, what is refused, and how an interrupt ends it. */
import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { compareRuns } from '../../../electron/analysis/comparison.ts';
import { planBlocks, reportExperiment } from '../../../electron/analysis/experiment.ts';
import type { ComparisonReport, ExperimentReport } from '../../../electron/contract/what-if.ts';
import { comparisonText } from '../../../electron/doors/cli/compare.ts';
import { experimentText } from '../../../electron/doors/cli/experiment.ts';
import { digitsOf, intervalText, percent, signed } from '../../../electron/doors/cli/figures.ts';
import { parseSchedulerSpec } from '../../../electron/doors/cli/scheduler-spec.ts';
import { device, parts, S, side } from '../../support/compared-runs.ts';
import { readSection, writeSection } from '../../support/doc-section.ts';
import { makeFakeProver, makeTempFolder } from '../../support/fake-prover.ts';
import { randomSource, runCli, startHostProcess, until } from '../../support/host-process.ts';
import { SCHEDULER } from '../../support/journal.ts';

const SMALL = ['--circuit', 'squarings', '--constraints', '300', '--partitions', '2', '--rounds', '2', '--proofs', '2'];
const SIDES = ['--a', 'per-partition,proofs_in_flight=1', '--b', 'interlock,proofs_in_flight=1'];
const fake = (scenario = {}) => ({ INTERLOCK_PROVER: makeFakeProver(scenario) });

describe('a scheduler in one word', () => {
  it('is a preset and changes to it', () => {
    expect(parseSchedulerSpec('a', 'batch')).toEqual({ preset: 'batch' });
    expect(parseSchedulerSpec('a', 'interlock,gpu-workers=3,memory_budget=8GiB,order=deadline,reserve_post=true,lock_scope=job')).toEqual({
      preset: 'interlock',
      gpu_workers: 3,
      memory_budget_bytes: 8 * 2 ** 30,
      order: 'deadline',
      reserve_post: true,
      lock_scope: 'job',
    });
  });

  it.each([
    ['interlok', /begins with a preset .*not interlok; did you mean interlock\?/],
    ['gpu_workers=2', /begins with a preset/],
    ['interlock,gpu_worker=2', /no setting gpu_worker; did you mean gpu_workers\?/],
    ['interlock,gpu_workers', /gpu_workers needs a value/],
    ['interlock,gpu_workers=9', /gpu_workers must be at most 4/],
    ['interlock,gpu_workers=two', /gpu_workers/],
    ['interlock,gpu_workers=1,gpu_workers=2', /sets gpu_workers twice/],
    ['interlock,memory_budget=256G', /256G is not a size/],
    ['interlock,', /no setting/],
  ])('refuses %s', (text, message) => {
    expect(() => parseSchedulerSpec('a', text)).toThrow(message);
  });
});

describe('figures', () => {
  it('carry a sign that is one, and digits that still show something', () => {
    expect([signed(-2.94, 1), signed(2.94, 1), signed(-0.04, 1), percent(0.936), percent(1.02), percent(null)]).toEqual([
      '−2.9', '+2.9', '0.0', '−6.4 %', '+2.0 %', '–',
    ]); // prettier-ignore
    expect([12, 1, 0.5, 0.05, 0.012, 0].map(digitsOf)).toEqual([1, 1, 2, 3, 3, 1]);
    const texts = [
      [-2.9, 0.012],
      [0.0001, 0.5],
      [-2.9, 0.5],
      [-2, 0],
    ].map(([value = 0, half = 0]) => intervalText({ value, low: value - half, high: value + half }));
    expect(texts).toEqual(['95 %: −2.912 to −2.888', '95 %: −0.50 to +0.50', '95 %: −3.4 to −2.4', '95 %: −2.0 to −2.0']);
  });
});

const perProof = (value: number) => ({ value, n: 60, low: value - 0.4, high: value + 0.4, too_few_below: 5 });
const COMPARISON: ComparisonReport = {
  schema: 1,
  runs: [
    { run: 'r3', engine: 'builtin', backend: 'cpu', scheduler: SCHEDULER, n: 60, s_per_proof: perProof(45.4), per_proof: { kernel_ns: 37e9, idle_ns: { epilogue: 3e9 }, groups: {}, unknown_ns: 0 } },
    { run: 'r4', engine: 'builtin', backend: 'cpu', scheduler: SCHEDULER, n: 64, s_per_proof: perProof(42.5), per_proof: { kernel_ns: 37.1e9, idle_ns: { epilogue: 0 }, groups: {}, unknown_ns: 0 } },
  ],
  settings: [{ key: 'gpu_workers', values: [1, 2] }, { key: 'memory_budget_bytes', values: [8 * 2 ** 30, null] }],
  deltas: [
    {
      run: 'r4', s_per_proof: { value: -2.9, low: -3.4, high: -2.4 }, ratio: 0.936, n: [60, 64], verdict: 'faster',
      causes: [{ cause: 'epilogue', delta_ns: -3e9 }, { cause: 'kernel', delta_ns: 0.1e9 }, { cause: 'handoff', delta_ns: 4e6 }],
    },
  ],
  warnings: ['r4 was interrupted.\u001b[31m'],
}; // prettier-ignore

describe('compare', () => {
  it('says the difference in one sentence, and the causes by size below it', () => {
    const text = comparisonText(COMPARISON);
    expect(text).toContain('r4 is 2.9 s/proof faster than r3 (−6.4 %, 95 %: −3.4 to −2.4; n 64 and 60)\n');
    expect(text).toMatch(/SETTING +R3 +R4\ngpu_workers +1 +2\nmemory_budget_bytes +8\.0 GiB +not recorded\n/);
    expect(text).toMatch(
      /DEVICE TIME A PROOF +R3 +R4 +CHANGE\n {2}epilogue +3\.00 s +0\.00 s +−3\.00\n {2}kernels +37\.00 s +37\.10 s +\+0\.10\n/,
    );
    expect(text).not.toContain('handoff');
    expect(text).toMatch(/! r4 was interrupted\.[^\u001b]+\n$/);
  });

  it('claims no winner where there is none', () => {
    const with_ = (change: Partial<ComparisonReport['deltas'][number]>) =>
      comparisonText({
        ...COMPARISON,
        settings: [],
        deltas: [{ ...(COMPARISON.deltas[0] as ComparisonReport['deltas'][number]), ...change }],
      });
    expect(with_({ verdict: 'no_difference_seen', s_per_proof: { value: 0.1, low: -0.4, high: 0.6 }, ratio: 1.002 })).toContain(
      'No difference is seen between r4 and r3: +0.10 s/proof (+0.2 %, 95 %: −0.40 to +0.60; n 64 and 60)',
    );
    expect(with_({ verdict: 'too_few', s_per_proof: null, ratio: null, n: [3, 64] })).toContain('too few proofs (n 64 and 3)');
    expect(with_({ verdict: 'not_comparable' })).toContain('r4 and r3 are not comparable; r4 took 2.9 s/proof less');
    expect(with_({})).toContain('No setting differs.');
  });
});

describe('the examples in docs/compare.md', () => {
  const random = randomSource(8);
  /** About `mean` seconds each, after the one that fills the pipeline. */
  const seconds = (count: number, mean: number) => [mean, ...Array.from({ length: count - 1 }, () => mean + 4 * (random() - 0.5))];
  const shape = { proofs_in_flight: 1, partitions_in_flight: 10 };

  it('are what the analysis makes of them: compare', () => {
    const before = side('r3', {
      seconds: seconds(60, 45.4),
      scheduler: { ...SCHEDULER, ...shape, preset: 'per-partition', gpu_workers: 1, lock_scope: 'job', overrides: [] },
      devices: [device(parts({ epilogue: 2.41 * S, preamble: 3.32 * S, starved: 0.9 * S, in_lock: 1.3 * S }, 37.46 * S))],
    });
    const after = side('r4', {
      seconds: seconds(64, 42.5),
      scheduler: { ...SCHEDULER, ...shape, overrides: [] },
      devices: [device(parts({ preamble: 0.34 * S, handoff: 0.02 * S, starved: 3.1 * S, in_lock: 1.5 * S }, 37.5 * S))],
      report: { state: 'interrupted' },
    });
    const text = fenced('interlock compare r3 r4', comparisonText(compareRuns([before, after])));
    writeSection('docs/compare.md', 'compare', text);
    expect(readSection('docs/compare.md', 'compare')).toBe(text);
  });

  it('are what the analysis makes of them: experiment', () => {
    const scheduler = { ...SCHEDULER, ...shape };
    const blocks = planBlocks(5).map(({ round, side: name, warmUp }, index) => ({
      round, side: name, run: `r${index + 1}`, warm_up: warmUp, proofs: warmUp ? 0 : 5,
      s_per_proof: warmUp ? null : (name === 'a' ? 45.4 : 42.6) + 0.3 * index + random(),
    })); // prettier-ignore
    const report = reportExperiment({
      experiment: 'x1', state: 'done', a: { ...scheduler, preset: 'per-partition', gpu_workers: 1, lock_scope: 'job' }, b: scheduler, rounds: 5,
      proofs_per_block: 5, warm_up_proofs: 1, blocks, message: null,
    }); // prettier-ignore
    const text = fenced('interlock experiment --a per-partition --b interlock --rounds 5', experimentText(report));
    writeSection('docs/compare.md', 'experiment', text);
    expect(readSection('docs/compare.md', 'experiment')).toBe(text);
  });
});

function fenced(command: string, text: string): string {
  return `\`\`\`\n$ ${command}\n\n${text.trim()}\n\`\`\``;
}

const EXPERIMENT: ExperimentReport = {
  schema: 1, experiment: 'x1', state: 'stopped', a: SCHEDULER, b: { ...SCHEDULER, overrides: ['memory_budget_bytes'], memory_budget_bytes: 8 * 2 ** 30 },
  rounds: 2, proofs_per_block: 5, warm_up_proofs: 2, message: 'Stopped in round 2 of 2.',
  blocks: [
    { round: 0, side: 'a', run: 'r1', s_per_proof: null, proofs: 0, warm_up: true },
    { round: 1, side: 'a', run: 'r1', s_per_proof: 10, proofs: 5, warm_up: false },
    { round: 1, side: 'b', run: 'r2', s_per_proof: 8, proofs: 5, warm_up: false },
    { round: 2, side: 'b', run: 'r2', s_per_proof: 8.2, proofs: 5, warm_up: false },
  ],
  difference_s: null, ratio: 0.8, verdict: 'too_few',
}; // prettier-ignore

describe('experiment', () => {
  it('prints a table of rounds, with what is missing shown as missing', () => {
    const text = experimentText(EXPERIMENT);
    expect(text).toMatch(/^x1 {2}stopped \(Stopped in round 2 of 2\.\)\n/);
    expect(text).toContain('modified (memory_budget_bytes=8.0 GiB)');
    expect(text).toMatch(/ {2}1 +10\.0 s\/proof +8\.00 s\/proof +−2\.00\n {2}2 +– +8\.20 s\/proof +–\n/);
    expect(text).toContain('Too few rounds to say which is faster');
    const done = { ...EXPERIMENT, difference_s: { value: -2, low: -2.2, high: -1.8 }, verdict: 'b_faster' as const };
    expect(experimentText(done)).toContain('B is 2.0 s/proof faster than A (−20.0 %, 95 %: −2.2 to −1.8; 1 rounds)');
  });

  it.each([
    [[], /needs --a and --b/],
    [['--a', 'batch'], /needs --a and --b/],
    [['--a', 'batch', '--b', 'interlok'], /--b begins with a preset/],
    [['--a', 'batch', '--b', 'batch', '--rounds', '1'], /whole number from 2 to 100/],
    [['--stop'], /--stop needs the id/],
  ])('%j is refused with 2 before anything is made', async (args, message) => {
    const data = makeTempFolder('usage');
    const ran = await runCli(['experiment', ...args, '--data-dir', data]);
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(ran.stderr).toMatch(message);
    expect(readdirSync(data)).toEqual([]);
  });

  it('runs in a host of its own, with JSON alone on standard output, and can be shown later', async () => {
    const data = makeTempFolder('experiment');
    const ran = await runCli(['experiment', ...SIDES, ...SMALL, '--json', '--data-dir', data], { env: fake({ partitionMs: 5 }) });
    expect(ran.code, ran.stderr).toBe(0);
    const report = JSON.parse(ran.stdout) as ExperimentReport;
    expect(report).toMatchObject({ schema: 1, experiment: 'x1', state: 'done', rounds: 2, proofs_per_block: 2, warm_up_proofs: 1 });
    expect(report.difference_s).not.toBeNull();
    expect(ran.stderr).toMatch(/round 1 of 2: A [\d.]+ s\/proof\n.*round 1 of 2: B [\d.]+ s\/proof/s);
    const shown = await runCli(['experiment', 'x1', '--json', '--data-dir', data]);
    expect([shown.code, JSON.parse(shown.stdout)]).toEqual([0, report]);
    const missing = await runCli(['experiment', 'x2', '--data-dir', data]);
    expect(missing).toMatchObject({ code: 1, stderr: expect.stringMatching(/no experiment x2/) as string });
  });

  it('interrupted, it stops cleanly with what it has: 130', async () => {
    const data = makeTempFolder('experiment');
    const args = ['experiment', ...SIDES, ...SMALL, '--rounds', '20', '--json', '--data-dir', data];
    const ran = await runCli(args, {
      env: fake({ partitionMs: 20 }),
      onSpawn: (child) => {
        let said = '';
        let sent = false;
        child.stderr?.on('data', (text: string) => {
          said += text;
          if (!sent && /round 1 of 20: B/.test(said)) sent = child.kill('SIGINT');
        });
      },
    });
    expect(ran.code, ran.stderr).toBe(130);
    const report = JSON.parse(ran.stdout) as ExperimentReport;
    expect(report.state).toBe('stopped');
    expect(report.blocks.filter((block) => block.s_per_proof !== null).length).toBeGreaterThanOrEqual(2);
  });

  it('runs in the host that is there, which others may stop by its id', async () => {
    const data = makeTempFolder('experiment');
    const host = await startHostProcess(data, fake({ partitionMs: 20 }));
    try {
      const running = runCli(['experiment', ...SIDES, ...SMALL, '--rounds', '20', '--data-dir', data]);
      await until('it runs', () =>
        host.client.show_experiment({ experiment: 'x1' }).then((report) => report.blocks.length > 2, () => false),
      ); // prettier-ignore
      const refused = await runCli(['prove', '--circuit', 'squarings', '--constraints', '300', '--data-dir', data]);
      expect(refused).toMatchObject({ code: 3, stderr: expect.stringMatching(/Experiment x1 .*interlock experiment x1 --stop/) as string });
      const stopped = await runCli(['experiment', 'x1', '--stop', '--data-dir', data]);
      expect(stopped).toMatchObject({ code: 0, stdout: expect.stringMatching(/^x1 {2}stopped/) as string });
      const ran = await running;
      expect(ran.code, ran.stderr).toBe(1);
      expect(ran.stdout).toMatch(/^x1 {2}stopped/);
      expect((await host.client.status({})).queue.waiting).toBe(0);
    } finally {
      await host.kill('SIGTERM');
    }
  });
});
