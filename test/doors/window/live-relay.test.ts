/** The relay between host and page: ends are told once, a page that stops reading is skipped and begins anew with a snapshot. */
import { expect, test } from 'vitest';
import type { LiveMessage } from '../../../electron/contract/live.ts';
import { AHEAD_MOST, LiveRelay } from '../../../electron/doors/window/live-relay.ts';
import { HostConnection } from '../../../electron/doors/window/host-connection.ts';
import type { SocketTransport } from '../../../electron/doors/socket/client.ts';
import { systemClock } from '../../../electron/host/clock.ts';

interface HostFeed {
  send: () => void;
  end: () => void;
  left: boolean;
}

function harness() {
  const feeds: HostFeed[] = [];
  const sent: [number, boolean][] = [];
  const relay = new LiveRelay(
    {
      live(onMessage, onClose) {
        const feed: HostFeed = { send: () => onMessage({ kind: 'no_run' } as LiveMessage), end: onClose, left: false };
        feeds.push(feed);
        return () => (feed.left = true);
      },
    },
    (id, message) => sent.push([id, message !== null]),
  );
  return { relay, feeds, sent };
}

test('messages go to the feed that asked, its end is told once', () => {
  const { relay, feeds, sent } = harness();
  relay.open(1, 5);
  relay.open(1, 5);
  expect(feeds.length).toBe(1);
  feeds[0]?.send();
  feeds[0]?.end();
  feeds[0]?.send();
  expect(sent).toEqual([[1, true], [1, false]]); // prettier-ignore
});

test('a feed that was closed says nothing more', () => {
  const { relay, feeds, sent } = harness();
  relay.open(1, 5);
  relay.close(1);
  feeds[0]?.send();
  feeds[0]?.end();
  expect([feeds[0]?.left, sent, relay.size]).toEqual([true, [], 0]);
});

test('a page that loads anew leaves the feeds of the one before', () => {
  const { relay, feeds } = harness();
  relay.open(1, 5);
  relay.open(2, 5);
  relay.open(1, 6);
  expect(feeds.map((feed) => feed.left)).toEqual([true, true, false]);
  expect(relay.size).toBe(1);
});

test('a page that stops reading is skipped, and follows again once it caught up', () => {
  const { relay, feeds, sent } = harness();
  relay.open(1, 5);
  for (let count = 0; count < 10 * AHEAD_MOST; count++) feeds[0]?.send();
  expect([sent.length, feeds[0]?.left, feeds.length]).toEqual([AHEAD_MOST, true, 1]);
  relay.took(1, 16);
  expect(feeds.length).toBe(1);
  for (let taken = 16; taken < AHEAD_MOST; taken += 16) relay.took(1, 16);
  expect(feeds.length).toBe(2);
  feeds[1]?.send();
  expect(sent.length).toBe(AHEAD_MOST + 1);
});

test('a page has four feeds at most', () => {
  const { relay, sent } = harness();
  for (let id = 1; id <= 5; id++) relay.open(id, 5);
  expect([relay.size, sent]).toEqual([4, [[5, false]]]);
});

function fakeSocket(): SocketTransport & { drop: () => void } {
  let drop: () => void = () => {};
  const closed = new Promise<void>((resolve) => (drop = resolve));
  return { closed, drop, close: drop, call: async (name) => ({ ok: true, value: name }), live: () => () => {} };
}

test('a window beside a running host becomes its client and starts none', async () => {
  let starts = 0;
  const connection = new HostConnection({ clock: systemClock, connect: async () => fakeSocket(), startHost: async () => (starts++, 'no') });
  expect(await connection.call('status', {})).toEqual({ ok: true, value: 'status' });
  expect(starts).toBe(0);
});

test('without one it starts one, once, and waits for it; a lost one is found anew', async () => {
  let up = false;
  let starts = 0;
  const sockets: ReturnType<typeof fakeSocket>[] = [];
  const connection = new HostConnection({
    clock: systemClock,
    connect: async () => {
      if (!up) return null;
      sockets.push(fakeSocket());
      return sockets.at(-1) ?? null;
    },
    startHost: () => {
      starts++;
      setTimeout(() => (up = true), 50);
      return new Promise(() => {});
    },
  });
  const answers = await Promise.all([connection.call('status', {}), connection.call('doctor', {})]);
  expect(answers.map((answer) => answer.ok)).toEqual([true, true]);
  expect([starts, sockets.length]).toEqual([1, 1]);
  sockets[0]?.drop();
  await new Promise((resolve) => setTimeout(resolve, 5));
  await connection.call('status', {});
  expect([starts, sockets.length]).toEqual([1, 2]);
});

test('a host that ends before it answers is told of, with its last words', async () => {
  const connection = new HostConnection({ clock: systemClock, connect: async () => null, startHost: async () => 'the disk is full' });
  expect(await connection.call('status', {})).toMatchObject({
    ok: false,
    code: 'no_host',
    message: 'The host could not be started: the disk is full',
  });
});
