/** Which steps write which format. Each step ends before the next piece is asked for, so a reading thread stays free for others. */
import { hostname, homedir, userInfo } from 'node:os';
import { IdleAnalysis } from '../analysis/idle/idle-analysis.ts';
import type { RunFeed } from '../analysis/run-feed.ts';
import type { CheckedInput } from '../contract/api.ts';
import type { Gap, IdleReport } from '../contract/idle.ts';
import { ChromeWriter, partsOf } from '../formats/chrome/writer.ts';
import { CSV_FILES } from '../formats/csv/columns.ts';
import { CsvWriter } from '../formats/csv/writer.ts';
import { RunRedactor, redactDeep, type RedactText } from '../formats/redact/redact.ts';
import { renderReport } from '../formats/report/report.ts';
import { RunFileWriter } from '../formats/run-file/writer.ts';
import type { Pieces } from './export-pieces.ts';
import { StillRun } from './export-run.ts';
import { beginSqlite } from './export-sqlite.ts';
import type { RunReads } from './run-reads.ts';

export interface BegunExport {
  /** For the file or folder. */
  name: string;
  /** Names inside of the folder; one nameless where the format is one file. */
  files: string[];
  steps: Generator<void>;
  /** Frees what the steps would have freed, had they begun. */
  close?: () => void;
}

/** Gaps of at least this length are in the tables: all of them. */
const EVERY_GAP_NS = 0;

export async function beginFormat(runs: RunReads, input: CheckedInput<'export_begin'>, pieces: Pieces): Promise<BegunExport> {
  const still = new StillRun(runs.reads, input.run);
  const redactor = input.redact ? new RunRedactor({ home: homedir(), host: hostname(), user: userInfo().username }) : null;
  const name = `interlock-${still.run}`;
  switch (input.format) {
    case 'ndjson':
      return { name: `${name}.interlock.ndjson`, files: [''], steps: runFileSteps(still, redactor, pieces) };
    case 'csv':
      return { name: `${name}-csv`, files: [...CSV_FILES], steps: csvSteps(still, redactor, pieces) };
    case 'chrome': {
      const parts = partsOf(still.events);
      const files = parts === 1 ? [''] : Array.from({ length: parts }, (_, part) => `${name}-${part + 1}.trace.json`);
      return { name: parts === 1 ? `${name}.trace.json` : `${name}-trace`, files, steps: chromeSteps(still, redactor, pieces) };
    }
    case 'html':
      return { name: `${name}.html`, files: [''], steps: htmlSteps(runs, still, redactor, pieces) };
    case 'sqlite':
      return { name: `${name}.sqlite`, files: [''], ...(await beginSqlite(still, redactor, pieces)) };
  }
}

function* runFileSteps(still: StillRun, redactor: RunRedactor | null, pieces: Pieces): Generator<void> {
  const writer = new RunFileWriter((text) => pieces.write(0, text));
  const text = redactor?.text ?? same;
  const { facts } = still;
  writer.head({
    run: still.originRun,
    uid: facts.uid,
    state: facts.state,
    endedBy: facts.endedBy,
    engine: facts.engine,
    backend: facts.backend,
    emulate: facts.emulate === null ? null : text(facts.emulate),
    scheduler: facts.scheduler,
    found: redactDeep(facts.found, text),
    startedWallNs: facts.startedWallNs ?? '0',
  });
  for (const stretch of still.stretches) {
    const process = still.processOf(stretch);
    writer.process(redactor ? { ...process, hello: redactor.event(process.hello) } : process);
    for (const page of still.pages(stretch)) {
      for (const event of page) writer.event(redactor ? redactor.event(event) : event);
      yield;
    }
    for (const loss of still.lossesOf(stretch)) writer.loss({ ...loss, ring: loss.ring === null ? null : text(loss.ring) });
    for (const problem of still.problemsOf(stretch)) writer.problem({ ...problem, problem: text(problem.problem) });
  }
  for (const { fromNs, toNs } of still.holds()) writer.hold(fromNs, toNs);
  for (const attempt of still.attempts()) writer.attempt(redactAttempt(attempt, text));
  writer.end();
}

function* csvSteps(still: StillRun, redactor: RunRedactor | null, pieces: Pieces): Generator<void> {
  const text = redactor?.text ?? same;
  const csv = new CsvWriter(redactFacts(still, text), pieces.write);
  const idle = new IdleAnalysis();
  yield* still.walk(redacting(redactor, both(csv, idle)));
  const { report, gaps } = buildIdle(still, idle);
  yield;
  yield* csv.finish(report, gaps, still.attempts().map((attempt) => redactAttempt(attempt, text))); // prettier-ignore
}

