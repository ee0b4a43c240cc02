/**
 * The host of `npm run dev:replay`: plays a recorded run to the real page through the real web door, over and over. No prover, no
 * database, nothing is proved and nothing is kept; whatever would change something is refused in so many words.
 *
 *   node test/support/replay-host.ts [RECORDING] [--port N] [--speed X]
 */
import { mkdtempSync, readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { CALLS, type CallName, type Host, type LiveSubscriber } from '../../electron/contract/api.ts';
import type { Timer } from '../../electron/contract/clock.ts';
import { InterlockError } from '../../electron/contract/errors.ts';
import type { HostStatus, LiveMessage } from '../../electron/contract/live.ts';
import { loadShell } from '../../electron/doors/shell.ts';
import { startWebDoor } from '../../electron/doors/web/web-door.ts';
import { systemClock } from '../../electron/host/clock.ts';

/** Between the end of a recording and its next beginning. */
const PAUSE_MS = 4000;
const NOTE = 'This is a recorded run: nothing is proved here.';

interface Recording {
  answers: Record<string, unknown>;
  feed: { at: number; message: LiveMessage }[];
}

export function readRecording(file: string): Recording {
  const [first, ...rest] = readFileSync(file, 'utf8').trim().split('\n');
  const { answers } = JSON.parse(first ?? '{}') as { answers: Record<string, unknown> };
  return { answers, feed: rest.map((line) => JSON.parse(line) as Recording['feed'][number]) };
}

/** Recorded once for each run, each proof, or (what-if) each change. */
const KEYED: readonly CallName[] = ['show_run', 'show_proof', 'idle', 'gaps', 'simulate'];

/** The recorded status, with the note that it is one. */
function noted(status: HostStatus): HostStatus {
  return { ...status, notices: [{ id: 1, severity: 'info', code: 'info', message: NOTE, wallMs: status.prover.sinceMs }] };
}

export function createReplayHost(recording: Recording, speed = 1): Host {
  const lastStatus = recording.feed.findLast(({ message }) => message.kind === 'status')?.message as Extract<
    LiveMessage,
    { kind: 'status' }
  >;

  async function answer(name: CallName, input: Record<string, string>): Promise<unknown> {
    if (name === 'status') return noted(lastStatus.status);
    if (CALLS[name].changes) throw new InterlockError('backend_unavailable', NOTE);
    const found = recording.answers[name] as Record<string, unknown> | undefined;
    if (!KEYED.includes(name)) {
      if (found) return found;
      throw new InterlockError('not_found', `${name} was not recorded.`);
    }
    const key =
      name === 'simulate'
        ? JSON.stringify(input['change'] ?? {})
        : input['run'] === 'last'
          ? Object.keys(found ?? {})[0]
          : (input['run'] ?? input['proof']);
    const value = key === undefined ? undefined : found?.[key];
    if (value === undefined) throw new InterlockError('not_found', `${key} was not recorded.`);
    return value;
  }

  function subscribe(subscriber: LiveSubscriber): () => void {
    let timer: Timer | null = null;
    const play = (index: number) => {
      const line = recording.feed[index];
      if (!line) {
        timer = systemClock.after(PAUSE_MS / speed, () => play(0));
        return;
      }
      subscriber.send(line.message.kind === 'status' ? { kind: 'status', status: noted(line.message.status) } : line.message);
      const wait = (recording.feed[index + 1]?.at ?? line.at) - line.at;
      timer = systemClock.after(Math.max(0, wait) / speed, () => play(index + 1));
    };
    play(0);
    return () => timer?.cancel();
  }

  const handlers = Object.fromEntries(
    (Object.keys(CALLS) as CallName[]).map((name) => [name, (input: Record<string, string>) => answer(name, input)]),
  );
  return { handlers: handlers as unknown as Host['handlers'], subscribe };
}

function option(name: string): string | undefined {
  const at = process.argv.indexOf(name);
  return at === -1 ? undefined : process.argv[at + 1];
}

if (import.meta.main) {
  const root = path.resolve(import.meta.dirname, '../..');
  const named = process.argv.slice(2).find((argument, at, all) => !argument.startsWith('--') && !all[at - 1]?.startsWith('--'));
  const host = createReplayHost(
    readRecording(named ?? path.join(root, 'test/fixtures/replay/proof.ndjson')),
    Number(option('--speed') ?? 1),
  );
  const port = option('--port');
  const door = await startWebDoor(host, {
    port: port === undefined ? undefined : Number(port),
    clock: systemClock,
    shell: loadShell(path.join(root, 'out/renderer')),
    tokenFile: path.join(mkdtempSync(path.join(os.tmpdir(), 'interlock-replay-')), 'web-token'),
  });
  process.stderr.write(`${NOTE}\nOpen this link in a browser on this machine (Enter makes a fresh one, Ctrl-C ends):\n`);
  process.stdout.write(`${door.makeLink()}\n`);
  if (process.stdin.isTTY) process.stdin.on('data', () => process.stdout.write(`${door.makeLink()}\n`));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => void door.close().then(() => process.exit(0)));
}
