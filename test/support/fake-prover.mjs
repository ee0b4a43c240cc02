/**
 * A prover that does as its scenario says: speaks the journal and the command socket of native/timeline/FORMAT.md, proves nothing, and
 * can die, hang, garble and flood at chosen points. Started through a small script that test/support/fake-prover.ts writes.
 *
 * Scenario (all optional):
 *   partitionMs      how long a partition takes (20)
 *   startMs          before the socket opens (0)
 *   refuseStart      { exit, stderr }: ends at once
 *   dieAt            { event, count, signal | exit }: at the count-th event of that name
 *   dieAfterMs       { ms, signal | exit }: after that time
 *   silentAt         { event, count }: from then on answers nothing and writes nothing, but lives
 *   spinAt           { event, count }: answers, but nothing moves any more
 *   garbleAt         { cmd, once }: answers that command with rubbish (once: only the first time) and does not obey it
 *   ignoreTerm       true: TERM does nothing
 *   ignoreCommands   true: drain and stop are answered and not obeyed
 *   ignoreLifeline   true: the end of stdin does nothing
 *   grandchild       true: a child of it keeps its stdout open for ten minutes
 *   floodBytes       written to stderr at once
 *   refuse           { cmd: { code, message } }
 *   failProof        { proof, code, message }
 *   invalidProof     proof
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';

export function main(scenario) {
  const given = parse(process.argv.slice(2));
  if (given.command === 'version') return console.log('interlock-prover 0.0.0 (fake)');
  if (given.command === 'verify') return process.exit(scenario.verifyExit ?? 0);
  if (scenario.refuseStart) {
    fs.writeSync(2, `${scenario.refuseStart.stderr}\n`);
    process.exit(scenario.refuseStart.exit);
  }
  new Prover(scenario, given).start();
}

function parse(argv) {
  const given = { command: argv[0] };
  for (let i = 1; i < argv.length; i += 2) given[argv[i].replace(/^--/, '')] = argv[i + 1];
  return given;
}

class Prover {
  constructor(scenario, given) {
    this.scenario = scenario;
    this.given = given;
    this.origin = process.hrtime.bigint();
    this.seq = 0;
    this.counts = {};
    this.proofs = [];
    this.run = null;
    this.phase = 'starting';
    this.worker = { is: 'free', proof: null, attempt: null, partition: null, since: null, progress: 0 };
    this.params = new Map();
    this.silent = false;
    this.spinning = false;
    this.graceS = Number(given.grace ?? 600);
  }

  t() {
    return Number(process.hrtime.bigint() - this.origin);
  }

  start() {
    const { folder } = this.given;
    fs.mkdirSync(path.join(folder, 'spool'), { recursive: true, mode: 0o700 });
    this.journal = fs.openSync(path.join(folder, 'journal.ndjson'), 'a', 0o600);
    const stat = fs.readFileSync('/proc/self/stat', 'latin1');
    this.emit('hello', {
      format: 1, process: this.given.process, pid: process.pid, start_ticks: stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19],
      boot_id: fs.readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim(), monotonic_ns: String(this.origin),
      wall_ns: `${BigInt(Date.now()) * 1000000n}`, version: '0.0.0', engine: 'builtin', backend: this.given.backend,
      devices: [{ device: 'cpu0', kind: 'cpu', name: 'fake', workers_max: 4, clock: 'host' }], grace_ns: this.graceS * 1e9, host_cpus: 2,
      memory_total_bytes: 8 * 2 ** 30,
    }); // prettier-ignore
    if (this.scenario.grandchild) {
      spawn(process.execPath, ['-e', 'setTimeout(() => {}, 600000)'], { stdio: ['ignore', 'inherit', 'inherit'] }).unref();
    }
    if (this.scenario.floodBytes) this.flood(this.scenario.floodBytes);
    process.on('SIGTERM', () => this.signalled());
    process.on('SIGINT', () => this.signalled());
    process.stdin.on('end', () => this.lifeline());
    process.stdin.on('error', () => this.lifeline());
    process.stdin.resume();
    if (this.scenario.dieAfterMs) setTimeout(() => this.die(this.scenario.dieAfterMs), this.scenario.dieAfterMs.ms);
    setTimeout(() => this.listen(), this.scenario.startMs ?? 0);
    this.marks = setInterval(() => this.mark(), 50);
    this.states = setInterval(() => this.write({ t: this.t(), e: 'state', ...this.state() }), 1000);
  }

  listen() {
    this.server = net.createServer((socket) => this.serve(socket));
    this.server.listen(this.given.socket ?? path.join(this.given.folder, 'command.sock'), () => {
      this.phase = 'ready';
      this.emit('ready', {});
      void this.work();
    });
  }

  serve(socket) {
    let rest = '';
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop();
      for (const line of lines) if (line && !this.silent) this.answer(socket, JSON.parse(line));
    });
  }

  answer(socket, { id, cmd, ...fields }) {
    const ok = (value) => socket.write(`${JSON.stringify({ id, ok: true, value })}\n`);
    const no = (code, message) => socket.write(`${JSON.stringify({ id, ok: false, code, message })}\n`);
    const { garbleAt } = this.scenario;
    if (garbleAt?.cmd === cmd && !(garbleAt.once && this.garbled)) {
      this.garbled = true;
      return socket.write('\u0000{"id":7,,,\n');
    }
    const refused = this.scenario.refuse?.[cmd];
    if (refused) return no(refused.code, refused.message);
    switch (cmd) {
      case 'attach': {
        if (this.draining === 'lifeline') {
          this.draining = null;
          this.phase = 'ready';
          this.emit('drain_cancelled', { by: 'adopted' });
        }
        this.emit('host_attached', { wall_ns: `${BigInt(Date.now()) * 1000000n}` });
        const { process: uuid, backend } = this.given;
        return ok({ process: uuid, pid: process.pid, backend, phase: this.phase, run: this.run, proofs: this.held() });
      }
      case 'run':
        if (this.proofs.length > 0) return no('not_quiescent', 'a proof is here');
        if (this.run) this.emit('run_ended', { run: this.run, reason: 'configured' });
        this.run = fields.run;
        this.emit('run_started', { run: fields.run, scheduler: fields.scheduler, emulate: fields.emulate });
        return ok({});
      case 'submit': {
        if (this.draining) return no('draining', 'it drains');
        if (!this.run) return no('no_run', 'no run');
        if (this.proofs.some((proof) => proof.proof === fields.proof)) return no('duplicate', 'it is here');
        this.proofs.push({ ...fields, done: 0, started: false });
        this.emit('proof_accepted', {
          proof: fields.proof, attempt: fields.attempt, run: this.run, circuit: fields.circuit, partitions: fields.partitions,
          constraints: Number(fields.circuit.split('-')[1]), priority: fields.priority, submitted_wall_ns: fields.submitted_wall_ns,
          deadline_wall_ns: fields.deadline_wall_ns,
        }); // prettier-ignore
        this.wake?.();
        return ok({});
      }
      case 'withdraw': {
        const proof = this.proofs.find((entry) => entry.proof === fields.proof);
        if (!proof) return ok({ state: 'unknown' });
        if (proof.started) {
          proof.withdrawn = true;
          return ok({ state: 'stopping' });
        }
        this.giveBack(proof, 'withdrawn');
        return ok({ state: 'returned' });
      }
      case 'drain':
        ok({});
        if (!this.scenario.ignoreCommands) this.drain('command');
        return;
      case 'stop':
        ok({});
        if (!this.scenario.ignoreCommands) this.stop();
        return;
      case 'state':
        return ok(this.state());
      case 'ping':
        return ok({ t: this.t() });
      default:
        return no('bad_request', 'unknown');
    }
  }

  held() {
    return this.proofs.map(({ proof, attempt, partitions, done }) => ({ proof, attempt, partitions, done }));
  }

  state() {
    const { worker } = this;
    return {
      upto: this.seq - 1, phase: this.phase, run: this.run, queued: 0, withheld: 0,
      permits: { used: 0, total: 10, bytes_used: 0, bytes_total: 2 ** 30 },
      workers: [{ worker: 0, device: 'cpu0', ...worker }],
      synthesisers: [{ synthesiser: 0, proof: null, attempt: null, partition: null, since: null, progress: 0 }],
      lock: [{ device: 'cpu0', holder: null }], proofs: this.held(),
      params: [...this.params].map(([circuit, is]) => ({ circuit, is })), rss_bytes: 1000, peak_rss_bytes: 1000, dropped: 0,
    }; // prettier-ignore
  }

  emit(e, fields) {
    if (this.silent) return;
    this.write({ seq: this.seq++, t: this.t(), e, ...fields });
    const count = (this.counts[e] = (this.counts[e] ?? 0) + 1);
    const at = (when) => when && when.event === e && when.count === count;
    if (at(this.scenario.dieAt)) this.die(this.scenario.dieAt);
    if (at(this.scenario.silentAt)) this.silent = true;
    if (at(this.scenario.spinAt)) this.spinning = true;
  }

  mark() {
    if (!this.silent) this.write({ t: this.t(), e: 'mark', upto: this.seq - 1 });
  }

  write(line) {
    if (!this.silent) fs.writeSync(this.journal, `${JSON.stringify(line)}\n`);
  }

  die({ signal, exit }) {
    if (signal) process.kill(process.pid, signal);
    else process.exit(exit);
    // A signal is delivered before the next line runs, or at the latest during this wait.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
  }

  flood(bytes) {
    const line = `${'x'.repeat(1023)}\n`;
    let left = bytes;
    const push = () => {
      while (left > 0) {
        left -= line.length;
        if (!process.stderr.write(line)) return process.stderr.once('drain', push);
      }
      fs.writeFileSync(path.join(this.given.folder, 'flooded'), 'yes');
    };
    push();
  }

  signalled() {
    if (this.scenario.ignoreTerm) return;
    if (this.draining) this.stop();
    else this.drain('signal');
  }

  lifeline() {
    if (this.scenario.ignoreLifeline) return;
    this.emit('host_lost', {});
    this.drain('lifeline');
  }

  drain(reason) {
    if (this.draining) return;
    this.draining = reason;
    this.phase = 'draining';
    this.emit('drain_started', { reason, deadline: this.t() + this.graceS * 1e9 });
    for (const proof of this.proofs.filter((entry) => !entry.started)) this.giveBack(proof, 'drain');
    this.wake?.();
  }

  stop() {
    this.stopping = true;
    this.wake?.();
    for (const proof of [...this.proofs]) this.giveBack(proof, 'stopped');
    this.bye('stopped');
  }

  bye(reason) {
    if (this.run) this.emit('run_ended', { run: this.run, reason });
    this.emit('bye', { reason, exit: 0 });
    this.mark();
    process.exit(0);
  }

  giveBack(proof, reason) {
    this.proofs.splice(this.proofs.indexOf(proof), 1);
    this.emit('proof_returned', { proof: proof.proof, attempt: proof.attempt, reason });
  }

  async work() {
    for (;;) {
      const proof = this.proofs[0];
      if (!proof) {
        if (this.draining) return this.bye(this.draining === 'lifeline' ? 'lifeline' : 'drained');
        await new Promise((resolve) => (this.wake = resolve));
        continue;
      }
      proof.started = true;
      if (!this.params.has(proof.circuit)) await this.load(proof.circuit);
      for (let partition = 0; partition < proof.partitions && !proof.withdrawn; partition++) {
        await this.partition(proof, partition);
        if (this.stopping) return;
      }
      if (proof.withdrawn) this.giveBack(proof, 'withdrawn');
      else this.finish(proof);
    }
  }

  async load(circuit) {
    this.params.set(circuit, 'loading');
    this.emit('params_load_started', { circuit, bytes: 1000 });
    await this.pause(5);
    this.params.set(circuit, 'resident');
    this.emit('params_load_ended', { circuit, ok: true, digest: '0'.repeat(64), code: null, message: null });
  }

  async partition({ proof, attempt }, partition) {
    const P = { proof, attempt, partition };
    const W = { ...P, device: 'cpu0', worker: 0 };
    const step = this.scenario.partitionMs ?? 20;
    this.emit('permit_asked', { ...P, bytes: 1000 });
    this.emit('permit_granted', { ...P, bytes: 1000, waited_for: 'none' });
    this.emit('synthesis_started', { ...P, synthesiser: 0 });
    await this.pause(step * 0.2);
    this.emit('synthesis_ended', { ...P, synthesiser: 0 });
    this.emit('queued', P);
    this.emit('picked_up', W);
    this.stage('prepare', P);
    this.emit('prepare_started', W);
    await this.pause(step * 0.2);
    this.emit('prepare_ended', W);
    this.emit('lock_asked', W);
    this.emit('lock_granted', W);
    this.stage('device', P);
    this.emit('device_started', W);
    this.emit('kernel_started', { ...W, stream: 0, kernel: 'h_msm' });
    await this.pause(step * 0.4);
    this.emit('kernel_ended', { ...W, stream: 0, kernel: 'h_msm' });
    this.emit('device_ended', W);
    this.emit('lock_released', W);
    this.stage('finish', P);
    this.emit('finish_started', W);
    await this.pause(step * 0.2);
    this.emit('finish_ended', W);
    this.emit('put_down', W);
    this.worker = { ...this.worker, is: 'free', proof: null, attempt: null, partition: null };
    this.emit('permit_released', { ...P, bytes: 1000 });
    this.emit('partition_ended', { ...P, outcome: 'valid' });
    const holder = this.proofs.find((entry) => entry.proof === proof);
    if (holder) holder.done++;
  }

  stage(is, P) {
    this.worker = { is, ...P, since: this.t(), progress: this.worker.progress + 1 };
  }

  async pause(ms) {
    await new Promise((resolve) => setTimeout(resolve, ms));
    while (this.spinning || this.silent) await new Promise((resolve) => setTimeout(resolve, 20));
  }

  finish(proof) {
    const fail = this.scenario.failProof?.proof === proof.proof ? this.scenario.failProof : null;
    const base = { proof: proof.proof, attempt: proof.attempt, sha256: null, file: null, bytes: null, code: null, message: null };
    this.proofs.splice(this.proofs.indexOf(proof), 1);
    if (fail) return this.emit('proof_ended', { ...base, outcome: 'failed', code: fail.code, message: fail.message });
    if (this.scenario.invalidProof === proof.proof) {
      return this.emit('proof_ended', { ...base, outcome: 'invalid', code: 'verify_failed', message: 'it does not verify' });
    }
    if (this.given.backend === 'emulated') return this.emit('proof_ended', { ...base, outcome: 'valid' });
    const file = `${proof.proof}.${proof.attempt}.proof.json`;
    const text = `${JSON.stringify({ format: 'interlock-proof-1', proof: proof.proof, circuit: proof.circuit, partitions: [] })}\n`;
    const target = path.join(this.given.folder, 'spool', file);
    fs.writeFileSync(`${target}.tmp`, text, { mode: 0o600 });
    fs.renameSync(`${target}.tmp`, target);
    const sha256 = createHash('sha256').update(text).digest('hex');
    this.emit('proof_ended', { ...base, outcome: 'valid', sha256, file, bytes: text.length });
  }
}
