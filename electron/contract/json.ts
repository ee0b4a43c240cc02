/**
 * Reads JSON that came from outside: size and depth are judged on the text, before anything is built from it, and keys that reach a
 * prototype are refused. What it means is the caller's schema's business.
 */
export interface JsonCaps {
  maxLength: number;
  maxDepth: number;
}

export const JSON_CAPS: JsonCaps = { maxLength: 2 ** 20, maxDepth: 32 };

/** Why a text was refused, in words for people. */
export class JsonRefused extends Error {}

const FORBIDDEN = new Set(['__proto__', 'constructor', 'prototype']);

/** The value, or a {@link JsonRefused}. */
export function parseUntrusted(text: string, caps: JsonCaps = JSON_CAPS): unknown {
  if (text.length > caps.maxLength) throw new JsonRefused(`longer than ${caps.maxLength} characters`);
  if (depthOf(text) > caps.maxDepth) throw new JsonRefused(`nested more than ${caps.maxDepth} deep`);
  try {
    return JSON.parse(text, (key, value: unknown) => {
      if (FORBIDDEN.has(key)) throw new JsonRefused(`the key ${key} is not allowed`);
      return value;
    });
  } catch (error) {
    if (error instanceof JsonRefused) throw error;
    throw new JsonRefused('not JSON');
  }
}

/** Deepest nesting, strings left out; judged on the text, before anything is built from it. */
export function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (inString) {
      if (code === 0x5c) at++;
      else if (code === 0x22) inString = false;
    } else if (code === 0x22) inString = true;
    else if (code === 0x5b || code === 0x7b) deepest = Math.max(deepest, ++depth);
    else if (code === 0x5d || code === 0x7d) depth--;
  }
  return deepest;
}
