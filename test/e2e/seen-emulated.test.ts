/**
 * Against the emulated device, which keeps its own account on its own clock: what the second worker gains, and that kernels and the gaps
 * between them are stored where the device says they were.
 *
 *   device's clock   own = offset + t · (1 + drift)     t: the process's clock (FORMAT.md, sections 1 and 8)
 *   so               t = (own − offset) / (1 + drift)   known here from the flags, not from the journal's clock_map
 */
import { describe, expect, it } from 'vitest';
import { expectNoHole, hasProver, only, pair, Stage, sum, type Stored, type StoredSpan } from '../support/seen.ts';

const OFFSET_NS = 3e9;
const DRIFT = 50e-6;
const CLOCK = 'drift=50ppm,offset=3s';
/** A tenth of a millisecond. */
const CLOSE_NS = 100_000;
const MS = 1e6;
const STAGES = 'synthesis=150ms,prepare=60ms,kernels=120ms,finish=60ms';
const PROOFS = ['--circuit', 'squarings', '--constraints', '400'];

interface AccountLine {
  device: string;
  start: string;
  end: string;
  proof: string;
  partition: number;
}

/** The device's kernels on the process's clock. */
function mapAccount(text: string): StoredSpan[] {
  const mapped = (own: string) => (Number(own) - OFFSET_NS) / (1 + DRIFT);
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as AccountLine)
    .map(({ start, end, proof, partition }) => ({ proof, partition, startNs: mapped(start), endNs: mapped(end) }))
    .sort((a, b) => a.startNs - b.startNs);
}

function lengths(spans: readonly StoredSpan[]): number[] {
  return spans.map(({ startNs, endNs }) => endNs - startNs);
}

/** Spans one by one: whose they are, and how far off their edges. */
function expectSameSpans(stored: readonly StoredSpan[], own: readonly StoredSpan[]): void {
  const names = (spans: readonly StoredSpan[]) => spans.map(({ proof, partition }) => `${proof}.${partition}`);
  expect(names(stored)).toEqual(names(own));
  const off = stored.flatMap((span, index) => {
    const { startNs = NaN, endNs = NaN } = own[index] ?? {};
    return [Math.abs(span.startNs - startNs), Math.abs(span.endNs - endNs)];
  });
  expect(Math.max(...off), 'the worst edge, in ns').toBeLessThanOrEqual(CLOSE_NS);
}

/** The time between the two kernels of each partition. */
function between(kernels: readonly StoredSpan[]): StoredSpan[] {
  const first = new Map<string, StoredSpan>();
  const gaps: StoredSpan[] = [];
  for (const kernel of kernels) {
    const key = `${kernel.proof} ${kernel.partition}`;
    const before = first.get(key);
    if (before) gaps.push({ ...kernel, startNs: before.endNs, endNs: kernel.startNs });
    else first.set(key, kernel);
  }
  return gaps;
}

/** From the first proof's acceptance to the last proof's end. */
function makespanNs(events: readonly Stored[]): number {
  const accepted = only(events, 'proof_accepted').map((event) => event.t);
  const ended = only(events, 'proof_ended').map((event) => event.t);
  return Math.max(...ended) - Math.min(...accepted);
}

/** Three proofs of ten partitions; answers the stored events and the device's account. */
async function proveThree(stage: Stage, preset: string): Promise<{ events: Stored[]; account: string }> {
  const read = stage.keep('device-account.ndjson');
  await stage.run(
    'prove', ...PROOFS, '--partitions', '10', '--count', '3', '--backend', 'emulated', '--emulate', `${STAGES},${CLOCK}`,
    '--scheduler', preset, '--partitions-in-flight', '10', '--synthesis-workers', '8',
  ); // prettier-ignore
  const events = await stage.events('last');
  expect(only(events, 'proof_ended').map((event) => event.outcome)).toEqual(['valid', 'valid', 'valid']);
  expectNoHole(events);
  return { events, account: read() };
}

describe.skipIf(!hasProver)('the emulated device (needs the built prover)', () => {
  it('the interlock has at least 1.7 times the throughput; kernels are stored where the device says', async () => {
    const stage = new Stage();
    const perPartition = await proveThree(stage, 'per-partition');
    const interlock = await proveThree(stage, 'interlock');
    const gain = makespanNs(perPartition.events) / makespanNs(interlock.events);
    console.log(
      `per-partition ${makespanNs(perPartition.events) / MS} ms, interlock ${makespanNs(interlock.events) / MS} ms: ${gain.toFixed(3)} ×`,
    );
    expect(gain).toBeGreaterThanOrEqual(1.7);

    for (const { events, account } of [perPartition, interlock]) {
      const own = mapAccount(account);
      const stored = pair(events, 'kernel_started', 'kernel_ended');
      expect(stored).toHaveLength(30);
      // Not the device's own stamps: those are seconds off.
      const raw = JSON.parse(account.split('\n')[0] ?? '') as AccountLine;
      expect(Number(raw.start) - (stored[0]?.startNs ?? NaN)).toBeGreaterThan(OFFSET_NS - 1e6);
      expectSameSpans(stored, own);
      const difference = Math.abs(sum(lengths(stored)) - sum(lengths(own)));
      expect(difference, 'the sums differ, in ns').toBeLessThanOrEqual(CLOSE_NS);
      const [{ run }] = only(events, 'run_started') as [Stored<'run_started'>];
      const { devices } = await stage.report(run);
      expect(devices).toHaveLength(1);
      expect(devices[0]?.kernel_ns).toBe(sum(lengths(stored)));
      expect(devices[0]?.kernel_sum_ns).toBe(sum(lengths(stored)));
    }
  });

  it.each([1, 2, 5, 12, 50])('a gap of %i ms between the kernels of each partition is found', async (gapMs) => {
    const stage = new Stage();
    const read = stage.keep('device-account.ndjson');
    const emulate = `synthesis=5ms,prepare=1ms,kernels=20ms,finish=1ms,gap=${gapMs}ms,${CLOCK}`;
    await stage.run('prove', ...PROOFS, '--partitions', '10', '--backend', 'emulated', '--emulate', emulate);
    const events = await stage.events('last');
    const kernels = pair(events, 'kernel_started', 'kernel_ended');
    const [gaps, own] = [between(kernels), between(mapAccount(read()))];
    expect(gaps).toHaveLength(10);
    expectSameSpans(gaps, own);
    for (const [index, gap] of gaps.entries()) {
      const length = gap.endNs - gap.startNs;
      expect(Math.abs(length - (lengths(own)[index] ?? NaN))).toBeLessThanOrEqual(CLOSE_NS);
    }
    // On a busy machine the device itself is late with most gaps, and says so in its account; not with all.
    const late = lengths(own).map((length) => Math.abs(length - gapMs * MS));
    expect(Math.min(...late), `the injected length against ${lengths(own).join()} ns`).toBeLessThanOrEqual(CLOSE_NS);

    const held = pair(events, 'lock_granted', 'lock_released');
    for (const gap of gaps) {
      const lock = held.find((span) => span.proof === gap.proof && span.partition === gap.partition);
      expect(gap.startNs).toBeGreaterThan(lock?.startNs ?? Infinity);
      expect(gap.endNs).toBeLessThan(lock?.endNs ?? -Infinity);
    }
    // The timeline says why: the device waited for the host.
    expect(pair(events, 'wait_started', 'wait_ended')).toEqual(gaps);
    expect(new Set(only(events, 'wait_started').map((event) => event.wait))).toEqual(new Set(['host']));
  });
});
