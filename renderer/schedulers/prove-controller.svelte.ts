/** State of the Start dialog: what to prove, under which scheduler; sends it once, and says what came of it. */
import * as contract from '../../electron/contract/api.ts';
import { toFailure, type Failure } from '../../electron/contract/errors.ts';
import type { HostStatus } from '../../electron/contract/live.ts';
import { sameScheduler } from '../../electron/contract/scheduler.ts';
import type { HostLink } from '../link/host-link.svelte.ts';
import { SchedulerForm } from './scheduler-form.svelte.ts';

export type Circuit = (typeof contract.CIRCUITS)[number];

/** Limits of the plain numbers, as the contract's schema has them. */
export const WORK_LIMITS = { constraints: [16, 200_000_000], partitions: [1, 1024], count: [1, 100_000], priority: [1, 4] } as const;
export type WorkField = keyof typeof WORK_LIMITS;

export class ProveController {
  circuit = $state<Circuit>('sha256');
  fields = $state<Record<WorkField, string>>({
    constraints: String(contract.CIRCUIT_DEFAULTS.sha256),
    partitions: '10',
    count: '1',
    priority: '2',
  });
  emulate = $state('');
  sending = $state(false);
  failure = $state.raw<Failure | null>(null);

  readonly form: SchedulerForm;
  readonly faults: Partial<Record<WorkField, string>> = $derived.by(() => {
    const faults: Partial<Record<WorkField, string>> = {};
    for (const [field, [least, most]] of Object.entries(WORK_LIMITS) as [WorkField, readonly [number, number]][]) {
      const text = this.fields[field].trim();
      const value = Number(text);
      if (!/^\d{1,12}$/.test(text) || value < least || value > most)
        faults[field] = `${least.toLocaleString('en')} to ${most.toLocaleString('en')}`;
    }
    return faults;
  });
  /** Another scheduler or backend is active, so that this work waits until its run is drained. */
  readonly switches = $derived.by(() => {
    const active = this.#status()?.run ?? null;
    const resolved = this.form.resolved;
    if (!active || !resolved) return false;
    return !sameScheduler(active.scheduler, resolved.scheduler) || (this.form.backend !== null && this.form.backend !== active.backend);
  });
  readonly ready = $derived.by(
    () => !this.sending && this.form.sound && this.form.resolved !== null && !this.form.asking && Object.keys(this.faults).length === 0,
  );

  #link: HostLink;

  constructor(link: HostLink) {
    this.#link = link;
    const status = link.status;
    this.form = new SchedulerForm(
      link.client,
      link.clock,
      status?.machine ?? { cpus: 1, memoryBytes: 2 ** 30 },
      status?.run?.scheduler ?? null,
    );
    this.form.ask();
  }

  dispose(): void {
    this.form.dispose();
  }

  chooseCircuit(circuit: Circuit): void {
    if (this.fields.constraints === String(contract.CIRCUIT_DEFAULTS[this.circuit])) {
      this.fields.constraints = String(contract.CIRCUIT_DEFAULTS[circuit]);
    }
    this.circuit = circuit;
  }

  /** True when the host took it. */
  async send(): Promise<boolean> {
    if (!this.ready) return false;
    this.sending = true;
    this.failure = null;
    const backend = this.form.backend;
    const emulate = this.emulate.trim();
    try {
      await this.#link.client.prove({
        circuit: this.circuit,
        constraints: Number(this.fields.constraints),
        partitions: Number(this.fields.partitions),
        count: Number(this.fields.count),
        priority: Number(this.fields.priority),
        scheduler: this.form.spec(),
        ...(backend ? { backend } : {}),
        ...(backend === 'emulated' && emulate ? { emulate } : {}),
        switch: this.switches,
      });
      return true;
    } catch (error) {
      this.failure = toFailure(error);
      return false;
    } finally {
      this.sending = false;
    }
  }

  #status(): HostStatus | null {
    return this.#link.status;
  }
}
