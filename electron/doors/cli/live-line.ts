/** The one line that `prove` redraws on a terminal, made from live messages. */
import type { ProofSummary } from '../../contract/api.ts';
import type { HostStatus, LiveFigures, LiveMessage, LiveProof } from '../../contract/live.ts';

export class LiveLine {
  status: HostStatus | null = null;
  readonly #proofs = new Map<string, LiveProof>();
  #figures: LiveFigures | null = null;

  hear(message: LiveMessage): void {
    switch (message.kind) {
      case 'status':
        this.status = message.status;
        break;
      case 'snapshot':
        this.#proofs.clear();
        this.#take(message.live.proofs, message.live.figures);
        break;
      case 'batch':
        this.#take(message.proofs, message.figures);
        break;
      case 'no_run':
        this.#proofs.clear();
    }
  }

  proofs(): LiveProof[] {
    return [...this.#proofs.values()];
  }

  draw(wanted: string[], ended: ReadonlyMap<string, ProofSummary>): string {
    const parts = [`${ended.size}/${wanted.length} proofs`];
    const running = this.proofs().find((proof) => proof.state === 'running' && !ended.has(proof.proof) && wanted.includes(proof.proof));
    if (running) {
      const done = running.partitions.filter((state) => state === 'valid').length;
      parts.push(`${running.proof} ${done}/${running.partitions.length} partitions`);
    } else if (this.status) parts.push(`prover ${this.status.prover.phase}`);
    const loading = this.#figures?.params.find((entry) => entry.is === 'loading');
    if (loading) parts.push(`loading params of ${loading.circuit}`);
    const [device] = this.#figures?.last60s ?? [];
    if (device && device.wall_ns > 0) {
      const share = (ns: number | null) => (ns === null ? 'not recorded' : `${((100 * ns) / device.wall_ns).toFixed(0)} %`);
      parts.push(`kernel ${share(device.kernel_ns)} · lock ${share(device.lock_held_ns)} · job ${share(device.job_span_ns)}`);
    }
    const perProof = this.#figures?.sPerProof.value ?? null;
    if (perProof !== null) parts.push(`${perProof.toFixed(1)} s/proof`);
    return parts.join('  ');
  }

  #take(proofs: LiveProof[], figures: LiveFigures | null): void {
    for (const proof of proofs) this.#proofs.set(proof.proof, proof);
    if (figures) this.#figures = figures;
  }
}
