/** The first run of an imported log, told to any {@link RunFeed}, without a database between. */
import { readFileSync } from 'node:fs';
import type { RunFeed } from '../../electron/analysis/run-feed.ts';
import { createCuzkReader } from '../../electron/formats/cuzk/reader.ts';
import type { ImportedRun, ImportSink } from '../../electron/formats/import-sink.ts';

export function feedLog(file: string, ...feeds: RunFeed[]): ImportedRun {
  const runs: ImportedRun[] = [];
  const isFirst = () => runs.length === 1;
  const sink: ImportSink = {
    beginRun: (run) => void runs.push(run),
    beginProcess: ({ hello, startedT, seqFrom }) => isFirst() && feeds.forEach((feed) => feed.beginProcess(hello, startedT, seqFrom === 0)),
    event: (event) => isFirst() && feeds.forEach((feed) => feed.take(event)),
    horizon: () => undefined,
    loss: ({ tFrom, tTo, count, healedT, state }) =>
      isFirst() && feeds.forEach((feed) => feed.takeLoss?.({ tFrom, tTo, count, healedT, state })),
    oldProblem: () => undefined,
    endProcess: ({ endedT, horizon }) => isFirst() && feeds.forEach((feed) => feed.endProcess?.(endedT ?? horizon ?? 0)),
    hold: () => undefined,
    attempt: () => undefined,
    endRun: () => undefined,
    problem: () => undefined,
  };
  const reader = createCuzkReader(sink, { name: file });
  reader.push(readFileSync(file));
  reader.end();
  const [run] = runs;
  if (!run) throw new Error(`${file} holds no run`);
  return run;
}
