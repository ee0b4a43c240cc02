/**
 * Reads a run as a file (FORMAT.md, section 10): bytes cut anywhere in, a run told to an {@link ImportSink} out. The bytes may be
 * anybody's: every line is checked on its own, one that is bad is a problem with its line and offset, and the next is read. What such a
 * line leaves open is a loss, so that it shows as unknown and not as idle time.
 */
import { createHash, type Hash } from 'node:crypto';
import * as v from 'valibot';
import { JSON_CAPS, JsonRefused, parseUntrusted } from '../../contract/json.ts';
import type { Scheduler } from '../../contract/scheduler.ts';
import type { StateLine, TimelineEvent } from '../../contract/timeline-events.ts';
import type { ImportProblem } from '../../contract/transfer.ts';
import type { ImportReader, ImportSink } from '../import-sink.ts';
import { decodeLine } from '../journal/decode.ts';
import { LineSplitter } from '../journal/lines.ts';
import { checkNested } from '../journal/schemas.ts';
import { SeqHoles } from './holes.ts';
import {
  AttemptSchema, EndSchema, HeadSchema, HoldSchema, LossSchema, ProblemSchema, ProcessSchema, RUN_FILE_VERSION, lossOf, processEndOf,
  processOf, type HeadLine, type ProcessLine,
} from './shapes.ts'; // prettier-ignore

/** Longest line: a loss holds a whole `state` line, which may have 1 MiB. */
const MAX_LINE_BYTES = 2 ** 21;
const SHOWN_TEXT = 200;
/** Characters hashed at once. */
const BATCH = 64 * 1024;

/** What may come next: `refused` after a first line that is not one. */
type Place = 'start' | 'run' | 'hello' | 'events' | 'facts' | 'skip' | 'tail' | 'refused';

class Refused extends Error {}

export function createRunFileReader(sink: ImportSink): ImportReader {
  return new RunFileReader(sink);
}

class RunFileReader implements ImportReader {
  lines = 0;
  readonly #sink: ImportSink;
  readonly #splitter = new LineSplitter(0, MAX_LINE_BYTES);
  #place: Place = 'start';
  #head: HeadLine | null = null;
  #process: ProcessLine | null = null;
  #holes = new SeqHoles();
  #hash: Hash = createHash('sha256');
  #unhashed = '';
  #linesOfRun = 0;
  #eventsOfRun = 0;
  /** Line, offset and size of the line that is looked at. */
  #at = { offset: 0, bytes: 0, text: '' };
  #ended = false;

  constructor(sink: ImportSink) {
    this.#sink = sink;
  }

