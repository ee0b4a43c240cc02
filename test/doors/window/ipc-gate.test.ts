/** The IPC gate: whoever is not our own page’s main frame is refused, and so is every argument that does not fit; no handler is entered. */
import { describe, expect, test } from 'vitest';
import { CALLS, type CallName } from '../../../electron/contract/api.ts';
import type { Result } from '../../../electron/contract/errors.ts';
import { CHANNELS } from '../../../electron/doors/window/ipc-channels.ts';
import { openGate, type Frame, type GateEvent, type GateMain } from '../../../electron/doors/window/ipc-gate.ts';

const OWN = 7;

function harness(answer: Result<unknown> | (() => Promise<Result<unknown>>) = { ok: true, value: { fine: true } }) {
  const listeners = new Map<string, (event: GateEvent, ...args: unknown[]) => Promise<unknown>>();
  const entered: string[] = [];
  const refused: string[] = [];
  const main: GateMain = { handle: (channel, listener) => void listeners.set(channel, listener) };
  openGate(main, {
    ownContents: () => OWN,
    transport: {
      call: async (name) => {
        entered.push(name);
        return typeof answer === 'function' ? answer() : answer;
      },
    },
    feeds: {
      open: (id) => entered.push(`open ${id}`),
      close: (id) => entered.push(`close ${id}`),
      took: (id, count) => entered.push(`took ${id} ${count}`),
    },
    onRefused: (reason) => refused.push(reason),
  });
  const ask = (channel: string, event: GateEvent, ...args: unknown[]) =>
    listeners.get(channel)?.(event, ...args) as Promise<Result<unknown>>;
  return { listeners, entered, refused, ask };
}

const frame = (more: Partial<Frame> = {}): Frame => ({
  url: 'interlock-ui://app/#/live',
  origin: 'interlock-ui://app',
  parent: null,
  ...more,
});

function event(more: { frame?: Frame | null; id?: number; main?: Frame | null; destroyed?: boolean } = {}): GateEvent {
  const sender = more.frame === undefined ? frame() : more.frame;
  return {
    senderFrame: sender,
    sender: { id: more.id ?? OWN, mainFrame: more.main === undefined ? sender : more.main, isDestroyed: () => more.destroyed ?? false },
  };
}

/** Good arguments of each channel: what is refused below is refused for its sender alone. */
const GOOD: Record<string, unknown[]> = {
  [CHANNELS.call]: ['status', {}],
  [CHANNELS.openLive]: [1, 99],
  [CHANNELS.closeLive]: [1],
  [CHANNELS.tookLive]: [1, 16],
};

const FOREIGN: Record<string, GateEvent> = {
  'a null frame': event({ frame: null }),
  'a destroyed window': event({ destroyed: true }),
  'another window': event({ id: 8 }),
  'an iframe of ours': event({ frame: frame({ parent: frame() }) }),
  'a frame that is not the main one': event({ main: frame() }),
  'a main frame that is gone': event({ main: null }),
  'about:blank': event({ frame: frame({ url: 'about:blank' }) }),
  'an empty URL': event({ frame: frame({ url: '' }) }),
  'another host': event({ frame: frame({ url: 'interlock-ui://evil/' }) }),
  'a host that begins like ours': event({ frame: frame({ url: 'interlock-ui://app.evil/' }) }),
  'a web page': event({ frame: frame({ url: 'https://example.com/' }) }),
  'a file': event({ frame: frame({ url: 'file:///etc/passwd' }) }),
  'our URL with a user': event({ frame: frame({ url: 'interlock-ui://x@app/' }) }),
  'our URL and another origin': event({ frame: frame({ origin: 'null' }) }),
};

describe('who may ask', () => {
  test('registers exactly the invoked channels', () => {
    expect([...harness().listeners.keys()].sort()).toEqual(Object.keys(GOOD).sort());
  });

  test.each(Object.keys(FOREIGN))('%s is refused on every channel, and nothing is entered', async (name) => {
    const { ask, entered, refused } = harness();
    for (const [channel, args] of Object.entries(GOOD)) {
      expect(await ask(channel, FOREIGN[name] as GateEvent, ...args), channel).toMatchObject({ ok: false, code: 'unauthorised' });
    }
    expect([entered, refused.length]).toEqual([[], 4]);
  });

  test('our own main frame is served on every channel', async () => {
    const { ask, entered } = harness();
    for (const [channel, args] of Object.entries(GOOD)) expect(await ask(channel, event(), ...args), channel).toMatchObject({ ok: true });
    expect(entered).toEqual(['status', 'open 1', 'close 1', 'took 1 16']);
  });

  test('an origin is not needed where Electron does not tell it', async () => {
    const { origin: _origin, ...older } = frame();
    const { ask } = harness();
    expect(await ask(CHANNELS.call, event({ frame: older }), 'status', {})).toMatchObject({ ok: true });
  });
});

