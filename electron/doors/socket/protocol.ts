/**
 * What goes over the host's unix socket: NDJSON both ways.
 *
 *   client ▸ {"id":1,"call":"status","input":{}}      host ▸ {"id":1,"result":{"ok":true,"value":{…}}}
 *   client ▸ {"id":2,"live":true}                     host ▸ {"id":2,"message":{…}} …
 *   client ▸ {"id":2,"live":false}
 */
import * as v from 'valibot';
import type { Result } from '../../contract/errors.ts';
import type { LiveMessage } from '../../contract/live.ts';

const Id = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(Number.MAX_SAFE_INTEGER));

export const RequestLine = v.union([
  v.strictObject({ id: Id, call: v.pipe(v.string(), v.maxLength(64)), input: v.unknown() }),
  v.strictObject({ id: Id, live: v.boolean() }),
]);
export type RequestLine = v.InferOutput<typeof RequestLine>;

export type AnswerLine = { id: number; result: Result<unknown> } | { id: number; message: LiveMessage };
