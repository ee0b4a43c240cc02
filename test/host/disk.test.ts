/** Data folders that are full or read-only (tmpfs; skipped by name where mounting is not permitted). */
import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { makeFakeProver, makeTempFolder } from '../support/fake-prover.ts';
import { ROOT, runCli, startHostProcess, until } from '../support/host-process.ts';

const mounts: string[] = [];

function mountTmpfs(options: string): string | null {
  const folder = makeTempFolder('tmpfs');
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `${options},mode=0700`, 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    return null;
  }
  mounts.push(folder);
  return folder;
}

function remount(folder: string, options: string): void {
  execFileSync('mount', ['-o', `remount,${options}`, folder], { stdio: 'ignore' });
}

/** Takes every last block. */
function fill(file: string): void {
  try {
    for (;;) appendFileSync(file, Buffer.alloc(64 * 1024));
  } catch {
    // full
  }
}

const PROVERS = existsSync(path.join(ROOT, 'native/target/release/interlock-prover')) ? ['scripted', 'real'] : ['scripted'];

const canMount = (() => {
  const folder = mountTmpfs('size=1m');
  if (folder) execFileSync('umount', [mounts.pop() ?? folder]);
  return folder !== null;
})();

afterEach(() => {
  for (const folder of mounts.splice(0)) execFileSync('umount', ['-l', folder]);
});

describe.skipIf(!canMount)('a data folder (needs the right to mount)', () => {
  it.each(PROVERS)(
    'that is full loses nothing: the proofs are finished once there is room again (%s prover)',
    async (which) => {
      const data = mountTmpfs('size=8m') ?? '';
      const host = await startHostProcess(data, which === 'scripted' ? { INTERLOCK_PROVER: makeFakeProver({ partitionMs: 50 }) } : {});
      const one = { circuit: 'squarings', constraints: 2000, partitions: 4 } as const;
      await host.client.prove(one);
      await until('params are there', async () => (await host.client.show_proof({ proof: 'p1' })).summary.state === 'valid');
      const { proofs } = await host.client.prove({ ...one, count: 6 });
      await until('at work', async () => (await host.client.status({})).queue.inProver > 0);
      const filler = path.join(data, 'filler');
      fill(filler);
      await new Promise((resolve) => setTimeout(resolve, 2_500));
      rmSync(filler);
      await until(
        'all ended',
        async () => {
          const { proofs: all } = await host.client.list_proofs({ state: 'any', limit: 100 });
          return proofs.every((id) => ['valid', 'failed'].includes(all.find((proof) => proof.proof === id)?.state ?? ''));
        },
        60_000,
      );
      const { proofs: all } = await host.client.list_proofs({ state: 'any', limit: 100 });
      for (const proof of all) {
        if (which === 'real') expect(proof.state, proof.message ?? '').toBe('valid');
        if (proof.state === 'valid') expect(existsSync(path.join(data, 'proofs', `${proof.proof}.json`))).toBe(true);
      }
      await host.kill('SIGTERM');
    },
    120_000,
  );

  it('that is full from the start is refused with the reason', async () => {
    const data = mountTmpfs('size=64k') ?? '';
    writeFileSync(path.join(data, 'filler'), Buffer.alloc(60 * 1024));
    const ran = await runCli(['prove', '--data-dir', data], { env: { INTERLOCK_PROVER: makeFakeProver({}) } });
    expect(ran.code).toBe(3);
    expect(ran.stderr).toMatch(/full|space/i);
  });

  it('that is read-only can be read, and says why it cannot be written', async () => {
    const data = mountTmpfs('size=8m') ?? '';
    const env = { INTERLOCK_PROVER: makeFakeProver({}) };
    expect((await runCli(['prove', '--circuit', 'squarings', '--partitions', '2', '--data-dir', data], { env })).code).toBe(0);
    remount(data, 'ro');
    const ran = await runCli(['prove', '--data-dir', data], { env });
    expect(ran.code).toBe(3);
    expect(ran.stderr).toMatch(/read-only/);
    const shown = await runCli(['show', 'last', '--json', '--data-dir', data], { env });
    expect([shown.code, shown.stderr]).toEqual([0, '']);
    remount(data, 'rw');
  });
});
