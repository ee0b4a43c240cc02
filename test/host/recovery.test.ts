/** A host that comes after one that was killed, and hosts that were stopped for a while. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, unlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { collectProof } from '../../electron/host/proof-files.ts';
import { makeFakeProver, makeTempFolder, type Scenario } from '../support/fake-prover.ts';
import { processesOf, startHostProcess, until, type HostProcess } from '../support/host-process.ts';

const fake = (scenario: Scenario = {}) => ({ INTERLOCK_PROVER: makeFakeProver(scenario) });
const prove = (host: HostProcess, count: number, partitions = 5) =>
  host.client.prove({ circuit: 'squarings', constraints: 100, partitions, count });
const messages = async (host: HostProcess) => (await host.client.status({})).notices.map((notice) => notice.message).join('\n');
const states = async (host: HostProcess) =>
  (await host.client.list_proofs({ state: 'any', limit: 100 })).proofs.map((proof) => proof.state);
const allValid = async (host: HostProcess) => (await states(host)).every((state) => state === 'valid');

async function eventsOf(host: HostProcess) {
  const { runs } = await host.client.list_runs({ limit: 100 });
  const pages = await Promise.all(runs.map((run) => host.client.read_events({ run: run.run, limit: 5000 })));
  return pages.flatMap((page) => page.lines.map((line) => JSON.parse(line) as { process: string; seq: number; e: string }));
}

describe('after the host was killed', () => {
  it('within the grace the next one goes on with the same process: no params loaded again, same run, nothing doubled', async () => {
    const data = makeTempFolder('adopt');
    const env = fake({ partitionMs: 400 });
    const first = await startHostProcess(data, env);
    await prove(first, 3);
    await until('at work', async () => (await first.client.status({})).queue.inProver === 3);
    const { pid } = (await first.client.status({})).prover;
    await first.kill('SIGKILL');
    const second = await startHostProcess(data, env);
    expect((await second.client.status({})).prover.pid).toBe(pid);
    await until('all valid', () => allValid(second));
    expect((await second.client.status({})).prover.pid).toBe(pid);
    expect(await messages(second)).toMatch(
      /The host was killed at \d\d:\d\d:\d\d; its prover .* was taken over; run r1 goes on; p1 is in work/,
    );
    const events = await eventsOf(second);
    expect(events.filter((event) => event.e === 'params_load_started')).toHaveLength(1);
    expect(events.filter((event) => event.e === 'proof_ended')).toHaveLength(3);
    expect(new Set(events.map((event) => `${event.process} ${event.seq}`)).size).toBe(events.length);
    await second.kill('SIGTERM');
    expect(processesOf(data)).toEqual([]);
  });

  it('after the drain it takes the finished proof from the spool, and the others go again', async () => {
    const data = makeTempFolder('drained');
    const env = fake({ partitionMs: 100 });
    const first = await startHostProcess(data, env);
    await prove(first, 3);
    await until('at work', async () => (await first.client.status({})).queue.inProver === 3);
    const { pid } = (await first.client.status({})).prover;
    await first.kill('SIGKILL');
    await until('the prover has drained', () => !processesOf(data).some((entry) => entry.pid === pid));
    const second = await startHostProcess(data, env);
    expect(await messages(second)).toMatch(
      /The host was killed at .*run r1 was interrupted; p2 and p3 go again; p1 had been finished and was kept\./,
    );
    await until('all valid', () => allValid(second));
    const attempts = (await second.client.list_proofs({ state: 'any', limit: 10 })).proofs.map((proof) => proof.attempt);
    expect(attempts).toEqual([1, 1, 1]);
    expect((await second.client.show_run({ run: 'r1' })).state).toBe('interrupted');
    await second.kill('SIGTERM');
  });

  it('with its prover killed too, the proof in work is its next attempt, and the run ends at its last event', async () => {
    const data = makeTempFolder('both');
    const env = fake({ partitionMs: 200 });
    const first = await startHostProcess(data, env);
    await prove(first, 1, 10);
    await until('some partitions', async () => (await eventsOf(first)).filter((event) => event.e === 'partition_ended').length >= 2);
    const { pid } = (await first.client.status({})).prover;
    process.kill(pid ?? 0, 'SIGKILL');
    await first.kill('SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    const second = await startHostProcess(data, env);
    expect(await messages(second)).toMatch(/run r1 was interrupted after \d of 10 partitions of p1; p1 goes again/);
    const run = await second.client.show_run({ run: 'r1' });
    expect(run.state).toBe('interrupted');
    // Its duration ends at the last event, not now.
    expect(run.wall_ns).toBeLessThan(4e9);
    await until('valid', () => allValid(second));
    await second.kill('SIGTERM');
  });

  it('a pid that was given to somebody else is left alone', async () => {
    const data = makeTempFolder('recycled');
    const env = fake({ partitionMs: 100, ignoreLifeline: true });
    const first = await startHostProcess(data, env);
    await prove(first, 1, 50);
    await until('at work', async () => (await first.client.status({})).queue.inProver === 1);
    const { pid } = (await first.client.status({})).prover;
    await first.kill('SIGKILL');
    process.kill(pid ?? 0, 'SIGKILL');
    await until('gone', () => !processesOf(data).some((entry) => entry.pid === pid));
    // The record now names a pid of this boot with another start time: our own.
    const Database = (await import('better-sqlite3')).default;
    const db = new Database(path.join(data, 'history.sqlite'));
    db.prepare('UPDATE process SET pid = ? WHERE ended_wall_ms IS NULL').run(process.pid);
    db.close();
    const second = await startHostProcess(data, env);
    expect(await messages(second)).toMatch(/p1 goes again/);
    await second.kill('SIGKILL');
  });

  it('a prover that lives but does not answer is ended before another one starts', async () => {
    const data = makeTempFolder('mute');
    const first = await startHostProcess(
      data,
      fake({ silentAt: { event: 'kernel_started', count: 1 }, ignoreTerm: true, ignoreLifeline: true }),
    );
    await prove(first, 1);
    await until('at work', async () => (await first.client.status({})).queue.inProver === 1);
    const { pid } = (await first.client.status({})).prover;
    await new Promise((resolve) => setTimeout(resolve, 500));
    await first.kill('SIGKILL');
    const second = await startHostProcess(data, fake());
    expect(processesOf(data).some((entry) => entry.pid === pid)).toBe(false);
    await until('valid', () => allValid(second));
    await second.kill('SIGTERM');
  }, 60_000);
});

describe('a host that stands still (SIGSTOP)', () => {
  it('drops no event and kills nobody', async () => {
    const data = makeTempFolder('stopped');
    const host = await startHostProcess(data, fake({ partitionMs: 60 }));
    await prove(host, 4, 10);
    await until('at work', async () => (await host.client.status({})).queue.inProver === 4);
    const { pid } = (await host.client.status({})).prover;
    host.child.kill('SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, 6_000));
    host.child.kill('SIGCONT');
    await until('all valid', () => allValid(host));
    const status = await host.client.status({});
    expect(status.prover.pid).toBe(pid);
    expect(status.ingest).toMatchObject({ lost: 0, unparsed: 0 });
    const seqs = (await eventsOf(host)).map((event) => event.seq).sort((a, b) => a - b);
    const first = seqs[0] ?? 0;
    expect(seqs).toEqual(seqs.map((_, index) => first + index));
    await host.kill('SIGTERM');
  }, 60_000);
});

describe('the result’s way from the spool', () => {
  const setUp = () => {
    const folder = makeTempFolder('spool');
    for (const name of ['spool', 'proofs']) mkdirSync(path.join(folder, name));
    const text = '{"format":"interlock-proof-1"}\n';
    writeFileSync(path.join(folder, 'spool', 'p1.1.proof.json'), text);
    const sha256 = createHash('sha256').update(text).digest('hex');
    const ref = { processFolder: folder, file: 'p1.1.proof.json', proof: 'p1', attempt: 1 };
    return { folder, text, sha256, ref, proofs: path.join(folder, 'proofs') };
  };

  it('heals at every gap: doing it again gives the same file, once', async () => {
    const { sha256, ref, proofs, text, folder } = setUp();
    // Killed before anything; in the middle of the copy (a temp is left); after the copy; after the spool was emptied.
    writeFileSync(path.join(proofs, '.p1.json.abc.tmp'), 'half');
    const target = await collectProof(ref, sha256, proofs);
    expect(readFileSync(target, 'utf8')).toBe(text);
    expect(await collectProof(ref, sha256, proofs)).toBe(target);
    unlinkSync(path.join(folder, 'spool', 'p1.1.proof.json'));
    expect(await collectProof(ref, sha256, proofs)).toBe(target);
    expect(readdirSync(proofs).filter((name) => !name.startsWith('.'))).toEqual(['p1.json']);
  });

  it('refuses bytes that are not those of the journal, a link, and a missing file', async () => {
    const { sha256, ref, proofs, folder } = setUp();
    await expect(collectProof(ref, '0'.repeat(64), proofs)).rejects.toMatchObject({ code: 'corrupt_data' });
    const spool = path.join(folder, 'spool', 'p1.1.proof.json');
    const { renameSync, symlinkSync } = await import('node:fs');
    renameSync(spool, `${spool}.real`);
    symlinkSync(`${spool}.real`, spool);
    await expect(collectProof(ref, sha256, proofs)).rejects.toMatchObject({ code: 'corrupt_data' });
    unlinkSync(spool);
    await expect(collectProof(ref, sha256, proofs)).rejects.toMatchObject({ code: 'corrupt_data' });
    expect(readdirSync(proofs)).toEqual([]);
  });

  it('never overwrites a proof by another one', async () => {
    const { sha256, ref, proofs } = setUp();
    writeFileSync(path.join(proofs, 'p1.json'), 'an earlier good proof');
    const beside = await collectProof(ref, sha256, proofs);
    expect(path.basename(beside)).toBe('p1.1.json');
    expect(readFileSync(path.join(proofs, 'p1.json'), 'utf8')).toBe('an earlier good proof');
    expect(existsSync(beside)).toBe(true);
  });
});