function* chromeSteps(still: StillRun, redactor: RunRedactor | null, pieces: Pieces): Generator<void> {
  const chrome = new ChromeWriter(redactFacts(still, redactor?.text ?? same), still.events, pieces.write);
  const idle = new IdleAnalysis();
  yield* still.walk(redacting(redactor, both(chrome, idle)));
  const { report, gaps } = buildIdle(still, idle);
  yield;
  chrome.finish(report, gaps);
}

function* htmlSteps(runs: RunReads, still: StillRun, redactor: RunRedactor | null, pieces: Pieces): Generator<void> {
  const text = redactor?.text ?? same;
  const idle = new IdleAnalysis();
  const ends: number[] = [];
  let offset = 0;
  const listener: RunFeed = {
    beginProcess: (hello) => void (offset = still.axis?.offsetOf(hello) ?? 0),
    take: (event) => void (event.e === 'proof_ended' && event.outcome === 'valid' && ends.push(event.t + offset)),
  };
  yield* still.walk(both(idle, listener));
  ends.sort((a, b) => a - b);
  const { report, gaps } = buildIdle(still, idle);
  yield;
  // Nothing of a path is a reader's business, redacted or not.
  const run = runs.showRun(still.run);
  const proofs = run.proofs.map((proof) => ({
    ...proof,
    path: null,
    name: proof.name === null ? null : text(proof.name),
    error: redactDeep(proof.error, text),
  }));
  const shown = { ...run, ...redactFactsOf(run, text), proofs };
  const versions = [...new Set(still.stretches.map((stretch) => text(stretch.hello.version)))];
  pieces.write(0, renderReport({ run: shown, idle: report, gaps, ends, versions, isRedacted: redactor !== null }));
}

function buildIdle(still: StillRun, idle: IdleAnalysis): { report: IdleReport; gaps: Gap[] } {
  const { run, state, engine, scheduler } = still.facts;
  const report = idle.build({ run, state, engine, scheduler, proofsInFlight: scheduler?.proofs_in_flight ?? null }, still.horizonNs);
  return { report, gaps: idle.gaps(EVERY_GAP_NS, Number.MAX_SAFE_INTEGER).gaps };
}

function both(first: RunFeed, second: RunFeed): RunFeed {
  return {
    beginProcess(hello, originT, fromStart) {
      first.beginProcess(hello, originT, fromStart);
      second.beginProcess(hello, originT, fromStart);
    },
    take(event) {
      first.take(event);
      second.take(event);
    },
    takeLoss(loss) {
      first.takeLoss?.(loss);
      second.takeLoss?.(loss);
    },
    endProcess(endT) {
      first.endProcess?.(endT);
      second.endProcess?.(endT);
    },
    takeHold(fromNs, toNs) {
      first.takeHold?.(fromNs, toNs);
      second.takeHold?.(fromNs, toNs);
    },
  };
}

function redacting(redactor: RunRedactor | null, feed: RunFeed): RunFeed {
  if (!redactor) return feed;
  return {
    ...both(feed, SILENT),
    beginProcess: (hello, originT, fromStart) => feed.beginProcess(redactor.event(hello), originT, fromStart),
    take: (event) => feed.take(redactor.event(event)),
  };
}
const SILENT: RunFeed = { beginProcess: () => undefined, take: () => undefined };

type FreeTexts = { emulate: string | null; found: Record<string, string>; importedFrom?: string | null; imported_from?: string | null };

/** The texts of a run that somebody wrote; what Interlock chose from its own lists stays. */
function redactFactsOf<F extends FreeTexts>(facts: F, text: RedactText): Pick<F, keyof FreeTexts & keyof F> {
  const { emulate, found, importedFrom, imported_from } = facts;
  return redactDeep(
    { emulate, found, ...(importedFrom === undefined ? {} : { importedFrom }), ...(imported_from === undefined ? {} : { imported_from }) },
    text,
  ) as Pick<F, keyof FreeTexts & keyof F>;
}

function redactFacts(still: StillRun, text: RedactText): StillRun['facts'] {
  return { ...still.facts, ...redactFactsOf(still.facts, text) };
}

function redactAttempt(attempt: ReturnType<StillRun['attempts']>[number], text: RedactText): typeof attempt {
  const { file, message } = attempt;
  return { ...attempt, file: file === null ? null : text(file), message: message === null ? null : text(message) };
}

function same(text: string): string {
  return text;
}
