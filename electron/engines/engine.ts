/**
 * What proves, as the host sees it: one interface for every engine. An engine starts processes and picks up living ones; a
 * {@link ProverProcess} is one life of a prover. Neither reads the journal (the store's ingest does) nor decides what to prove (the host).
 */
import type { Backend, Scheduler } from '../contract/scheduler.ts';
import type { Nanoseconds } from '../contract/units.ts';
import type { EndReason } from './supervision/diagnostics.ts';
import type { LadderStep } from './supervision/ladder.ts';
import type { StderrTail } from './supervision/stderr-ring.ts';

export interface StartOptions {
  /** The new process's uuid. */
  process: string;
  /** An existing folder of ours (0700) that receives journal, spool and socket. */
  folder: string;
  paramsFolder: string;
  backend: Backend;
  emulate: string | null;
  graceS: number;
}

/** Which process is meant: pid and start time together, on this boot, so that a recycled pid is never taken for it. */
export interface ProcessIdentity {
  process: string;
  folder: string;
  pid: number;
  startTicks: string;
  bootId: string;
}

export interface SubmitOrder {
  proof: string;
  attempt: number;
  circuit: string;
  partitions: number;
  priority: number;
  submitted_wall_ns: string;
  deadline_wall_ns: string | null;
  /** 32 bytes in hex. */
  seed: string;
}

/** The body of a `state` answer, as far as the host needs it. */
export interface ProverState {
  phase: 'starting' | 'ready' | 'draining' | 'stopped';
  run: string | null;
  workers: {
    worker: number;
    device: string;
    is: string;
    proof: string | null;
    partition: number | null;
    since: number | null;
    progress: number;
  }[];
  synthesisers: { synthesiser: number; proof: string | null; partition: number | null; since: number | null; progress: number }[];
  proofs: { proof: string; attempt: number; partitions: number; done: number }[];
  params: { circuit: string; is: string }[];
}

export interface AttachAnswer {
  process: string;
  pid: number;
  backend: Backend;
  phase: ProverState['phase'];
  run: string | null;
  proofs: { proof: string; attempt: number; partitions: number; done: number }[];
}

/** How a process ended. */
export interface ProcessEnd {
  reason: EndReason;
  exit: number | null;
  signal: string | null;
  /** One sentence for people. */
  message: string;
  /** Somebody still held its output when it was gone. */
  outputHeld: boolean;
}

export interface ProverProcess {
  readonly identity: ProcessIdentity;
  readonly adopted: boolean;
  /** Facts from the first `attach`. */
  readonly attached: AttachAnswer;
  /** False while the command socket is gone and another connection is being tried. */
  readonly isLinked: boolean;
  /** Hears each time that a lost connection was replaced: what was under way then may or may not have arrived. */
  onRelinked(listener: (answer: AttachAnswer) => void): void;
  run(run: string, scheduler: Scheduler, emulate: string | null): Promise<void>;
  submit(order: SubmitOrder): Promise<void>;
  withdraw(proof: string): Promise<'returned' | 'stopping' | 'unknown'>;
  readState(deadlineMs?: number): Promise<ProverState>;
  /** Asks it to drain; resolves when it has agreed. The end comes by {@link ProverProcess.ended}. */
  drain(): Promise<void>;
  /** Makes it end: command, then TERM, then KILL to its group, each with its deadline. A later call can only hurry it. */
  end(how: 'drain' | 'now' | 'hung', deadlineNs: Nanoseconds): Promise<LadderStep[]>;
  /** Lets go without ending it: closes our ends so that the lifeline drain begins. */
  release(): void;
  readonly ended: Promise<ProcessEnd>;
  stderr(): StderrTail;
}

/** Refusals of a prover's command socket, by its own code. */
export class ProverRefusal extends Error {
  readonly code: string;
  readonly detail: Record<string, unknown>;
  constructor(code: string, message: string, detail: Record<string, unknown> = {}) {
    super(message);
    this.name = 'ProverRefusal';
    this.code = code;
    this.detail = detail;
  }
}

export interface VerifyAnswer {
  valid: boolean;
  exit: number | null;
  message: string;
}

export interface Engine {
  readonly name: 'builtin';
  /** The vetted binary, or an InterlockError (`prover_missing`) that names every place tried and every reason. */
  findBinary(): Promise<string>;
  /** Starts a process and waits until its command socket answers. Fails with an InterlockError that carries what the prover said. */
  start(options: StartOptions): Promise<ProverProcess>;
  /** Picks up a living process; null if it is gone, is not ours, or does not answer. */
  adopt(identity: ProcessIdentity, patienceMs: number): Promise<ProverProcess | null>;
  /** Makes a process that nobody owns end: TERM, then KILL to its group; nothing if it is gone. */
  endOrphan(identity: ProcessIdentity): Promise<LadderStep[]>;
  verify(file: string, paramsFolder: string): Promise<VerifyAnswer>;
  version(): Promise<string>;
}
