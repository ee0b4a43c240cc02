/**
 * Rounds of kill -9 against the real prover: of the host, of the prover, or of both, at random moments under load; then a new host, and
 * everything is counted.
 *
 *   KILLS=50 SEED=7 node test/host/kill-rounds.ts      prints one line a round
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { makeTempFolder } from '../support/fake-prover.ts';
import { CLI, processesOf, randomSource, startHostProcess, testEnvironment, until, type HostProcess } from '../support/host-process.ts';

/** Quick ones, and some long enough to be in work still when the next host comes. */
const SIZES = [
  { circuit: 'squarings', constraints: 400, partitions: 4 },
  { circuit: 'squarings', constraints: 3000, partitions: 10 },
] as const;

export interface RoundsResult {
  kills: { host: number; prover: number; both: number };
  proofs: number;
  events: number;
  adopted: number;
  interruptedRuns: number;
}

interface EventKey {
  process: string;
  seq: number;
}

export async function killRounds(kills: number, seed: number, say: (line: string) => void): Promise<RoundsResult> {
  const random = randomSource(seed);
  const folder = makeTempFolder('kills');
  const result: RoundsResult = { kills: { host: 0, prover: 0, both: 0 }, proofs: 0, events: 0, adopted: 0, interruptedRuns: 0 };
  let host = await startHostProcess(folder);
  const queued: string[] = [];
  try {
    for (let round = 0; round < kills; round++) {
      const { proofs } = await host.client.prove({ ...(SIZES[round % 2] ?? SIZES[0]), count: 3 });
      queued.push(...proofs);
      const waitMs = Math.floor(random() * 900);
      const kind = (['host', 'host', 'prover', 'both'] as const)[Math.floor(random() * 4)] ?? 'host';
      const pauseMs = random() < 0.5 ? 0 : Math.floor(random() * 1500);
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      const before = await committed(host);
      const status = await host.client.status({});
      const { pid } = status.prover;
      const told = Math.max(0, ...status.notices.map((notice) => notice.id));
      result.kills[kind]++;
      if (kind !== 'host' && pid !== null) killQuietly(pid);
      if (kind !== 'prover') {
        await host.kill('SIGKILL');
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
        // Killed again, and again, while it recovers.
        for (let again = Math.floor(random() * 4); again > 0; again--) await killWhileStarting(folder, random() * 600);
        host = await startHostProcess(folder);
        const notices = (await host.client.status({})).notices.filter((notice) => notice.id > told);
        // Nothing may be alive any more when the host died; otherwise the next start says what happened.
        if (status.prover.phase === 'ready' && !notices.some((notice) => /The host was killed/.test(notice.message))) {
          throw new Error(`round ${round}: the new host does not say what happened: ${JSON.stringify(notices)}`);
        }
        if (notices.some((notice) => /was taken over/.test(notice.message))) result.adopted++;
      }
      await until(`round ${round}: all proofs ended`, async () => allEnded(host, queued), 60_000);
      await checkEvents(host, before);
      say(
        `round ${round}: ${kind} killed after ${waitMs} ms, back after ${kind === 'prover' ? 0 : pauseMs} ms; ${queued.length} proofs kept`,
      );
    }
    await checkProofs(host, queued, folder);
    result.proofs = queued.length;
    result.events = (await committed(host)).length;
    const { runs } = await host.client.list_runs({ limit: 500 });
    result.interruptedRuns = runs.filter((run) => run.state === 'interrupted').length;
    await host.kill('SIGTERM');
  } catch (error) {
    say(`seed ${seed}, folder ${folder}: ${host.stderr()}`);
    host.child.kill('SIGKILL');
    throw error;
  }
  await until('no process is alive', () => processesOf(folder).length === 0, 20_000);
  return result;
}

async function killWhileStarting(folder: string, afterMs: number): Promise<void> {
  const child = spawn(process.execPath, [CLI, 'serve', '--no-web', '--data-dir', folder], { env: testEnvironment(), stdio: 'ignore' });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  await new Promise((resolve) => setTimeout(resolve, afterMs));
  child.kill('SIGKILL');
  await ended;
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // it had ended just now
  }
}

