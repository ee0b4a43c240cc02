/** What a format writes, cut into pieces for the doors. Text is handed in by the hundred kilobytes; bytes may be cut anywhere. */
import { PIECE_BYTES } from '../contract/transfer.ts';

export interface Piece {
  file: number;
  bytes: Uint8Array;
}

export class Pieces {
  #ready: Piece[] = [];
  #texts: string[] = [];
  #characters = 0;
  #file = 0;

  /** Bytes of one file follow each other; a new file's number ends the one before. */
  readonly write = (file: number, text: string): void => {
    if (file !== this.#file) this.#cut();
    this.#file = file;
    this.#texts.push(text);
    this.#characters += text.length;
    if (this.#characters >= PIECE_BYTES) this.#cut();
  };

  writeBytes(file: number, bytes: Uint8Array): void {
    this.#cut();
    this.#file = file;
    this.#ready.push({ file, bytes });
  }

  /** A whole piece if there is one; with `all` whatever is left. */
  take(all: boolean): Piece | null {
    if (all && this.#ready.length === 0) this.#cut();
    return this.#ready.shift() ?? null;
  }

  get isEmpty(): boolean {
    return this.#ready.length === 0 && this.#characters === 0;
  }

  #cut(): void {
    if (this.#characters === 0) return;
    const bytes = Buffer.from(this.#texts.join(''), 'utf8');
    this.#texts = [];
    this.#characters = 0;
    let at = 0;
    while (bytes.length - at > PIECE_BYTES) {
      this.#ready.push({ file: this.#file, bytes: bytes.subarray(at, at + PIECE_BYTES) });
      at += PIECE_BYTES;
    }
    this.#ready.push({ file: this.#file, bytes: bytes.subarray(at) });
  }
}
