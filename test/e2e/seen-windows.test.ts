/** Real proofs through the command line: the three windows hold for one worker and for two, and a proof file is worth what it says. */
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectNoHole, hasProver, Stage } from '../support/seen.ts';

const SMALL = ['--circuit', 'squarings', '--constraints', '400', '--partitions', '3', '--count', '2'];
const PRESETS = { 'per-partition': 1, interlock: 2 } as const;
type Preset = keyof typeof PRESETS;

/** What `show last --json` must say of a run whose proofs were all made. */
async function expectWindowsHold(stage: Stage, proofs: number, partitions: number): Promise<void> {
  const report = await stage.report('last');
  expect(report).toMatchObject({ state: 'finished', backend: 'cpu', events: { lost: 0, unparsed: 0 } });
  expect(report.proofs.map((proof) => proof.outcome)).toEqual(Array.from({ length: proofs }, () => 'valid'));
  for (const proof of report.proofs) {
    expect(proof.partitions.map((partition) => partition.outcome)).toEqual(Array.from({ length: partitions }, () => 'valid'));
  }
  expect(report.devices).toHaveLength(1);
  for (const windows of report.devices) {
    expect(windows.kernel_ns).toBeGreaterThan(0);
    expect(windows.kernel_ns).toBeLessThanOrEqual(windows.lock_held_ns ?? -1);
    expect(windows.lock_held_ns).toBeLessThanOrEqual(windows.job_span_ns ?? -1);
    expect(windows.job_span_ns).toBeLessThanOrEqual(windows.wall_ns);
    expect(windows.wall_ns).toBe(report.wall_ns);
  }
  const events = await stage.events('last');
  expect(events).toHaveLength(report.events.count);
  expectNoHole(events);
}

describe.skipIf(!hasProver)('real proofs (needs the built prover)', () => {
  it.each(Object.keys(PRESETS) as Preset[])('kernel ≤ lock ≤ job ≤ wall, nothing lost, every proof valid: %s', async (preset) => {
    const stage = new Stage();
    await stage.run('prove', ...SMALL, '--backend', 'cpu', '--scheduler', preset);
    await expectWindowsHold(stage, 2, 3);
    const { scheduler, proofs } = await stage.report('last');
    expect(scheduler).toMatchObject({ preset, overrides: [], gpu_workers: PRESETS[preset] });
    const workers = new Set(proofs.flatMap((proof) => proof.partitions.map((partition) => partition.worker)));
    expect(workers.size).toBe(PRESETS[preset]);
  });

  it('the same for SHA-256', async () => {
    const stage = new Stage();
    await stage.run('prove', '--circuit', 'sha256', '--constraints', '30000', '--partitions', '2', '--scheduler', 'interlock');
    await expectWindowsHold(stage, 1, 2);
  });

  it('a proof file verifies, and not with a flipped bit', async () => {
    const stage = new Stage();
    await stage.run('prove', ...SMALL);
    const made = path.join(stage.folder, 'proofs', 'p1.json');
    const copy = path.join(stage.folder, 'copy.json');
    copyFileSync(made, copy);
    expect(await stage.start('verify', copy).ended).toMatchObject({ code: 0 });

    const text = readFileSync(made, 'utf8');
    const file = JSON.parse(text) as { params_digest: string; partitions: { public_inputs: string[]; proof: string }[] };
    const last = file.partitions.at(-1) as { public_inputs: string[]; proof: string };
    const hex = { 'the params digest': file.params_digest, 'a public input': last.public_inputs[0] ?? '', 'a proof': last.proof };
    for (const [what, digits] of Object.entries(hex)) {
      const middle = text.lastIndexOf(digits) + digits.length / 2;
      // The number that the digit stands for, and the digit's letter: 'a' is not 'A' in a file that is hashed.
      const letter = middle + text.slice(middle).search(/[a-f]/);
      for (const [at, bit] of [
        [middle, 1],
        [letter, 0x20],
      ] as const) {
        // prettier-ignore
        const bytes = Buffer.from(text);
        bytes[at] = (bytes[at] ?? 0) ^ bit;
        writeFileSync(copy, bytes);
        const { code, stderr } = await stage.start('verify', copy).ended;
        expect(code, `${what}, byte ${at} is now ${String.fromCharCode(bytes[at])}: ${stderr}`).toBe(4);
      }
    }
  });
});