async function allEnded(host: HostProcess, queued: string[]): Promise<boolean> {
  // Many kills of the prover within ten minutes are a crash loop, rightly; the operator presses Start.
  if ((await host.client.status({})).prover.phase === 'crash_loop') await host.client.start({});
  const { proofs } = await host.client.list_proofs({ state: 'any', limit: 1000 });
  const states = new Map(proofs.map((proof) => [proof.proof, proof.state]));
  return queued.every((proof) => states.get(proof) === 'valid' || states.get(proof) === 'failed');
}

async function committed(host: HostProcess): Promise<EventKey[]> {
  const { runs } = await host.client.list_runs({ limit: 500 });
  const keys: EventKey[] = [];
  for (const { run } of runs) {
    let after: string | undefined;
    for (;;) {
      const page = await host.client.read_events({ run, limit: 5000, ...(after === undefined ? {} : { after }) });
      for (const line of page.lines) {
        const { process, seq } = JSON.parse(line) as EventKey;
        keys.push({ process, seq });
      }
      if (page.next === null) break;
      after = page.next;
    }
  }
  return keys;
}

/** Every event that was committed before the kill is still there; none is there twice; no process has a hole. */
async function checkEvents(host: HostProcess, before: EventKey[]): Promise<void> {
  const now = await committed(host);
  const keys = new Set(now.map(({ process, seq }) => `${process} ${seq}`));
  if (keys.size !== now.length) throw new Error(`${now.length - keys.size} events are there twice`);
  const lost = before.filter(({ process, seq }) => !keys.has(`${process} ${seq}`));
  if (lost.length > 0) throw new Error(`${lost.length} committed events are lost, the first is ${JSON.stringify(lost[0])}`);
  const highest = new Map<string, { count: number; max: number }>();
  for (const { process, seq } of now) {
    const entry = highest.get(process) ?? { count: 0, max: -1 };
    highest.set(process, { count: entry.count + 1, max: Math.max(entry.max, seq) });
  }
  for (const [process, { count, max }] of highest) {
    // What lies before a process's first run belongs to no run or to the first one.
    if (max + 1 - count > 20) throw new Error(`process ${process} has ${count} events up to seq ${max}`);
  }
}

/** Every proof is valid exactly once, in exactly one run, and its file has the hash that the history names. */
async function checkProofs(host: HostProcess, queued: string[], folder: string): Promise<void> {
  const valid = new Map<string, number>();
  const { runs } = await host.client.list_runs({ limit: 500 });
  for (const { run } of runs) {
    const report = await host.client.show_run({ run });
    for (const proof of report.proofs) if (proof.outcome === 'valid') valid.set(proof.id, (valid.get(proof.id) ?? 0) + 1);
  }
  const { proofs } = await host.client.list_proofs({ state: 'any', limit: 1000 });
  for (const id of queued) {
    const summary = proofs.find((proof) => proof.proof === id);
    if (summary?.state === 'failed' && /was lost/.test(summary.message ?? '')) continue;
    if (summary?.state !== 'valid') throw new Error(`${id} is ${summary?.state}: ${summary?.message}`);
    if (valid.get(id) !== 1) throw new Error(`${id} is valid in ${valid.get(id) ?? 0} runs`);
    const { text, sha256 } = await host.client.read_proof({ proof: id });
    const found = createHash('sha256').update(text).digest('hex');
    const onDisk = createHash('sha256')
      .update(readFileSync(`${folder}/proofs/${id}.json`))
      .digest('hex');
    if (found !== sha256 || onDisk !== sha256 || sha256 !== summary.sha256)
      throw new Error(`${id} has another hash than its history names`);
  }
}

if (import.meta.main) {
  const kills = Number(process.env.KILLS ?? 10);
  const seed = Number(process.env.SEED ?? Date.now() % 100_000);
  console.log(`seed ${seed}`);
  console.log(await killRounds(kills, seed, console.log));
}
