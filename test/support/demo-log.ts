/** A log of the cuzk daemon as the host would show it after an import: read by the product's reader, told to the product's analysis. */
import { readFileSync } from 'node:fs';
import { IdleAnalysis } from '../../electron/analysis/idle/idle-analysis.ts';
import { RunReportBuilder, summarizeReport } from '../../electron/analysis/run-report.ts';
import type { GapsReport, IdleReport } from '../../electron/contract/idle.ts';
import type { RunReport, RunSummary } from '../../electron/contract/run-report.ts';
import type { TimelineEvent } from '../../electron/contract/timeline-events.ts';
import { TRANSFER_SCHEMA, type ImportProblem, type ImportProgress, type ImportReport } from '../../electron/contract/transfer.ts';
import { createCuzkReader } from '../../electron/formats/cuzk/reader.ts';
import type {
  ImportedLoss,
  ImportedProcess,
  ImportedProcessEnd,
  ImportedRun,
  ImportReader,
  ImportSink,
} from '../../electron/formats/import-sink.ts';

export interface LogRun {
  run: string;
  report: RunReport;
  summary: RunSummary;
  idle: IdleReport;
  gaps(minNs: number, limit: number): GapsReport;
}

interface Told {
  run: ImportedRun;
  processes: { process: ImportedProcess; events: TimelineEvent[]; losses: ImportedLoss[]; end: ImportedProcessEnd | null }[];
  state: RunReport['state'];
  endedBy: string | null;
}

export interface ReadLog {
  runs: LogRun[];
  report: ImportReport;
}

/** A committed log of a real daemon. */
export function recordedLog(name: string): Buffer {
  return readFileSync(new URL(`../fixtures/cuzk/${name}.log`, import.meta.url));
}

/** One import under way: bytes in, progress at any time, runs at the end. */
export class LogImport {
  readonly #name: string;
  readonly #told: Told[] = [];
  readonly #problems: ImportProblem[] = [];
  readonly #reader: ImportReader;
  #bytes = 0;
  #events = 0;

  constructor(name: string) {
    this.#name = name;
    const told = this.#told;
    const process = () => told.at(-1)!.processes.at(-1)!;
    const sink: ImportSink = {
      beginRun: (run) => void told.push({ run, processes: [], state: 'finished', endedBy: null }),
      beginProcess: (begun) => void told.at(-1)!.processes.push({ process: begun, events: [], losses: [], end: null }),
      event: (event) => {
        this.#events += 1;
        process().events.push(event);
      },
      horizon: () => {},
      loss: (loss) => void process().losses.push(loss),
      oldProblem: () => {},
      endProcess: (end) => void (process().end = end),
      hold: () => {},
      attempt: () => {},
      endRun: ({ state, endedBy }) => void Object.assign(told.at(-1)!, { state, endedBy }),
      problem: (problem) => void this.#problems.push(problem),
    };
    this.#reader = createCuzkReader(sink, { name });
  }

  push(bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    this.#reader.push(bytes);
  }

  get progress(): ImportProgress {
    return {
      bytes: this.#bytes,
      lines: this.#reader.lines,
      events: this.#events,
      unparsed: this.#unparsed,
      runs: this.#told.map((_, index) => this.#idOf(index)),
    };
  }

  end(): ReadLog {
    this.#reader.end();
    const runs = this.#told.map((one, index) => analyse(one, this.#idOf(index), this.#name));
    return {
      runs,
      report: {
        schema: TRANSFER_SCHEMA,
        run: runs.at(-1)?.run ?? null,
        runs: runs.map(({ run, report }) => ({
          run,
          name: this.#name,
          state: report.state,
          events: report.events.count,
          proofs: report.proofs.length,
          again: false,
        })),
        bytes: this.#bytes,
        lines: this.#reader.lines,
        events: this.#events,
        unparsed: this.#unparsed,
        problems: this.#problems.slice(0, 100),
        more_problems: Math.max(0, this.#problems.length - 100),
      },
    };
  }

  get #unparsed(): number {
    return this.#problems.filter((problem) => problem.kind === 'unparsed').length;
  }

  #idOf(index: number): string {
    return `i-${index + 1}-${this.#name.replace(/[^\w.-]/g, '-')}`.slice(0, 64);
  }
}

export function readLog(bytes: Uint8Array, name: string): ReadLog {
  const log = new LogImport(name);
  log.push(bytes);
  return log.end();
}

function analyse(told: Told, run: string, name: string): LogRun {
  const builder = new RunReportBuilder();
  const analysis = new IdleAnalysis();
  for (const { process, events, losses, end } of told.processes) {
    builder.beginProcess(process.hello, process.startedT);
    analysis.beginProcess(process.hello, process.startedT, true);
    for (const event of events) {
      builder.take(event);
      analysis.take(event);
    }
    for (const { tFrom, tTo, count, healedT, state } of losses) analysis.takeLoss({ tFrom, tTo, count, healedT, state });
    analysis.endProcess(end?.endedT ?? end?.horizon ?? null);
  }
  const { engine, backend, emulate, scheduler, found } = told.run;
  const facts = {
    run, uid: told.run.uid, state: told.state, endedBy: told.endedBy, engine, backend, emulate, scheduler, found, importedFrom: name,
    lost: 0, unparsed: 0, peakRssBytes: null,
    processes: told.processes.map(({ process, end }) => ({
      process: process.hello.process, started_wall_ns: told.run.startedWallNs, ended: end?.ended ?? null, exit: end?.exit ?? null,
    })),
  }; // prettier-ignore
  const report = builder.build(facts, null);
  const idle = analysis.build({ run, state: told.state, engine, scheduler, proofsInFlight: null }, null);
  return { run, report, summary: summarizeReport(report), idle, gaps: (minNs, limit) => analysis.gaps(minNs, limit) };
}
