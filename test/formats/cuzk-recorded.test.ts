/** Every log of the real daemon, with what a careful reader finds in it: each event, each verdict, each window of the lock. */
import { describe, expect, it } from 'vitest';
import { decodeLine } from '../../electron/formats/journal/decode.ts';
import { looksLikeCuzk } from '../../electron/formats/cuzk/reader.ts';
import { countsOf, fixture, locksOf, of, read, spansOf, verdicts } from './cuzk-support.ts';

const WD = (n: number) => `wdpost-1000-${n}-[192 83 106 240 232 10 74 65]`;
const WIN = (n: number) => `winpost-1000-c0536af0e80a4a41-s${n}`;

interface Expected {
  state: string;
  counts: Record<string, number>;
  verdicts: string[];
  problems?: { kind: string; line: number; says: RegExp }[];
  /** Windows placed, and ms of mutex_held_ms of them. */
  locks?: [number, number];
  openJobs?: number;
  openSyntheses?: number;
}

/** Lines of the log by what they are, counted here by other means than the reader's. */
function linesOf(name: string): Record<string, number> {
  const text = fixture(name).toString('utf8');
  const counts: Record<string, number> = {};
  for (const [, event] of text.matchAll(/TIMELINE,\d+,(SYNTH_START|SYNTH_END|GPU_QUEUE|GPU_PICKUP|GPU_START|GPU_END)/g))
    counts[event as string] = (counts[event as string] ?? 0) + 1;
  counts.held = [...text.matchAll(/mutex_held_ms=(\d+)/g)].reduce((sum, [, ms]) => sum + Number(ms), 0);
  return counts;
}

const six = (synth: number, ended: number, queued: number, picked: number, called: number, down: number) => ({
  synthesis_started: synth, synthesis_ended: ended, queued, picked_up: picked, call_started: called, put_down: down,
}); // prettier-ignore
const porep = (n: number, outcome: string) => `porep-1000-${n} 1 ${outcome}`;

