/** Collects what a reader of somebody else's file tells, as runs that both the oracle and the analysis can be told. */
import type { ImportedLoss, ImportedProcess, ImportedProcessEnd, ImportedRun, ImportSink } from '../../electron/formats/import-sink.ts';
import type { RunState } from '../../electron/contract/run-report.ts';
import type { TimelineEvent } from '../../electron/contract/timeline-events.ts';
import type { SampleProcess, SampleRun } from './run-sample.ts';

export class SampleSink implements ImportSink {
  readonly runs: SampleRun[] = [];

  get #run(): SampleRun {
    return this.runs.at(-1) as SampleRun;
  }
  get #process(): SampleProcess {
    return this.#run.processes.at(-1) as SampleProcess;
  }

  beginRun(run: ImportedRun): void {
    const engine = run.engine === 'cuzk' ? 'cuzk' : 'builtin';
    this.runs.push({ name: run.uid, engine, scheduler: run.scheduler, state: 'interrupted', processes: [], holds: [] });
  }
  beginProcess({ hello, seqFrom, startedT }: ImportedProcess): void {
    const process = { hello, seqFrom, startedT, events: [], losses: [], seqTo: null, endedT: null, ended: 'ended', horizon: null };
    this.#run.processes.push(process);
  }
  event(event: TimelineEvent): void {
    this.#process.events.push(event);
  }
  loss(loss: ImportedLoss): void {
    const { ring, count, filled, tFrom, tTo, healedT, state } = loss;
    this.#process.losses.push({ ring, count, filled, t_from: tFrom, t_to: tTo, healed_t: healedT, state });
  }
  endProcess(end: ImportedProcessEnd): void {
    Object.assign(this.#process, { seqTo: end.seqTo, endedT: end.endedT, ended: end.ended ?? 'ended', horizon: end.horizon });
  }
  hold(from: number, to: number | null): void {
    this.#run.holds.push({ from, to });
  }
  endRun(end: { state: RunState }): void {
    this.#run.state = end.state === 'finished' ? 'finished' : 'interrupted';
  }
  horizon(): void {}
  oldProblem(): void {}
  attempt(): void {}
  problem(): void {}
}
