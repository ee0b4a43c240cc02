/** State of an export: bytes come from the host in pieces and go to the reader's files; nothing of it stays when it is stopped. */
import { toFailure, type Failure } from '../../electron/contract/errors.ts';
import type { ExportFormat } from '../../electron/contract/transfer.ts';
import { fromBase64, type Destination, type Target } from '../link/files.ts';
import type { HostLink } from '../link/host-link.svelte.ts';

export const FORMAT_WORDS: Record<ExportFormat, { label: string; says: string }> = {
  csv: { label: 'CSV', says: 'One file each for proofs, partitions, spans, idle time, gaps and samples' },
  ndjson: { label: 'NDJSON', says: 'The whole run, line by line; Interlock imports it again without loss' },
  chrome: { label: 'Chrome trace', says: 'For Perfetto and chrome://tracing' },
  sqlite: { label: 'SQLite', says: 'A database with this run alone' },
  html: { label: 'HTML report', says: 'One page with the charts and their definitions, to send to somebody' },
};

export class ExportController {
  format = $state<ExportFormat | null>(null);
  bytes = $state(0);
  file = $state('');
  done = $state('');
  failure = $state.raw<Failure | null>(null);
  redact = $state(false);

  #link: HostLink;
  readonly run: string;
  #stopped = false;

  constructor(link: HostLink, run: string) {
    this.#link = link;
    this.run = run;
  }

  stop(): void {
    this.#stopped = true;
  }

  /** Runs one export to its end; another one cannot begin before. */
  async save(format: ExportFormat, destination: Destination): Promise<void> {
    if (this.format !== null) return;
    this.format = format;
    this.bytes = 0;
    this.done = '';
    this.failure = null;
    this.#stopped = false;
    const { client } = this.#link;
    let open: { file: number; target: Target } | null = null;
    let id: string | null = null;
    try {
      const begun = await client.export_begin({ run: this.run, format, redact: this.redact });
      id = begun.export;
      const nameOf = (file: number) => (begun.files[file] ? begun.files[file] : begun.name);
      for (;;) {
        if (this.#stopped) break;
        const piece = await client.export_piece({ export: id });
        // Files may be empty: each one that was passed over is made all the same.
        while (open === null || open.file < piece.file) {
          await open?.target.close();
          const file: number = open === null ? 0 : open.file + 1;
          this.file = nameOf(file);
          open = { file, target: await destination.open(this.file) };
        }
        const bytes = fromBase64(piece.base64);
        if (bytes.length > 0) await open.target.write(bytes);
        this.bytes += bytes.length;
        if (piece.done) {
          id = null;
          await open.target.close();
          for (let file = open.file + 1; file < begun.files.length; file++) await (await destination.open(nameOf(file))).close();
          open = null;
          this.done = begun.files.length > 1 ? `${begun.files.length} files` : this.file;
          break;
        }
      }
    } catch (error) {
      this.failure = toFailure(error);
    }
    await open?.target.abandon().catch(() => {});
    if (id !== null) await client.export_stop({ export: id }).catch(() => {});
    this.format = null;
  }
}