const RECORDED: Record<string, Expected> = {
  gw1a: {
    state: 'finished', counts: { ...six(12, 12, 12, 12, 12, 12), ready: 1, proof_named: 6, proof_accepted: 12, params_load_ended: 1, partition_ended: 12 },
    verdicts: [1, 2, 3, 4, 5, 6].map((n) => porep(n, 'valid')), locks: [12, 340_281],
  },
  gw2a: {
    state: 'finished', counts: { ...six(12, 12, 12, 12, 12, 12), ready: 1, proof_named: 6, proof_accepted: 12, params_load_ended: 1, partition_ended: 12 },
    verdicts: [1, 2, 3, 4, 5, 6].map((n) => porep(n, 'valid')), locks: [12, 223_716],
  },
  fail: {
    state: 'finished', counts: { ...six(12, 11, 11, 11, 11, 11), stage_failed: 1, partition_ended: 12, params_load_started: 3, params_load_ended: 3 },
    verdicts: [
      ...[0, 1, 2, 3].map((n) => `${WD(n)} 1 valid`), `${WIN(1)} 1 failed synthesis_failed`, `${WIN(2)} 1 valid`, porep(9, 'failed bad_request'),
      porep(2, 'failed bad_request'), porep(3, 'valid'), porep(1, 'valid'), porep(4, 'invalid verify_failed'),
    ],
    locks: [11, 124_079], openSyntheses: 1,
  },
  fewparts: {
    state: 'finished', counts: { ...six(6, 4, 4, 4, 3, 4), stage_failed: 2, partition_ended: 6 },
    verdicts: [porep(1, 'failed synthesis_failed'), `${WD(0)} 1 valid`, `${WD(1)} 1 valid`], locks: [3, 20_146], openSyntheses: 2,
  },
  noparams: {
    state: 'finished', counts: { synthesis_started: 4, stage_failed: 4, partition_ended: 4, proof_accepted: 6 },
    verdicts: [porep(1, ''), `${WIN(2)} 1 `, `${WD(2)} 1 `, `${WIN(5)} 1 `, `${WD(5)} 1 `, porep(4, '')].map((start) => `${start.trim()} failed params_missing`),
    openSyntheses: 4,
  },
  sigint: {
    state: 'interrupted', counts: { ...six(4, 4, 4, 3, 3, 3), stage_failed: 1, proof_accepted: 5 },
    verdicts: [`${WIN(1)} 1 valid`, `${WD(1)} 1 valid`, `${WD(3)} 1 valid`, `${WIN(3)} 1 failed lost_by_engine`], locks: [3, 6_487],
    problems: [
      { kind: 'note', line: 142, says: /told to stop/ },
      { kind: 'lost_work', line: 103, says: /partition 0 of winpost-1000-c0536af0e80a4a41-s3 was queued at 3\.435 s.*wdpost-1000-3-\[192.* probably took its place/ },
    ],
  },
  sigterm: {
    state: 'interrupted', counts: { ...six(4, 4, 4, 3, 3, 1), stage_failed: 1 }, verdicts: [`${WIN(1)} 1 valid`, `${WIN(3)} 1 failed lost_by_engine`],
    locks: [1, 4_532], openJobs: 2, problems: [{ kind: 'lost_work', line: 99, says: /s3 was queued at 3\.468 s/ }],
  },
  sigkill: {
    state: 'interrupted', counts: { ...six(4, 4, 4, 3, 3, 1), stage_failed: 1 }, verdicts: [`${WIN(1)} 1 valid`, `${WIN(3)} 1 failed lost_by_engine`],
    locks: [1, 4_566], openJobs: 2, problems: [{ kind: 'lost_work', line: 103, says: /s3 was queued at 3\.462 s/ }],
  },
  'nosplit-stdout': {
    state: 'finished', counts: { synthesis_started: 8, synthesis_ended: 8, queued: 8, picked_up: 8, put_down: 8, partition_ended: 8, ready: 1 },
    verdicts: [`${WIN(1)} 1 valid`, `${WD(1)} 1 valid`, `${WIN(3)} 1 valid`, `${WD(3)} 1 valid`, porep(2, 'valid'), porep(1, 'valid')],
  },
  'nosplit-stderr': {
    state: 'interrupted', counts: { ...six(8, 8, 8, 8, 0, 0), proof_named: 6, partition_ended: 0, proof_accepted: 0 }, verdicts: [], locks: [7, 66_129],
    openJobs: 8,
    problems: [{ kind: 'note', line: 125, says: /lock window not recorded: no stamped line/ }],
  },
  badkey: { state: 'finished', counts: { ready: 1, proof_accepted: 0 }, verdicts: [] },
  badlisten: { state: 'failed', counts: { ready: 0 }, verdicts: [], problems: [{ kind: 'note', line: 13, says: /invalid listen address: localhost:9840/ }] },
  portinuse: { state: 'failed', counts: { ready: 1 }, verdicts: [], problems: [{ kind: 'note', line: 15, says: /gRPC server error/ }] },
  statusport: {
    state: 'finished', counts: { ready: 1 }, verdicts: [],
    problems: [{ kind: 'note', line: 16, says: /failed to bind status HTTP server/ }, { kind: 'note', line: 19, says: /told to stop/ }],
  },
  'exit-noconfig': { state: 'finished', counts: { ready: 1 }, verdicts: [] },
  'exit-unix': { state: 'finished', counts: { ready: 1 }, verdicts: [], problems: [{ kind: 'note', line: 19, says: /told to stop/ }] },
}; // prettier-ignore

const tableRows: Record<string, unknown>[] = [];

describe('recorded logs', () => {
  for (const [name, expected] of Object.entries(RECORDED)) {
    it(name, () => {
      const told = read(fixture(name));
      expect(told.runs).toHaveLength(1);
      const run = told.last;
      expect(run.state).toBe(expected.state);
      const counts = countsOf(run) as Record<string, number>;
      for (const [event, count] of Object.entries(expected.counts)) expect(counts[event] ?? 0, event).toBe(count);
      expect(verdicts(run)).toEqual(expected.verdicts);
      expect(told.problems.map(({ kind, line }) => ({ kind, line }))).toEqual(
        (expected.problems ?? []).map(({ kind, line }) => ({ kind, line })),
      );
      for (const [index, { says }] of (expected.problems ?? []).entries()) expect(told.problems[index]?.problem).toMatch(says);

      const lines = linesOf(name);
      if (name !== 'nosplit-stdout') {
        const pairs = [['SYNTH_START', 'synthesis_started'], ['SYNTH_END', 'synthesis_ended'], ['GPU_QUEUE', 'queued'], ['GPU_PICKUP', 'picked_up']] as const; // prettier-ignore
        for (const [line, event] of pairs) expect(counts[event] ?? 0, line).toBe(lines[line] ?? 0);
      }
      expect(spansOf(run, 'picked_up', 'put_down').open).toHaveLength(expected.openJobs ?? 0);
      expect(spansOf(run, 'synthesis_started', 'synthesis_ended').open).toHaveLength(expected.openSyntheses ?? 0);

      const locks = locksOf(run);
      expect([locks.windows, Math.round(locks.heldMs)]).toEqual(expected.locks ?? [0, 0]);
      expect(Math.abs(locks.windowMs - locks.heldMs)).toBeLessThanOrEqual(locks.errorMs);
      expect(locks.overlapNs).toBeLessThanOrEqual(0);
      // What was not placed is named, and only the log without stamps has any.
      if (name !== 'nosplit-stderr') expect(Math.round(locks.heldMs)).toBe(lines.held);
      tableRows.push({
        log: name,
        windows: locks.windows,
        'mutex_held ms': lines.held,
        'windows ms': Math.round(locks.windowMs),
        '± ms': Math.round(locks.errorMs),
      });
    });
  }

  it('has no engine in a log of a configuration that was refused', () => {
    const told = read(fixture('badtype'));
    expect(told.runs).toEqual([]);
    expect(told.problems).toMatchObject([{ kind: 'note', line: 1, offset: 0, problem: expect.stringContaining('failed to load config') }]);
  });

  it('prints the lock windows', () => {
    console.table(tableRows);
    expect(tableRows).toHaveLength(Object.keys(RECORDED).length);
  });
});

describe('what each recording tells', () => {
  it('is a journal that the strict decoder takes, numbered without holes', () => {
    for (const name of Object.keys(RECORDED)) {
      for (const [index, event] of read(fixture(name)).last.events.entries()) {
        expect(event.seq).toBe(index);
        const decoded = decodeLine(JSON.stringify(event), 0);
        expect(decoded.ok ? '' : `${decoded.problem}: ${JSON.stringify(event)}`).toBe('');
      }
    }
  });

  it('never tells an instant before a horizon that it told, but what an acceptance is told again with', () => {
    for (const name of Object.keys(RECORDED)) {
      const bytes = fixture(name);
      const pieces = Array.from({ length: Math.ceil(bytes.length / 300) }, (_, index) => bytes.subarray(index * 300, index * 300 + 300));
      const late = read(pieces).late.filter(({ event }) => event.e !== 'proof_accepted');
      if (name !== 'nosplit-stdout') expect(late).toEqual([]);
      else expect(late.every(({ event }) => event.e === 'synthesis_started')).toBe(true);
    }
  });

  it('finds devices, workers and settings', () => {
    const { run, process } = read(fixture('gw2a')).last;
    expect(run.found).toMatchObject({
      total_budget_gib: '256', gpu_workers_per_device: '2', num_gpus: '1', synth_worker_count: '2', max_partitions_in_budget: '18', synthesis_concurrency: '1',
      gpu_threads: '2', rayon_threads: '2', max_batch_size: '1', listen: '127.0.0.1:9820',
    }); // prettier-ignore
    expect(run.scheduler).toBeNull();
    expect(run.startedWallNs).toBe('1796049366213447000');
    expect(process?.hello.devices).toEqual([{ device: 'gpu0', kind: 'cuda', name: 'GPU 0', workers_max: 2, clock: 'host' }]);
    expect(new Set(of(read(fixture('gw2a')).last, 'picked_up').map(({ device, worker }) => `${device} ${worker}`))).toEqual(
      new Set(['gpu0 0', 'gpu0 1']),
    );
  });

  it('mends both torn lines', () => {
    const gw1a = of(read(fixture('gw1a')).last, 'put_down').filter(({ proof, partition }) => proof === 'porep-1000-6' && partition === 0);
    expect(gw1a.map(({ t }) => t)).toEqual([333_204_000_000]);
    const fail = of(read(fixture('fail')).last, 'call_started')[0];
    expect(fail).toMatchObject({ t: 246_000_000, worker: 1, partition: 0 });
  });

  it('says which partitions a failed self-check found invalid', () => {
    const ended = of(read(fixture('fail')).last, 'partition_ended').filter(({ proof }) => proof === 'porep-1000-4');
    expect(ended.map(({ partition, outcome }) => `${partition} ${outcome}`)).toEqual(['0 invalid', '1 invalid']);
  });

  it('lets go of a partition that was skipped because its job had failed', () => {
    const run = read(fixture('fewparts')).last;
    const [skipped] = of(run, 'put_down').filter(({ proof, partition }) => proof === 'porep-1000-1' && partition === 1);
    expect(skipped?.t).toBeLessThan(5_279_000_000);
    expect(of(run, 'partition_ended').filter(({ proof }) => proof === 'porep-1000-1').map(({ partition, outcome }) => `${partition} ${outcome}`)).toEqual(['2 failed', '3 failed', '1 cancelled', '0 cancelled']); // prettier-ignore
  });

  it('knows a cuzk log from its first bytes', () => {
    for (const name of Object.keys(RECORDED)) expect(looksLikeCuzk(fixture(name).subarray(0, 4096)), name).toBe(true);
    for (const text of ['', '{"interlock_run":1}\n', 'Nov 30 sshd[1]: hello\n', 'TIMELINE of events'])
      expect(looksLikeCuzk(Buffer.from(text))).toBe(false);
  });
});
