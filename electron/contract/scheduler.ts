/**
 * What a scheduler is: data. The presets carry the field's names; whatever differs from the preset is an override and is shown as
 * "Interlock, modified".
 */
import * as v from 'valibot';
import { InterlockError } from './errors.ts';
import { formatBytes } from './units.ts';

export const BACKENDS = ['cuda', 'cpu', 'emulated'] as const;
export type Backend = (typeof BACKENDS)[number];

export const PRESETS = ['batch', 'per-partition', 'interlock'] as const;
export type PresetName = (typeof PRESETS)[number];

export const DISPATCHES = ['batch', 'partition'] as const;
export const LOCK_SCOPES = ['job', 'kernels'] as const;
export const ORDERS = ['fifo', 'proof-first', 'shortest-first', 'deadline'] as const;

/** A resolved scheduler: the field names are those of the journal and of `show --json`. */
export interface Scheduler {
  preset: PresetName;
  /** Names of the settings that differ from the preset's. */
  overrides: string[];
  dispatch: (typeof DISPATCHES)[number];
  gpu_workers: number;
  lock_scope: (typeof LOCK_SCOPES)[number];
  partitions_in_flight: number;
  proofs_in_flight: number;
  synthesis_workers: number;
  synthesis_threads: number;
  device_threads: number;
  memory_budget_bytes: number;
  order: (typeof ORDERS)[number];
  reserve_post: boolean;
}

export type SchedulerSettings = Omit<Scheduler, 'preset' | 'overrides'>;

export const PRESET_LABELS: Record<PresetName, { name: string; gloss: string; also: string }> = {
  batch: { name: 'Batch', gloss: 'a whole proof is synthesised before its first partition may go to the device', also: '' },
  'per-partition': {
    name: 'Per-partition',
    gloss: 'each partition goes to the device alone; one worker holds the lock from prepare to finish',
    also: 'Phase 7',
  },
  interlock: {
    name: 'Dual-worker interlock',
    gloss: 'two workers take turns; the lock covers the kernels alone',
    also: 'Phase 8',
  },
};

/** What a preset fixes; the rest follows from the machine. */
export const PRESET_SETTINGS: Record<PresetName, Pick<SchedulerSettings, 'dispatch' | 'gpu_workers' | 'lock_scope'>> = {
  batch: { dispatch: 'batch', gpu_workers: 1, lock_scope: 'job' },
  'per-partition': { dispatch: 'partition', gpu_workers: 1, lock_scope: 'job' },
  interlock: { dispatch: 'partition', gpu_workers: 2, lock_scope: 'kernels' },
};

/** Limits of every number, inclusive; shown beside the knob and enforced by host and prover alike. */
export const SCHEDULER_LIMITS = {
  gpu_workers: [1, 4],
  partitions_in_flight: [1, 256],
  proofs_in_flight: [1, 64],
  synthesis_workers: [1, 128],
  synthesis_threads: [1, 1024],
  device_threads: [1, 1024],
  memory_budget_bytes: [64 * 2 ** 20, 16 * 2 ** 40],
} as const satisfies Partial<Record<keyof SchedulerSettings, readonly [number, number]>>;

const whole = (key: keyof typeof SCHEDULER_LIMITS) =>
  v.optional(
    v.pipe(
      v.number(),
      v.integer(`${key} must be a whole number`),
      v.minValue(SCHEDULER_LIMITS[key][0], `${key} must be at least ${SCHEDULER_LIMITS[key][0]}`),
      v.maxValue(SCHEDULER_LIMITS[key][1], `${key} must be at most ${SCHEDULER_LIMITS[key][1]}`),
    ),
  );

/** What somebody asks for: a preset and any overrides. */
export const SchedulerSpecSchema = v.strictObject({
  preset: v.optional(v.picklist(PRESETS), 'interlock'),
  dispatch: v.optional(v.picklist(DISPATCHES)),
  gpu_workers: whole('gpu_workers'),
  lock_scope: v.optional(v.picklist(LOCK_SCOPES)),
  partitions_in_flight: whole('partitions_in_flight'),
  proofs_in_flight: whole('proofs_in_flight'),
  synthesis_workers: whole('synthesis_workers'),
  synthesis_threads: whole('synthesis_threads'),
  device_threads: whole('device_threads'),
  memory_budget_bytes: whole('memory_budget_bytes'),
  order: v.optional(v.picklist(ORDERS)),
  reserve_post: v.optional(v.boolean()),
});
export type SchedulerSpec = v.InferInput<typeof SchedulerSpecSchema>;

/** What the defaults depend on. */
export interface MachineFacts {
  /** Usable hardware threads (cgroup limits counted). */
  cpus: number;
  /** Usable memory: min(MemTotal, cgroup memory.max). */
  memoryBytes: number;
}

/** The preset's values with this machine's defaults. */
export function presetDefaults(preset: PresetName, machine: MachineFacts): SchedulerSettings {
  const cpus = Math.max(1, Math.floor(machine.cpus));
  const budget = Math.floor((machine.memoryBytes * 0.75) / 2 ** 20) * 2 ** 20;
  const [least, most] = SCHEDULER_LIMITS.memory_budget_bytes;
  return {
    ...PRESET_SETTINGS[preset],
    partitions_in_flight: 10,
    proofs_in_flight: 2,
    synthesis_workers: Math.min(Math.max(1, Math.ceil(cpus / 2)), 16),
    synthesis_threads: cpus,
    device_threads: cpus,
    memory_budget_bytes: Math.min(Math.max(budget, least), most),
    order: 'fifo',
    reserve_post: false,
  };
}

/** Resolves a spec against a machine: every value explicit, what differs from the preset named. */
export function resolveScheduler(input: SchedulerSpec, machine: MachineFacts): Scheduler {
  const parsed = v.safeParse(SchedulerSpecSchema, input);
  if (!parsed.success) {
    throw new InterlockError('invalid_scheduler', parsed.issues.map((issue) => issue.message).join('; '));
  }
  const { preset, ...wanted } = parsed.output;
  const settings = presetDefaults(preset, machine);
  const overrides: string[] = [];
  const target = settings as unknown as Record<string, unknown>;
  for (const [key, value] of Object.entries(wanted)) {
    if (value === undefined || target[key] === value) continue;
    target[key] = value;
    overrides.push(key);
  }
  if (settings.memory_budget_bytes > machine.memoryBytes) {
    throw new InterlockError(
      'invalid_scheduler',
      `memory_budget_bytes is ${formatBytes(settings.memory_budget_bytes)}, but this machine may use only ${formatBytes(machine.memoryBytes)}`,
      { memory_bytes: machine.memoryBytes },
    );
  }
  return { preset, overrides: overrides.sort(), ...settings };
}

/** "Dual-worker interlock", "Dual-worker interlock, modified", or, of an imported log that does not tell it, "not recorded". */
export function schedulerLabel(scheduler: Pick<Scheduler, 'preset' | 'overrides'> | null): string {
  if (scheduler === null) return 'not recorded';
  const { name } = PRESET_LABELS[scheduler.preset];
  return scheduler.overrides.length > 0 ? `${name}, modified` : name;
}

/** True where two schedulers behave alike, whatever preset they were named after. */
export function sameScheduler(a: Scheduler, b: Scheduler): boolean {
  const keys = Object.keys(presetDefaults('batch', { cpus: 1, memoryBytes: 2 ** 30 })) as (keyof SchedulerSettings)[];
  return keys.every((key) => a[key] === b[key]);
}
