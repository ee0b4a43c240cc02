import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { CAUSE_COLOURS, WINDOW_COLOURS } from '../../../electron/contract/cause-colours.ts';
import { CAUSE_WORDS, CAUSES, GROUPS, type Cause } from '../../../electron/contract/idle.ts';
import { contrast, seenDistance, VISIONS } from '../../support/colours.ts';

const THEMES = ['light', 'dark'] as const;
const PANEL = { light: '#ffffff', dark: '#14181e' };
const SOLID = ['kernel', ...CAUSES] as const;
const read = (name: string) => readFileSync(new URL(`../../../renderer/shared/${name}`, import.meta.url), 'utf8');

describe.each(THEMES)('the palette of causes, %s', (theme) => {
  const fill = (name: keyof typeof CAUSE_COLOURS) => CAUSE_COLOURS[name][theme].fill;

  test.each(VISIONS)('no two causes look alike with %s; neighbours of the fixed order least of all', (vision) => {
    const near: string[] = [];
    SOLID.forEach((a, index) => {
      SOLID.slice(index + 1).forEach((b, after) => {
        const distance = seenDistance(fill(a), fill(b), vision);
        if (distance < (after === 0 ? 0.085 : 0.045)) near.push(`${a} and ${b}: ${distance.toFixed(3)}`);
      });
    });
    expect(near).toEqual([]);
  });

  test.each(Object.keys(CAUSE_COLOURS) as (keyof typeof CAUSE_COLOURS)[])('a label on %s reaches AA', (name) => {
    // The hatch is drawn in strokes on the ground; its label stands on the ground.
    const { fill: area, on } = CAUSE_COLOURS[name][theme];
    if (CAUSE_COLOURS[name].pattern !== 'hatch') expect(contrast(on, area)).toBeGreaterThanOrEqual(4.5);
    else expect(contrast(area, PANEL[theme])).toBeGreaterThanOrEqual(3);
  });

  test('inside a family every step of the fixed order changes lightness in one direction', () => {
    for (const family of ['worker', 'supply', 'nothing'] as const) {
      const steps = CAUSES.filter((cause) => CAUSE_WORDS[cause].family === family).map((cause) => contrast(fill(cause), '#000000'));
      const sorted = [...steps].sort((a, b) => a - b);
      expect([sorted, sorted.toReversed()]).toContainEqual(steps);
    }
  });

  test('the tokens of the page are these colours', () => {
    const css = `${read('tokens.css')}${read('cause-tokens.css')}`;
    const value = (token: string) =>
      new RegExp(`--${token}: light-dark\\((#[0-9a-f]{6}), (#[0-9a-f]{6})\\)`).exec(css)?.[theme === 'light' ? 1 : 2];
    for (const [name, colour] of Object.entries(CAUSE_COLOURS)) {
      expect([name, value(`cause-${name}`), value(`on-cause-${name}`)]).toEqual([name, colour[theme].fill, colour[theme].on]);
    }
    for (const [name, colour] of Object.entries(WINDOW_COLOURS)) expect([name, value(name)]).toEqual([name, colour[theme].fill]);
    // A worker's own stages look in the lanes as their cause does in the bars.
    expect([value('prepare'), value('finish')]).toEqual([fill('preamble' as Cause), fill('epilogue')]);
  });
});

test('a group carries a pattern, so that it does not pass for a cause', () => {
  for (const group of GROUPS) expect(CAUSE_COLOURS[group].pattern).not.toBe('solid');
  for (const cause of SOLID) expect(CAUSE_COLOURS[cause].pattern).toBe('solid');
  expect(CAUSE_COLOURS.unknown.pattern).toBe('hatch');
});
