/**
 * `interlock import FILE|-`: hands a log or a run file to the running host, or writes it into the history itself. With `--follow` it goes
 * on with what is written to the file, as `tail -F` does, until it is interrupted; a pipe is read to its end.
 *
 *   interrupt:   what came is kept, and the report comes; with --follow that is how it ends (exit 0), else exit 130
 */
import path from 'node:path';
import { createClient } from '../../contract/client.ts';
import type { Client } from '../../contract/api.ts';
import { sleep } from '../../contract/clock.ts';
import { InterlockError } from '../../contract/errors.ts';
import type { ImportProgress, ImportReport } from '../../contract/transfer.ts';
import { formatBytes } from '../../contract/units.ts';
import { visibleText } from '../../contract/visible-text.ts';
import { EXIT } from './exit-codes.ts';
import { openSource, type ImportSource } from './import-source.ts';
import type { Call } from './call.ts';

/** Pieces on their way at once: some share a transaction while the next are read. */
const AHEAD = 6;
const DRAW_MS = 200;
/** A host that is just starting or just ending may be waited for. */
const HOST_TRIES = 20;
/** Far below the time after which a host gives an import up. */
const KEEP_ALIVE_MS = 60_000;
const PROBLEMS_SHOWN = 20;

export async function importCommand(call: Call): Promise<number> {
  const { parsed, output, seams } = call;
  const [word = '-'] = parsed.words;
  const follow = parsed.switches.has('follow');
  const source = await openSource(word, { follow, clock: seams.clock, say: (message) => output.say(message) });
  let interrupts = 0;
  const stopListening = seams.onInterrupt(() => {
    interrupts++;
    if (interrupts > 1) process.exit(EXIT.interrupted);
    source.stop();
  });
  try {
    const { client, close } = await openTarget(call);
    try {
      const report = await new Importing(call, client, source).run(word === '-' ? 'standard input' : path.basename(word), follow);
      await call.output.data(call.json ? `${JSON.stringify(report)}\n` : reportText(report));
      if (interrupts > 0 && !follow) return EXIT.interrupted;
      return report.run === null ? EXIT.failed : EXIT.ok;
    } finally {
      await close();
    }
  } finally {
    stopListening();
    await source.close();
  }
}

async function openTarget(call: Call): Promise<{ client: Client; close: () => Promise<void> }> {
  for (let tries = 0; ; tries++) {
    const running = await call.seams.connect(call.config);
    if (running) return { client: createClient(running), close: () => Promise.resolve(running.close()) };
    try {
      const own = await call.seams.openHistoryForImport(call.config);
      return { client: createClient(own.transport), close: () => own.close('now') };
    } catch (error) {
      if (!(error instanceof InterlockError) || error.code !== 'host_running' || tries >= HOST_TRIES) throw error;
      await sleep(call.seams.clock, 250);
    }
  }
}

class Importing {
  readonly #call: Call;
  readonly #client: Client;
  readonly #source: ImportSource;
  #drawnNs = 0;
  #sentNs = 0;
  #readBytes = 0;

  constructor(call: Call, client: Client, source: ImportSource) {
    this.#call = call;
    this.#client = client;
    this.#source = source;
  }

  async run(name: string, follow: boolean): Promise<ImportReport> {
    const { clock } = this.#call.seams;
    const { import: id } = await this.#client.import_begin({ name: name.slice(-200), follow });
    const underWay: Promise<ImportProgress>[] = [];
    let failed: unknown = null;
    const send = (bytes: Uint8Array) => {
      this.#sentNs = clock.nowNs();
      const base64 = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
      const sent = this.#client.import_piece({ import: id, base64 });
      sent.then((progress) => this.#draw(progress), (error: unknown) => (failed ??= error)); // prettier-ignore
      underWay.push(sent);
    };
    try {
      for (;;) {
        const bytes = await this.#source.read();
        if (bytes === null || failed !== null) break;
        this.#readBytes += bytes.length;
        if (bytes.length > 0 || clock.nowNs() - this.#sentNs > KEEP_ALIVE_MS * 1e6) send(bytes);
        while (underWay.length >= AHEAD) await underWay.shift();
      }
      await Promise.all(underWay);
    } catch (error) {
      await Promise.allSettled(underWay);
      // What is durable stays; the host closes the run.
      await this.#client.import_end({ import: id }).catch(() => undefined);
      throw error;
    }
    return this.#client.import_end({ import: id });
  }

  /** "412 MiB, 38 %, 1.2 M events". */
  #draw(progress: ImportProgress): void {
    const { clock } = this.#call.seams;
    const now = clock.nowNs();
    if (now - this.#drawnNs < DRAW_MS * 1e6) return;
    this.#drawnNs = now;
    const { sizeBytes } = this.#source;
    const share = sizeBytes !== null && sizeBytes > 0 ? `, ${Math.min(100, Math.floor((100 * this.#readBytes) / sizeBytes))} %` : '';
    const unparsed = progress.unparsed > 0 ? `, ${countText(progress.unparsed)} lines not understood` : '';
    this.#call.output.live(`${formatBytes(progress.bytes)}${share}, ${countText(progress.events)} events${unparsed}`);
  }
}

/** 950, 12 k, 1.2 M. */
export function countText(count: number): string {
  if (count >= 999_950) return `${(count / 1e6).toFixed(1)} M`;
  if (count >= 10_000) return `${(count / 1e3).toFixed(0)} k`;
  return String(count);
}

export function reportText(report: ImportReport): string {
  const lines = report.runs.map(({ run, name, state, events, proofs, again }) => {
    const known = again ? ', known already' : '';
    return `${run}  ${visibleText(name)}: ${plural(events, 'event')}, ${plural(proofs, 'proof')}, ${state}${known}`;
  });
  lines.push(`${formatBytes(report.bytes)}, ${plural(report.lines, 'line')}, ${plural(report.events, 'event')}`);
  const shown = report.problems.slice(0, PROBLEMS_SHOWN);
  if (shown.length > 0)
    lines.push('', report.unparsed > 0 ? `Worth telling (${plural(report.unparsed, 'line')} not understood):` : 'Worth telling:');
  for (const { line, offset, problem, text } of shown) {
    const where = line > 0 ? `line ${line}, byte ${offset}: ` : '';
    lines.push(`  ${where}${visibleText(problem)}${text === '' ? '' : `: ${visibleText(text.slice(0, 100))}`}`);
  }
  const more = report.problems.length - shown.length + report.more_problems;
  if (more > 0) lines.push(`  … and ${more} more${report.more_problems > 0 ? '' : ' (--json lists them)'}`);
  if (report.run !== null) lines.push('', `Why its devices were idle: interlock idle ${report.run}`);
  return `${lines.join('\n')}\n`;
}

function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}
