import { beforeEach, describe, expect, test } from 'vitest';
import { HostLink } from '../../../renderer/link/host-link.svelte.ts';
import { createDemoRun } from '../../support/demo-run.ts';
import { FakeTransport } from '../../support/fake-transport.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const status = createDemoRun({ proofs: 4 }).statusAt(10e9);
let clock: ManualClock;
let transport: FakeTransport;
let link: HostLink;

beforeEach(() => {
  clock = new ManualClock();
  transport = new FakeTransport();
  transport.greeting = () => [{ kind: 'status', status }];
  transport.value('status', status);
  link = new HostLink(transport, clock);
});

describe('the connection', () => {
  test('opens with the first message', () => {
    link.open();
    expect([link.connection, link.status]).toEqual(['open', status]);
  });

  test('lost: tries again after 250 ms, then ever longer, at most 8 s apart', async () => {
    link.open();
    const deaf = () => [];
    transport.greeting = deaf;
    const waits: number[] = [];
    transport.lose();
    for (let turn = 0; turn < 8; turn++) {
      const before = transport.subscriptions;
      let waited = 0;
      while (transport.subscriptions === before) {
        await clock.advance(50);
        waited += 50;
      }
      waits.push(waited);
      transport.lose();
    }
    expect(link.connection).toBe('reconnecting');
    expect(waits.map((ms) => Math.round(ms / 250) * 250)).toEqual([250, 500, 1000, 2000, 4000, 8000, 8000, 8000]);
    expect(link.status).toEqual(status);
  });

  test('the host knows the session no more: refused, and no more tries until asked', async () => {
    link.open();
    transport.fail('status', 'unauthorised', 'unknown session');
    transport.lose();
    await clock.advance(60_000);
    expect(link.connection).toBe('refused');
    expect(transport.subscriptions).toBe(1);
    transport.value('status', status);
    link.retry();
    expect(link.connection).toBe('open');
  });

  test('trying now does not leave two subscriptions behind', async () => {
    link.open();
    transport.greeting = () => [];
    transport.lose();
    link.retry();
    await clock.advance(30_000);
    expect(transport.listening).toBe(1);
    transport.push({ kind: 'status', status });
    expect(link.connection).toBe('open');
  });

  test('closing ends it for good', async () => {
    link.open();
    link.close();
    await clock.advance(60_000);
    expect(transport.listening).toBe(0);
    expect(transport.subscriptions).toBe(1);
  });
});
