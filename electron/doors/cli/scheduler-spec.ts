/** A scheduler in one word: `preset[,setting=value …]`, e.g. `per-partition` or `interlock,gpu_workers=3,memory_budget=8GiB`. */
import * as v from 'valibot';
import { nearest } from '../../contract/nearest.ts';
import { PRESETS, SchedulerSpecSchema, type SchedulerSpec } from '../../contract/scheduler.ts';
import { parseBytes } from '../../contract/units.ts';
import { visibleText } from '../../contract/visible-text.ts';
import { usage } from './arguments.ts';

const SETTINGS = [...Object.keys(SchedulerSpecSchema.entries).filter((key) => key !== 'preset'), 'memory_budget'];

/** `flag` names where it stood. Fails with `usage`, naming what is wrong and the nearest known word. */
export function parseSchedulerSpec(flag: string, text: string): SchedulerSpec {
  const [preset = '', ...settings] = text.split(',').map((part) => part.trim());
  const found = PRESETS.find((known) => known === preset);
  if (found === undefined) {
    throw usage(`--${flag} begins with a preset (${PRESETS.join(', ')}), not ${visibleText(preset)}${guess(preset, PRESETS)}`);
  }
  const spec: Record<string, unknown> = { preset: found };
  for (const setting of settings) {
    const cut = setting.indexOf('=');
    const key = (cut < 0 ? setting : setting.slice(0, cut)).replaceAll('-', '_');
    if (!SETTINGS.includes(key)) {
      throw usage(`--${flag}: there is no setting ${visibleText(key)}${guess(key, SETTINGS)}`);
    }
    if (cut < 0) throw usage(`--${flag}: ${key} needs a value: ${key}=…`);
    const target = key === 'memory_budget' ? 'memory_budget_bytes' : key;
    if (target in spec) throw usage(`--${flag} sets ${key} twice.`);
    spec[target] = valueOf(flag, target, setting.slice(cut + 1));
  }
  const checked = v.safeParse(SchedulerSpecSchema, spec);
  if (checked.success) return checked.output;
  const [issue] = checked.issues;
  const key = String(issue.path?.[0]?.key ?? '');
  throw usage(`--${flag}: ${issue.message.includes(key) ? issue.message : `${key}: ${issue.message}`}`);
}

function valueOf(flag: string, key: string, text: string): unknown {
  if (key === 'memory_budget_bytes') {
    const bytes = parseBytes(text);
    if (bytes === null)
      throw usage(`--${flag}: ${visibleText(text)} is not a size; write it as 8GiB, 512MiB or a number of bytes (case-exact).`);
    return bytes;
  }
  if (text === 'true' || text === 'false') return text === 'true';
  return /^\d{1,15}$/.test(text) ? Number(text) : text;
}

function guess(word: string, known: readonly string[]): string {
  const near = nearest(word, known);
  return near ? `; did you mean ${near}?` : '.';
}
