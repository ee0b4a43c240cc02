/** Rows that wait until their table's turn comes: as bytes, which take a fraction of what the same text takes in pieces. */
import { Buffer } from 'node:buffer';

const BATCH = 256 * 1024;

export class RowStore {
  #texts = '';
  #chunks: Buffer[] = [];

  /** A row without its end. */
  add(row: string): void {
    this.#texts += `${row}\r\n`;
    if (this.#texts.length >= BATCH) this.#pack();
  }

  /** Everything that was added, in order; the store is empty then. */
  *take(): Generator<string> {
    this.#pack();
    const chunks = this.#chunks;
    this.#chunks = [];
    for (let chunk = chunks.shift(); chunk; chunk = chunks.shift()) yield chunk.toString('utf8');
  }

  #pack(): void {
    if (this.#texts !== '') this.#chunks.push(Buffer.from(this.#texts, 'utf8'));
    this.#texts = '';
  }
}
