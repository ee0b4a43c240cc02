/**
 * Keeps the prover fed, in the queue's order, and acts on what it says. The record is the store's; here is only what a prover holds right
 * now. One loop (`pump`) starts, configures and feeds; one serial inbox acts on events; a process's end is closed in the same inbox.
 */
import { sleep, type Clock } from '../contract/clock.ts';
import { InterlockError, isErrorCode } from '../contract/errors.ts';
import type { EventName } from '../contract/timeline-events.ts';
import { ProverRefusal, type AttachAnswer, type ProcessEnd, type ProverProcess } from '../engines/engine.ts';
import { readBootId } from '../engines/supervision/proc.ts';
import type { CommittedBatch, RunningProof, Store, WaitingProof } from '../store/types.ts';
import type { CrashWindow } from './crash-window.ts';
import { HoldNotes } from './hold-notes.ts';
import { closeEndedProcess, deleteJournal, type ClosedProcess, type ClosingDeps } from './process-closing.ts';
import { sameDevices, sameSetup, type Plan } from './plan.ts';
import { scanJournal } from './journal-scan.ts';
import { finishAsSaid, settleLost } from './proof-ends.ts';
import { RunSlot, type CurrentRun, type RunLimits } from './run-slot.ts';
import { Serial } from './serial.ts';
import type { Supervisor } from './supervisor.ts';
import { tellClosed } from './words.ts';

const HEARD: readonly EventName[] = ['proof_ended', 'proof_returned', 'worker_dead', 'params_load_ended'];
const RETRY_MS = 2_000;
/** Within this time an accepted proof is in the journal. */
const SETTLE_MS = 1_500;

export interface ProofQueueDeps extends ClosingDeps {
  store: Store;
  clock: Clock;
  plan: Plan;
  supervisor: () => Supervisor;
  crashes: CrashWindow;
  limits?: RunLimits;
  notify(severity: 'info' | 'warning' | 'error', code: 'info' | string, message: string): void;
  onChange(): void;
}

export class ProofQueue {
  readonly #deps: ProofQueueDeps;
  readonly #inbox: Serial;
  readonly #held = new Map<string, RunningProof>();
  /** Folders of processes whose events may still come. */
  readonly #folders = new Map<string, string>();
  /** Processes that hung, and the proof that each hung on (null: it was silent). */
  readonly #hung = new Map<string, string | null>();
  readonly #unsubscribe: () => void;
  readonly #runs: RunSlot;
  readonly #notes: HoldNotes;
  #hold: string | null = null;
  #closing = false;
  #pumping: Promise<void> | null = null;
  #again = false;
  #wake = new AbortController();
  #waitUntilNs = 0;

  constructor(deps: ProofQueueDeps) {
    this.#deps = deps;
    this.#inbox = new Serial((error) => this.#tellFault(error));
    this.#runs = new RunSlot({ ...deps, onBegun: (begun) => deps.supervisor().configured(begun.setup) });
    this.#notes = new HoldNotes({ ...deps, bootId: readBootId(), hold: () => this.#hold, onError: (error) => this.#tellFault(error) });
    this.#unsubscribe = deps.store.onCommitted((batch) => void this.#inbox.add(() => this.#take(batch)), HEARD);
  }

  get run(): CurrentRun | null {
    return this.#runs.current;
  }
  /** Why nothing is fed; null while proofs may go. */
  get hold(): string | null {
    return this.#hold;
  }
  /** Proofs that the prover holds. */
  get inProver(): number {
    return this.#held.size;
  }

  holdBack(why: string): void {
    this.#hold = why;
    this.#notes.look();
    this.#deps.onChange();
  }

  /** Lifts a hold and forgets the crashes that led to it. */
  release(): void {
    this.#hold = null;
    this.#waitUntilNs = 0;
    this.#deps.crashes.reset();
    this.#wake.abort();
    this.pump();
  }

  /** Takes over what an adopted process holds, and the run that it serves. */
  adopt(process: ProverProcess, held: RunningProof[], run: CurrentRun | null): void {
    this.#folders.set(process.identity.process, process.identity.folder);
    for (const proof of held) this.#held.set(proof.proof, proof);
    this.#runs.current = run;
  }

  holding(proof: string): RunningProof | null {
    return this.#held.get(proof) ?? null;
  }

