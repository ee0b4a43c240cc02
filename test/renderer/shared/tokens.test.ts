import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

const css = readFileSync(new URL('../../../renderer/shared/tokens.css', import.meta.url), 'utf8');
const tokens = new Map(
  [...css.matchAll(/--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g)].map((match) => [
    match[1]!,
    { light: match[2]!, dark: match[3]! },
  ]),
);

function luminance(hex: string): number {
  const [red, green, blue] = [1, 3, 5]
    .map((at) => parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}
function contrast(a: string, b: string): number {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high! + 0.05) / (low! + 0.05);
}

/** Text on its grounds: 4.5. */
const TEXT: [string, string[]][] = [
  ['ink', ['bg', 'panel', 'raised', 'sunken', 'idle', 'warn-ground', 'bad-ground', 'ok-ground', 'info-ground']],
  ['ink-2', ['bg', 'panel', 'raised', 'sunken', 'idle', 'info-ground']],
  ['ink-3', ['bg', 'panel', 'raised', 'sunken']],
  ['ink-inverse', ['ink']],
  ['ok', ['panel']],
  ['warn', ['panel', 'bg', 'raised', 'warn-ground', 'info-ground']],
  ['bad', ['panel', 'bg', 'raised', 'bad-ground', 'info-ground']],
  ['on-bad', ['bad']],
  ['on-lock', ['lock']],
  ['on-prepare', ['prepare']],
  ['on-finish', ['finish']],
  ['on-synthesis-lane', ['synthesis-lane']],
  ['on-badge-cuda', ['badge-cuda']],
  ['on-badge-cpu', ['badge-cpu']],
  ['on-badge-emulated', ['badge-emulated']],
];
/** Marks and edges that carry meaning: 3. */
const MARKS: [string, string[]][] = [
  ['focus', ['bg', 'panel', 'raised']],
  ['kernel', ['panel', 'idle', 'job']],
  ['finish', ['panel', 'idle']],
  ['synthesis', ['panel', 'idle']],
  ['ok', ['panel']],
  ['bad', ['panel']],
  ['line-strong', ['panel', 'raised']],
  ['unknown', ['panel']],
];

describe('both palettes reach WCAG AA', () => {
  for (const theme of ['light', 'dark'] as const) {
    test.each([
      ...TEXT.flatMap(([front, grounds]) => grounds.map((ground) => [front, ground, 4.5] as const)),
      ...MARKS.flatMap(([front, grounds]) => grounds.map((ground) => [front, ground, 3] as const)),
    ])(`${theme}: %s on %s is at least %d`, (front, ground, least) => {
      expect(tokens.has(front) && tokens.has(ground)).toBe(true);
      expect(contrast(tokens.get(front)![theme], tokens.get(ground)![theme])).toBeGreaterThanOrEqual(least);
    });
  }

  test('the three windows step in one direction of lightness, far enough apart to be told without their hue', () => {
    for (const theme of ['light', 'dark'] as const) {
      const [kernel, lock, job] = ['kernel', 'lock', 'job'].map((name) => tokens.get(name)![theme]);
      expect(contrast(kernel!, lock!)).toBeGreaterThanOrEqual(2);
      expect(contrast(lock!, job!)).toBeGreaterThanOrEqual(2);
    }
  });
});
