/** The host's small parts on their own: crash window, machine, paths, configuration, plan, broadcast. */
import { chmodSync, mkdirSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { LiveMessage } from '../../electron/contract/live.ts';
import { resolveScheduler } from '../../electron/contract/scheduler.ts';
import { Broadcast } from '../../electron/host/broadcast.ts';
import { readConfig } from '../../electron/host/config.ts';
import { CrashWindow } from '../../electron/host/crash-window.ts';
import { writeDurably } from '../../electron/host/durable-files.ts';
import { readMachine } from '../../electron/host/machine.ts';
import { configFile, defaultDataFolder, hostSocketPath, preparePrivateFolder } from '../../electron/host/paths.ts';
import { Plan, type Setup } from '../../electron/host/plan.ts';
import type { Store } from '../../electron/store/types.ts';
import { makeTempFolder } from '../support/fake-prover.ts';
import { ManualClock } from '../support/manual-clock.ts';

const S = 1e9;

describe('the crash window', () => {
  /** Dies `livesS` after each start; gives the seconds at which it was started until it is held. */
  function starts(livesS: number, mostS = 3_600): { starts: number[]; held: boolean } {
    const window = new CrashWindow();
    const at: number[] = [];
    let now = 0;
    while (now < mostS) {
      at.push(now);
      window.started(now * S);
      now += livesS;
      const next = window.crashed(now * S, `crash ${at.length}`);
      if ('hold' in next) return { starts: at, held: true };
      now += next.waitMs / 1000;
    }
    return { starts: at, held: false };
  }

  it.each([0, 0.5, 5, 70])('holds one that dies %d s after each start at the fifth start, with growing pauses', (lives) => {
    const { starts: at, held } = starts(lives);
    expect(held).toBe(true);
    expect(at).toHaveLength(5);
    const pauses = at.slice(1).map((start, index) => start - (at[index] ?? 0) - lives);
    expect(pauses).toEqual([1, 2, 4, 8]);
  });

  it('lets one go on that dies once in ten minutes and more', () => {
    expect(starts(601, 100_000).held).toBe(false);
  });

  it('counts over a window, not by how long each lived', () => {
    expect(starts(110, 100_000).held).toBe(true);
  });

  it('remembers the first error of a series', () => {
    const window = new CrashWindow();
    window.crashed(0, 'out of memory');
    window.crashed(1 * S, 'PoisonError');
    expect(window.firstError).toBe('out of memory');
    window.reset();
    window.crashed(2 * S, 'another');
    expect(window.firstError).toBe('another');
  });
});

describe('the machine', () => {
  const meminfo = 'MemTotal:       791674880 kB\n';
  it('takes the smallest memory limit of the control groups above it', () => {
    const files: Record<string, string> = {
      '/proc/meminfo': meminfo,
      '/proc/self/cgroup': '0::/system.slice/interlock.service\n',
      '/sys/fs/cgroup/system.slice/memory.max': `${128 * 2 ** 30}\n`,
      '/sys/fs/cgroup/system.slice/interlock.service/memory.max': 'max\n',
      '/sys/fs/cgroup/system.slice/interlock.service/cpu.max': '150000 100000\n',
    };
    const machine = readMachine((file) => files[file] ?? null);
    expect(machine).toMatchObject({ memoryBytes: 128 * 2 ** 30, memoryFrom: 'cgroup memory.max (/system.slice)', cpus: 1 });
  });

  it('takes MemTotal where nothing limits', () => {
    const machine = readMachine((file) => (file === '/proc/meminfo' ? meminfo : null));
    expect(machine).toMatchObject({ memoryBytes: 791674880 * 1024, memoryFrom: 'MemTotal' });
  });
});

describe('paths', () => {
  it('follow XDG and ignore relative values', () => {
    expect(defaultDataFolder({ XDG_DATA_HOME: '/x', HOME: '/h' })).toBe('/x/interlock');
    expect(defaultDataFolder({ XDG_DATA_HOME: 'x', HOME: '/h' })).toBe('/h/.local/share/interlock');
    expect(configFile({ XDG_CONFIG_HOME: './c', HOME: '/h' })).toBe('/h/.config/interlock/config.toml');
  });

  it('give every name of a folder the same socket, short enough to bind', () => {
    const folder = makeTempFolder('paths');
    const real = path.join(folder, 'real');
    mkdirSync(real);
    symlinkSync(real, path.join(folder, 'link'));
    for (const env of [{}, { XDG_RUNTIME_DIR: folder }]) {
      expect(hostSocketPath(path.join(folder, 'link'), env)).toBe(hostSocketPath(real, env));
      expect(hostSocketPath(`${real}/../link/`, env)).toBe(hostSocketPath(real, env));
    }
    expect(hostSocketPath(path.join(folder, 'link', 'later'), {})).toBe(hostSocketPath(path.join(real, 'later'), {}));
    expect(Buffer.byteLength(hostSocketPath(`/${'d'.repeat(200)}`, {}))).toBeLessThanOrEqual(107);
    expect(hostSocketPath(real, { XDG_RUNTIME_DIR: 'relative' })).toBe(path.join(real, 'host.sock'));
  });

  it('make the folder private, and refuse one that others may write to', () => {
    const parent = makeTempFolder('private');
    const made = preparePrivateFolder(path.join(parent, 'a', 'b'));
    expect(statSync(made).mode & 0o777).toBe(0o700);
    chmodSync(made, 0o755);
    preparePrivateFolder(made);
    expect(statSync(made).mode & 0o777).toBe(0o700);
    chmodSync(made, 0o770);
    expect(() => preparePrivateFolder(made)).toThrow(/others may write/);
  });
});

describe('files that are whole or not there', () => {
  it('leave no temp, keep what is there unless told to replace it, and never follow a link', async () => {
    const folder = makeTempFolder('durable');
    const target = path.join(folder, 'f');
    await writeDurably(target, 'one', { replace: false });
    await expect(writeDurably(target, 'two', { replace: false })).rejects.toMatchObject({ code: 'EEXIST' });
    await writeDurably(target, 'three', { replace: true });
    expect(readFileSync(target, 'utf8')).toBe('three');
    const outside = path.join(makeTempFolder('outside'), 'victim');
    writeFileSync(outside, 'kept');
    symlinkSync(outside, path.join(folder, 'link'));
    await expect(writeDurably(path.join(folder, 'link'), 'x', { replace: false })).rejects.toMatchObject({ code: 'EEXIST' });
    await writeDurably(path.join(folder, 'link'), 'x', { replace: true });
    expect(readFileSync(outside, 'utf8')).toBe('kept');
    await expect(writeDurably(path.join(folder, 'no', 'f'), 'x', { replace: true })).rejects.toThrow();
    expect(readdirSync(folder).sort()).toEqual(['f', 'link']);
    expect(statSync(target).mode & 0o777).toBe(0o600);
  });
});

describe('the configuration file', () => {
  const read = (text: string, mode = 0o600) => {
    const file = path.join(makeTempFolder('config'), 'config.toml');
    writeFileSync(file, text);
    chmodSync(file, mode);
    return () => readConfig({ flags: {}, environment: {}, file, fileNamed: true, defaultDataFolder: '/d' });
  };

  it('is data: every value is checked, the line is named', () => {
    const table: [string, RegExp][] = [
      ['\n\nbakend = "cpu"', /:3: the key bakend is unknown; did you mean backend\?/],
      ['[shceduler]\npreset = "batch"', /shceduler/],
      ['backend = ["cpu"]', /:1: backend must be a single value/],
      ['port = 70000', /:1: 70000 is not between 0 and 65535/],
      ['[scheduler]\nmemory_budget = "256G"', /:2: 256G is not a size/],
      ['prover = "relative/prover"', /not an absolute path/],
      ['backend = ', /:1: /],
      ['__proto__ = 1', /unknown/],
    ];
    for (const [text, message] of table) expect(read(text), text).toThrow(message);
    expect(read('[scheduler]\nmemory_budget = "0.5GiB"\nreserve_post = true')().scheduler).toEqual({
      memory_budget_bytes: 2 ** 29,
      reserve_post: true,
    });
    expect(read('')().scheduler).toBeNull();
  });

  it('is refused when others may write to it, when it is huge, and when it was named and is not there', () => {
    expect(read('', 0o666)).toThrow(/Others may write/);
    expect(read('#'.repeat(70_000))).toThrow(/more than/);
    const absent = { flags: {}, environment: {}, file: '/nowhere/c.toml', defaultDataFolder: '/d' };
    expect(() => readConfig({ ...absent, fileNamed: true })).toThrow(/cannot be read/);
    expect(readConfig({ ...absent, fileNamed: false }).backend).toBeNull();
  });
});

describe('the plan', () => {
  const machine = { cpus: 2, memoryBytes: 8 * 2 ** 30 };
  const setup = (spec: object, backend: Setup['backend'] = 'cpu'): Setup => ({
    spec,
    scheduler: resolveScheduler(spec, machine),
    backend,
    emulate: null,
  });

  it('survives a restart, and says what is wrong with a damaged one', async () => {
    const file = path.join(makeTempFolder('plan'), 'active.json');
    const plan = new Plan(file, setup({}));
    plan.active = setup({ preset: 'batch' }, 'emulated');
    plan.next = { setup: setup({ preset: 'interlock' }), firstProof: 7 };
    await plan.save();
    const again = new Plan(file, setup({}));
    expect(again.load(machine)).toBeNull();
    expect(again.active).toEqual(plan.active);
    expect(again.next).toEqual(plan.next);
    writeFileSync(file, '{"version":1,"active":{"spec":{},"backend":"gpu","emulate":null},"next":null}');
    const damaged = new Plan(file, setup({}));
    expect(damaged.load(machine)).toMatch(/gpu|Invalid/);
    expect(damaged.active).toEqual(setup({}));
  });

  it('keeps proofs of another backend back until it is their turn', () => {
    const plan = new Plan('/nowhere', setup({}));
    plan.next = { setup: setup({}, 'emulated'), firstProof: 5 };
    expect(['p4', 'p5', 'p6'].map((proof) => plan.mayGo(proof))).toEqual([true, false, false]);
    plan.next = { setup: setup({ preset: 'batch' }), firstProof: null };
    expect(plan.mayGo('p4')).toBe(false);
  });
});

describe('the broadcast', () => {
  function stand() {
    const clock = new ManualClock();
    let heard: (message: LiveMessage) => void = () => undefined;
    let snapshots = 0;
    let newest = 10;
    const store = {
      onLive: (listener: typeof heard) => {
        heard = listener;
        return () => undefined;
      },
      liveSnapshot: () => {
        snapshots++;
        return Promise.resolve({ run: 'r1', batch: newest });
      },
    } as unknown as Store;
    const broadcast = new Broadcast(store, clock, () => Promise.resolve({} as never));
    const batch = (number: number, run = 'r1') => {
      newest = number;
      heard({ kind: 'batch', run, batch: number } as LiveMessage);
    };
    return { clock, broadcast, batch, snapshots: () => snapshots };
  }
  const kinds = (messages: LiveMessage[]) =>
    messages.map((message) => (message.kind === 'batch' ? `batch ${message.batch}` : message.kind));

  it('begins with status and snapshot, then batches without a hole', async () => {
    const { clock, broadcast, batch } = stand();
    const got: LiveMessage[] = [];
    broadcast.subscribe({ send: (message) => (got.push(message), true) });
    await clock.advance(1);
    for (const number of [9, 10, 11, 12]) batch(number);
    expect(kinds(got)).toEqual(['status', 'snapshot', 'batch 11', 'batch 12']);
  });

  it('skips batches for a slow one and gives it a snapshot later; others are not held up', async () => {
    const { clock, broadcast, batch, snapshots } = stand();
    const slow: LiveMessage[] = [];
    const fast: LiveMessage[] = [];
    let blocked = false;
    broadcast.subscribe({ send: (message) => (blocked ? false : (slow.push(message), true)) });
    broadcast.subscribe({ send: (message) => (fast.push(message), true) });
    await clock.advance(1);
    blocked = true;
    for (let number = 11; number <= 30; number++) batch(number);
    blocked = false;
    await clock.advance(600);
    batch(31);
    expect(kinds(fast).filter((kind) => kind.startsWith('batch'))).toHaveLength(21);
    expect(kinds(slow).filter((kind) => kind !== 'status')).toEqual(['snapshot', 'snapshot', 'batch 31']);
    expect(snapshots()).toBe(3);
  });

  it('drops a subscriber that throws, and asks nothing of the store for nobody', async () => {
    const { clock, broadcast, batch, snapshots } = stand();
    broadcast.subscribe({
      send() {
        throw new Error('gone');
      },
    });
    await clock.advance(5_000);
    batch(11);
    expect(snapshots()).toBe(0);
  });
});