  push(bytes: Uint8Array): void {
    this.#splitter.push(bytes, {
      line: (text, offset, end) => this.#line(text, offset, end),
      bad: (problem, offset, end) => {
        this.lines += 1;
        this.#linesOfRun += 1;
        this.#at = { offset, bytes: end - offset, text: '' };
        this.#problem('unparsed', problem);
      },
    });
  }

  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    // The last line may lack its end; a cut one shows as unparsed.
    if (this.#splitter.tailBytes > 0) this.push(Uint8Array.of(0x0a));
    this.#at = { offset: this.#splitter.offset, bytes: 0, text: '' };
    if (this.#head !== null) {
      this.#problem('torn', 'The file ends without its last line: it is not whole. What came is taken as far as it goes.');
      this.#closeRun();
    } else if (this.#place === 'start' && this.lines === 0) this.#problem('torn', 'The file is empty.');
  }

  #line(text: string, offset: number, end: number): void {
    this.lines += 1;
    this.#at = { offset, bytes: end - offset, text };
    if (this.#place === 'refused') return;
    try {
      // The most of a file: an event's `seq` comes first.
      if (text.startsWith('{"seq":')) this.#event(text);
      else if (this.#other(text)) return;
    } catch (error) {
      if (!(error instanceof Refused) && !(error instanceof JsonRefused)) throw error;
      this.#problem('unparsed', error.message);
    }
    this.#count(text);
  }

  #count(text: string): void {
    this.#linesOfRun += 1;
    this.#unhashed += `${text}\n`;
    if (this.#unhashed.length >= BATCH) this.#flush();
  }

  #flush(): void {
    this.#hash.update(this.#unhashed);
    this.#unhashed = '';
  }

  #event(text: string): void {
    if (this.#place === 'skip') return;
    if (this.#place !== 'hello' && this.#place !== 'events') throw new Refused('an event where none can be');
    const decoded = decodeLine(text, this.#at.offset);
    if (!decoded.ok) {
      if (this.#place === 'hello') this.#skipProcess();
      throw new Refused(decoded.problem);
    }
    const event = decoded.line as TimelineEvent;
    const process = this.#process as ProcessLine;
    if (this.#place === 'hello') {
      const wrong =
        event.e !== 'hello' || event.seq !== 0
          ? 'the process does not begin with its hello'
          : event.process !== process.process || event.pid !== process.pid || event.start_ticks !== process.start_ticks
            ? 'the hello is of another process'
            : null;
      if (wrong !== null || event.e !== 'hello') {
        this.#skipProcess();
        throw new Refused(wrong ?? 'no hello');
      }
      this.#sink.beginProcess(processOf(process, event));
      this.#holes = new SeqHoles(process.seq_from);
      this.#place = 'events';
      if (process.seq_from > 0) {
        // It is the process's, not the run's, and told all the same: instants have their meaning from it.
        this.#eventsOfRun += 1;
        this.#sink.event(event);
        return;
      }
    }
    if (event.seq < process.seq_from) throw new Refused(`seq ${event.seq} is not of this run`);
    if (!this.#holes.take(event.seq, event.t)) throw new Refused(`seq ${event.seq} comes twice or too late`);
    this.#eventsOfRun += 1;
    this.#sink.event(event);
  }

  /** Of a process without a hello nothing can be placed: its lines are left out, and that is said once. */
  #skipProcess(): void {
    this.#process = null;
    this.#place = 'skip';
  }

  /** True where the line closed the run and is not to be counted. */
  #other(text: string): boolean {
    const parsed = parseUntrusted(text, { ...JSON_CAPS, maxLength: MAX_LINE_BYTES });
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) throw new Refused('not an object');
    const value = parsed as Record<string, unknown>;
    if ('interlock_run' in value) this.#beginRun(value);
    else if (this.#place === 'start') this.#refuseFile('The first line does not say that this is a run of Interlock.');
    else if ('end' in value) return this.#endLine(value);
    else if ('seq_from' in value && 'process' in value) this.#beginProcess(value);
    else if ('loss' in value) this.#loss(value);
    else if ('problem' in value) this.#oldProblem(value);
    else if ('hold_from_ns' in value) {
      const hold = check(HoldSchema, value);
      this.#enterTail();
      this.#sink.hold(hold.hold_from_ns, hold.hold_to_ns);
    } else if ('attempt_of' in value) {
      const { attempt_of: proof, ...attempt } = check(AttemptSchema, value);
      this.#enterTail();
      this.#sink.attempt({ proof, ...attempt });
    } else throw new Refused('a line of no known kind');
    return false;
  }

  #refuseFile(problem: string): never {
    this.#place = 'refused';
    throw new Refused(problem);
  }

  #beginRun(value: Record<string, unknown>): void {
    if (this.#head !== null) throw new Refused('a second run begins before the first one ended');
    if (typeof value.interlock_run === 'number' && value.interlock_run > RUN_FILE_VERSION) {
      this.#refuseFile(`This file has version ${value.interlock_run}; this program knows ${RUN_FILE_VERSION}. Update Interlock.`);
    }
    let head: HeadLine;
    try {
      head = check(HeadSchema, value);
      const problem = head.scheduler === null ? null : checkNested('run_started', 'scheduler', head.scheduler);
      if (problem !== null) throw new Refused(problem);
    } catch (error) {
      if (error instanceof Refused) this.#place = 'refused';
      throw error;
    }
    this.#head = head;
    this.#place = 'run';
    this.#hash = createHash('sha256');
    this.#unhashed = '';
    this.#linesOfRun = 0;
    this.#eventsOfRun = 0;
    this.#sink.beginRun({
      uid: head.uid,
      originRun: head.run,
      engine: head.engine,
      backend: head.backend,
      emulate: head.emulate,
      scheduler: head.scheduler as Scheduler | null,
      found: head.found,
      startedWallNs: head.started_wall_ns,
    });
  }

  #beginProcess(value: Record<string, unknown>): void {
    if (this.#place === 'tail') throw new Refused('a process after the holds and attempts');
    this.#closeProcess();
    this.#place = 'skip';
    this.#process = check(ProcessSchema, value);
    this.#place = 'hello';
  }

  #loss(value: Record<string, unknown>): void {
    const line = check(LossSchema, value);
    if (line.seq_to < line.seq_from || line.t_to < line.t_from || line.filled > line.count)
      throw new Refused('the loss ends before it begins');
    let state: StateLine | null = null;
    if (line.state !== null) {
      const decoded = decodeLine(JSON.stringify(line.state), this.#at.offset);
      if (!decoded.ok) throw new Refused(decoded.problem);
      if (decoded.line.e !== 'state') throw new Refused('state is not a state line');
      state = decoded.line;
    }
    this.#enterFacts();
    if (line.loss === 'hole') this.#holes.explain(line.seq_from, line.seq_to);
    this.#sink.loss(lossOf(line, state));
  }

  #oldProblem(value: Record<string, unknown>): void {
    const problem = check(ProblemSchema, value);
    this.#enterFacts();
    this.#sink.oldProblem(problem);
  }

  #enterFacts(): void {
    if (this.#process === null || (this.#place !== 'events' && this.#place !== 'facts'))
      throw new Refused('not in its place: no process is open');
    this.#place = 'facts';
  }

  #enterTail(): void {
    if (this.#head === null) throw new Refused('not in its place: no run is open');
    this.#closeProcess();
    this.#place = 'tail';
  }

  /** Numbers that are missing and that no line of the file explains are losses: a hole of the file is no idle time. */
  #closeProcess(): void {
    const process = this.#process;
    const begun = this.#place === 'events' || this.#place === 'facts';
    this.#process = null;
    if (process === null || !begun) return;
    for (const hole of this.#holes.unexplained()) {
      const { seqFrom, seqTo, count, tFrom, tTo } = hole;
      this.#sink.loss({ kind: 'hole', seqFrom, seqTo, ring: null, count, filled: 0, tFrom, tTo, healedT: null, state: null });
      this.#problem('dropped', `The file lacks ${count} events (seq ${seqFrom} to ${seqTo}) of process ${process.process}.`);
    }
    if (process.horizon !== null) this.#sink.horizon(process.horizon);
    this.#sink.endProcess(processEndOf(process));
  }

  #endLine(value: Record<string, unknown>): boolean {
    if (this.#head === null) throw new Refused('a last line without a run');
    const line = check(EndSchema, value);
    this.#flush();
    this.#closeProcess();
    if (line.lines !== this.#linesOfRun || line.events !== this.#eventsOfRun) {
      const has = `${this.#linesOfRun} lines with ${this.#eventsOfRun} readable events`;
      this.#problem('note', `The last line counts ${line.lines} lines with ${line.events} events; the file has ${has}.`);
    }
    const digest = this.#hash.digest('hex');
    if (digest !== line.sha256) {
      this.#problem(
        'note',
        `The file was changed after it was written: its lines have the SHA-256 ${digest}, the last line says ${line.sha256}.`,
      );
    }
    this.#closeRun();
    this.#place = 'start';
    return true;
  }

  #closeRun(): void {
    this.#closeProcess();
    const head = this.#head;
    this.#head = null;
    if (head !== null) this.#sink.endRun({ state: head.state, endedBy: head.ended_by });
  }

  #problem(kind: ImportProblem['kind'], problem: string): void {
    const { offset, bytes, text } = this.#at;
    this.#sink.problem({ line: this.lines, offset, bytes, kind, problem, text: text.slice(0, SHOWN_TEXT) });
  }
}

/** The line as its schema has it; else what is wrong, by the field's name. */
function check<S extends v.GenericSchema>(schema: S, value: Record<string, unknown>): v.InferOutput<S> {
  const parsed = v.safeParse(schema, value);
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  throw new Refused(`${v.getDotPath(issue as v.BaseIssue<unknown>) ?? 'the line'}: ${issue?.message ?? 'wrong'}`.slice(0, 300));
}
