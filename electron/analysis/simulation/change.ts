/** Which scheduler is asked about: the run's own with what is to change, and where an imported log does not tell its own, what it says. */
import { InterlockError } from '../../contract/errors.ts';
import {
  PRESET_SETTINGS, presetDefaults, type MachineFacts, type PresetName, type Scheduler, type SchedulerSettings,
} from '../../contract/scheduler.ts'; // prettier-ignore

export type SchedulerChange = { [K in keyof SchedulerSettings]?: SchedulerSettings[K] | undefined };

/** A preset sets what it fixes; each given setting after that wins. What differs from the preset is named as an override. */
export function changeScheduler(base: Scheduler, preset: PresetName | undefined, change: SchedulerChange): Scheduler {
  const named = preset ?? base.preset;
  const fixed = preset === undefined ? {} : PRESET_SETTINGS[preset];
  const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined)) as Partial<SchedulerSettings>;
  const scheduler: Scheduler = { ...base, ...fixed, ...given, preset: named, overrides: [] };
  const byPreset = PRESET_SETTINGS[named];
  const differs = (key: string) =>
    Object.hasOwn(byPreset, key) && byPreset[key as keyof typeof byPreset] !== scheduler[key as keyof Scheduler];
  const candidates = new Set([...base.overrides, ...Object.keys(given), ...Object.keys(byPreset)]);
  scheduler.overrides = [...candidates].filter((key) => (Object.hasOwn(byPreset, key) ? differs(key) : true)).sort();
  return scheduler;
}

/** Of a table of stage times: the preset on this machine. */
export function tableScheduler(preset: PresetName | undefined, change: SchedulerChange, machine: MachineFacts): Scheduler {
  const named = preset ?? 'interlock';
  const base: Scheduler = { preset: named, overrides: [], ...presetDefaults(named, machine) };
  return changeScheduler(base, named, change);
}

/** What has to be known for a simulation and no other setting implies, with the flag that says it. */
const NEEDED = {
  dispatch: '--dispatch',
  gpu_workers: '--gpu-workers',
  lock_scope: '--lock-scope',
  partitions_in_flight: '--partitions-in-flight',
  synthesis_workers: '--synthesis-workers',
} as const;

/** What was seen of an imported run, where its settings are silent. */
export interface SeenInLog {
  /** Most proofs in work at once. */
  proofs: number;
  /** Most syntheses at once. */
  syntheses: number;
  /** The log tells the CPU's time before the lock apart from the lock: so the lock is not around all of the job. */
  locksLessThanJob: boolean;
}

/**
 * The scheduler of an imported run, from the settings that its log has, from what was seen, and from what is given.
 *
 * Errors: `usage`, naming the flags that would say what the log does not.
 */
export function foundScheduler(found: Record<string, string>, seen: SeenInLog, change: SchedulerChange): Scheduler {
  const whole = (name: string) => (/^[1-9]\d{0,5}$/.test(found[name] ?? '') ? Number(found[name]) : undefined);
  const wanted: SchedulerChange = {
    gpu_workers: whole('gpu_workers_per_device'),
    synthesis_workers: whole('synth_worker_count') ?? whole('synthesis_concurrency'),
    partitions_in_flight: whole('max_partitions_in_budget'),
    dispatch: found.pipeline_enabled === 'true' ? 'partition' : undefined,
    lock_scope: seen.locksLessThanJob ? 'kernels' : undefined,
  };
  const known: SchedulerChange = { ...wanted };
  for (const key of Object.keys(NEEDED) as (keyof typeof NEEDED)[])
    if (known[key] === undefined) Object.assign(known, { [key]: change[key] });
  const missing = (Object.keys(NEEDED) as (keyof typeof NEEDED)[]).filter((key) => known[key] === undefined);
  if (missing.length > 0) {
    const flags = missing.map((key) => NEEDED[key]).join(', ');
    throw new InterlockError('usage', `The log does not say ${missing.join(', ')} of its own scheduler; give ${flags}.`);
  }
  const preset: PresetName = known.dispatch === 'batch' ? 'batch' : known.lock_scope === 'job' ? 'per-partition' : 'interlock';
  const rest = presetDefaults(preset, { cpus: Math.max(1, seen.syntheses), memoryBytes: 2 ** 40 });
  const scheduler: Scheduler = { preset, overrides: [], ...rest, proofs_in_flight: seen.proofs, ...(known as Partial<SchedulerSettings>) };
  return changeScheduler(scheduler, undefined, {});
}
