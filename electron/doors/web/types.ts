/**
 * The web door's seams: what it needs from outside, what it gives back, and its guards by name.
 */
import type { Host } from '../../contract/api.ts';
import type { Clock } from '../../contract/clock.ts';
import type { Shell } from '../shell.ts';

/** Fixed default port of the page; the next free one is taken when nobody asked for a certain one. */
export const DEFAULT_PORT = 9720;

/**
 * Every guard by name. All are on; a test may switch one off to see that the hostile suite then fails. No flag, file or variable
 * reaches this: it is a parameter of {@link import('./web-door.ts').startWebDoor} alone.
 */
export const GUARDS = [
  /** H2: exactly one Host, one of ours with the port. */
  'host',
  /** H2: only origin-form targets. */
  'target',
  /** H3: an Origin, where present, is ours, port included. */
  'origin',
  /** H3: Sec-Fetch-Site, where present, is same-origin (none for the page itself). */
  'fetch_site',
  /** H4: a token on everything but the static shell. */
  'token',
  /** H4: a WebSocket proves itself within 2 s, before any data. */
  'live_token',
  /** H5: a link's code works once, for 60 s. */
  'code',
  /** H4, H5: tries are rationed. */
  'rate',
  /** H7: the method a route has, and no other. */
  'method',
  /** H7: calls are JSON, nothing a form can send. */
  'json',
  /** H9: header, body and message sizes. */
  'size',
  /** H9: slow headers and bodies are cut off. */
  'slow',
  /** H9: number of connections and sockets. */
  'connections',
  /** H8: headers on every answer. */
  'headers',
] as const;
export type Guard = (typeof GUARDS)[number];

export interface WebDoorOptions {
  /** A certain port, or nothing: 9720, else the next free one. Taken: `port_taken`. 0 lets the system choose (tests). */
  port?: number | undefined;
  /** One more origin that reaches this door, e.g. `http://localhost:8080` for an ssh forward: adds exactly one Host and one Origin. */
  publicOrigin?: string | undefined;
  clock: Clock;
  /** The built page as a map from path to bytes; see electron/doors/shell.ts. */
  shell: Shell;
  /** Where the token of this start is written (0600); removed by `close`. */
  tokenFile: string;
  /** One plain line for the operator's log; never a secret. */
  log?: ((line: string) => void) | undefined;
  /** Tests alone: guards to leave off. */
  guardsOff?: readonly Guard[] | undefined;
}

export interface WebDoor {
  port: number;
  /** `http://127.0.0.1:9720` (or the public origin). */
  origin: string;
  /** A fresh link with a single-use code that lives 60 s, in the fragment. */
  makeLink(): string;
  close(): Promise<void>;
}

export type StartWebDoor = (host: Host, options: WebDoorOptions) => Promise<WebDoor>;
