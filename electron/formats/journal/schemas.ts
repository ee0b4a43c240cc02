/** Schemas of the `json` fields of the journal's lines: strict, so an unknown part is an error of the line. */
import * as v from 'valibot';
import { DISPATCHES, LOCK_SCOPES, ORDERS, PRESETS } from '../../contract/scheduler.ts';

const id = v.pipe(v.string(), v.regex(/^[A-Za-z0-9._-]{1,64}$/));
const uint = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const text = v.string();
const idOrNull = v.nullable(id);
const uintOrNull = v.nullable(uint);

const work = { proof: idOrNull, attempt: uintOrNull, partition: uintOrNull, since: uintOrNull, progress: uint };

const SCHEMAS: Record<string, v.GenericSchema> = {
  'hello.devices': v.array(v.strictObject({ device: id, kind: id, name: text, workers_max: uint, clock: v.picklist(['host', 'own']) })),
  'run_started.scheduler': v.strictObject({
    preset: v.picklist(PRESETS),
    overrides: v.array(text),
    dispatch: v.picklist(DISPATCHES),
    gpu_workers: uint,
    lock_scope: v.picklist(LOCK_SCOPES),
    partitions_in_flight: uint,
    proofs_in_flight: uint,
    synthesis_workers: uint,
    synthesis_threads: uint,
    device_threads: uint,
    memory_budget_bytes: uint,
    order: v.picklist(ORDERS),
    reserve_post: v.boolean(),
  }),
  'state.permits': v.strictObject({ used: uint, total: uint, bytes_used: uint, bytes_total: uint }),
  'state.workers': v.array(
    v.strictObject({
      worker: uint,
      device: id,
      is: v.picklist(['free', 'waiting', 'prepare', 'device', 'finish', 'dead']),
      ...work,
    }),
  ),
  'state.synthesisers': v.array(v.strictObject({ synthesiser: uint, ...work })),
  'state.lock': v.array(v.strictObject({ device: id, holder: uintOrNull })),
  'state.proofs': v.array(v.strictObject({ proof: id, attempt: uint, partitions: uint, done: uint })),
  'measured.durations': v.record(id, uint),
  'state.params': v.array(v.strictObject({ circuit: id, is: v.picklist(['absent', 'loading', 'resident']) })),
};

/** What is wrong with the field's value, or null. A field without a schema here is refused: nothing passes unchecked. */
export function checkNested(event: string, field: string, value: unknown): string | null {
  const schema = SCHEMAS[`${event}.${field}`];
  if (!schema) return `${field} has no schema`;
  const forbidden = findForbiddenKey(value);
  if (forbidden !== null) return `the key ${forbidden} is not allowed`;
  const parsed = v.safeParse(schema, value);
  if (parsed.success) return null;
  const issue = parsed.issues[0];
  return `${field}${issue.path ? `.${v.getDotPath(issue) ?? '?'}` : ''}: ${issue.message}`;
}

/** Looks at own keys all the way down: a schema library asks `key in entries`, and `constructor` is in every object. Depth is capped before. */
function findForbiddenKey(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return null;
  for (const key of Object.keys(value)) {
    if (key === '__proto__' || key === 'constructor' || key === 'prototype') return key;
    const found = findForbiddenKey((value as Record<string, unknown>)[key]);
    if (found !== null) return found;
  }
  return null;
}
