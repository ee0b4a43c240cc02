/**
 * Cells of RFC 4180. A text that a spreadsheet would take for a formula gets a `'` before it; a number never does, so −2.5 stays −2.5.
 * What is not known is an empty cell, never 0.
 */
import type { DecimalString, Nanoseconds } from '../../contract/units.ts';

const NS = 1_000_000_000;
/** Half- and full-width: spreadsheets know both. */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;
// Quotes that nobody needs do no harm, and some readers split at `;` or cut blanks.
const NEEDS_QUOTES = /[",;\r\n\t]|^\s|\s$/;

/** A text. NUL, which many readers take for an end, is shown as its picture. */
export function textCell(text: string | null | undefined): string {
  if (text == null || text === '') return '';
  const shown = text.includes('\0') ? text.replaceAll('\0', '\u2400') : text;
  const guarded = FORMULA.test(shown) ? `'${shown}` : shown;
  return NEEDS_QUOTES.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}

/** A number, digits alone. */
export function numberCell(value: number | null | undefined): string {
  return value == null ? '' : String(value);
}

/** An integer that may pass 2^53, digit by digit as it came; anything else is a text. */
export function decimalCell(value: DecimalString | null | undefined): string {
  if (value == null) return '';
  return /^-?\d+$/.test(value) ? value : textCell(value);
}

/** Instants of a run as UTC dates, `2026-11-30T18:01:08.729000001Z`. Empty where the wall clock is not known. */
export class UtcClock {
  readonly #second: number | null;
  readonly #rest: number;
  #cachedSecond = NaN;
  #cachedText = '';

  /** `startedWallNs`: wall clock of the run's zero. */
  constructor(startedWallNs: DecimalString | null) {
    const wall = startedWallNs === null ? null : BigInt(startedWallNs);
    const rest = wall === null ? 0n : ((wall % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n;
    this.#second = wall === null ? null : Number((wall - rest) / 1_000_000_000n);
    this.#rest = Number(rest);
  }

  /** `ns`: since the run's start. */
  cell(ns: Nanoseconds | null | undefined): string {
    if (ns == null || this.#second === null) return '';
    // Exact: below 2^53 ns the quotient's error is less than the distance to the next whole second.
    let second = Math.floor(ns / NS);
    let rest = ns - second * NS + this.#rest;
    if (rest >= NS) {
      second += 1;
      rest -= NS;
    }
    const text = this.#textOf(second + this.#second);
    return text === '' ? '' : `${text}.${String(rest).padStart(9, '0')}Z`;
  }

  #textOf(second: number): string {
    if (second !== this.#cachedSecond) {
      this.#cachedSecond = second;
      const inRange = second >= -62_135_596_800 && second < 253_402_300_800;
      this.#cachedText = inRange ? new Date(second * 1000).toISOString().slice(0, 19) : '';
    }
    return this.#cachedText;
  }
}

/** A wall clock in decimal ns as a date; empty where it is none. */
export function wallCell(wallNs: DecimalString | null | undefined): string {
  return wallNs == null || wallNs === '0' || !/^-?\d{1,40}$/.test(wallNs) ? '' : new UtcClock(wallNs).cell(0);
}
