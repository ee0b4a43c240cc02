/**
 * The one gate for everything the page asks of main. A request passes only if it comes from the main frame of our own window, from
 * exactly our origin, on a channel of the list, with arguments that fit the channel's schema and size; and what goes back fits, too.
 * Everything else is refused before a handler is entered.
 */
import * as v from 'valibot';
import { CALLS, isCallName, type CallName, type Transport } from '../../contract/api.ts';
import { InterlockError, isErrorCode, toFailure, type Result } from '../../contract/errors.ts';
import { CHANNELS } from './ipc-channels.ts';
import { isOwnUrl } from './navigation.ts';
import { APP_ORIGIN } from './scheme.ts';

/** Most characters of the arguments and of an answer, as JSON. */
const ARGUMENTS_MOST = 2 ** 20;
const ANSWER_MOST = 64 * 2 ** 20;

/** The parts of Electron's frame and event that the gate looks at. */
export interface Frame {
  url: string;
  origin?: string;
  parent: Frame | null;
}
export interface GateEvent {
  senderFrame: Frame | null;
  sender: { id: number; mainFrame: Frame | null; isDestroyed(): boolean };
}
export interface GateMain {
  handle(channel: string, listener: (event: GateEvent, ...args: unknown[]) => Promise<unknown>): void;
}

export interface LiveFeeds {
  open(id: number, page: number): void;
  close(id: number): void;
  took(id: number, count: number): void;
}

export interface GateOptions {
  /** Id of our window's contents; null while there is none. */
  ownContents: () => number | null;
  transport: Pick<Transport, 'call'>;
  feeds: LiveFeeds;
  /** Told of each refusal, in words without the arguments. */
  onRefused?: (reason: string) => void;
}

/** Answered by the socket door alone. */
const REFUSED_CALLS: ReadonlySet<CallName> = new Set(['make_link']);

const FeedId = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(2 ** 31));
const PageId = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(2 ** 48));
const ARGUMENTS = {
  [CHANNELS.call]: v.strictTuple([v.pipe(v.string(), v.maxLength(64)), v.unknown()]),
  [CHANNELS.openLive]: v.strictTuple([FeedId, PageId]),
  [CHANNELS.closeLive]: v.strictTuple([FeedId]),
  [CHANNELS.tookLive]: v.strictTuple([FeedId, v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(10_000))]),
} as const;

const ResultSchema = v.union([
  v.object({ ok: v.literal(true), value: v.unknown() }),
  v.object({
    ok: v.literal(false),
    code: v.pipe(v.string(), v.check(isErrorCode, 'a code of the list')),
    message: v.pipe(v.string(), v.maxLength(10_000)),
    detail: v.optional(v.record(v.string(), v.unknown())),
  }),
]);

/** Why a sender is not ours, or null. */
export function judgeSender(event: GateEvent, ownContents: number | null): string | null {
  const frame = event.senderFrame;
  if (!frame) return 'the sending frame is gone';
  if (ownContents === null || event.sender.id !== ownContents) return 'not our window';
  if (event.sender.isDestroyed()) return 'the window is gone';
  if (frame.parent !== null || frame !== event.sender.mainFrame) return 'not the main frame';
  if (!isOwnUrl(frame.url)) return 'not our page';
  if (frame.origin !== undefined && frame.origin !== APP_ORIGIN) return 'not our origin';
  return null;
}

/** The arguments as plain data, or why not: what cannot be JSON (a cycle, a BigInt) or is too large is refused. */
function plain(args: unknown[]): unknown {
  let text: string;
  try {
    text = JSON.stringify(args);
  } catch {
    throw new InterlockError('bad_request', 'The arguments are not plain data.');
  }
  if (text.length > ARGUMENTS_MOST) throw new InterlockError('too_large', `The arguments may have ${ARGUMENTS_MOST} characters.`);
  return JSON.parse(text, (key, value: unknown) => {
    if (key === '__proto__' || key === 'constructor' || key === 'prototype')
      throw new InterlockError('bad_request', `The key ${key} is not allowed.`);
    return value;
  });
}

/** A handler's answer, if it is one. */
function checkResult(result: unknown): Result<unknown> {
  const parsed = v.safeParse(ResultSchema, result);
  if (!parsed.success) return toFailure(new InterlockError('internal', 'The host’s answer is not a result.'));
  if ((JSON.stringify(parsed.output) ?? '').length > ANSWER_MOST) {
    return toFailure(new InterlockError('too_large', `An answer may have ${ANSWER_MOST} characters.`));
  }
  return parsed.output as Result<unknown>;
}

/** Registers every channel. Call once, before a window exists. */
export function openGate(ipcMain: GateMain, options: GateOptions): void {
  const { transport, feeds } = options;
  const guarded =
    <C extends keyof typeof ARGUMENTS>(channel: C, work: (args: v.InferOutput<(typeof ARGUMENTS)[C]>) => Promise<Result<unknown>>) =>
    async (event: GateEvent, ...args: unknown[]): Promise<Result<unknown>> => {
      try {
        const foreign = judgeSender(event, options.ownContents());
        if (foreign) throw new InterlockError('unauthorised', `Refused: ${foreign}.`);
        const parsed = v.safeParse(ARGUMENTS[channel], plain(args));
        if (!parsed.success || args.length !== ARGUMENTS[channel].items.length)
          throw new InterlockError('bad_request', 'The arguments do not fit.');
        return checkResult(await work(parsed.output as v.InferOutput<(typeof ARGUMENTS)[C]>));
      } catch (error) {
        const failure = toFailure(error);
        options.onRefused?.(`${channel}: ${failure.message}`);
        return failure;
      }
    };
  const done = async (): Promise<Result<unknown>> => ({ ok: true, value: {} });

  ipcMain.handle(
    CHANNELS.call,
    guarded(CHANNELS.call, async ([name, input]) => {
      if (!isCallName(name) || REFUSED_CALLS.has(name)) throw new InterlockError('bad_request', 'There is no such call here.');
      const checked = v.safeParse(CALLS[name].input, input ?? {});
      if (!checked.success) throw new InterlockError('usage', checked.issues.map((issue) => issue.message).join('; '), { call: name });
      return transport.call(name, checked.output);
    }),
  );
  ipcMain.handle(
    CHANNELS.openLive,
    guarded(CHANNELS.openLive, ([id, page]) => (feeds.open(id, page), done())),
  );
  ipcMain.handle(
    CHANNELS.closeLive,
    guarded(CHANNELS.closeLive, ([id]) => (feeds.close(id), done())),
  );
  ipcMain.handle(
    CHANNELS.tookLive,
    guarded(CHANNELS.tookLive, ([id, count]) => (feeds.took(id, count), done())),
  );
}
