/** Numbers as a reader wants them: three or four digits, and the unit. */
import type { Nanoseconds } from '../../contract/units.ts';

/** `1 h 02 min`, `2 min 05 s`, `12.34 s`, `180.0 ms`, `17 µs`, `5 ns`. */
export function duration(ns: Nanoseconds): string {
  const size = Math.abs(ns);
  if (size >= 3_600e9) {
    const minutes = Math.round(ns / 60e9);
    return `${Math.trunc(minutes / 60)} h ${String(Math.abs(minutes % 60)).padStart(2, '0')} min`;
  }
  if (size >= 120e9) {
    const seconds = Math.round(ns / 1e9);
    return `${Math.trunc(seconds / 60)} min ${String(Math.abs(seconds % 60)).padStart(2, '0')} s`;
  }
  if (size >= 1e9) return `${(ns / 1e9).toFixed(2)} s`;
  if (size >= 1e6) return `${(ns / 1e6).toFixed(1)} ms`;
  if (size >= 1e3) return `${Math.round(ns / 1e3)} µs`;
  return `${ns} ns`;
}

/** `46.3 %`; a little that is not nothing is `< 0.1 %`. */
export function percent(part: number, whole: number): string {
  if (whole <= 0) return '–';
  const value = (part / whole) * 100;
  return value > 0 && value < 0.1 ? '< 0.1 %' : `${value.toFixed(1)} %`;
}

/** Seconds with as many digits as say something: `6.87`, `82.3`, `1 234`. */
export function seconds(value: number): string {
  if (value >= 1000) return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, '\u202f');
  return value >= 100 ? value.toFixed(1) : value >= 10 ? value.toFixed(2) : value.toFixed(3);
}

/** For widths and places in a drawing: a share of the whole in percent. */
export function share(part: number, whole: number): string {
  return `${whole <= 0 ? 0 : Math.max(0, Math.min(100, (part / whole) * 100)).toFixed(4)}%`;
}

/** Round steps of an axis from 0 to at least `most`: 1, 2 or 5 times a power of ten. */
export function axisStep(most: number, steps: number): number {
  if (!(most > 0)) return 1;
  const raw = most / steps;
  const power = 10 ** Math.floor(Math.log10(raw));
  return power * ([1, 2, 5, 10].find((factor) => factor * power >= raw) ?? 10);
}

const TIME_STEPS_S = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400];

/** A step of a time axis in whole seconds, minutes or hours: at most `steps` of them. */
export function timeStep(mostSeconds: number, steps: number): number {
  const fit = TIME_STEPS_S.find((step) => mostSeconds / step <= steps);
  return fit ?? Math.ceil(mostSeconds / steps / 86_400) * 86_400;
}

/** `0`, `50 s`, `5 min`, `2 h`: whole numbers of the largest unit that fits the axis. */
export function tickTime(atSeconds: number, stepSeconds: number): string {
  if (atSeconds === 0) return '0';
  if (stepSeconds % 3600 === 0) return `${atSeconds / 3600} h`;
  return stepSeconds % 60 === 0 ? `${atSeconds / 60} min` : `${atSeconds} s`;
}

/** An instant since the run's start. */
export function instant(ns: Nanoseconds): string {
  return ns === 0 ? '0 s' : duration(ns);
}