describe('what may be asked', () => {
  const cyclic: Record<string, unknown> = {};
  cyclic['self'] = cyclic;
  const BAD: [string, unknown[]][] = [
    ['nothing', []],
    ['no input', ['status']],
    ['one too many', ['status', {}, {}]],
    ['a number for a name', [7, {}]],
    ['an unknown call', ['nonsense', {}]],
    ['a name of every object', ['constructor', {}]],
    ['__proto__', ['__proto__', {}]],
    ['a call of another door', ['make_link', {}]],
    ['a name of a megabyte', ['s'.repeat(2 ** 20), {}]],
    ['an extra field', ['status', { extra: 1 }]],
    ['a wrong type', ['show_run', { run: 7 }]],
    ['a path for an id', ['show_run', { run: '../../etc/passwd' }]],
    ['an array', ['status', [1]]],
    ['a cycle', ['status', cyclic]],
    ['a BigInt', ['status', { a: 1n }]],
    ['a huge input', ['status', { a: 'x'.repeat(2 ** 20 + 1) }]],
    ['a planted prototype', ['status', JSON.parse('{"__proto__":{"a":1}}')]],
    ['a planted constructor', ['status', JSON.parse('{"constructor":{}}')]],
  ];
  test.each(BAD)('call with %s is refused', async (_name, args) => {
    const { ask, entered } = harness();
    const result = await ask(CHANNELS.call, event(), ...args);
    expect([result.ok, entered]).toEqual([false, []]);
  });

  test.each([
    [CHANNELS.openLive, [[], [0, 1], [1], [-1, 1], [1.5, 1], ['1', 1], [1, 2, 3], [Number.NaN, 1], [2 ** 40, 1], [null, 1], [{}, 1]]],
    [CHANNELS.closeLive, [[], [0], ['1'], [1, 2], [null]]],
    [CHANNELS.tookLive, [[], [1], [1, 0], [1, -5], [1, 1e9], [1, '1'], [1, 1, 1]]],
  ] as const)('%s refuses what does not fit', async (channel, list) => {
    const { ask, entered } = harness();
    for (const args of list) expect((await ask(channel, event(), ...args)).ok, JSON.stringify(args)).toBe(false);
    expect(entered).toEqual([]);
  });

  test('every call of the contract but the socket’s own goes through', async () => {
    const { ask, entered } = harness();
    const inputs: Partial<Record<CallName, unknown>> = {
      show_run: { run: 'last' },
      read_events: { run: 'r1' },
      show_proof: { proof: 'p1' },
      read_proof: { proof: 'p1' },
      withdraw: { proofs: ['p1'] },
      switch_scheduler: { scheduler: {} },
      resolve_scheduler: { scheduler: {} },
      stop: { how: 'drain' },
    };
    const names = (Object.keys(CALLS) as CallName[]).filter((name) => name !== 'make_link');
    const failed: string[] = [];
    for (const name of names) if (!(await ask(CHANNELS.call, event(), name, inputs[name] ?? {})).ok) failed.push(name);
    expect(entered.length + failed.length).toBe(names.length);
    // A call whose input has required fields that this test does not know is refused, not let through.
    expect(failed.every((name) => !(name in inputs) && name !== 'status')).toBe(true);
  });
});

describe('what goes back', () => {
  test.each([
    ['no result', 'hello'],
    ['a failure with a made-up code', { ok: false, code: 'whatever', message: 'x' }],
    ['a failure without words', { ok: false, code: 'internal' }],
    ['nothing', null],
  ])('%s becomes an internal fault', async (_name, answer) => {
    const { ask } = harness(answer as Result<unknown>);
    expect(await ask(CHANNELS.call, event(), 'status', {})).toMatchObject({ ok: false, code: 'internal' });
  });

  test('what a handler throws becomes a failure with a code', async () => {
    const { ask } = harness(() => Promise.reject(new Error('boom')));
    expect(await ask(CHANNELS.call, event(), 'status', {})).toEqual({ ok: false, code: 'internal', message: 'Unexpected fault: boom' });
  });
});
