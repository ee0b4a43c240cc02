/** The seed of this product, replayed: what the field's figure said, what was so, and what a second worker removes. */
import { describe, expect, it } from 'vitest';
import { CAUSES, type DeviceIdle } from '../../electron/contract/idle.ts';
import { simulationText } from '../../electron/doors/cli/simulate-text.ts';
import { answerSeed } from '../support/seed-answer.ts';
import { makeSeedStory, PARTITIONS, SECTORS, SEED_GAPS, SEED_STAGES } from '../support/seed-story.ts';
import { onlyNamed } from '../support/simulated-setup.ts';

const { prepare, h, additions, tails, wait, finish, turnaround } = SEED_STAGES;
const JOBS = SECTORS * PARTITIONS;
const KERNELS = h + additions + tails;
const JOB = prepare + KERNELS + wait + finish;
const seconds = (ns: number | null | undefined) => (ns ?? Number.NaN) / 1e9;

describe('the seed story', () => {
  const { report, idle, gaps, whatIf } = answerSeed();
  const device = idle.devices[0] as DeviceIdle;

  it('has the gaps that the field saw, from a GPU_END to the next GPU_START', () => {
    const events = makeSeedStory();
    const ups = onlyNamed(events, 'picked_up').map(({ t }) => t);
    const downs = onlyNamed(events, 'put_down').map(({ t }) => t);
    const legacy = ups.slice(1).map((t, index) => seconds(t - (downs[index] ?? 0)));
    const found = legacy.filter((gap) => gap > 1).sort((a, b) => b - a);
    expect(found.map((gap) => Number(gap.toFixed(1)))).toEqual([...SEED_GAPS]);
  });

  it('the legacy figure is printed beside kernels, lock and job, whatever comes out', () => {
    const percent = (ns: number | null, whole: number) => `${((100 * (ns ?? Number.NaN)) / whole).toFixed(1)} %`;
    const line = [
      `legacy efficiency ${(100 * (device.legacy_efficiency ?? Number.NaN)).toFixed(1)} %`,
      ...(['job', 'lock', 'kernel'] as const).map((window) => `${window} ${percent(device.windows[window].ns, device.wall_ns)} of wall`),
    ].join(', ');
    console.log(line);
    console.log(CAUSES.filter((cause) => device.idle_ns[cause] > 0).map((cause) => `${cause} ${seconds(device.idle_ns[cause]).toFixed(1)} s`).join(', ')); // prettier-ignore
    const span = JOBS * JOB + SEED_GAPS.reduce((sum, gap) => sum + gap, 0) + (JOBS - 1 - SEED_GAPS.length) * turnaround;
    expect(device.legacy_efficiency).toBeCloseTo((JOBS * JOB) / span, 6);
    expect(seconds(device.windows.job.ns)).toBeCloseTo(JOBS * JOB, 6);
    expect(seconds(device.windows.lock.ns)).toBeCloseTo(JOBS * JOB, 6);
    expect(seconds(device.windows.kernel.ns)).toBeCloseTo(JOBS * KERNELS, 6);
    // Three figures for one device: the legacy one calls it two thirds busy, its kernels run a fifth of the time.
    expect(device.legacy_efficiency).toBeGreaterThan(0.6);
    expect((device.windows.kernel.ns ?? 0) / device.wall_ns).toBeLessThan(0.25);
  });

  it('names why: preamble and epilogue inside the span that the legacy figure calls busy, cross-sector in the gaps', () => {
    const { idle_ns } = device;
    expect(seconds(idle_ns.preamble)).toBeCloseTo(JOBS * prepare, 6);
    expect(seconds(idle_ns.in_lock)).toBeCloseTo(JOBS * wait, 6);
    expect(device.details.in_lock.barrier).toBe(idle_ns.in_lock);
    // A finish counts as epilogue while something is ready: not at the end of the four sectors before a gap, nor of the last.
    expect(seconds(idle_ns.epilogue)).toBeCloseTo((JOBS - SEED_GAPS.length - 1) * finish, 6);
    const inGaps = SEED_GAPS.reduce((sum, gap) => sum + gap, 0) + SEED_GAPS.length * finish;
    expect(seconds(idle_ns.cross_sector)).toBeCloseTo(inGaps, 6);
    expect(
      gaps.gaps.slice(0, 4).map(({ cause, length_ns }) => [cause, Number((seconds(length_ns) - finish - prepare).toFixed(1))]),
    ).toEqual(SEED_GAPS.map((gap) => ['cross_sector', gap]));
    const sum = CAUSES.reduce((total, cause) => total + idle_ns[cause], (device.kernel_ns ?? 0) + device.unknown_ns);
    expect(sum).toBe(device.wall_ns);
  });

  it('the what-if’s second worker removes preamble and epilogue, and says that the gaps are not the pipeline’s own', () => {
    console.log(simulationText(whatIf, idle.devices));
    const [now, then] = [whatIf.base?.devices[0], whatIf.devices[0]] as [DeviceIdle, DeviceIdle];
    const per = (of: DeviceIdle, cause: 'preamble' | 'epilogue') => seconds(of.steady?.per_proof.idle_ns[cause]);
    expect(per(now, 'preamble')).toBeCloseTo(PARTITIONS * prepare, 1);
    expect(per(then, 'preamble')).toBeLessThan(0.35 * per(now, 'preamble'));
    expect(per(then, 'epilogue')).toBeLessThan(0.35 * per(now, 'epilogue'));
    // Simulated, today's pipeline has none of the four gaps: its base is faster than what was measured, and the answer shows by how much.
    expect(whatIf.base?.measured_s_per_proof).toBe(report.s_per_proof);
    expect(whatIf.base?.error_ratio ?? 0).toBeLessThan(-0.1);
    expect(whatIf.scheduler).toMatchObject({ preset: 'interlock', gpu_workers: 2, lock_scope: 'kernels', synthesis_workers: 10 });
  });

  it('memory that by the record could not have held one partition limits nothing, and the answer says so', () => {
    const small = answerSeed({ memory_budget_bytes: 2 ** 33 }).whatIf;
    expect(small.s_per_proof).toEqual(whatIf.s_per_proof);
    expect(small.rests_on.join('\n')).toMatch(/Memory is not looked at: by what is recorded the run could not have begun/);
    expect(whatIf.rests_on.join('\n')).toMatch(/Memory: 14\.0 GiB a partition/);
  });
});
