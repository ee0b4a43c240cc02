/**
 * A scheduler being chosen: a preset and the settings that differ from it, and what the host says would follow. The host is asked after
 * every change, a moment later; a late answer to an older question is dropped.
 */
import type { CallOutput } from '../../electron/contract/api.ts';
import type { Client } from '../../electron/contract/api.ts';
import type { Clock, Timer } from '../../electron/contract/clock.ts';
import { toFailure, type Failure } from '../../electron/contract/errors.ts';
import {
  PRESET_SETTINGS,
  PRESETS,
  presetDefaults,
  SCHEDULER_LIMITS,
  type Backend,
  type MachineFacts,
  type PresetName,
  type Scheduler,
  type SchedulerSettings,
  type SchedulerSpec,
} from '../../electron/contract/scheduler.ts';
import { parseBytes } from '../../electron/contract/units.ts';

export type Knob = keyof SchedulerSettings;
export type NumberKnob = keyof typeof SCHEDULER_LIMITS;
export const NUMBER_KNOBS = Object.keys(SCHEDULER_LIMITS) as NumberKnob[];
export type Resolved = CallOutput<'resolve_scheduler'>;

const ASK_AFTER_MS = 200;

export class SchedulerForm {
  preset = $state<PresetName>('interlock');
  backend = $state<Backend | null>(null);
  /** Settings as changed, by name; a number as the text in its field. */
  changed = $state<Partial<Record<Knob, string>>>({});
  resolved = $state.raw<Resolved | null>(null);
  refused = $state.raw<Failure | null>(null);
  asking = $state(false);

  readonly defaults: SchedulerSettings = $derived.by(() => presetDefaults(this.preset, this.machine));
  /** What is wrong with each field, in words; empty when all is well. */
  readonly faults: Partial<Record<Knob, string>> = $derived.by(() => this.#findFaults());
  readonly sound = $derived(Object.keys(this.faults).length === 0);

  readonly machine: MachineFacts;
  #client: Client;
  #clock: Clock;
  #active: Scheduler | null;
  #timer: Timer | null = null;
  #question = 0;

  constructor(client: Client, clock: Clock, machine: MachineFacts, active: Scheduler | null) {
    this.#client = client;
    this.#clock = clock;
    this.machine = machine;
    this.#active = active;
    if (active) {
      this.preset = active.preset;
      for (const name of active.overrides as Knob[]) {
        if (name in active) this.changed[name] = toText(name, active[name]);
      }
    }
  }

  choosePreset(preset: PresetName): void {
    this.preset = preset;
    this.changed = {};
    this.ask();
  }

  chooseBackend(backend: Backend | null): void {
    this.backend = backend;
    this.ask();
  }

  /** Takes a change on top of what is active. Every other setting stays as it is, so that what was predicted is what is sent. */
  suggest(change: Partial<SchedulerSettings>): void {
    const now = this.#active;
    const want: SchedulerSettings = { ...(now ?? this.defaults), ...change };
    const fits = PRESETS.find((preset) => Object.entries(PRESET_SETTINGS[preset]).every(([knob, value]) => want[knob as Knob] === value));
    this.preset = fits ?? this.preset;
    const defaults = presetDefaults(this.preset, this.machine);
    const changed: Partial<Record<Knob, string>> = {};
    for (const knob of Object.keys(defaults) as Knob[]) if (want[knob] !== defaults[knob]) changed[knob] = toText(knob, want[knob]);
    this.changed = changed;
  }

  /** The text that a field shows: what was typed, else the default. */
  textOf(knob: Knob): string {
    return this.changed[knob] ?? toText(knob, this.defaults[knob]);
  }

  setKnob(knob: Knob, text: string): void {
    const same = text.trim() === toText(knob, this.defaults[knob]);
    const { [knob]: _, ...rest } = this.changed;
    this.changed = same ? rest : { ...rest, [knob]: text };
    this.ask();
  }

  /** What is sent: the preset, and only what differs. */
  spec(): SchedulerSpec {
    const spec: Record<string, unknown> = { preset: this.preset };
    for (const [knob, text] of Object.entries(this.changed) as [Knob, string][]) {
      const value = fromText(knob, text);
      if (value !== null) spec[knob] = value;
    }
    return spec as SchedulerSpec;
  }

  /** Asks the host what would follow, a moment from now. */
  ask(): void {
    this.#timer?.cancel();
    const question = ++this.#question;
    if (!this.sound) {
      this.asking = false;
      this.resolved = null;
      return;
    }
    this.asking = true;
    this.#timer = this.#clock.after(ASK_AFTER_MS, () => void this.#resolve(question));
  }

  dispose(): void {
    this.#question++;
    this.#timer?.cancel();
  }

  async #resolve(question: number): Promise<void> {
    try {
      const answer = await this.#client.resolve_scheduler({ scheduler: this.spec(), ...(this.backend ? { backend: this.backend } : {}) });
      if (question !== this.#question) return;
      this.resolved = answer;
      this.refused = null;
    } catch (error) {
      if (question !== this.#question) return;
      this.resolved = null;
      this.refused = toFailure(error);
    }
    this.asking = false;
  }

  #findFaults(): Partial<Record<Knob, string>> {
    const faults: Partial<Record<Knob, string>> = {};
    for (const knob of NUMBER_KNOBS) {
      const text = this.changed[knob];
      if (text === undefined) continue;
      const value = fromText(knob, text);
      const [least, most] = SCHEDULER_LIMITS[knob];
      if (typeof value !== 'number') faults[knob] = knob === 'memory_budget_bytes' ? 'a size, such as 8GiB' : 'a whole number';
      else if (value < least || value > most) faults[knob] = `${toText(knob, least)} to ${toText(knob, most)}`;
    }
    return faults;
  }
}

/** `17179869184` → `16GiB`: the largest unit that leaves a whole number. */
function sizeText(bytes: number): string {
  for (const [unit, size] of [
    ['TiB', 2 ** 40],
    ['GiB', 2 ** 30],
    ['MiB', 2 ** 20],
  ] as const) {
    if (bytes >= size && bytes % size === 0) return `${bytes / size}${unit}`;
  }
  return String(bytes);
}

export function toText(knob: Knob, value: string | number | boolean): string {
  return knob === 'memory_budget_bytes' ? sizeText(Number(value)) : String(value);
}

function fromText(knob: Knob, text: string): string | number | boolean | null {
  const trimmed = text.trim();
  if (knob === 'memory_budget_bytes') return parseBytes(trimmed);
  if (knob in SCHEDULER_LIMITS) return /^\d{1,15}$/.test(trimmed) ? Number(trimmed) : null;
  return knob === 'reserve_post' ? trimmed === 'true' : trimmed;
}
