/**
 * The last of what a prover wrote for people. Always read, never blocking the writer: a bounded ring of bytes, and counts of everything
 * that passed through.
 */
export interface StderrTail {
  /** The kept text; a cut first line is left out. */
  text: string;
  /** Bytes ever written, and how many of them are no longer kept. */
  bytes: number;
  droppedBytes: number;
}

export class StderrRing {
  readonly #capacity: number;
  #chunks: Buffer[] = [];
  #kept = 0;
  #bytes = 0;

  constructor(capacity = 64 * 1024) {
    this.#capacity = capacity;
  }

  push(chunk: Buffer): void {
    this.#bytes += chunk.length;
    // A slice would keep the whole of a large pool buffer alive: copy what is kept.
    const part = chunk.length > this.#capacity ? Buffer.from(chunk.subarray(chunk.length - this.#capacity)) : chunk;
    this.#chunks.push(part);
    this.#kept += part.length;
    while (this.#kept > this.#capacity) {
      const [first] = this.#chunks;
      if (!first) break;
      const excess = this.#kept - this.#capacity;
      if (first.length <= excess) {
        this.#chunks.shift();
        this.#kept -= first.length;
      } else {
        this.#chunks[0] = Buffer.from(first.subarray(excess));
        this.#kept -= excess;
      }
    }
  }

  read(): StderrTail {
    let text = Buffer.concat(this.#chunks).toString('utf8');
    if (this.#bytes > this.#kept) text = text.slice(text.indexOf('\n') + 1);
    return { text, bytes: this.#bytes, droppedBytes: this.#bytes - this.#kept };
  }

  /** The last line that is not blank, or null. */
  lastLine(): string | null {
    const lines = this.read()
      .text.split('\n')
      .filter((line) => line.trim() !== '');
    return lines.at(-1)?.trim() ?? null;
  }
}