  /** Looks whether there is anything to do. Never throws; calls during a round lead to one more round. */
  pump(): void {
    this.#notes.look();
    this.#again = true;
    if (this.#pumping) return;
    this.#pumping = (async () => {
      while (this.#again && !this.#closing) {
        this.#again = false;
        try {
          await this.#round();
        } catch (error) {
          await this.#failedRound(error);
        }
        this.#notes.look();
      }
    })().finally(() => {
      this.#pumping = null;
      if (this.#again && !this.#closing) this.pump();
    });
  }

  /** No more feeding; ends when the loop and the inbox stand still. The prover's end is the caller's business. */
  async stopFeeding(): Promise<void> {
    this.#closing = true;
    this.#wake.abort();
    await this.#pumping;
    await this.#notes.close();
  }

  async idle(): Promise<void> {
    await this.#inbox.idle();
  }

  close(): void {
    this.#unsubscribe();
  }

  async #round(): Promise<void> {
    const { plan, store, clock } = this.#deps;
    const supervisor = this.#deps.supervisor();
    if (store.access.readOnly || this.#hold !== null) return;
    const waitMs = (this.#waitUntilNs - clock.nowNs()) / 1e6;
    if (waitMs > 0) {
      this.#wake = new AbortController();
      await sleep(clock, waitMs, this.#wake.signal);
      this.#again = true;
      return;
    }
    // What an ended process leaves is settled before the next one starts.
    if (!supervisor.process) await this.#inbox.idle();
    await this.#maySwitch();
    if (supervisor.process && !supervisor.isReady) return;
    if (supervisor.process && supervisor.setup && !sameSetup(supervisor.setup, plan.active)) {
      if (this.#held.size > 0) return;
      if (!sameDevices(supervisor.setup, plan.active) || !(await this.#runs.reconfigure(supervisor.process, 'configured'))) {
        await supervisor.end('drain', 'it restarts for another set-up');
      }
      this.#again = true;
      return;
    }
    if (supervisor.process && this.#runs.isOver) {
      // Only where there is more to do: an idle run may stay.
      if (this.#held.size > 0 || (await store.takeWaiting(1)).length === 0) return;
      await this.#runs.reconfigure(supervisor.process, 'continued');
    }
    const most = Math.max(2 * plan.active.scheduler.proofs_in_flight, 4);
    const room = most - this.#held.size;
    if (room <= 0) return;
    const waiting = (await store.takeWaiting(plan.next ? 10_000 : room)).filter((proof) => plan.mayGo(proof.proof)).slice(0, room);
    if (waiting.length === 0) return;
    const process = supervisor.process ?? (await this.#startProver());
    if (this.#hold !== null || this.#closing) {
      await supervisor.end('drain', 'a stop was asked for while it started');
      return;
    }
    if (!this.#runs.current) await this.#runs.begin(process);
    for (const proof of waiting) {
      if (this.#hold !== null || this.#closing || !supervisor.isReady) return;
      if (!this.#held.has(proof.proof)) await this.#submit(process, proof);
    }
  }

  /** Makes a waiting switch the active set-up once nothing queued before it is left. */
  async #maySwitch(): Promise<void> {
    const { plan, store } = this.#deps;
    if (!plan.next || this.#held.size > 0) return;
    if (!sameDevices(plan.next.setup, plan.active)) {
      const before = (await store.takeWaiting(10_000)).filter((proof) => plan.mayGo(proof.proof));
      if (before.length > 0) return;
    }
    plan.active = plan.next.setup;
    plan.next = null;
    await plan.save();
    this.#deps.onChange();
  }

  async #startProver(): Promise<ProverProcess> {
    const { crashes, clock, plan } = this.#deps;
    const { run } = await this.#runs.create();
    crashes.started(clock.nowNs());
    const process = await this.#deps.supervisor().start(plan.active, run);
    this.#folders.set(process.identity.process, process.identity.folder);
    return process;
  }

  async #submit(process: ProverProcess, proof: WaitingProof): Promise<void> {
    const { store } = this.#deps;
    const run = this.#runs.current?.run ?? '';
    const uuid = process.identity.process;
    await store.markSubmitted(proof.proof, proof.attempt, run, uuid);
    this.#held.set(proof.proof, { ...proof, run, process: uuid, withdrawAsked: false });
    this.#deps.onChange();
    try {
      await process.submit({
        proof: proof.proof,
        attempt: proof.attempt,
        circuit: proof.circuit,
        partitions: proof.partitions,
        priority: proof.priority,
        submitted_wall_ns: proof.submittedWallNs,
        deadline_wall_ns: proof.deadlineWallNs,
        seed: proof.seed,
      });
    } catch (error) {
      if (!(error instanceof ProverRefusal)) return; // The connection is gone; the process's end settles what it held.
      if (error.code === 'duplicate') return;
      this.#held.delete(proof.proof);
      if (error.code === 'draining' || error.code === 'no_run') {
        await store.returnToHead(proof.proof, { countsAsAttempt: false });
        if (error.code === 'no_run') this.#runs.current = null;
        return;
      }
      const message = `The prover refused it: ${error.message}`;
      await store.finishProof(proof.proof, proof.attempt, { outcome: 'failed', sha256: null, path: null, code: error.code, message });
      this.#deps.onChange();
    }
  }

  async #take(batch: CommittedBatch): Promise<void> {
    const folder = this.#folders.get(batch.process);
    if (folder !== undefined) this.#runs.heard(batch.lastSeq);
    for (const event of batch.events) {
      if (event.e === 'proof_ended' && folder !== undefined) {
        await this.#persistently(() => finishAsSaid(this.#deps, event, folder));
        this.#letGo(event.proof, event.attempt, batch.process);
      } else if (event.e === 'proof_returned') {
        const holding = this.#held.get(event.proof);
        if (holding?.process !== batch.process || holding.attempt !== event.attempt) continue;
        await this.#persistently(() =>
          this.#hung.get(batch.process) === event.proof
            ? settleLost(this.#deps, holding, 'hung')
            : this.#deps.store.returnToHead(event.proof, { countsAsAttempt: false }),
        );
        this.#letGo(event.proof, event.attempt, batch.process);
      } else if (event.e === 'worker_dead') {
        this.#deps.notify('error', 'prover_lost', `GPU worker ${event.worker} of ${event.device} is dead: ${event.message}`);
      } else if (event.e === 'params_load_ended' && !event.ok) {
        const code = event.code !== null && isErrorCode(event.code) ? event.code : 'prover_refused';
        this.#deps.notify('error', code, `The params of ${event.circuit} cannot be used: ${event.message ?? event.code}`);
      }
    }
  }

  #letGo(proof: string, attempt: number, process: string): void {
    const holding = this.#held.get(proof);
    if (holding?.process === process && holding.attempt === attempt) this.#held.delete(proof);
    this.#deps.onChange();
    this.pump();
  }

  /** Tries until the disk takes it: a result is never given up for want of space. */
  async #persistently(work: () => Promise<unknown>): Promise<void> {
    for (let told = false; ; told = true) {
      try {
        await work();
        return;
      } catch (error) {
        if (!told) this.#tellFault(error);
        if (this.#closing) return; // The next start heals it: the spool and the journal are still there.
        await sleep(this.#deps.clock, RETRY_MS);
      }
    }
  }

  /** The process is gone: settle what it held, close its runs. Resolves when that is durable. */
  processEnded(process: ProverProcess, end: ProcessEnd, asked: boolean): Promise<void> {
    const { process: uuid, folder } = process.identity;
    const blamed = this.#hung.get(uuid) ?? null;
    const { exit, signal } = end;
    const message = this.#hung.has(uuid) ? `hung and was ended (it ${end.message})` : end.message;
    const facts = { process: uuid, folder, journal: `${folder}/journal.ndjson`, message, exit, signal, asked, blamed };
    return this.#inbox.add(async () => {
      const ending = this.#runs.current;
      let closed: ClosedProcess | null = null;
      // Every step may be done again; what is settled already is no longer listed as running.
      await this.#persistently(async () => {
        await this.#deps.store.recordStep(uuid, 'exit', { exit, signal, message, output_held: end.outputHeld });
        const held = (await this.#deps.store.listRunning()).filter((holding) => holding.process === uuid);
        closed = await closeEndedProcess(this.#deps, facts, held);
      });
      for (const holding of [...this.#held.values()]) if (holding.process === uuid) this.#held.delete(holding.proof);
      if (this.#runs.current === ending) this.#runs.current = null;
      this.#folders.delete(uuid);
      await deleteJournal(this.#deps, process.identity).catch((error: unknown) => this.#tellFault(error));
      this.#judgeEnd(message, asked, this.#hung.delete(uuid), closed);
      this.#deps.onChange();
      this.pump();
    });
  }

  #judgeEnd(message: string, asked: boolean, hung: boolean, closed: ClosedProcess | null): void {
    const bye = closed?.scan.bye ?? null;
    if (asked || (!hung && bye?.exit === 0 && ['drained', 'stopped'].includes(bye.reason))) return;
    const what = `The prover ${message}`;
    this.#crashed(message, closed ? tellClosed(what, closed) : `${what}.`);
  }

  /** After a lost connection: what was on its way to the prover and never arrived goes back to the head. */
  reconcile(process: ProverProcess, there: AttachAnswer['proofs']): Promise<void> {
    return this.#inbox.add(async () => {
      const { process: uuid, folder } = process.identity;
      const known = new Set(there.map((entry) => `${entry.proof}.${entry.attempt}`));
      await sleep(this.#deps.clock, SETTLE_MS);
      const { fates } = await scanJournal(`${folder}/journal.ndjson`);
      for (const holding of [...this.#held.values()]) {
        const key = `${holding.proof}.${holding.attempt}`;
        // What its journal names has arrived; the event that ends it is on its way.
        if (holding.process !== uuid || known.has(key) || fates.has(key)) continue;
        await this.#persistently(() => this.#deps.store.returnToHead(holding.proof, { countsAsAttempt: false }));
        this.#held.delete(holding.proof);
      }
      this.pump();
    });
  }

  /** It is being ended because it hangs: the proof it hangs on has used up its attempt, even if it is handed back. */
  hangsOn(process: ProverProcess, proof: string | null): void {
    this.#hung.set(process.identity.process, proof);
  }

  /** What a stuck process held goes again elsewhere; its own late results are refused by their attempt. */
  async abandon(process: ProverProcess, message: string): Promise<void> {
    await this.#inbox.add(async () => {
      for (const holding of this.#held.values()) {
        if (holding.process !== process.identity.process) continue;
        this.#held.delete(holding.proof);
        await this.#deps.store.returnToHead(holding.proof, { countsAsAttempt: true, message: 'the prover is stuck in the kernel' });
      }
      this.holdBack(message);
    });
  }

  #crashed(message: string, told: string): void {
    const { crashes, clock, notify } = this.#deps;
    const next = crashes.crashed(clock.nowNs(), message);
    if ('hold' in next) {
      const first = `The prover crashed again and again; the first time it ${crashes.firstError}. The queue is held: mend it, then press Start.`;
      notify('error', 'crash_loop', first);
      this.#deps.supervisor().setPhase('crash_loop', first);
      this.holdBack(first);
      return;
    }
    notify('error', 'prover_lost', `${told} The next start is in ${next.waitMs / 1000} s.`);
    this.#waitUntilNs = clock.nowNs() + next.waitMs * 1e6;
  }

  async #failedRound(error: unknown): Promise<void> {
    const giveUp = async (code: string, message: string, why = message) => {
      this.#deps.notify('error', code, why);
      await this.#runs.drop(message).catch(() => undefined);
      this.holdBack(why);
    };
    if (error instanceof ProverRefusal) {
      const code = isErrorCode(error.code) ? error.code : 'prover_refused';
      await giveUp(code, error.message, `The prover refused the run: ${error.message}`);
    } else if (error instanceof InterlockError && (error.code === 'prover_missing' || error.code === 'usage')) {
      await giveUp(error.code, error.message);
    } else if (error instanceof InterlockError && error.code === 'prover_refused') {
      if (error.detail?.reason === 'refused') await giveUp('prover_refused', error.message);
      else {
        this.#crashed(error.message, error.message);
        if (this.#hold !== null) await this.#runs.drop(error.message).catch(() => undefined);
        this.#again = true;
      }
    } else if (error instanceof InterlockError && error.code === 'prover_lost') {
      // Its end comes by its own way.
    } else {
      this.#tellFault(error);
      this.#waitUntilNs = this.#deps.clock.nowNs() + RETRY_MS * 1e6;
      this.#again = true;
    }
    this.#deps.onChange();
  }

  #tellFault(error: unknown): void {
    const code = error instanceof InterlockError ? error.code : 'internal';
    this.#deps.notify('error', code, error instanceof Error ? error.message : String(error));
  }
}
