/**
 * A what-if of 100 proofs of 10 partitions in 20 rounds, with what it costs beside (its base, contention, windows and causes). The reference in
 * the same run: the same rounds of the bare simulation.
 *
 *   node test/bench/what-if.bench.ts [rounds]      prints a table; with INTERLOCK_BENCH_JSON=1 one JSON line
 */
import { answerRun } from '../../electron/analysis/simulation/answer.ts';
import { Teller } from '../../electron/analysis/simulation/emit.ts';
import { simulateRun } from '../../electron/analysis/simulation/engine.ts';
import { StageCollector } from '../../electron/analysis/simulation/stages.ts';
import { makeSetup } from '../support/simulated-setup.ts';

const rounds = Number(process.argv[2] ?? 5);
const median = (values: number[]) => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

const contention = { synthesis: 0.03, prepare: 0.03, device: 0.03, finish: 0.03 };
const stages = { synthesis: 300, prepare: 30, device: 50, finish: 20 };
const setup = makeSetup({ synthesis_workers: 8 }, stages, { proofs: 100, partitions: 10, jitter: 0.1, contention });
const collector = new StageCollector();
const devices = [{ device: 'gpu0', kind: 'cuda' }];
simulateRun(setup, new Teller(collector, { devices, backend: 'cuda', scheduler: setup.scheduler }));
const measured = collector.measure();
const source = { run: 'bench', measured, scheduler: setup.scheduler, found: {}, sPerProof: 1, mostProofs: 2 };

function seconds(work: () => void): number {
  const since = performance.now();
  work();
  return (performance.now() - since) / 1000;
}

const whole: number[] = [];
const bare: number[] = [];
for (let round = 0; round < rounds; round++) {
  whole.push(
    seconds(() => void answerRun(source, { change: { gpu_workers: 1 }, preset: undefined, proofs: 100, rounds: 20, seed: round })),
  );
  bare.push(seconds(() => Array.from({ length: 20 }, () => simulateRun(setup))));
}
const row = {
  name: 'what-if of 100 proofs × 10 × 20, s',
  ours: median(whole),
  reference: median(bare),
  target: 2,
  met: median(whole) <= 2,
};
if (process.env.INTERLOCK_BENCH_JSON) console.log(JSON.stringify([row]));
else console.table([row]);
