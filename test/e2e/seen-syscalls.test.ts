/**
 * What the prover's threads ask of the kernel, seen from outside (strace): emitting an event is no system call, and the threads that prove
 * only wait and fetch memory. The journal's own thread writes; it is what the tracer must see to be believed.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ROOT, until } from '../support/host-process.ts';
import { hasProver, Stage } from '../support/seen.ts';
import { tempFolder } from '../support/temp-folder.ts';

const hasStrace = spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0;
const EMIT_ONLY = path.join(ROOT, 'native/target/release/examples/emit_only');
const hasEmitOnly = existsSync(EMIT_ONLY) || spawnSync('cargo', ['--version']).status === 0;

/** Scheduling, memory, a thread's own birth and end, and the secret randomness of a proof's blinding. None of them leaves the process. */
const HARMLESS = new Set([
  'futex', 'sched_yield', 'sched_getaffinity', 'nanosleep', 'clock_nanosleep', 'clock_gettime', 'restart_syscall',
  'madvise', 'mmap', 'munmap', 'mprotect', 'mremap', 'brk',
  'rseq', 'set_robust_list', 'sigaltstack', 'rt_sigprocmask', 'prctl', 'gettid', 'exit', 'getrandom',
]); // prettier-ignore

/** Of the workers' threads and of the pools that compute for them. */
const WORKER = /^(gpu|synth|device-cpu|host-pool)-/;

interface Call {
  thread: number;
  name: string;
  line: string;
}

/** One entry per call that began; a resumed one is no other call. */
function readTrace(file: string): Call[] {
  const calls: Call[] = [];
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const [, thread, name] = /^(\d+)\s+(\w+)\(/.exec(line) ?? [];
    if (thread !== undefined && name !== undefined) calls.push({ thread: Number(thread), name, line });
  }
  return calls;
}

/** The names of a process's living threads. */
function addThreadNames(pid: number, names: Map<number, string>): void {
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      names.set(Number(thread), readFileSync(`/proc/${pid}/task/${thread}/comm`, 'utf8').trim());
    } catch {
      // It has just ended.
    }
  }
}

/** Follows all threads of a living process until told to leave it. */
async function attach(pid: number, file: string): Promise<() => Promise<void>> {
  const tracer = spawn('strace', ['-f', '-e', 'trace=all', '-e', 'signal=none', '-o', file, '-p', String(pid)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  tracer.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  const ended = new Promise<void>((resolve) => tracer.once('exit', () => resolve()));
  onTestFinished(() => void tracer.kill('SIGKILL'));
  await until(`strace follows: ${said}`, () => said.includes('attached'));
  return async () => {
    tracer.kill('SIGINT');
    await ended;
  };
}

describe.skipIf(!hasStrace)('system calls (needs strace, and the right to trace)', () => {
  it.skipIf(!hasEmitOnly)(
    'a thread that emits makes none at all (needs cargo, or the example emit_only built)',
    () => {
      if (!existsSync(EMIT_ONLY)) {
        const built = spawnSync('cargo', ['build', '--release', '-p', 'interlock-timeline', '--example', 'emit_only'], {
          cwd: path.join(ROOT, 'native'),
          encoding: 'utf8',
        });
        expect(built.status, built.stderr).toBe(0);
      }
      const folder = tempFolder();
      const file = path.join(folder, 'trace');
      const journal = path.join(folder, 'journal.ndjson');
      const ran = spawnSync('strace', ['-f', '-s', '100', '-o', file, EMIT_ONLY, '2', '1', journal], { encoding: 'utf8', timeout: 60_000 });
      expect(ran.status, ran.stderr).toBe(0);
      expect(ran.stdout).toBe('dropped 0\n');
      const calls = readTrace(file);
      const begins = calls.filter((call) => /^\d+\s+write\(2, "emit-\d begins/.test(call.line));
      expect(begins).toHaveLength(2);
      for (const begin of begins) {
        const own = calls.filter((call) => call.thread === begin.thread);
        const after = own[own.indexOf(begin) + 1];
        // The next call of this thread is the one that says that it is done, and how often it emitted.
        const [, events] = /write\(2, "emit-\d ends (\d+)/.exec(after?.line ?? '') ?? [];
        expect(after?.line).toMatch(/write\(2, "emit-\d ends/);
        expect(Number(events)).toBeGreaterThan(100);
      }
    },
    600_000,
  );

  it.skipIf(!hasProver).each(['cpu', 'emulated'] as const)(
    'threads that prove only wait and fetch memory: %s (needs the built prover)',
    async (backend) => {
      const stage = new Stage();
      const host = await stage.host();
      const prove = ['prove', '--circuit', 'squarings', '--constraints', '400', '--partitions', '4', '--backend', backend];
      if (backend === 'emulated') prove.push('--emulate', 'synthesis=10ms,prepare=5ms,kernels=10ms,finish=5ms,gap=1ms');
      // The first makes the params.
      await stage.run(...prove);
      const { pid } = (await host.client.status({})).prover;
      if (pid === null) throw new Error('no prover is alive');
      const file = path.join(stage.folder, 'trace');
      const names = new Map<number, string>();
      const leave = await attach(pid, file);
      addThreadNames(pid, names);
      await stage.run(...prove, '--count', '3');
      addThreadNames(pid, names);
      await leave();
      await host.kill('SIGTERM');

      const calls = readTrace(file);
      const by = (test: (name: string) => boolean) => calls.filter((call) => test(names.get(call.thread) ?? ''));
      expect(
        by((name) => name === '').map((call) => call.line),
        'calls of threads without a name',
      ).toEqual([]);
      for (const kind of ['gpu-', 'synth-']) {
        expect(
          by((name) => name.startsWith(kind)).length,
          `calls of ${kind} threads; threads: ${[...names.values()].join()}`,
        ).toBeGreaterThan(0);
      }
      expect(
        by((name) => name === 'journal').map((call) => call.name),
        'the journal is written',
      ).toContain('pwrite64');
      const workers = by((name) => WORKER.test(name));
      const others = workers.filter((call) => !HARMLESS.has(call.name));
      expect(
        others.slice(0, 5).map((call) => `${names.get(call.thread)}: ${call.line}`),
        `${others.length} other calls`,
      ).toEqual([]);
      const counts = new Map<string, number>();
      for (const { name } of workers) counts.set(name, (counts.get(name) ?? 0) + 1);
      console.log(`${backend}: ${workers.length} calls of workers: ${[...counts].map(([name, count]) => `${name} ${count}`).join(', ')}`);
    },
  );
});
