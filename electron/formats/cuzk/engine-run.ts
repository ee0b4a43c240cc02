/**
 * One engine's life: a run with one process. Owns the order of things: every stamped line first bounds the lock lines before it, then
 * says what it has to say. Where one life ends and the next begins is reader.ts's.
 */
import type { RunState } from '../../contract/run-report.ts';
import type { ImportProblem } from '../../contract/transfer.ts';
import { MAX_INSTANT, type Nanoseconds } from '../../contract/units.ts';
import type { ImportedProcess, ImportSink } from '../import-sink.ts';
import { fieldOf, NO_VALUES, numberOf, type Item, type TracingItem } from './decode.ts';
import { Emitter } from './emitter.ts';
import { Circuits, Jobs, STAGE } from './jobs.ts';
import { LockWindows, type LockWindow, type ProveStart } from './locks.ts';
import { tellLost } from './lost-work.ts';
import { ParamsLoads } from './params.ts';
import { Results } from './results.ts';
import type { Settings } from './settings.ts';
import { StdoutWork } from './stdout-work.ts';
import { problemOf, type Source } from './tears.ts';
import type { WallClock } from './wall-clock.ts';
import { Work, workOf } from './work.ts';

const MS = 1e6;
/** Threads write a little out of order: before this much ago everything has been told. */
const SETTLED_NS = 100 * MS;

export interface RunStart {
  /** What names it: the engine's first line. */
  uid: string;
  process: string;
  clock: WallClock;
  settings: Settings;
  /** Where the log begins in mid-life: what was before is not told of. 0 where it has the engine's start. */
  fromNs: Nanoseconds;
}

export class EngineRun {
  readonly #sink: ImportSink;
  readonly #clock: WallClock;
  readonly #out: Emitter;
  readonly #jobs = new Jobs();
  readonly #circuits = new Circuits();
  readonly #locks: LockWindows<Source>;
  readonly #work: Work;
  readonly #results: Results;
  readonly #params: ParamsLoads;
  readonly #stdout: StdoutWork;
  #isReady = false;
  #lastHorizon: Nanoseconds = -1;
  #stampedNs: Nanoseconds = 0;
  /** Dropped lines that no stamped line followed yet. */
  #dropped: { count: number; fromNs: Nanoseconds } | null = null;

