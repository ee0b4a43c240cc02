/**
 * From a call's name and untrusted input to a {@link Result}. Every door goes through here: the name is looked up in the contract, the
 * input is checked by its schema, the handler is called, and whatever is thrown becomes a failure with a code. The doors add transport
 * and access control, no behaviour.
 */
import * as v from 'valibot';
import { CALLS, isCallName, type CallName, type Host } from '../contract/api.ts';
import { InterlockError, toFailure, type Result } from '../contract/errors.ts';
import { JSON_CAPS, JsonRefused, parseUntrusted } from '../contract/json.ts';

/** Most characters of one request and of one answer. */
export const REQUEST_CAP = 2 ** 20;
export const ANSWER_CAP = 64 * 2 ** 20;

export interface RouteOptions {
  /** Calls this door does not answer, whatever the host can do. */
  refuse?: ReadonlySet<CallName>;
}

/** Answers one call. Never rejects. */
export async function route(host: Host, name: string, input: unknown, options: RouteOptions = {}): Promise<Result<unknown>> {
  try {
    if (!isCallName(name) || options.refuse?.has(name)) {
      throw new InterlockError('bad_request', `There is no call named ${JSON.stringify(String(name).slice(0, 64))} here.`);
    }
    const parsed = v.safeParse(CALLS[name].input, input ?? {});
    if (!parsed.success) {
      const problems = parsed.issues.slice(0, 8).map((issue) => {
        const path = v.getDotPath(issue);
        return path ? `${path}: ${issue.message}` : issue.message;
      });
      throw new InterlockError('usage', problems.join('; '), { call: name });
    }
    const handler = host.handlers[name] as (checked: unknown) => Promise<unknown>;
    return { ok: true, value: await handler(parsed.output) };
  } catch (error) {
    return toFailure(error);
  }
}

/** Reads the text of a request; a {@link JsonRefused} becomes `bad_request` (or `too_large`). */
export function decodeRequest(text: string): unknown {
  if (text.length > REQUEST_CAP) throw new InterlockError('too_large', `A request may have ${REQUEST_CAP} characters, this one has more.`);
  try {
    return parseUntrusted(text, { ...JSON_CAPS, maxLength: REQUEST_CAP });
  } catch (error) {
    if (error instanceof JsonRefused) throw new InterlockError('bad_request', `The request could not be read: ${error.message}.`);
    throw error;
  }
}

/** The text of an answer; one that is too large to send becomes a failure that says so. */
export function encodeResult(result: Result<unknown>): string {
  const text = JSON.stringify(result.ok ? { ok: true, value: result.value ?? {} } : result);
  if (text.length <= ANSWER_CAP) return text;
  return JSON.stringify(toFailure(new InterlockError('too_large', `The answer has ${text.length} characters; ${ANSWER_CAP} are allowed.`)));
}
