/** Cuts a byte stream at `\n`. Bounded: a line beyond the cap is an error, whether or not its end ever comes. */
export class LineTooLong extends Error {}

export class LineSplitter {
  readonly #cap: number;
  #parts: Uint8Array[] = [];
  #length = 0;

  constructor(capBytes: number) {
    this.#cap = capBytes;
  }

  /** The lines that this chunk completes, without their `\n` (nor a `\r` before it); blank ones are left out. */
  push(chunk: Uint8Array): string[] {
    const lines: string[] = [];
    let from = 0;
    for (;;) {
      const end = chunk.indexOf(10, from);
      const part = chunk.subarray(from, end < 0 ? chunk.length : end);
      this.#length += part.length;
      if (this.#length > this.#cap) throw new LineTooLong(`a line has more than ${this.#cap} bytes`);
      if (part.length > 0) this.#parts.push(part);
      if (end < 0) return lines;
      const line = decode(this.#parts, this.#length);
      this.#parts = [];
      this.#length = 0;
      if (line !== '') lines.push(line);
      from = end + 1;
    }
  }
}

const decoder = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true });

function decode(parts: Uint8Array[], length: number): string {
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return decoder.decode(whole).replace(/\r$/, '');
}
