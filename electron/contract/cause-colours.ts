/**
 * The colour of each cause, once, for every chart, table and export. Four hue families: blue in the lock, orange a worker's own CPU
 * work, magenta supply, grey nothing to do; inside a family the causes step in lightness, in the order of {@link CAUSES}. A group has
 * its family's colour under a pattern, and `unknown` is a hatch on the ground. Data only: no names and no CSS.
 *
 * test/renderer/parts/cause-colours.test.ts measures it: any two causes stay apart for readers with full colour vision, deuteranopia and
 * protanopia, and every label reaches WCAG AA on its colour.
 */
import type { Cause, Group } from './idle.ts';

/** `stripes`: diagonal, thin, in `on`. `bars`: upright, thin, in `on`. `hatch`: diagonal strokes of the colour on the ground. */
export type CausePattern = 'solid' | 'stripes' | 'bars' | 'hatch';

export interface Shade {
  /** The area, #rrggbb. */
  fill: string;
  /** Text and pattern upon it. */
  on: string;
}

export interface CauseColour {
  light: Shade;
  dark: Shade;
  pattern: CausePattern;
}

const DARK_INK = '#14181f';
const WHITE = '#ffffff';
const NIGHT_INK = '#0d1014';

function solid(light: string, onLight: string, dark: string, onDark: string, pattern: CausePattern = 'solid'): CauseColour {
  return { light: { fill: light, on: onLight }, dark: { fill: dark, on: onDark }, pattern };
}

/** The three windows, inner to outer. The lock's shade around a kernel's is exactly `in_lock`. */
export const WINDOW_COLOURS: Record<'kernel' | 'lock' | 'job', CauseColour> = {
  kernel: solid('#0d4f9c', WHITE, '#8cc3fb', NIGHT_INK),
  lock: solid('#5a9ade', DARK_INK, '#3876ba', WHITE),
  job: solid('#cadef5', DARK_INK, '#1d3c5f', WHITE),
};

export const CAUSE_COLOURS: Record<Cause | Group | 'kernel' | 'unknown', CauseColour> = {
  kernel: WINDOW_COLOURS.kernel,
  down: solid('#454a53', WHITE, '#b2b4b8', NIGHT_INK),
  fault: solid('#676a6d', WHITE, '#7d8083', NIGHT_INK),
  in_lock: WINDOW_COLOURS.lock,
  handoff: solid('#72c0fd', DARK_INK, '#425d6b', WHITE),
  preamble: solid('#f0c27c', DARK_INK, '#8d5c20', WHITE),
  warm_up: solid('#facdf8', DARK_INK, '#5c205c', WHITE),
  epilogue: solid('#ad5c08', WHITE, '#eeb25a', NIGHT_INK),
  dispatch: solid('#d2a8d0', DARK_INK, '#6a3069', WHITE),
  held: solid('#85888c', DARK_INK, '#636a72', WHITE),
  no_work: solid('#c9ccd0', DARK_INK, '#3c3e41', WHITE),
  permit: solid('#c295c0', DARK_INK, '#965a94', WHITE),
  first_synthesis: solid('#946392', WHITE, '#c184be', NIGHT_INK),
  starved: solid('#774576', WHITE, '#e2a7df', NIGHT_INK),
  cross_sector: solid('#4f254e', WHITE, '#fecafb', NIGHT_INK),
  lock_or_kernel: solid('#5a9ade', DARK_INK, '#3876ba', WHITE, 'stripes'),
  inside_job: solid('#f0c27c', DARK_INK, '#8d5c20', WHITE, 'stripes'),
  outside_lock: solid('#ad5c08', WHITE, '#eeb25a', NIGHT_INK, 'bars'),
  between_work: solid('#946392', WHITE, '#c184be', NIGHT_INK, 'stripes'),
  unknown: solid('#7b8493', DARK_INK, '#7d8797', NIGHT_INK, 'hatch'),
};
