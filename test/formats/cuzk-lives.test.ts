/** What engines' lives are like in the field: spans without ends, jobs twice, restarts, clocks that are set, locks that overlap. */
import { describe, expect, it } from 'vitest';
import { enqueued, fixture, line, locksOf, of, read, spansOf, START, tracing, verdicts, whole, type Told } from './cuzk-support.ts';

const kinds = (told: Told) => told.problems.map(({ kind }) => kind);
const jobSpans = (told: Told) =>
  of(told.last, 'put_down').map(({ t, proof }) => [
    proof,
    (t - (of(told.last, 'picked_up').find((event) => event.proof === proof)?.t ?? NaN)) / 1e6,
  ]);

describe('pairing and missing ends', () => {
  it('T1: spans of one worker that overlap keep their own ends', () => {
    const told = read(
      line(0, 'GPU_PICKUP', 'p0', 'worker=0,partition=0') + line(3, 'GPU_PICKUP', 'p1', 'worker=0,partition=0') +
        line(5, 'GPU_END', 'p0', 'worker=0,partition=0,gpu_ms=5') + line(7, 'GPU_END', 'p1', 'worker=0,partition=0,gpu_ms=4'),
    ); // prettier-ignore
    expect(jobSpans(told)).toEqual([['p0', 5], ['p1', 4]]); // prettier-ignore
  });

  it('T3: one GPU_END of twenty is missing: one open span, nineteen as before', () => {
    const text = Array.from({ length: 20 }, (_, n) => whole(n * 100, `j${n}`)).join('');
    const all = jobSpans(read(text));
    const told = read(text.replace(/TIMELINE,\d+,GPU_END,j7,.*\n/, ''));
    expect(spansOf(told.last, 'picked_up', 'put_down').open).toEqual(['j7.0']);
    expect(jobSpans(told)).toEqual(all.filter(([proof]) => proof !== 'j7'));
    expect(told.last.state).toBe('interrupted');
    expect(told.problems).toEqual([]);
  });

  it('an id that comes twice at once is two attempts, each with its own spans', () => {
    const told = read(START + enqueued(1000, 'j') + enqueued(2000, 'j') + whole(100, 'j') + whole(103, 'j', 0, 1));
    expect(of(told.last, 'proof_named').map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(of(told.last, 'synthesis_started').map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(of(told.last, 'put_down').map(({ attempt, t }) => [attempt, t])).toEqual([[1, 140e6], [2, 143e6]]); // prettier-ignore
    const interleaved = (whole(100, 'j') + whole(103, 'j')).trimEnd().split('\n').sort((a, b) => Number(a.split(',')[1]) - Number(b.split(',')[1])); // prettier-ignore
    const mixed = read(`${interleaved.join('\n')}\n`);
    expect(of(mixed.last, 'put_down').map(({ attempt, t }) => [attempt, t])).toEqual([[1, 140e6], [2, 143e6]]); // prettier-ignore
  });

  it('a line that says again what was said is told, and changes nothing', () => {
    const told = read(whole(100, 'a') + line(150, 'GPU_END', 'a', 'worker=0,partition=0,gpu_ms=29'));
    expect(of(told.last, 'put_down')).toHaveLength(1);
    expect(told.problems).toMatchObject([{ kind: 'note', line: 7 }]);
  });

  it('a job that waits when the log ends is not lost; one that another took the place of, or that idle workers never took, is', () => {
    const queued = (ms: number, job: string) =>
      line(ms, 'SYNTH_START', job, 'kind=winning-post') +
      line(ms + 1, 'SYNTH_END', job, 'synth_ms=1') +
      line(ms + 1, 'GPU_QUEUE', job, 'monolithic');
    const busy = queued(1, 'w1') + line(3, 'GPU_PICKUP', 'w1', 'worker=0') + line(3, 'GPU_START', 'w1', 'worker=0');
    expect(kinds(read(busy + queued(10, 'w2')))).toEqual([]);
    const replaced = read(
      busy +
        queued(10, 'w2') +
        queued(20, 'w3') +
        line(30, 'GPU_END', 'w1', 'worker=0,gpu_ms=27') +
        line(31, 'GPU_PICKUP', 'w3', 'worker=0'),
    );
    expect(replaced.problems).toMatchObject([
      { kind: 'lost_work', problem: expect.stringMatching(/^partition 0 of w2 was queued at 0\.011 s.* w3 was queued/) },
    ]);
    expect(verdicts(replaced.last)).toEqual(['w2 1 failed lost_by_engine']);
    expect(of(replaced.last, 'stage_failed')).toMatchObject([{ proof: 'w2', code: 'lost_by_engine', t: 31e6 }]);
    // Another job's partitions wait in order; that a PoSt came after them loses none.
    const behind = read(busy + line(10, 'SYNTH_START', 'p', 'partition=0') + line(11, 'GPU_QUEUE', 'p', 'partition=0') + queued(20, 'w3'));
    expect(kinds(behind)).toEqual([]);
    const idle = read(whole(1, 'a') + line(50, 'GPU_QUEUE', 'p', 'partition=3') + line(9_000, 'SYNTH_START', 'z', 'partition=0'));
    expect(idle.problems).toMatchObject([{ kind: 'lost_work', problem: expect.stringMatching(/^partition 3 of p .* idle/) }]);
  });
});

describe('engines', () => {
  it('one engine start is one run; two in a file are two', () => {
    const told = read(Buffer.concat([fixture('sigterm'), fixture('sigkill'), fixture('badtype'), fixture('gw1a')]));
    expect(told.runs.map(({ state, endedBy, events }) => [state, endedBy, events.length])).toEqual([
      ['interrupted', 'the daemon was started again', read(fixture('sigterm')).last.events.length],
      ['interrupted', 'the daemon was started again', read(fixture('sigkill')).last.events.length],
      ['finished', 'the log ends', read(fixture('gw1a')).last.events.length],
    ]);
    expect(new Set(told.runs.map(({ run }) => run.uid)).size).toBe(3);
    expect(told.runs[2]).toEqual(read(fixture('gw1a')).last);
  });

  it('T8: without tracing lines a stamp that falls back is another engine, with another zero', () => {
    const told = read(whole(60_000, 'a') + whole(90_000, 'b') + whole(1_500, 'a') + whole(2_000, 'c'));
    expect(told.runs.map((run) => of(run, 'put_down').map(({ t }) => t))).toEqual([[60_040e6, 90_040e6], [1_540e6, 2_040e6]]); // prettier-ignore
    expect(told.runs.map(({ run }) => run.startedWallNs)).toEqual(['0', '0']);
    // Threads that write a little out of order are no restart.
    expect(read(whole(60_000, 'a') + whole(59_500, 'b')).runs).toHaveLength(1);
  });

  it('T8: a wall clock that is set back, or on, moves no event and is told', () => {
    const before =
      START + enqueued(1_000_000, 'a') + whole(1_100, 'a') + tracing(1_200_000, 'cuzk_core::engine: background PCE extraction complete');
    for (const [step, us] of [[-90, -88_000_000], [3_600, 3_602_000_000]] as const) {
      const after = tracing(us, 'cuzk_core::engine: background PCE extraction complete') + whole(2_000, 'b') + enqueued(us + 500_000, 'c');
      const told = read(before + after);
      const [stepped] = of(told.last, 'clock_step');
      expect(Math.abs(Number(stepped?.step_ns) / 1e9 - step)).toBeLessThan(1.3);
      const [, accepted] = of(told.last, 'proof_accepted');
      expect(accepted?.proof).toBe('c');
      expect(Math.abs((accepted?.t ?? 0) - 2.5e9)).toBeLessThan(1.3e9);
      expect(of(told.last, 'put_down').map(({ t }) => t)).toEqual([1_140e6, 2_040e6]);
    } // prettier-ignore
  });

  it('a log that begins in mid-life finds its zero from two lines about one thing', () => {
    const text = fixture('gw2a').toString('utf8');
    const cut = text.slice(text.indexOf('TIMELINE,10339'));
    const [whole, part] = [read(text).last, read(cut).last];
    expect(Math.abs(Number(BigInt(part.run.startedWallNs) - BigInt(whole.run.startedWallNs)))).toBeLessThan(2e6);
    const ends = (run: typeof whole) => of(run, 'put_down').map(({ t, proof, partition }) => [t, proof, partition]);
    expect(ends(part)).toEqual(ends(whole));
    expect(part.process?.hello.devices).toMatchObject([{ device: 'gpu0' }]);
  });

  it('what was before a log that begins in mid-life is not told of; an engine that works is ready', () => {
    const told = read(whole(7_000_000, 'a'));
    expect(told.last.process).toMatchObject({ startedSeq: 1, startedT: 7_000_000e6 });
    expect(told.last.events.slice(0, 3).map(({ e, t }) => [e, t])).toEqual([['hello', 0], ['run_started', 7_000_000e6], ['ready', 7_000_000e6]]); // prettier-ignore
    expect(read(START + whole(100, 'a')).last.process).toMatchObject({ startedSeq: 1, startedT: 0 });
    expect(of(read(fixture('gw1a')).last, 'ready').map(({ t }) => t)).toEqual([118_000]);
  });

  it('a proof that failed ends when its last partition is off its worker', () => {
    const run = read(fixture('fewparts')).last;
    const [failed] = of(run, 'proof_ended');
    expect(of(run, 'stage_failed').map(({ t, partition }) => [t, partition])).toEqual([[5_190_104_000, 2], [5_190_388_000, 3]]); // prettier-ignore
    expect(failed).toMatchObject({ outcome: 'failed', t: 23_569_000_000, message: 'partition 2 >= vanilla_proofs.len() 2' });
    // Where the log ends before that, it has failed all the same.
    const bytes = fixture('fewparts');
    const cut = read(bytes.subarray(0, bytes.indexOf('CUZK_TIMING: mutex_held')));
    expect(verdicts(cut.last)).toEqual(['porep-1000-1 1 failed synthesis_failed']);
    expect(spansOf(cut.last, 'picked_up', 'put_down').open).toEqual(['porep-1000-1.0']);
  });

  it('a first half of a log gives the same run, process and events as far as it goes', () => {
    for (const name of ['gw2a', 'fail', 'sigint', 'nosplit-stderr']) {
      const bytes = fixture(name);
      const all = read(bytes).last;
      for (const share of [0.3, 0.6, 0.9]) {
        const open = read(bytes.subarray(0, Math.floor(bytes.length * share)), false).last;
        expect(open.run).toEqual(all.run);
        expect(open.process).toEqual(all.process);
        expect(open.events.length).toBeGreaterThan(5);
        expect(all.events.slice(0, open.events.length)).toEqual(open.events);
      }
    }
  });

  it('P18: params that load are told with the circuit of the proofs that wait for them', () => {
    const run = read(fixture('gw1a')).last;
    expect(of(run, 'params_load_started').map(({ t, circuit }) => [Math.round(t / 1e6), circuit])).toEqual([[140, 'porep-32g']]);
    expect(of(run, 'params_load_ended')).toMatchObject([{ circuit: 'porep-32g', ok: true, t: 1_420_847_000 }]);
    const big = read(START + enqueued(1000, 'j') + tracing(2000, 'cuzk_core::srs_manager: loading SRS from disk circuit_id=porep-64g path=/p file_size_gib=90') + tracing(90e6, 'cuzk_core::engine: dispatching per-partition synthesis (budget-gated) job_id=j num_partitions=10 budget_available_gib=1')); // prettier-ignore
    expect(of(big.last, 'params_load_started')).toMatchObject([{ circuit: 'porep-64g', bytes: 90 * 2 ** 30 }]);
    expect(of(big.last, 'proof_accepted').map(({ t, circuit, partitions }) => [t, circuit, partitions])).toEqual([[1e6, 'porep-32g', 0], [1e6, 'porep-64g', 10]]); // prettier-ignore
  });
});

describe('lock windows', () => {
  const call = (ms: number, job: string, worker: number) =>
    line(ms, 'GPU_PICKUP', job, `worker=${worker},partition=0`) + line(ms, 'GPU_START', job, `worker=${worker},partition=0`);
  const took = (pre: number, wait: number) => `CUZK_TIMING: pre_lock_cpu_ms=${pre} mutex_wait_ms=${wait}\n`;
  const gave = (held: number, total: number) => `CUZK_TIMING: mutex_held_ms=${held} total_start_fn_ms=${total}\n`;
  const windows = (told: Told) =>
    of(told.last, 'lock_granted').map(({ t, proof }, n) => [proof, t / 1e6, (of(told.last, 'lock_released')[n]?.t ?? NaN) / 1e6]);

  it("two calls that overlap: each window is its own call's", () => {
    const told = read(
      call(100, 'a', 0) +
        took(10, 0) +
        call(105, 'b', 1) +
        gave(200, 210) +
        took(10, 195) +
        line(312, 'SYNTH_START', 'c', 'partition=0') +
        gave(100, 305) +
        line(412, 'SYNTH_START', 'd', 'partition=0'),
    );
    expect(windows(told)).toEqual([['a', 110, 310], ['b', 310, 410]]); // prettier-ignore
    expect(of(told.last, 'measured').map(({ durations }) => (durations as Record<string, number>).lock_error)).toEqual([4e6, 4e6]);
  });

  it('two calls fit: the earlier that agrees with the wait', () => {
    // Both ends would fall into the wide stretch; only b waited 195 ms.
    const told = read(
      call(100, 'a', 0) +
        call(105, 'b', 1) +
        took(5, 0) +
        line(300, 'SYNTH_START', 'c', 'partition=0') +
        took(10, 195) +
        gave(100, 305) +
        line(900, 'SYNTH_START', 'd', 'partition=0'),
    );
    expect(windows(told)).toEqual([['a', 305, 405]]);
    const waited = read(
      call(100, 'a', 0) +
        took(5, 0) +
        gave(200, 205) +
        line(310, 'GPU_END', 'a', 'worker=0,partition=0,gpu_ms=210') +
        call(320, 'b', 1) +
        took(3, 0) +
        gave(50, 53) +
        line(380, 'SYNTH_START', 'd', 'partition=0'),
    );
    expect(windows(waited)).toEqual([['a', 105, 305], ['b', 323, 373]]); // prettier-ignore
  });

  it('the earlier call fits the end, but the lock was granted too late for it', () => {
    const stamp = (ms: number) => line(ms, 'SYNTH_START', `s${ms}`, 'partition=0');
    const told = read(call(100, 'a', 0) + call(180, 'b', 1) + stamp(380) + took(10, 195) + stamp(390) + gave(100, 305) + stamp(900));
    expect(windows(told)).toEqual([['b', 385, 485]]);
  });

  it('a call whose end would lie long before the line is not the one: it failed, and has no end', () => {
    const told = read(
      call(100, 'failed', 0) + call(1_000, 'b', 1) + line(1_190, 'SYNTH_START', 'c', 'partition=0') + gave(190, 200) + line(1_210, 'SYNTH_START', 'd', 'partition=0'),
    ); // prettier-ignore
    expect(windows(told)).toEqual([['b', 1_010, 1_200]]);
    expect(spansOf(told.last, 'picked_up', 'put_down').open).toEqual(['failed.0', 'b.0']);
  });

  it('none fits: not recorded, and told', () => {
    const told = read(
      call(100, 'a', 0) +
        took(1, 0) +
        gave(5_000, 5_001) +
        line(300, 'SYNTH_START', 'c', 'partition=0') +
        line(301, 'SYNTH_START', 'd', 'partition=0') +
        line(302, 'SYNTH_START', 'e', 'partition=0'),
    );
    expect(windows(told)).toEqual([]);
    expect(told.problems).toMatchObject([{ kind: 'note', line: 4, problem: expect.stringContaining('not recorded') }]);
  });

  it('the end of a call by the µs stamp of its worker', () => {
    const returned = (us: number, worker: number) =>
      tracing(
        us,
        `cuzk_core::engine: GPU_TIMING spawn_blocking prove_start worker_id=${worker} partition=Some(0) spawn_to_enter_ms=0 prove_start_ms=1`,
      );
    // Both calls began at once with equal figures: only the line after the end tells them apart.
    const told = read(
      START +
        call(100, 'a', 0) +
        call(100, 'b', 1) +
        took(5, 0) +
        gave(200, 205) +
        returned(305_400, 1) +
        took(5, 200) +
        gave(100, 305) +
        returned(405_700, 0),
    );
    expect(windows(told)).toEqual([['b', 105, 305], ['a', 305, 405]]); // prettier-ignore
    expect(of(told.last, 'measured').map(({ durations }) => (durations as Record<string, number>).lock_error)).toEqual([
      1_401_000, 1_701_000,
    ]);
  });

  it('windows of one device never overlap, of two they may', () => {
    for (const name of ['gw1a', 'gw2a', 'fail', 'fewparts', 'sigint', 'nosplit-stderr'])
      expect(locksOf(read(fixture(name)).last).overlapNs).toBeLessThanOrEqual(0);
    const two =
      START +
      tracing(10, 'cuzk_core::engine: initializing GPU workers num_gpus=2 gpu_workers_per_device=1 total_workers=2 gpus=[0, 1]') +
      [0, 1].map((n) => tracing(20, `cuzk_core::engine: pipeline GPU worker started worker_id=${n} gpu=${n} sub_id=0`)).join('');
    const told = read(
      two +
        call(100, 'a', 0) +
        call(102, 'b', 1) +
        took(5, 0) +
        took(8, 0) +
        gave(200, 205) +
        gave(300, 308) +
        line(411, 'SYNTH_START', 'c', 'partition=0'),
    );
    expect(of(told.last, 'lock_granted').map(({ device, proof, t }) => [device, proof, t / 1e6])).toEqual([['gpu0', 'a', 105], ['gpu1', 'b', 110]]); // prettier-ignore
    expect(told.last.process?.hello.devices).toMatchObject([{ device: 'gpu0' }, { device: 'gpu1' }]);
  });
});
