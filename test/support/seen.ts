/**
 * A stage for what must be seen in whole programs: a data folder, the real command line, a host of its own, the real prover. Everything
 * that is started here is ended by its own id when the test ends, and the folder removed.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { RunReport } from '../../electron/contract/run-report.ts';
import { EVENTS, type EventName, type EventOf } from '../../electron/contract/timeline-events.ts';
import { CLI, processesOf, ROOT, startHostProcess, testEnvironment, until, type HostProcess } from './host-process.ts';
import { tempFolder } from './temp-folder.ts';

export const PROVER = process.env.INTERLOCK_PROVER ?? path.join(ROOT, 'native/target/release/interlock-prover');
export const hasProver = existsSync(PROVER);

/** As `interlock events` prints it. */
export type Stored<E extends EventName = EventName> = EventOf<E> & { process: string; run_t: number };

export interface Ended {
  code: number | NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface Started {
  child: ChildProcess;
  ended: Promise<Ended>;
}

export class Stage {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly #children: ChildProcess[] = [];

  constructor(prover = PROVER) {
    // Finishers run last to first: processes end before their folder goes.
    this.folder = tempFolder();
    this.env = { INTERLOCK_PROVER: prover };
    onTestFinished(() => this.#end());
  }

  /** Begins a command line on this data folder. */
  start(...args: string[]): Started {
    const child = spawn(process.execPath, [CLI, ...args, '--data-dir', this.folder], {
      env: testEnvironment(this.env),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#children.push(child);
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    const ended = new Promise<Ended>((resolve) => child.once('close', (code, signal) => resolve({ code: code ?? signal, stdout, stderr })));
    return { child, ended };
  }

  /** Runs a command line that must succeed; answers its standard output. */
  async run(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.start(...args).ended;
    expect(code, `interlock ${args.join(' ')}: ${stderr}`).toBe(0);
    return stdout;
  }

  async host(): Promise<HostProcess> {
    const host = await startHostProcess(this.folder, this.env);
    this.#children.push(host.child);
    return host;
  }

  async report(run: string): Promise<RunReport> {
    return JSON.parse(await this.run('show', run, '--json')) as RunReport;
  }

  /** Every stored event of a run, in order of `seq`. */
  async events(run: string): Promise<Stored[]> {
    const text = await this.run('events', run);
    return text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Stored)
      .sort((a, b) => a.seq - b.seq);
  }

  /** The folders of the living or not yet closed processes. */
  processFolders(): string[] {
    const all = path.join(this.folder, 'processes');
    return existsSync(all) ? readdirSync(all).map((name) => path.join(all, name)) : [];
  }

  /**
   * A file of the process's folder outlives the folder: from now on the first process that has it is linked to. Answers a function that
   * reads it.
   */
  keep(name: string): () => string {
    const kept = path.join(this.folder, 'kept');
    mkdirSync(kept, { recursive: true });
    const target = path.join(kept, `${readdirSync(kept).length}-${name}`);
    const timer = setInterval(() => {
      for (const folder of this.processFolders()) {
        if (existsSync(target)) clearInterval(timer);
        else if (existsSync(path.join(folder, name))) linkSync(path.join(folder, name), target);
      }
    }, 5);
    onTestFinished(() => clearInterval(timer));
    return () => readFileSync(target, 'utf8');
  }

  async #end(): Promise<void> {
    for (const child of this.#children) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGKILL');
      child.kill('SIGCONT');
    }
    // Ours, by the folder that is ours alone: provers whose host had to be killed.
    for (const { pid } of processesOf(this.folder)) endQuietly(pid);
    await until('no process of the test is alive', () => processesOf(this.folder).length === 0, 20_000);
  }
}

function endQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It had ended just now.
  }
}

export function only<E extends EventName>(events: readonly Stored[], ...names: E[]): Stored<E>[] {
  for (const name of names) if (!Object.hasOwn(EVENTS, name)) throw new Error(`no event is called ${name}`);
  return events.filter((event): event is Stored<E> => (names as string[]).includes(event.e));
}

export interface StoredSpan {
  proof: string;
  partition: number;
  startNs: number;
  endNs: number;
}

/** Pairs by hand, without the product's own pairing: a start with the next end of the same partition. */
export function pair(events: readonly Stored[], start: EventName, end: EventName): StoredSpan[] {
  const open = new Map<string, StoredSpan>();
  const spans: StoredSpan[] = [];
  for (const event of events) {
    if (event.e !== start && event.e !== end) continue;
    const { proof, partition, t } = event as Stored<'kernel_started'>;
    const key = `${proof} ${partition}`;
    if (event.e === start) {
      if (open.has(key)) throw new Error(`${key}: ${start} comes twice`);
      open.set(key, { proof, partition, startNs: t, endNs: NaN });
    } else {
      const span = open.get(key);
      if (!span) throw new Error(`${key}: ${end} comes without ${start}`);
      open.delete(key);
      spans.push({ ...span, endNs: t });
    }
  }
  if (open.size > 0) throw new Error(`${start} of ${[...open.keys()].join()} never ended`);
  return spans.sort((a, b) => a.startNs - b.startNs);
}

/** Numbers of one process without a hole, from the first to the last that are given. */
export function expectNoHole(events: readonly Stored[]): void {
  expect(new Set(events.map((event) => event.process)).size).toBe(1);
  const first = events[0]?.seq ?? 0;
  const holes = events.filter((event, index) => event.seq !== first + index);
  expect(holes.slice(0, 3), 'events after a hole in seq').toEqual([]);
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
