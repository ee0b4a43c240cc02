/**
 * State of imports: files one after another, each sent to the host in pieces, in order; the host says after each piece what it made of
 * it. A failure ends that file and leaves what came before; the next file is tried all the same.
 */
import { toFailure, type Failure } from '../../electron/contract/errors.ts';
import { PIECE_BYTES, type ImportProgress, type ImportReport } from '../../electron/contract/transfer.ts';
import { toBase64 } from '../link/files.ts';
import type { HostLink } from '../link/host-link.svelte.ts';

/** What is needed of a chosen file. */
export interface SourceFile {
  readonly name: string;
  readonly size: number;
  slice(from: number, to: number): { arrayBuffer(): Promise<ArrayBuffer> };
}

export interface ImportEntry {
  key: number;
  name: string;
  size: number;
  state: 'waiting' | 'sending' | 'closing' | 'done' | 'failed' | 'stopped';
  progress: ImportProgress | null;
  /** Bytes that the host has made durable. */
  sent: number;
  report: ImportReport | null;
  failure: Failure | null;
}

const LONGEST_NAME = 200;
/** What every door takes, with room for base64 and the rest of the call. */
const LEAST_PIECE_BYTES = 32 * 1024;

export class ImportController {
  entries = $state.raw<readonly ImportEntry[]>([]);
  readonly busy = $derived.by(() => this.entries.some((entry) => ['waiting', 'sending', 'closing'].includes(entry.state)));

  #link: HostLink;
  #files = new Map<number, SourceFile>();
  #next = 1;
  #running = false;
  #stopping = false;
  #pieceBytes = PIECE_BYTES;
  #onDone: () => void;

  /** `onDone` is called after each file that the host has taken. */
  constructor(link: HostLink, onDone: () => void) {
    this.#link = link;
    this.#onDone = onDone;
  }

  add(files: Iterable<SourceFile>): void {
    for (const file of files) {
      const key = this.#next++;
      this.#files.set(key, file);
      const entry: ImportEntry = {
        key,
        name: file.name,
        size: file.size,
        state: 'waiting',
        progress: null,
        sent: 0,
        report: null,
        failure: null,
      };
      this.entries = [...this.entries, entry];
    }
    if (!this.#running) void this.#run();
  }

  /** Ends the file under way where it is (what came so far is kept) and forgets those that wait. */
  stop(): void {
    this.#stopping = true;
    for (const entry of this.entries) if (entry.state === 'waiting') this.#set(entry.key, { state: 'stopped' });
  }

  dismiss(key: number): void {
    this.entries = this.entries.filter((entry) => entry.key !== key);
  }

  #set(key: number, change: Partial<ImportEntry>): void {
    this.entries = this.entries.map((entry) => (entry.key === key ? { ...entry, ...change } : entry));
  }

  async #run(): Promise<void> {
    this.#running = true;
    for (;;) {
      const next = this.entries.find((entry) => entry.state === 'waiting');
      if (!next) break;
      this.#stopping = false;
      await this.#send(next.key, this.#files.get(next.key)!);
      this.#files.delete(next.key);
    }
    this.#running = false;
  }

  /** Null: this door takes only smaller pieces; none of these bytes was taken. */
  async #sendPiece(id: string, bytes: Uint8Array): Promise<ImportProgress | null> {
    try {
      return await this.#link.client.import_piece({ import: id, base64: toBase64(bytes) });
    } catch (error) {
      if (toFailure(error).code !== 'too_large' || this.#pieceBytes <= LEAST_PIECE_BYTES) throw error;
      this.#pieceBytes = LEAST_PIECE_BYTES;
      return null;
    }
  }

  async #send(key: number, file: SourceFile): Promise<void> {
    const { client } = this.#link;
    this.#set(key, { state: 'sending' });
    let id: string | null = null;
    try {
      ({ import: id } = await client.import_begin({ name: file.name.slice(-LONGEST_NAME) }));
      for (let at = 0; at < file.size && !this.#stopping;) {
        const bytes = new Uint8Array(await file.slice(at, Math.min(file.size, at + this.#pieceBytes)).arrayBuffer());
        const progress = await this.#sendPiece(id, bytes);
        if (progress === null) continue;
        at += bytes.length;
        this.#set(key, { progress, sent: at });
      }
      const stopped = this.#stopping;
      this.#set(key, { state: 'closing' });
      const report = await client.import_end({ import: id });
      this.#set(key, { state: stopped ? 'stopped' : 'done', report });
    } catch (error) {
      this.#set(key, { state: 'failed', failure: toFailure(error) });
      // What came so far is closed, so that the host need not wait for more.
      if (id !== null) await client.import_end({ import: id }).catch(() => {});
    }
    this.#onDone();
  }
}
