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

/**
 * The scheduler of an imported run, from the settings that its log has. `proofsInFlight`: most proofs that were in work at once.
 *
 * Errors: `usage`, naming the flags that would say what the log does not.
 */
export function foundScheduler(
  found: Record<string, string>,
  proofsInFlight: number,
  mostSyntheses: number,
  change: SchedulerChange,
): Scheduler {
  const whole = (...names: string[]) => {
    for (const name of names) {
      const text = found[name];
      if (text !== undefined && /^\d{1,6}$/.test(text)) return Number(text);
    }
    return undefined;
  };
  const isPhase8 = Object.values(found).some((text) => /phase 8|interlock/i.test(text));
  const known: Partial<SchedulerSettings> = {};
  const put = <K extends keyof SchedulerSettings>(key: K, value: SchedulerSettings[K] | undefined) => {
    if (value !== undefined) known[key] = value;
  };
  put('gpu_workers', whole('gpu_workers_per_device', 'gpu_workers'));
  put('synthesis_workers', whole('synth_worker_count', 'synthesis_workers', 'synthesis_concurrency'));
  put('partitions_in_flight', whole('max_partitions_in_budget', 'partitions_in_flight'));
  put('dispatch', found.pipeline_enabled === 'true' || found.pipeline === 'true' ? 'partition' : undefined);
  put('lock_scope', isPhase8 ? 'kernels' : undefined);
  for (const [key, value] of Object.entries(change)) if (value !== undefined) Object.assign(known, { [key]: value });
  const missing = (Object.keys(NEEDED) as (keyof typeof NEEDED)[]).filter((key) => known[key] === undefined);
  if (missing.length > 0) {
    const flags = missing.map((key) => NEEDED[key]).join(', ');
    throw new InterlockError('usage', `The log does not say ${missing.join(', ')} of its own scheduler; give ${flags}.`);
  }
  const preset: PresetName = known.dispatch === 'batch' ? 'batch' : known.lock_scope === 'job' ? 'per-partition' : 'interlock';
  const rest = presetDefaults(preset, { cpus: Math.max(1, mostSyntheses), memoryBytes: 2 ** 40 });
  return { preset, overrides: [], ...rest, proofs_in_flight: proofsInFlight, ...known };
}
