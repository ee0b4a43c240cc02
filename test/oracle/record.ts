/**
 * Records journals of the real prover with emulated devices, for the comparison with the oracle:
 *
 *   node test/oracle/record.ts native/target/release/interlock-prover test/fixtures/oracle
 */
import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Scheduler } from '../../electron/contract/scheduler.ts';
import { SCHEDULER } from '../support/journal.ts';

interface Recording {
  name: string;
  emulate: string;
  /** One run after another in the same process. */
  runs: Partial<Scheduler>[];
  proofs: number;
  partitions: number;
  kill?: boolean;
}

const RECORDINGS: Recording[] = [
  {
    name: 'two-runs',
    emulate: 'synthesis=6ms,prepare=2ms,kernels=8ms,finish=4ms,jitter=30%,seed=7,copy=1ms,gap=2ms',
    runs: [{ gpu_workers: 1, lock_scope: 'job', dispatch: 'batch', preset: 'batch' }, { gpu_workers: 2 }],
    proofs: 3,
    partitions: 3,
  },
  {
    name: 'two-devices-own-clocks',
    emulate: 'synthesis=5ms,prepare=2ms,kernels=6ms,finish=5ms,jitter=20%,seed=3,offset=3s,drift=50ppm,devices=2,load=20ms,fail=p2.1',
    runs: [{ gpu_workers: 2, partitions_in_flight: 3, synthesis_workers: 2 }],
    proofs: 4,
    partitions: 2,
  },
  {
    name: 'killed-after-a-death',
    emulate: 'synthesis=5ms,prepare=2ms,kernels=6ms,finish=5ms,jitter=20%,seed=4,panic=p1.1',
    runs: [{ gpu_workers: 2, partitions_in_flight: 2 }],
    proofs: 6,
    partitions: 3,
    kill: true,
  },
];

const [binary = '', into = ''] = process.argv.slice(2);
mkdirSync(into, { recursive: true });
for (const recording of RECORDINGS) await record(recording);

async function record(recording: Recording): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'record-'));
  const args = ['serve', '--process', '3f2b8c1e-0000-4000-8000-00000000000a', '--folder', folder, '--params', folder];
  const prover = spawn(binary, [...args, '--backend', 'emulated', '--emulate', recording.emulate, '--grace', '60'], {
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  const gone = new Promise((resolve) => prover.once('exit', resolve));
  const socketPath = path.join(folder, 'command.sock');
  while (!existsSync(socketPath)) await sleep(20);
  const ask = openCommands(socketPath);
  let number = 0;
  for (const [index, part] of recording.runs.entries()) {
    await ask({ cmd: 'run', run: `r${index + 1}`, scheduler: { ...SCHEDULER, preset: 'interlock', ...part }, emulate: null });
    const proofs: string[] = [];
    for (let count = 0; count < recording.proofs; count++) {
      proofs.push(`p${++number}`);
      await ask({
        cmd: 'submit', proof: `p${number}`, attempt: 1, circuit: 'squarings-400', partitions: recording.partitions, priority: 2,
        submitted_wall_ns: '0', deadline_wall_ns: null, seed: '00'.repeat(32),
      }); // prettier-ignore
      await sleep(count === 1 ? 30 : 2);
    }
    if (recording.kill) await sleep(60);
    else while (((await ask({ cmd: 'state' })) as { proofs: unknown[] }).proofs.length > 0) await sleep(10);
  }
  if (recording.kill) prover.kill('SIGKILL');
  else await ask({ cmd: 'drain' });
  await gone;
  copyFileSync(path.join(folder, 'journal.ndjson'), path.join(into, `${recording.name}.ndjson`));
  rmSync(folder, { recursive: true });
}

function openCommands(socketPath: string): (command: Record<string, unknown>) => Promise<unknown> {
  const socket = connect(socketPath);
  let text = '';
  let answer: (line: string) => void = () => {};
  socket.setEncoding('utf8').on('data', (part) => {
    text += part;
    const end = text.indexOf('\n');
    if (end < 0) return;
    const line = text.slice(0, end);
    text = text.slice(end + 1);
    answer(line);
  });
  socket.on('error', () => {});
  return async (command) => {
    const line = await new Promise<string>((resolve) => {
      answer = resolve;
      socket.write(JSON.stringify({ id: 1, ...command }) + '\n');
    });
    const { ok, value, code, message } = JSON.parse(line) as { ok: boolean; value: unknown; code: string; message: string };
    if (!ok) throw new Error(`${String(command['cmd'])}: ${code} ${message}`);
    return value;
  };
}
