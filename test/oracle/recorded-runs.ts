/** What real programs wrote: journals of the prover, cut into their runs, and logs of the cuzk daemon, imported. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Scheduler } from '../../electron/contract/scheduler.ts';
import type { EventOf, JournalLine, TimelineEvent } from '../../electron/contract/timeline-events.ts';
import { createCuzkReader } from '../../electron/formats/cuzk/reader.ts';
import { SampleSink } from './sample-sink.ts';
import type { SampleLoss, SampleProcess, SampleRun } from './run-sample.ts';

const FOLDER = path.join(import.meta.dirname, '..', 'fixtures', 'oracle');
const LOGS = path.join(import.meta.dirname, '..', 'fixtures', 'cuzk');

export function readRecordedRuns(): SampleRun[] {
  return readdirSync(FOLDER)
    .filter((name) => name.endsWith('.ndjson'))
    .sort()
    .flatMap((name) => cutJournal(name, readFileSync(path.join(FOLDER, name), 'utf8')));
}

function cutJournal(name: string, text: string): SampleRun[] {
  const lines = text
    .split('\n')
    .filter((line) => line.endsWith('}'))
    .map((line) => JSON.parse(line) as JournalLine);
  const events = lines.filter((line): line is TimelineEvent => line.e !== 'mark' && line.e !== 'state');
  const marks = lines.filter((line) => line.e === 'mark');
  const hello = events[0] as EventOf<'hello'>;
  const runs: SampleRun[] = [];
  for (const start of events) {
    if (start.e !== 'run_started') continue;
    const end = events.find((event) => event.e === 'run_ended' && event.seq > start.seq);
    const seqFrom = runs.length === 0 ? 0 : start.seq;
    const process: SampleProcess = {
      hello, seqFrom, startedT: start.t, events: events.filter((event) => seqFrom <= event.seq && event.seq <= (end?.seq ?? Infinity)),
      losses: findLosses(lines), seqTo: end?.seq ?? null, endedT: end?.t ?? null, ended: 'gone', horizon: marks.at(-1)?.t ?? null,
    }; // prettier-ignore
    const scheduler = start.scheduler as Scheduler;
    runs.push({
      name: `${name}:${start.run}`, engine: 'builtin', scheduler, state: end ? 'finished' : 'interrupted', processes: [process], holds: [],
    }); // prettier-ignore
  }
  return runs;
}

function findLosses(lines: JournalLine[]): SampleLoss[] {
  return lines.flatMap((line, index) => {
    if (line.e !== 'lost') return [];
    const state = lines.slice(index).find((later) => later.e === 'state') ?? null;
    return [{ ring: line.ring, count: line.count, filled: 0, t_from: line.t_from, t_to: line.t_to, healed_t: state?.t ?? null, state }];
  });
}

/** Runs of the recorded logs of the cuzk daemon, as the importer tells them. */
export function readRecordedLogs(): SampleRun[] {
  return readdirSync(LOGS)
    .filter((name) => name.endsWith('.log'))
    .sort()
    .flatMap((name) => {
      const sink = new SampleSink();
      const reader = createCuzkReader(sink, { name });
      reader.push(readFileSync(path.join(LOGS, name)));
      reader.end();
      for (const [index, run] of sink.runs.entries()) run.name = `${name}:${index}`;
      return sink.runs;
    });
}
