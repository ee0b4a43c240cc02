/** The socket door over real unix sockets, with a host made of stubs. */
import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Host, LiveSubscriber } from '../../../electron/contract/api.ts';
import { createClient } from '../../../electron/contract/client.ts';
import { InterlockError } from '../../../electron/contract/errors.ts';
import { parseUntrusted } from '../../../electron/contract/json.ts';
import type { LiveMessage } from '../../../electron/contract/live.ts';
import { connectToHost } from '../../../electron/doors/socket/client.ts';
import { startSocketDoor, type SocketDoor } from '../../../electron/doors/socket/server.ts';
import { makeTempFolder } from '../../support/fake-prover.ts';
import { until } from '../../support/host-process.ts';

const doors: SocketDoor[] = [];
afterEach(async () => {
  for (const door of doors.splice(0)) await door.close();
});

function stubHost() {
  const subscribers = new Set<LiveSubscriber>();
  const calls: { name: string; input: unknown }[] = [];
  const handler = (name: string, answer: (input: unknown) => unknown) => (input: unknown) => {
    calls.push({ name, input });
    return Promise.resolve().then(() => answer(input));
  };
  const host = {
    handlers: {
      list_runs: handler('list_runs', () => ({ runs: [], more: false })),
      make_link: handler('make_link', () => ({ url: 'http://x/#code' })),
      show_run: handler('show_run', () => {
        throw new InterlockError('not_found', 'no such run', { run: 'r9' });
      }),
      doctor: handler('doctor', () => {
        throw new TypeError('oops');
      }),
      read_proof: handler('read_proof', () => ({ sha256: 'x', text: 'y'.repeat(70 * 2 ** 20) })),
    },
    subscribe(subscriber: LiveSubscriber) {
      subscribers.add(subscriber);
      return () => subscribers.delete(subscriber);
    },
  } as unknown as Host;
  return { host, subscribers, calls };
}

async function open(stub = stubHost()) {
  const file = path.join(makeTempFolder('socket'), 'sub', 'h.sock');
  const door = await startSocketDoor(stub.host, file);
  doors.push(door);
  const transport = await connectToHost(file);
  if (!transport) throw new Error('no answer');
  return { ...stub, file, door, transport, client: createClient(transport) };
}

/** Sends raw bytes; gives what comes back until the door hangs up. */
function raw(file: string, bytes: string | Buffer): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(file);
    let got = '';
    socket.setEncoding('utf8').on('data', (text: string) => (got += text));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(got));
    socket.write(bytes);
  });
}

describe('calls', () => {
  it('carry input, answers and errors with their codes', async () => {
    const { client, calls } = await open();
    expect(await client.list_runs({ limit: 3 })).toEqual({ runs: [], more: false });
    expect(calls[0]).toEqual({ name: 'list_runs', input: { limit: 3 } });
    await expect(client.show_run({ run: 'r9' })).rejects.toMatchObject({ code: 'not_found', detail: { run: 'r9' } });
    await expect(client.doctor({})).rejects.toMatchObject({ code: 'internal' });
    expect((await client.make_link({})).url).toContain('code');
  });

  it('with wrong, extra or huge input reach no handler', async () => {
    const { transport, calls } = await open();
    for (const [name, input] of [
      ['show_run', {}],
      ['show_run', { run: '../x' }],
      ['show_run', { run: 'r1', more: 1 }],
      ['list_runs', { limit: 1e9 }],
      ['nonsense', {}],
      ['constructor', {}],
      ['withdraw', { proofs: Array(20_000).fill('p1') }],
      ['show_run', { run: { toString: 1 } }],
      ['status', []],
    ] as const) {
      // prettier-ignore
      const result = await transport.call(name as never, input);
      expect(result.ok).toBe(false);
    }
    expect(calls).toEqual([]);
  });

  it('are refused and hung up on when they cannot be read', async () => {
    const { file, calls } = await open();
    for (const bytes of [
      'nonsense\n',
      '{"id":1}\n',
      '{"id":"1","call":"status","input":{}}\n',
      '{"id":1,"call":"status","input":{},"x":1}\n',
      '\0\n',
      `${'['.repeat(100_000)}\n`,
      '{"id":1,"call":"list_runs","input":{"__proto__":{}}}\n',
      'x'.repeat(2 * 2 ** 20),
    ]) {
      // prettier-ignore
      expect(await raw(file, bytes)).toMatch(/"ok":false/);
    }
    expect(calls).toEqual([]);
  });

  it('whose answer is too large say so', async () => {
    const { client } = await open();
    await expect(client.read_proof({ proof: 'p1' })).rejects.toMatchObject({ code: 'too_large' });
  });

  it('in flight fail with no_host when the host goes', async () => {
    const stub = stubHost();
    stub.host.handlers.status = () => new Promise(() => undefined);
    const { client, door } = await open(stub);
    const pending = client.status({});
    await new Promise((resolve) => setTimeout(resolve, 50));
    await door.close();
    await expect(pending).rejects.toMatchObject({ code: 'no_host' });
    await expect(client.status({})).rejects.toMatchObject({ code: 'no_host' });
  });
});

