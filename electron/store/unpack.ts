/**
 * Takes gzip and zstd apart as they come; what is neither passes as it is. Memory is the same whatever the bytes unpack to: each piece
 * that comes out is taken before the next one is made.
 */
import { createGunzip, createZstdDecompress, type Gunzip, type ZstdDecompress } from 'node:zlib';

/** Enough to tell what something is. */
export const MAGIC_BYTES = 6;
/** Of what comes out. */
const CHUNK_BYTES = 2 * 2 ** 20;
/** Given to zlib at once: what a damaged part would take with it. */
const WRITE_BYTES = 32 * 1024;

const MAGICS: readonly [name: string, magic: readonly number[]][] = [
  ['gzip', [0x1f, 0x8b]],
  ['zstd', [0x28, 0xb5, 0x2f, 0xfd]],
  ['xz', [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]],
  ['bzip2', [0x42, 0x5a, 0x68]],
  ['zip', [0x50, 0x4b, 0x03, 0x04]],
  ['lz4', [0x04, 0x22, 0x4d, 0x18]],
];

/** What packed the bytes; null: they are plain. zstd may begin with a frame that is to be skipped. */
export function recognisePacking(head: Uint8Array): string | null {
  if (head.length >= 4 && ((head[0] ?? 0) & 0xf0) === 0x50 && head[1] === 0x2a && head[2] === 0x4d && head[3] === 0x18) return 'zstd';
  return MAGICS.find(([, magic]) => magic.every((byte, index) => head[index] === byte))?.[0] ?? null;
}

export class Unpacker {
  readonly #packing: 'gzip' | 'zstd';
  readonly #take: (bytes: Uint8Array) => void;
  #stream: Gunzip | ZstdDecompress;
  /** Of the stream. */
  #pushed = 0;
  /** Of a frame's beginning that came apart. */
  #left: Uint8Array | null = null;
  #problem: string | null = null;
  #failure: unknown = null;
  #wake: () => void = () => undefined;

  /** `take` hears what comes out; what it throws, {@link push} throws. */
  constructor(packing: 'gzip' | 'zstd', take: (bytes: Uint8Array) => void) {
    this.#packing = packing;
    this.#take = take;
    this.#stream = this.#open();
  }

  /** Resolves once everything that these bytes unpack to has been taken. */
  async push(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length && this.#problem === null; at += WRITE_BYTES) {
      await this.#write(bytes.subarray(at, at + WRITE_BYTES));
    }
    // What came out last is handed over in the next turn.
    await new Promise((resolve) => setImmediate(resolve));
    this.#rethrow();
  }

  /** What is wrong with the packing as a whole, in words; null: nothing. */
  async end(): Promise<string | null> {
    if (this.#problem === null && this.#left !== null) this.#problem = trailing(this.#left.length);
    if (this.#problem === null) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        this.#stream.once('end', resolve);
        this.#stream.end();
      });
    }
    this.#stream.destroy();
    this.#rethrow();
    return this.#problem;
  }

  #open(): Gunzip | ZstdDecompress {
    const options = { chunkSize: CHUNK_BYTES };
    const stream = this.#packing === 'gzip' ? createGunzip(options) : createZstdDecompress(options);
    stream.on('data', (bytes: Buffer) => this.#out(bytes));
    stream.on('error', (error) => {
      this.#problem ??= explain(this.#packing, error);
      this.#wake();
    });
    this.#pushed = 0;
    return stream;
  }

  async #write(bytes: Uint8Array): Promise<void> {
    let rest = this.#left === null ? bytes : Buffer.concat([this.#left, bytes]);
    if (this.#left !== null) {
      this.#left = null;
      rest = this.#nextFrame(rest);
    }
    while (rest.length > 0 && this.#problem === null && this.#failure === null) {
      const part = rest;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        this.#stream.write(part, () => resolve());
      });
      this.#pushed += part.length;
      // Node's zstd stops at the end of a frame and drops the rest of what it was given.
      const dropped = this.#packing === 'zstd' ? this.#pushed - this.#stream.bytesWritten : 0;
      if (dropped > 0) await new Promise((resolve) => setImmediate(resolve));
      rest = dropped > 0 && this.#problem === null ? this.#nextFrame(part.subarray(part.length - dropped)) : part.subarray(part.length);
    }
  }

  /** The bytes after a frame, for a new stream; empty where they are too few to tell or no frame. */
  #nextFrame(bytes: Uint8Array): Uint8Array {
    const none = bytes.subarray(bytes.length);
    if (bytes.length < MAGIC_BYTES) {
      this.#left = bytes;
      return none;
    }
    if (recognisePacking(bytes) !== 'zstd') {
      this.#problem = trailing(bytes.length);
      return none;
    }
    this.#stream.destroy();
    this.#stream = this.#open();
    return bytes;
  }

  #out(bytes: Buffer): void {
    if (this.#failure !== null) return;
    try {
      this.#take(bytes);
    } catch (error) {
      this.#failure = error;
    }
  }

  #rethrow(): void {
    if (this.#failure !== null) throw this.#failure;
  }
}

function trailing(bytes: number): string {
  return `After the packed data come bytes (${bytes} or more) that are not packed; they are left out.`;
}

function explain(packing: string, error: Error): string {
  const cut = (error as { code?: string }).code === 'Z_BUF_ERROR' || /unexpected end|truncat|incomplete/i.test(error.message);
  return cut
    ? `The ${packing} data end in the middle; what came before is taken.`
    : `The ${packing} data are damaged (${error.message}); what came before is taken.`;
}
