/**
 * `interlock prove`: queues proofs and waits for them, in a running host or in one of its own for that long.
 *
 *   first interrupt:  what has not started is withdrawn; a host of its own finishes the rest, then exit 130
 *   second:           now
 */
import { createClient } from '../../contract/client.ts';
import { CIRCUITS, type Client, type ProofSummary } from '../../contract/api.ts';
import { sleep } from '../../contract/clock.ts';
import { InterlockError } from '../../contract/errors.ts';
import type { HostStatus, LiveMessage, LiveProof } from '../../contract/live.ts';
import type { RunReport } from '../../contract/run-report.ts';
import { choiceFlag, wholeFlag } from './arguments.ts';
import { EXIT, isRefusal } from './exit-codes.ts';
import { LiveLine } from './live-line.ts';
import type { Call, OwnHost } from './call.ts';
import { proofsText, runText } from './text.ts';

/** How often the queue is looked at, and the live line drawn. */
const LOOK_MS = 500;
/** A host that is just starting or just ending may be waited for. */
const HOST_TRIES = 20;

export async function proveCommand(call: Call): Promise<number> {
  // What is wrong with the flags is said before anything is opened or made.
  inputOf(call, false);
  const { transport, own, close } = await openProvingHost(call);
  const client = createClient(transport);
  const wait = new Waiting(call, client, own);
  const stopListening = call.seams.onInterrupt(() => wait.interrupt());
  try {
    const answer = await client.prove(inputOf(call, own !== null));
    call.output.say(`${answer.proofs.length === 1 ? answer.proofs[0] : `${answer.proofs[0]} to ${answer.proofs.at(-1)}`} queued.`);
    return await wait.forProofs(answer.proofs);
  } finally {
    stopListening();
    await close();
  }
}

/** A running host, or one of its own for the length of the command. */
export async function openProvingHost(call: Call) {
  for (let tries = 0; ; tries++) {
    const running = await call.seams.connect(call.config);
    if (running) return { transport: running, own: null, close: () => Promise.resolve(running.close()) };
    try {
      const own = await call.seams.openOwnHost(call.config);
      return { transport: own.transport, own, close: () => own.close('drain') };
    } catch (error) {
      if (!(error instanceof InterlockError) || error.code !== 'host_running' || tries >= HOST_TRIES) throw error;
      await sleep(call.seams.clock, 250);
    }
  }
}

function inputOf({ parsed, config }: Call, own: boolean) {
  const constraints = wholeFlag(parsed, 'constraints', 16, 200_000_000);
  const partitions = wholeFlag(parsed, 'partitions', 1, 1024);
  const count = wholeFlag(parsed, 'count', 1, 100_000);
  const priority = wholeFlag(parsed, 'priority', 1, 4);
  const circuit = choiceFlag(parsed, 'circuit', CIRCUITS);
  // A host of our own has no history of choices: what is not set is the default. A running one keeps what is active.
  const scheduler = config.scheduler ?? (own ? {} : null);
  const backend = config.backend ?? (own && config.emulate === null ? ('cpu' as const) : null);
  return {
    ...(circuit === undefined ? {} : { circuit }),
    ...(constraints === undefined ? {} : { constraints }),
    ...(partitions === undefined ? {} : { partitions }),
    ...(count === undefined ? {} : { count }),
    ...(priority === undefined ? {} : { priority }),
    ...(scheduler === null ? {} : { scheduler }),
    ...(backend === null ? {} : { backend }),
    ...(config.emulate === null ? {} : { emulate: config.emulate }),
    switch: parsed.switches.has('switch'),
  };
}

class Waiting {
  readonly #call: Call;
  readonly #client: Client;
  readonly #own: OwnHost | null;
  readonly #line: LiveLine;
  #open = new Set<string>();
  readonly #ended = new Map<string, ProofSummary>();
  #interrupts = 0;
  #toldHold: string | null = null;
  #wake = new AbortController();
  #lost = false;

  constructor(call: Call, client: Client, own: OwnHost | null) {
    this.#call = call;
    this.#client = client;
    this.#own = own;
    this.#line = new LiveLine();
  }

