/**
 * The door for programs of this user on this machine: a unix socket (0600, in a folder of 0700). Who can open it is this user, so every
 * call is answered, `make_link` too. Owns framing, caps and back-pressure; what a call does is the host's.
 */
import { chmodSync, lstatSync, unlinkSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { dirname } from 'node:path';
import * as v from 'valibot';
import type { Host } from '../../contract/api.ts';
import { InterlockError, toFailure } from '../../contract/errors.ts';
import { LineSplitter } from '../../contract/lines.ts';
import { prepareOwnFolder } from '../own-folder.ts';
import { decodeRequest, encodeResult, REQUEST_CAP, route } from '../router.ts';
import { RequestLine } from './protocol.ts';

/** Beyond this much unsent, a client counts as slow: live messages are left out, and it gets a snapshot later. */
const SLOW_BYTES = 4 * 2 ** 20;
/** Beyond this much unsent it is cut off: it does not read at all. */
const STUCK_BYTES = 160 * 2 ** 20;
const MOST_CLIENTS = 64;
const MOST_CALLS_AT_ONCE = 64;

export interface SocketDoor {
  path: string;
  close(): Promise<void>;
}

/** Listens; fails with `host_running` if a living host answers there already. What a dead one left is removed. */
export async function startSocketDoor(host: Host, path: string): Promise<SocketDoor> {
  prepareOwnFolder(dirname(path), 'socket');
  if (await answers(path)) throw new InterlockError('host_running', `A host listens at ${path} already.`, { socket: path });
  removeLeftSocket(path);
  const clients = new Set<Socket>();
  const server = createServer((socket) => {
    if (clients.size >= MOST_CLIENTS) return void socket.destroy();
    clients.add(socket);
    socket.once('close', () => clients.delete(socket));
    new Connection(host, socket);
  });
  await listen(server, path);
  chmodSync(path, 0o600);
  return {
    path,
    close: () =>
      new Promise((resolve) => {
        for (const client of clients) client.destroy();
        // Node removes the socket's file itself.
        server.close(() => resolve());
      }),
  };
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const before = process.umask(0o177);
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'EADDRINUSE' ? new InterlockError('host_running', `A host listens at ${path} already.`) : error;
      reject(why);
    });
    server.listen(path, () => resolve());
    process.umask(before);
  });
}

function removeLeftSocket(path: string): void {
  try {
    const stat = lstatSync(path);
    if (!stat.isSocket() || stat.uid !== process.getuid?.()) {
      throw new InterlockError('folder_unusable', `${path} is in the way: it is no socket of this user.`);
    }
    unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

class Connection {
  readonly #host: Host;
  readonly #socket: Socket;
  readonly #splitter = new LineSplitter(REQUEST_CAP);
  readonly #live = new Map<number, () => void>();
  #calls = 0;

  constructor(host: Host, socket: Socket) {
    this.#host = host;
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      for (const end of this.#live.values()) end();
      this.#live.clear();
    });
  }

  #take(chunk: Buffer): void {
    try {
      for (const line of this.#splitter.push(chunk)) this.#request(line);
    } catch (error) {
      // What cannot be read cannot be answered by id: say why and hang up.
      const failure = error instanceof InterlockError ? toFailure(error) : toFailure(new InterlockError('bad_request', String(error)));
      this.#socket.end(`${JSON.stringify({ id: 0, result: failure })}\n`);
    }
  }

  #request(line: string): void {
    const parsed = v.safeParse(RequestLine, decodeRequest(line));
    if (!parsed.success) throw new InterlockError('bad_request', 'A request is {id, call, input} or {id, live}.');
    const request = parsed.output;
    if ('live' in request) return this.#watch(request.id, request.live);
    if (this.#calls >= MOST_CALLS_AT_ONCE) {
      const failure = toFailure(new InterlockError('busy', `No more than ${MOST_CALLS_AT_ONCE} calls at once.`));
      return void this.#write(`{"id":${request.id},"result":${encodeResult(failure)}}\n`);
    }
    this.#calls++;
    void route(this.#host, request.call, request.input).then((result) => {
      this.#calls--;
      this.#write(`{"id":${request.id},"result":${encodeResult(result)}}\n`);
    });
  }

  #watch(id: number, on: boolean): void {
    this.#live.get(id)?.();
    this.#live.delete(id);
    if (!on) return;
    const end = this.#host.subscribe({
      send: (message) => {
        if (this.#socket.destroyed || this.#socket.writableLength > SLOW_BYTES) return false;
        this.#write(`${JSON.stringify({ id, message })}\n`);
        return true;
      },
    });
    this.#live.set(id, end);
  }

  #write(text: string): void {
    if (this.#socket.destroyed) return;
    if (this.#socket.writableLength > STUCK_BYTES) return void this.#socket.destroy();
    this.#socket.write(text);
  }
}
