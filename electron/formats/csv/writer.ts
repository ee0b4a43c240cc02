/**
 * A run as six tables. It is told the run once, event by event: a span is a row as soon as it has ended; proofs, partitions, idle time
 * and gaps are written at the end. Rows go out in large pieces of text.
 */
import { CAUSE_WORDS, CAUSES, GROUPS, type Gap, type GapEnd, type IdleReport } from '../../contract/idle.ts';
import { STAGES } from '../../contract/run-report.ts';
import type { EventOf, TimelineEvent } from '../../contract/timeline-events.ts';
import type { Nanoseconds } from '../../contract/units.ts';
import { ProofBook, type PartitionEntry, type ProofEntry } from '../../analysis/proof-book.ts';
import type { RunFeed } from '../../analysis/run-feed.ts';
import { RunAxis } from '../../analysis/run-axis.ts';
import { SETTLE_EVERY, SETTLE_LAG_NS, SpanTracker, type Span } from '../../analysis/spans.ts';
import { isLog } from '../../analysis/windows.ts';
import type { ExportFacts, WriteText } from '../export-facts.ts';
import type { AttemptFacts } from '../import-sink.ts';

import { decimalCell, numberCell, textCell, UtcClock, wallCell } from './cells.ts';
import { CSV_COLUMNS, CSV_FILES, type CsvFile } from './columns.ts';
import { RowStore } from './row-store.ts';

/** Characters of rows that go out together. */
const BATCH = 256 * 1024;
/** The words of the other reports for two kinds of span. */
const KIND_WORDS: Partial<Record<Span['kind'], string>> = { waiting: 'lock_wait', pause: 'wait' };

type Told = { accepted: EventOf<'proof_accepted'> | null; kind: string | null };

export class CsvWriter implements RunFeed {
  readonly #facts: ExportFacts;
  readonly #write: WriteText;
  readonly #utc: UtcClock;
  readonly #run: string;
  readonly #book = new ProofBook(true);
  readonly #told = new Map<string, Told>();
  /** Cells of ids come again and again. */
  readonly #cells = new Map<string, string>();
  #axis: RunAxis | null = null;
  #tracker: SpanTracker | null = null;
  #offset = 0;
  #process = -1;
  #nextId = 0;
  #count = 0;
  #lastNs = 0;
  #rows = '';
  /** Rows of partitions that wait for their table. */
  readonly #partitions = new RowStore();
  /** Proofs that ended and whose partitions are not rows yet, in that order. */
  #ended: string[] = [];
  #file = 0;

  /** `write`: whole rows of one file, in the order of {@link CSV_FILES}. */
  constructor(facts: ExportFacts, write: WriteText) {
    this.#facts = facts;
    this.#write = write;
    this.#utc = new UtcClock(facts.startedWallNs);
    this.#run = textCell(facts.run);
    this.#begin('spans.csv');
  }

  beginProcess(hello: EventOf<'hello'>, originT: Nanoseconds): void {
    this.#endTracker();
    this.#axis ??= new RunAxis(hello, originT);
    this.#offset = this.#axis.offsetOf(hello);
    this.#process += 1;
    const process = this.#process;
    this.#tracker = new SpanTracker(this.#offset, (span) => this.#span(span, process), () => this.#nextId++, isLog(hello)); // prettier-ignore
  }