  constructor(sink: ImportSink, start: RunStart) {
    this.#sink = sink;
    this.#clock = start.clock;
    this.#out = new Emitter(sink);
    this.#locks = new LockWindows(
      (window) => this.#tellLock(window),
      (why, source) => this.#note(source, `lock window not recorded: ${why}`),
    );
    const { settings } = start;
    const { devices } = settings;
    this.#work = new Work({
      run: start.uid, out: this.#out, jobs: this.#jobs, circuits: this.#circuits, locks: this.#locks, settings, devices,
      note: (source, problem) => this.#note(source, problem),
    }); // prettier-ignore
    this.#results = new Results(start.uid, this.#out, this.#jobs, this.#circuits, this.#work);
    this.#params = new ParamsLoads(this.#out, this.#circuits);
    this.#stdout = new StdoutWork(this.#jobs, this.#work);
    this.#begin(start, devices);
  }

  take(item: Item, source: Source): void {
    switch (item.is) {
      case 'timing':
        return item.values === NO_VALUES ? undefined : this.#locks.take(item.values, source);
      case 'unknown':
        this.#stamp(item.ms * MS, MS, null);
        return this.#note(source, `TIMELINE event ${item.event.slice(0, 64)} is not known`);
      case 'tracing':
        return this.#tracing(item, source);
      case 'timeline': {
        const t = item.ms * MS;
        this.#stamp(t, MS, null);
        const stepNs = this.#clock.check(t);
        if (stepNs !== null) this.#step(t, stepNs);
        this.#ready(t);
        const part = this.#work.take(item, t, source);
        if (!part) return;
        if (part.stage === STAGE.queued) this.#results.settle(part.attempt);
        if (part.stage === STAGE.down) this.#results.finish(part, t);
      }
    }
  }

  /** The logger left out lines here: unknown up to the next stamped one. */
  drop(count: number): void {
    this.#dropped = { count: (this.#dropped?.count ?? 0) + count, fromNs: this.#dropped?.fromNs ?? this.#stampedNs };
  }

  tellHorizon(): void {
    const open = this.#locks.openFrom ?? MAX_INSTANT;
    const horizon = Math.min(this.#out.maxT - SETTLED_NS, open, this.#dropped?.fromNs ?? MAX_INSTANT);
    if (horizon <= this.#lastHorizon || horizon <= 0) return;
    this.#lastHorizon = horizon;
    this.#sink.horizon(horizon);
  }

  /** The engine's life is over, or the log is. `failure`: its last words. */
  end(endedBy: string, failure: string | null): void {
    this.#locks.end();
    const out = this.#out;
    if (this.#dropped) this.#tellDropped(out.maxT);
    this.#results.endAll(out.maxT);
    tellLost(this.#work, this.#results, out, (source, problem) => this.#sink.problem(problemOf(source, 'lost_work', problem)));
    const isOpen = [...this.#jobs.attempts()].some((attempt) => attempt.outcome === null);
    const state: RunState = failure !== null ? 'failed' : isOpen ? 'interrupted' : 'finished';
    this.#sink.endProcess({
      seqTo: out.seq - 1, endedT: out.maxT, reason: null, ended: null, exit: null, signal: null, horizon: out.maxT, peakRssBytes: null, unparsed: 0,
    }); // prettier-ignore
    this.#sink.endRun({ state, endedBy: failure ?? endedBy });
  }

  #begin({ uid, process, settings, fromNs }: RunStart, devices: readonly string[]): void {
    const wallNs = this.#clock.zeroNs;
    this.#sink.beginRun({
      uid, originRun: null, engine: 'cuzk', backend: 'cuda', emulate: null, scheduler: null, found: { ...settings.found }, startedWallNs: wallNs,
    }); // prettier-ignore
    const hello: ImportedProcess['hello'] = {
      seq: 0, t: 0, e: 'hello', format: 2, process, pid: 0, start_ticks: '0', boot_id: 'imported', monotonic_ns: '0', wall_ns: wallNs, version: '',
      engine: 'cuzk', backend: 'cuda',
      devices: devices.map((device) => ({
        device, kind: 'cuda', name: device === 'gpu' ? 'GPU (the log does not say which)' : `GPU ${device.slice(3)}`,
        workers_max: settings.workersPerDevice, clock: 'host',
      })),
      grace_ns: 0, host_cpus: 0, memory_total_bytes: 0,
    }; // prettier-ignore
    this.#sink.beginProcess({ hello, seqFrom: 0, startedSeq: 1, startedT: fromNs });
    const { seq: _, t, e, ...fields } = hello;
    this.#out.emit(e, t, fields);
    this.#out.emit('run_started', fromNs, { run: uid, scheduler: null, emulate: null });
  }

  #tracing(item: TracingItem, source: Source): void {
    const placed = this.#clock.place(item.wallUs);
    if (!placed) return;
    const { t, stepNs } = placed;
    if (stepNs !== null) this.#step(this.#out.maxT, stepNs);
    const { message, target } = item;
    this.#stamp(t, 1_000, message.startsWith('GPU_TIMING spawn_blocking') ? proveStartOf(message) : null);
    if (target === 'cuzk_core::engine') this.#engine(item, t, source);
    else if (target === 'cuzk_core::scheduler') {
      this.#ready(t);
      if (message.startsWith('job enqueued')) this.#results.accept(item, t);
      else if (message.startsWith('job dequeued')) this.#results.dequeue(item, t);
    } else if (target === 'cuzk_core::srs_manager') this.#params.take(message, t);
    else if (target === 'cuzk_daemon') this.#daemon(item, t, source);
    else if (item.level === 'ERROR') this.#note(source, message);
  }

  #daemon({ message, level }: TracingItem, t: Nanoseconds, source: Source): void {
    if (message.startsWith('cuzk-daemon ready')) this.#ready(t);
    else if (message.startsWith('received SIG')) {
      this.#note(source, 'the daemon was told to stop: running work is answered, later calls may hang');
    } else if (level === 'ERROR') this.#note(source, message);
  }

  /** At the latest when it works, should the log lack the line. */
  #ready(t: Nanoseconds): void {
    if (this.#isReady) return;
    this.#isReady = true;
    this.#out.emit('ready', t, {});
  }

  #engine(item: TracingItem, t: Nanoseconds, source: Source): void {
    const results = this.#results;
    const message = item.message.startsWith('Phase ') ? item.message.replace(/^Phase \d+: /, '') : item.message;
    const job = () => fieldOf(message, 'job_id') ?? fieldOf(item.span, 'job_id') ?? '';
    if (item.level === 'ERROR') {
      if (!this.#error({ ...item, message }, t)) this.#note(source, item.message);
    } else if (message.startsWith('dispatching per-partition synthesis')) results.dispatch(item);
    else if (message.startsWith('all partitions complete')) results.assembled(job(), t);
    else if (message.includes('self-check PASSED')) results.checked(job(), t, true, '');
    else if (message.startsWith('proof completed successfully')) results.complete(item, t);
    else if (message.startsWith('FIN_TIMING finalizer partition')) results.finalisedPartition(message);
    else if (message.startsWith('FIN_TIMING finalizer monolithic')) results.finalised(message);
    else if (message.startsWith('skipping GPU prove')) this.#skip(job(), numberOf(message, 'partition') ?? 0, t);
    else if (message.startsWith('discarding GPU result')) this.#discard(job(), numberOf(message, 'partition') ?? 0, t);
    else if (message.startsWith('partition GPU prove complete')) this.#returned(job(), numberOf(message, 'partition') ?? 0, t);
    else if (!this.#work.hasTimeline) this.#stdout.take(item, message, t, source);
  }

  /** False: nobody's in particular. */
  #error(item: TracingItem, t: Nanoseconds): boolean {
    const { message } = item;
    const results = this.#results;
    if (message.includes('self-check FAILED')) {
      results.checked(fieldOf(message, 'job_id') ?? '', t, false, message);
      return true;
    }
    if (message.startsWith('per-partition verification results')) {
      results.verdicts(fieldOf(message, 'job_id') ?? '', t, message);
      return true;
    }
    const head = message.split(' error=')[0] as string;
    if (!/fail|panic/i.test(head)) return false;
    if (/SRS param file not found/.test(message)) return results.fail(item, t, 'synthesis', 'params_missing');
    if (/parse/i.test(head)) return results.fail(item, t, 'synthesis', 'bad_request');
    if (/synthesis/i.test(head)) return results.fail(item, t, 'synthesis', 'synthesis_failed');
    if (/gpu|prove/i.test(head)) return results.fail(item, t, 'device', 'device_failed');
    return false;
  }

  /** The worker let go of a partition whose job had failed. */
  #skip(job: string, partition: number, t: Nanoseconds): void {
    const part = this.#find(job, partition, STAGE.picked);
    if (!part) return;
    this.#work.putDown(part, t);
    this.#results.letGo(part, t);
  }

  #discard(job: string, partition: number, t: Nanoseconds): void {
    this.#returned(job, partition, t);
    const part = this.#find(job, partition, STAGE.down);
    if (part) this.#results.letGo(part, t);
  }

  /** The only line of the end of a native call that is run whole, or of any where standard error is missing. */
  #returned(job: string, partition: number, t: Nanoseconds): void {
    const part = this.#work.isSplit ? null : this.#find(job, partition, STAGE.picked);
    if (part) this.#work.putDown(part, t);
  }

  #find(job: string, partition: number, stage: number) {
    for (const attempt of this.#jobs.attemptsOf(job)) {
      const part = attempt.parts.get(partition);
      if (part?.stage === stage && !part.hasEnded) return part;
    }
    return null;
  }

  #stamp(t: Nanoseconds, step: Nanoseconds, from: ProveStart | null): void {
    this.#locks.stamp(t, step, from);
    if (this.#dropped) this.#tellDropped(t);
    this.#stampedNs = t;
    if (t > this.#out.maxT) this.#out.maxT = t;
  }

  #step(t: Nanoseconds, stepNs: number): void {
    this.#out.emit('clock_step', t, { wall_ns: this.#clock.wallNsAt(t), step_ns: String(stepNs) });
  }

  #tellLock({ call, startNs, endNs, errorNs, durations }: LockWindow): void {
    const work = workOf(call.part);
    this.#out.emit('lock_granted', startNs, work);
    this.#out.emit('lock_released', endNs, work);
    this.#out.emit('measured', endNs, { ...work, durations: { ...durations, lock_error: errorNs } });
  }

  #tellDropped(t: Nanoseconds): void {
    const dropped = this.#dropped;
    if (!dropped) return;
    this.#dropped = null;
    const tFrom = Math.min(dropped.fromNs, t);
    const seq = this.#out.seq;
    this.#out.emit('lost', t, { ring: 'log', count: dropped.count, t_from: tFrom, t_to: t });
    this.#sink.loss({
      kind: 'ring',
      seqFrom: seq,
      seqTo: seq,
      ring: 'log',
      count: dropped.count,
      filled: 0,
      tFrom,
      tTo: t,
      healedT: t,
      state: null,
    });
  }

  #note(source: Source, problem: string, kind: ImportProblem['kind'] = 'note'): void {
    this.#sink.problem(problemOf(source, kind, problem.slice(0, 500)));
  }
}

const PROVE_START =
  /^GPU_TIMING spawn_blocking prove_start worker_id=(\d{1,6}) partition=(?:Some\((\d{1,6})\)|None) spawn_to_enter_ms=(\d{1,9}) /;

function proveStartOf(message: string): ProveStart | null {
  const found = PROVE_START.exec(message);
  return found && { worker: Number(found[1]), partition: found[2] === undefined ? null : Number(found[2]), lateMs: Number(found[3]) };
}
