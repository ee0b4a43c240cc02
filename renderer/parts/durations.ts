/**
 * Numbers as the screens print them: value and unit apart by a no-break space, the same number of digits while a value moves about in
 * its range. What is not known is an en dash, never a zero.
 */
import { formatBytes } from '../../electron/contract/units.ts';

export const NONE = '–';
const SPACE = '\u00a0';

/** `640 ns`, `12.4 µs`, `620 ms`, `12.4 s`, `3 min 20 s`, `3 h 12 min`. */
export function formatDuration(ns: number | null | undefined): string {
  if (ns === null || ns === undefined || !Number.isFinite(ns)) return NONE;
  if (ns < 0) return `−${formatDuration(-ns)}`;
  if (ns < 1e3) return `${Math.round(ns)}${SPACE}ns`;
  if (ns < 999.95e3) return `${(ns / 1e3).toFixed(1)}${SPACE}µs`;
  if (ns < 999.5e6) return `${(ns / 1e6).toFixed(ns < 9.95e6 ? 1 : 0)}${SPACE}ms`;
  if (ns < 59.95e9) return `${(ns / 1e9).toFixed(ns < 9.995e9 ? 2 : 1)}${SPACE}s`;
  const seconds = Math.round(ns / 1e9);
  if (seconds < 3600) return `${Math.floor(seconds / 60)}${SPACE}min${SPACE}${seconds % 60}${SPACE}s`;
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)}${SPACE}h${SPACE}${minutes % 60}${SPACE}min`;
}

/** Milliseconds without a unit, for a column whose head names it: `12.3`, `618`, `3,902`. */
export function formatMs(ns: number | null | undefined): string {
  if (ns === null || ns === undefined) return NONE;
  const ms = ns / 1e6;
  return ms < 99.95 ? ms.toFixed(1) : formatCount(Math.round(ms));
}

/** Seconds as a figure: `45.4`, `8.25`, `0.62`. */
export function formatSeconds(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return NONE;
  if (seconds < 9.995) return seconds.toFixed(2);
  return seconds < 999.95 ? seconds.toFixed(1) : formatCount(Math.round(seconds));
}

/** A share of time, `46.3`; below 0.05 but not nothing: `<0.1`. */
export function formatPercent(ratio: number | null | undefined): string {
  if (ratio === null || ratio === undefined || !Number.isFinite(ratio)) return NONE;
  if (ratio > 0 && ratio < 0.0005) return '<0.1';
  // Not quite all is never printed as all.
  if (ratio < 1 && ratio >= 0.9995) return '99.9';
  return (ratio * 100).toFixed(1);
}

/** `0:42`, `12:05`, `3:12:05`, `2 d 03:12:05`: how long a run has lasted. */
export function formatElapsed(ns: number | null | undefined): string {
  if (ns === null || ns === undefined) return NONE;
  const total = Math.max(0, Math.floor(ns / 1e9));
  const two = (value: number) => String(value).padStart(2, '0');
  const seconds = two(total % 60);
  const minutes = Math.floor(total / 60) % 60;
  const hours = Math.floor(total / 3600) % 24;
  const days = Math.floor(total / 86_400);
  if (days > 0) return `${days}${SPACE}d${SPACE}${two(hours)}:${two(minutes)}:${seconds}`;
  return hours > 0 ? `${hours}:${two(minutes)}:${seconds}` : `${minutes}:${seconds}`;
}

/** `1,903`. */
export function formatCount(count: number): string {
  return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** `1 proof`, `3 proofs`. */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)}${SPACE}${count === 1 ? one : many}`;
}

export function formatMemory(bytes: number | null | undefined): string {
  return bytes === null || bytes === undefined ? NONE : formatBytes(bytes).replace(' ', SPACE);
}

/** `2026-11-30 08:00:00`, in this machine's zone: sorts as it reads. */
export function formatWallTime(wallMs: number | null | undefined): string {
  if (wallMs === null || wallMs === undefined) return NONE;
  const date = new Date(wallMs);
  const two = (value: number) => String(value).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day}${SPACE}${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** Wall-clock nanoseconds as decimal digits → ms. */
export function wallMsOf(wallNs: string): number {
  return Number(BigInt(wallNs) / 1_000_000n);
}
