/**
 * One run as the lines of FORMAT.md, section 10, told in that order: head, processes (each with its events, losses, problems), holds,
 * attempts, end. Knows neither file nor database; the same run told twice gives the same bytes.
 */
import { createHash } from 'node:crypto';
import type { TimelineEvent } from '../../contract/timeline-events.ts';
import type { Nanoseconds } from '../../contract/units.ts';
import { encodeLine } from '../journal/encode.ts';
import { headLine, processLine, type RunFileAttempt, type RunFileHead, type RunFileLoss, type RunFileProblem, type RunFileProcess } from './shapes.ts'; // prettier-ignore

/** Characters hashed and handed on at once. */
const BATCH = 64 * 1024;

export class RunFileWriter {
  readonly #write: (text: string) => void;
  readonly #hash = createHash('sha256');
  #lines = 0;
  #events = 0;
  #kept = '';
  #helloSeen = false;

  /** `write` gets whole lines, many at a time. */
  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  head(head: RunFileHead): void {
    this.#line(JSON.stringify(headLine(head)));
  }

  /** Its hello follows at once; a hello among the events (where the run begins with its process) is not written again. */
  process(process: RunFileProcess): void {
    this.#line(JSON.stringify(processLine(process)));
    this.#helloSeen = false;
    this.event(process.hello);
    this.#helloSeen = true;
  }

  event(event: TimelineEvent): void {
    if (this.#helloSeen && event.seq === 0) return;
    this.#events += 1;
    this.#line(encodeLine(event));
  }

  loss(loss: RunFileLoss): void {
    const { kind, seqFrom, seqTo, ring, count, filled, tFrom, tTo, healedT, state } = loss;
    const fields = { loss: kind, seq_from: seqFrom, seq_to: seqTo, ring, count, filled, t_from: tFrom, t_to: tTo, healed_t: healedT };
    const opened = JSON.stringify(fields).slice(0, -1);
    this.#line(`${opened},"state":${state === null ? 'null' : encodeLine(state)}}`);
  }

  problem({ problem, offset, bytes, kind }: RunFileProblem): void {
    this.#line(JSON.stringify({ problem, offset, bytes, kind }));
  }

  hold(fromNs: Nanoseconds, toNs: Nanoseconds | null): void {
    this.#line(JSON.stringify({ hold_from_ns: fromNs, hold_to_ns: toNs }));
  }

  attempt({ proof, attempt, outcome, sha256, file, code, message }: RunFileAttempt): void {
    this.#line(JSON.stringify({ attempt_of: proof, attempt, outcome, sha256, file, code, message }));
  }

  /** The last line, with what was counted and hashed. */
  end(): void {
    this.#flush();
    this.#write(`${JSON.stringify({ end: true, events: this.#events, lines: this.#lines, sha256: this.#hash.digest('hex') })}\n`);
  }

  #line(text: string): void {
    this.#lines += 1;
    this.#kept += `${text}\n`;
    if (this.#kept.length >= BATCH) this.#flush();
  }

  #flush(): void {
    if (this.#kept === '') return;
    this.#hash.update(this.#kept);
    this.#write(this.#kept);
    this.#kept = '';
  }
}