describe('untrusted JSON', () => {
  it('is judged by its text before anything is built from it', () => {
    expect(parseUntrusted('{"a":[{"b":"[[[[\\"[["}]}', { maxLength: 100, maxDepth: 3 })).toEqual({ a: [{ b: '[[[["[[' }] });
    expect(() => parseUntrusted('[[[[1]]]]', { maxLength: 100, maxDepth: 3 })).toThrow(/nested/);
    expect(() => parseUntrusted('['.repeat(50_000) + ']'.repeat(50_000))).toThrow(/nested/);
    expect(() => parseUntrusted('[1,2]', { maxLength: 3, maxDepth: 3 })).toThrow(/longer/);
    for (const key of ['__proto__', 'constructor', 'prototype']) expect(() => parseUntrusted(`{"a":{"${key}":1}}`)).toThrow(/not allowed/);
  });
});

describe('the socket', () => {
  it('is this user’s alone', async () => {
    const { file } = await open();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(path.dirname(file)).mode & 0o777).toBe(0o700);
  });

  it('is not taken from a living host, and is taken over from a dead one', async () => {
    const { file, host } = await open();
    await expect(startSocketDoor(host, file)).rejects.toMatchObject({ code: 'host_running' });
  });

  it('never removes what is no socket, nor listens in a folder that others may write to', async () => {
    const { host } = stubHost();
    const folder = makeTempFolder('socket');
    const file = path.join(folder, 'precious');
    writeFileSync(file, 'data');
    await expect(startSocketDoor(host, file)).rejects.toMatchObject({ code: 'folder_unusable' });
    expect(statSync(file).size).toBe(4);
    const others = path.join(folder, 'others');
    mkdirSync(others);
    chmodSync(others, 0o777);
    await expect(startSocketDoor(host, path.join(others, 's'))).rejects.toMatchObject({ code: 'folder_unusable' });
  });
});

describe('live', () => {
  const message = { kind: 'no_run' } as LiveMessage;

  it('comes until it is ended, and ends with the connection', async () => {
    const { transport, subscribers } = await open();
    const got: LiveMessage[] = [];
    let closed = 0;
    const end = transport.live((m) => got.push(m), () => closed++); // prettier-ignore
    await until('subscribed', () => subscribers.size === 1);
    for (const subscriber of subscribers) expect(subscriber.send(message)).toBe(true);
    await until('heard', () => got.length === 1);
    end();
    await until('ended', () => subscribers.size === 0);
    transport.live((m) => got.push(m), () => closed++); // prettier-ignore
    await until('subscribed again', () => subscribers.size === 1);
    transport.close();
    await until('gone', () => subscribers.size === 0);
    expect(closed).toBe(1);
  });

  it('tells the host that a reader is slow instead of keeping everything for it', async () => {
    const { file, subscribers } = await open();
    const lazy = connect(file);
    lazy.write('{"id":1,"live":true}\n');
    lazy.pause();
    await until('subscribed', () => subscribers.size === 1);
    const [subscriber] = [...subscribers];
    const large = { kind: 'no_run', filler: 'x'.repeat(100_000) } as unknown as LiveMessage;
    let sent = 0;
    while (sent < 1000 && subscriber?.send(large)) sent++;
    expect(sent).toBeGreaterThan(10);
    expect(sent).toBeLessThan(100);
    lazy.resume();
    await until('takes again', () => subscriber?.send(message) === true);
    lazy.destroy();
  });
});