  take(event: TimelineEvent): void {
    const at = event.t + this.#offset;
    if (at > this.#lastNs) this.#lastNs = at;
    this.#tracker?.take(event);
    this.#book.take(event, at, this.#process);
    if (event.e === 'proof_accepted') this.#tell(event).accepted = event;
    else if (event.e === 'proof_named') this.#tell(event).kind = event.kind;
    if (event.e === 'proof_ended') this.#ended.push(`${event.proof} ${event.attempt}`);
    if (++this.#count % SETTLE_EVERY === 0) this.#settle(this.#lastNs - SETTLE_LAG_NS);
  }

  endProcess(endT: Nanoseconds | null): void {
    if (endT !== null) this.#endTracker();
  }

  /** After the run was told: what is left, and the other five tables. What was written may be fetched at each yield. */
  *finish(idle: IdleReport, gaps: Iterable<Gap>, attempts: readonly AttemptFacts[]): Generator<void> {
    for (const span of this.#tracker?.openSpans() ?? []) this.#spanRow(span, 'open');
    this.#endTracker();
    const known = new Map(attempts.map((attempt) => [`${attempt.proof} ${attempt.attempt}`, attempt]));
    this.#begin('proofs.csv');
    for (const entry of this.#book.entries.values()) {
      if (this.#proofRow(entry, known.get(`${entry.proof} ${entry.attempt}`))) yield;
    }
    for (const entry of this.#book.entries.values()) this.#partitionRows(entry);
    this.#begin('partitions.csv');
    this.#flush();
    for (const rows of this.#partitions.take()) {
      this.#write(this.#file, rows);
      yield;
    }
    this.#begin('idle.csv');
    this.#idleRows(idle);
    this.#begin('gaps.csv');
    for (const gap of gaps) if (this.#gapRow(gap)) yield;
    // Nothing samples yet: a table without rows says so, where a table of zeros would lie.
    this.#begin('samples.csv');
    this.#flush();
  }

  /** Draws what conclusions can be drawn; partitions of proofs that ended before become rows, so that they do not pile up as objects. */
  #settle(horizonNs: Nanoseconds): void {
    this.#tracker?.settle(horizonNs);
    let done = 0;
    for (const key of this.#ended) {
      const entry = this.#book.entries.get(key);
      if (entry && (entry.endedNs ?? 0) > horizonNs) break;
      done += 1;
      // One that was handed back may be accepted anew, and is told then.
      if (entry && !entry.returned) this.#partitionRows(entry);
    }
    this.#ended.splice(0, done);
  }

  #partitionRows(entry: ProofEntry): void {
    const partitions = [...entry.partitions.values()].sort((a, b) => a.partition - b.partition);
    for (const partition of partitions) this.#partitions.add(this.#partitionRow(entry, partition));
    entry.partitions.clear();
  }

  #begin(file: CsvFile): void {
    this.#flush();
    this.#file = CSV_FILES.indexOf(file);
    this.#row(CSV_COLUMNS[file].join(','));
  }

  /** True where a batch went out. */
  #row(text: string): boolean {
    this.#rows += `${text}\r\n`;
    if (this.#rows.length < BATCH) return false;
    this.#flush();
    return true;
  }

  #flush(): void {
    if (this.#rows !== '') this.#write(this.#file, this.#rows);
    this.#rows = '';
  }

  #endTracker(): void {
    this.#tracker?.endProcess();
    if (this.#process >= 0) this.#book.endProcess(this.#process, this.#lastNs);
    this.#tracker = null;
  }

  #tell({ proof, attempt }: { proof: string; attempt: number }): Told {
    const key = `${proof} ${attempt}`;
    let told = this.#told.get(key);
    if (!told) this.#told.set(key, (told = { accepted: null, kind: null }));
    return told;
  }

  #cell(text: string | null): string {
    if (text === null) return '';
    let cell = this.#cells.get(text);
    if (cell === undefined) {
      if (this.#cells.size > 10_000) this.#cells.clear();
      this.#cells.set(text, (cell = textCell(text)));
    }
    return cell;
  }

  #span(span: Span, process: number): void {
    this.#book.takeSpan(span, process);
    if (span.state === 'closed') this.#spanRow(span, 'closed');
    else if (span.state === 'abandoned') this.#spanRow(span, 'no_end');
  }

  #spanRow(span: Span, state: 'closed' | 'open' | 'no_end'): void {
    const { startNs, endNs, worker, stream } = span;
    const end = endNs === null ? ',,' : `${this.#utc.cell(endNs)},${endNs},${endNs - startNs}`;
    this.#row(
      `${this.#run},${this.#cell(span.proof)},${span.attempt},${span.partition},${KIND_WORDS[span.kind] ?? span.kind},` +
        `${this.#cell(span.detail)},${this.#cell(span.device)},${worker ?? ''},${stream ?? ''},${state},` +
        `${this.#utc.cell(startNs)},${startNs},${end}`,
    );
  }

  #proofRow(entry: ProofEntry, attempt: AttemptFacts | undefined): boolean {
    const told = this.#told.get(`${entry.proof} ${entry.attempt}`);
    const accepted = told?.accepted ?? null;
    const { acceptedNs, endedNs } = entry;
    const over = this.#facts.state !== 'running';
    const outcome = entry.outcome ?? attempt?.outcome ?? (over ? 'interrupted' : null);
    const known = attempt?.message == null ? null : { code: attempt.code ?? 'proof_failed', message: attempt.message };
    const error = entry.outcome === 'valid' ? null : (entry.error ?? known);
    const latency = acceptedNs === null || endedNs === null || entry.returned ? null : endedNs - acceptedNs;
    const cells = [
      this.#run, this.#cell(entry.proof), numberCell(entry.attempt), textCell(entry.name), textCell(told?.kind), textCell(entry.circuit),
      numberCell(accepted?.partitions), numberCell(accepted?.constraints), numberCell(accepted?.priority), textCell(outcome),
      wallCell(accepted?.submitted_wall_ns), decimalCell(accepted?.submitted_wall_ns), wallCell(accepted?.deadline_wall_ns),
      decimalCell(accepted?.deadline_wall_ns), this.#utc.cell(acceptedNs), numberCell(acceptedNs), this.#utc.cell(endedNs),
      numberCell(endedNs), numberCell(latency), textCell(entry.sha256), textCell(error?.code), textCell(error?.message),
    ]; // prettier-ignore
    return this.#row(cells.join(','));
  }

  #partitionRow(entry: ProofEntry, partition: PartitionEntry): string {
    let row = `${this.#run},${this.#cell(entry.proof)},${entry.attempt},${partition.partition},${textCell(partition.outcome)},`;
    row += `${this.#cell(partition.device)},${numberCell(partition.worker)}`;
    for (const stage of STAGES) {
      const span = partition.stages[stage];
      if (!span) row += ',,,,,';
      else {
        const { start_ns: start, end_ns: end } = span;
        row += `,${this.#utc.cell(start)},${start},${this.#utc.cell(end)},${numberCell(end)},${end === null ? '' : end - start}`;
      }
    }
    const ended = partition.kernels.filter((kernel) => kernel.end_ns !== null);
    const sum = ended.reduce((total, kernel) => total + (kernel.end_ns ?? 0) - kernel.start_ns, 0);
    // Without kernel lines nothing is known of kernels: that is not none.
    return `${row},${ended.length === 0 ? ',' : `${ended.length},${sum}`}`;
  }

  #idleRows(idle: IdleReport): void {
    for (const device of idle.devices) {
      const wall = numberCell(device.wall_ns);
      const row = (
        kind: string,
        cause: keyof typeof CAUSE_WORDS,
        ns: number | null,
        more: { provisional?: number; mayBe?: string[] } = {},
      ) => {
        const { name, says } = CAUSE_WORDS[cause];
        const provisional = more.provisional === undefined ? '' : numberCell(more.provisional);
        const mayBe = textCell(more.mayBe?.join(' '));
        const cells = [this.#run, this.#cell(device.device), kind, cause, name, numberCell(ns), provisional, String(ns !== null), wall, mayBe, textCell(says)]; // prettier-ignore
        this.#row(cells.join(','));
      };
      row('kernel', 'kernel', device.kernel_ns);
      for (const cause of CAUSES) row('cause', cause, device.idle_ns[cause], { provisional: device.provisional[cause] ?? 0 });
      for (const group of GROUPS) {
        const found = device.groups[group];
        if (found) row('group', group, found.ns, { mayBe: found.may_be });
      }
      row('unknown', 'unknown', device.unknown_ns);
    }
  }

  #gapRow(gap: Gap): boolean {
    const endNs = gap.start_ns + gap.length_ns;
    const end = (place: GapEnd | null) =>
      place === null ? ',,' : `${this.#cell(place.proof)},${numberCell(place.attempt)},${numberCell(place.partition)}`;
    const parts = [...CAUSES, ...GROUPS].map((cause) => numberCell(gap.parts[cause] ?? 0)).join(',');
    return this.#row(
      `${this.#run},${this.#cell(gap.device)},${this.#utc.cell(gap.start_ns)},${gap.start_ns},${this.#utc.cell(endNs)},${endNs},` +
        `${gap.length_ns},${gap.cause},${end(gap.before)},${end(gap.after)},${parts}`,
    );
  }
}