  interrupt(): void {
    this.#interrupts++;
    if (this.#interrupts === 1) this.#call.output.say('Interrupted: withdrawing what has not started. Once more ends at once.');
    if (this.#interrupts === 2) void this.#own?.close('now');
    if (this.#interrupts > 2 || (this.#interrupts === 2 && !this.#own)) process.exit(EXIT.interrupted);
    this.#wake.abort();
  }

  async forProofs(proofs: string[]): Promise<number> {
    const { output } = this.#call;
    this.#open = new Set(proofs);
    const endLive = this.#client.live(
      (message) => this.#hear(message),
      () => {
        this.#lost = true;
        this.#wake.abort();
      },
    );
    let gaveUp: { code: number; message: string } | null = null;
    try {
      while (this.#open.size > 0 && this.#interrupts === 0 && gaveUp === null) {
        if (this.#lost) throw new InterlockError('no_host', 'The host ended while it worked on the proofs; they are kept in its queue.');
        await this.#look();
        gaveUp = this.#judge(this.#line.status);
        output.live(this.#line.draw(proofs, this.#ended));
        if (this.#open.size > 0 && gaveUp === null) await sleep(this.#call.seams.clock, LOOK_MS, this.#wake.signal);
      }
      if (this.#interrupts > 0) return await this.#leave();
    } finally {
      endLive();
    }
    if (gaveUp) {
      await this.#withdrawOpen();
      output.say(`interlock: ${gaveUp.message}`);
    }
    const code = await this.#report(proofs);
    return gaveUp ? gaveUp.code : code;
  }

  #hear(message: LiveMessage): void {
    this.#line.hear(message);
  }

  async #look(): Promise<void> {
    const { proofs } = await this.#client.list_proofs({ state: 'ended', limit: Math.min(1000, this.#open.size + this.#ended.size + 50) });
    for (const summary of proofs) {
      if (!this.#open.delete(summary.proof)) continue;
      this.#ended.set(summary.proof, summary);
    }
    if (this.#own === null || this.#line.status === null) this.#line.status = await this.#client.status({});
  }

  /** Whether waiting makes no sense any more: the host holds the queue because proving does not work. An operator's hold is waited out. */
  #judge(status: HostStatus | null): { code: number; message: string } | null {
    const held = status?.queue.held ?? null;
    if (!status || held === null || this.#open.size === 0) return null;
    if (status.prover.phase === 'absent' || status.prover.phase === 'draining' || status.prover.phase === 'stopping') {
      if (this.#toldHold !== held) this.#call.output.say(`The queue is held: ${held}`);
      this.#toldHold = held;
      return null;
    }
    const looped = status.prover.phase === 'crash_loop' || status.prover.phase === 'stuck';
    return { code: looped ? EXIT.failed : EXIT.refused, message: held };
  }

  async #leave(): Promise<number> {
    const started = this.#line.proofs().filter((proof) => this.#open.has(proof.proof) && hasStarted(proof));
    const startedIds = new Set(started.map((proof) => proof.proof));
    const rest = [...this.#open].filter((proof) => !startedIds.has(proof));
    await this.#withdraw(rest);
    if (!this.#own) {
      if (startedIds.size > 0) this.#call.output.say(`The host goes on with ${[...startedIds].join(', ')}.`);
      return EXIT.interrupted;
    }
    await this.#drainOwn();
    await this.#look().catch(() => undefined);
    await this.#withdrawOpen();
    return EXIT.interrupted;
  }

  async #withdraw(proofs: string[]): Promise<void> {
    for (let at = 0; at < proofs.length; at += 5000) {
      await this.#client.withdraw({ proofs: proofs.slice(at, at + 5000) }).catch(() => undefined);
    }
  }

  async #withdrawOpen(): Promise<void> {
    await this.#withdraw([...this.#open]);
  }

  /** Ends our own prover in order, so that its run is finished before it is reported. */
  async #drainOwn(): Promise<void> {
    if (!this.#own) return;
    await this.#client.stop({ how: 'drain' }).catch(() => undefined);
    for (;;) {
      const status = await this.#client.status({}).catch(() => null);
      if (!status || this.#interrupts > 1) return;
      if (status.run === null && ['absent', 'lost', 'stuck', 'crash_loop'].includes(status.prover.phase)) return;
      await sleep(this.#call.seams.clock, 100);
    }
  }

  async #report(proofs: string[]): Promise<number> {
    const { output, json } = this.#call;
    await this.#drainOwn();
    if (this.#interrupts > 0) return EXIT.interrupted;
    const ended = proofs.flatMap((proof) => this.#ended.get(proof) ?? []);
    const runs = [...new Set(ended.flatMap((proof) => proof.run ?? []))];
    const reports: RunReport[] = [];
    for (const run of runs) reports.push(await this.#client.show_run({ run }));
    if (json) await output.data(`${JSON.stringify({ proofs: ended, run: reports.at(-1)?.run ?? null, report: reports.at(-1) ?? null })}\n`);
    else {
      for (const report of reports) await output.data(runText(report));
      const bad = ended.filter((proof) => proof.state !== 'valid');
      if (bad.length > 0) output.say(proofsText(bad).trimEnd());
    }
    return this.#exitCode(ended);
  }

  async #exitCode(ended: ProofSummary[]): Promise<number> {
    if (ended.some((proof) => proof.state === 'invalid')) return EXIT.invalid;
    const failed = ended.filter((proof) => proof.state !== 'valid');
    if (failed.length === 0) return EXIT.ok;
    for (const { proof } of failed) {
      const { report } = await this.#client.show_proof({ proof });
      // Not in any run: the prover refused to take it over.
      if (report === null) continue;
      const begun = report.partitions.some((partition) => partition.stages.job !== undefined);
      if (begun || !report.error || !isRefusal(report.error.code)) return EXIT.failed;
    }
    return EXIT.refused;
  }
}

function hasStarted(proof: LiveProof): boolean {
  return proof.partitions.some((state) => state !== 'pending' && state !== 'permit');
}
