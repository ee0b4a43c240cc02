/** A web door on a port of its own over a host that counts who got in, with the operator's own way in worked out beside it. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Host, LiveSubscriber } from '../../../electron/contract/api.ts';
import type { Clock } from '../../../electron/contract/clock.ts';
import type { LiveMessage } from '../../../electron/contract/live.ts';
import { createShell, type Shell } from '../../../electron/doors/shell.ts';
import type { Guard, WebDoor } from '../../../electron/doors/web/types.ts';
import { startWebDoor } from '../../../electron/doors/web/web-door.ts';
import { systemClock } from '../../../electron/host/clock.ts';

/** What only an authorised reader may ever see. */
export const SECRET_ANSWER = 'only-for-the-operator';
/** What the static page says; no attacker's origin may read it. */
export const PAGE_MARK = 'interlock-page-mark';

const PAGE = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${PAGE_MARK}</title><link rel="icon" href="data:,"><script type="module" src="./assets/main-1a2b3c.js"></script></head><body>${PAGE_MARK}</body></html>`;

export const testShell: Shell = createShell([
  ['index.html', Buffer.from(PAGE)],
  ['assets/main-1a2b3c.js', Buffer.from('document.body.dataset.ran = "yes";')],
  ['assets/main-1a2b3c.css', Buffer.from('body { margin: 0 }')],
]);

export interface Fixture {
  door: WebDoor;
  host: Host;
  port: number;
  token: string;
  /** Calls and subscriptions that reached the host. */
  entered: () => number;
  /** A code as the operator's link carries it. */
  makeCode: () => string;
  subscribers: Set<LiveSubscriber>;
  /** Moves the door's clock ahead. */
  advance: (ms: number) => void;
  lines: string[];
  tokenFile: string;
  close: () => Promise<void>;
}

export async function openDoor({
  guardsOff = [] as readonly Guard[],
  shell = testShell,
  publicOrigin = undefined as string | undefined,
} = {}): Promise<Fixture> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'interlock-web-'));
  const tokenFile = path.join(folder, 'run', 'web.token');
  const subscribers = new Set<LiveSubscriber>();
  const lines: string[] = [];
  let entered = 0;
  let aheadNs = 0;
  const clock: Clock = { ...systemClock, nowNs: () => systemClock.nowNs() + aheadNs };
  const handlers = new Proxy(
    {},
    {
      get: () => async () => {
        entered += 1;
        return { secret: SECRET_ANSWER };
      },
    },
  ) as Host['handlers'];
  const host: Host = {
    handlers,
    subscribe(subscriber) {
      entered += 1;
      subscribers.add(subscriber);
      subscriber.send({ kind: 'status', status: { version: SECRET_ANSWER } } as unknown as LiveMessage);
      subscriber.send({ kind: 'no_run' });
      return () => subscribers.delete(subscriber);
    },
  };
  const door = await startWebDoor(host, { port: 0, clock, shell, tokenFile, guardsOff, publicOrigin, log: (line) => lines.push(line) });
  return {
    door,
    host,
    port: door.port,
    token: readFileSync(tokenFile, 'utf8').trim(),
    entered: () => entered,
    makeCode: () => new URL(door.makeLink()).hash.slice('#code='.length),
    subscribers,
    advance: (ms) => {
      aheadNs += ms * 1e6;
    },
    lines,
    tokenFile,
    close: async () => {
      await door.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
