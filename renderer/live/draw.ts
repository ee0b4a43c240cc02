/**
 * Draws the lanes. What a pixel column shows is the exact cover of its stretch of time (`shared/coverage.ts`); what lies after the
 * horizon is dotted as not known yet; where events are missing a hatch covers everything.
 */
import type { LiveSpan, SpanKind } from '../../electron/contract/live.ts';
import { computeCover, computeRuns } from '../shared/coverage.ts';
import { Strip } from '../shared/strip.ts';
import { createDots, createHatch, toDevicePixels } from '../shared/canvas.ts';
import { formatElapsed } from '../parts/durations.ts';
import { AXIS_HEIGHT, computeTicks, type Layout, type Row, type View } from './layout.ts';
import type { LivePicture } from './live-model.ts';

export const COLOUR_NAMES = [
  'panel', 'sunken', 'line', 'line-strong', 'idle', 'ink-2', 'ink-3', 'kernel', 'lock', 'job', 'copy', 'prepare', 'finish', 'unknown',
  'synthesis-lane', 'on-lock', 'on-prepare', 'on-finish', 'on-synthesis-lane',
] as const; // prettier-ignore
export type Colours = Record<(typeof COLOUR_NAMES)[number], string>;

/** One layer of a row: whose spans, in which colour, over which part of the row's height. */
interface Layer {
  lanes: readonly string[];
  kind: SpanKind | null;
  colour: keyof Colours | 'waiting';
  top: number;
  bottom: number;
}

const WORKER_LAYERS: [SpanKind, Layer['colour']][] = [
  ['waiting', 'waiting'],
  ['prepare', 'prepare'],
  ['device', 'lock'],
  ['finish', 'finish'],
];

export function layersOf(row: Row): Layer[] {
  if (row.kind === 'device') {
    return [
      { lanes: row.lanes.worker, kind: null, colour: 'job', top: 0, bottom: 1 },
      { lanes: row.lanes.lock, kind: 'lock', colour: 'lock', top: 0.16, bottom: 0.84 },
      { lanes: row.lanes.copy, kind: 'copy', colour: 'copy', top: 0.3, bottom: 0.7 },
      { lanes: row.lanes.kernel, kind: 'kernel', colour: 'kernel', top: 0.3, bottom: 0.7 },
    ];
  }
  if (row.kind === 'synthesis') return [{ lanes: row.lanes.synthesis, kind: 'synthesis', colour: 'synthesis-lane', top: 0, bottom: 1 }];
  return WORKER_LAYERS.map(([kind, colour]) => ({ lanes: row.lanes.worker, kind, colour, top: 0, bottom: 1 }));
}

/** Spans of several lanes that reach beyond `sinceNs`, as one list by start. */
export function mergeSpans(picture: LivePicture, lanes: readonly string[], sinceNs = -Infinity): readonly LiveSpan[] {
  if (lanes.length === 1) return picture.spansReaching(lanes[0]!, sinceNs);
  return lanes.flatMap((lane) => picture.spansReaching(lane, sinceNs)).sort((a, b) => a.startNs - b.startNs);
}

/** Exact cover of one layer, column by column, up to the horizon. */
export function coverOf(picture: LivePicture, layer: Layer, view: Pick<View, 'fromNs' | 'columnNs'>, out: Float64Array): void {
  const keep = layer.kind === null ? undefined : (span: LiveSpan) => span.kind === layer.kind;
  computeCover(mergeSpans(picture, layer.lanes, view.fromNs), view.fromNs, view.columnNs, picture.horizonNs, out, keep);
}

interface Kept {
  of: string;
  firstColumn: number;
  /** Columns of the grid before this one lay wholly before the horizon when they were computed: they change no more. */
  finalColumn: number;
  cover: Float64Array;
}

/**
 * Covers from one frame to the next. Everything before the horizon is known, and columns lie on a fixed grid of time, so that a frame
 * moves what it has and computes only the columns that the horizon has reached since.
 */
export class CoverCache {
  #kept = new Map<string, Kept>();

  cover(name: string, picture: LivePicture, layer: Layer, view: View): Float64Array {
    const of = `${picture.run} ${picture.epoch} ${view.columnNs} ${view.columns}`;
    let kept = this.#kept.get(name);
    if (!kept || kept.of !== of || view.firstColumn < kept.firstColumn) {
      kept = { of, firstColumn: view.firstColumn, finalColumn: view.firstColumn, cover: new Float64Array(view.columns) };
      this.#kept.set(name, kept);
    }
    const moved = view.firstColumn - kept.firstColumn;
    if (moved > 0) kept.cover.copyWithin(0, Math.min(moved, view.columns));
    kept.firstColumn = view.firstColumn;
    const from = Math.max(0, Math.min(view.columns, kept.finalColumn - view.firstColumn));
    const fromNs = (view.firstColumn + from) * view.columnNs;
    coverOf(picture, layer, { fromNs, columnNs: view.columnNs }, kept.cover.subarray(from));
    kept.finalColumn = Math.max(kept.finalColumn, Math.floor(picture.horizonNs / view.columnNs));
    return kept.cover;
  }
}

const LABELS: Partial<Record<SpanKind, keyof Colours>> = {
  prepare: 'on-prepare',
  device: 'on-lock',
  finish: 'on-finish',
  synthesis: 'on-synthesis-lane',
};

export class LanesDrawing {
  #context: CanvasRenderingContext2D;
  #colours: Colours;
  #font: string;
  #covers = new CoverCache();
  #strip = new Strip();
  #waiting: CanvasPattern | string;
  #missing: CanvasPattern | string;
  #future: CanvasPattern | string;

  constructor(context: CanvasRenderingContext2D, colours: Colours, font: string) {
    this.#context = context;
    this.#colours = colours;
    this.#font = font;
    this.#waiting = createHatch(context, colours['ink-3'], toDevicePixels(5), toDevicePixels(1));
    this.#missing = createHatch(context, colours.unknown, toDevicePixels(6), toDevicePixels(1.5));
    this.#future = createDots(context, colours['line-strong'], toDevicePixels(5), toDevicePixels(1));
  }

  draw(picture: LivePicture, layout: Layout, view: View, tickNs: number): void {
    const { canvas } = this.#context;
    this.#context.globalAlpha = 1;
    this.#context.clearRect(0, 0, canvas.width, canvas.height);
    this.#drawGround(layout, view);
    this.#drawAxis(layout, view, tickNs);
    for (const row of layout.rows) this.#drawRow(picture, row, view);
    this.#drawMissing(picture, layout, view);
    this.#drawFuture(picture, layout, view);
  }

  #columnAt(view: View, ns: number): number {
    return Math.max(0, Math.min(view.columns, (ns - view.fromNs) / view.columnNs));
  }

  /** Rows are grey where the run was, and empty before it began. */
  #drawGround(layout: Layout, view: View): void {
    const start = Math.ceil(this.#columnAt(view, 0));
    this.#context.fillStyle = this.#colours.idle;
    for (const row of layout.rows) {
      const top = toDevicePixels(row.top);
      this.#context.fillRect(start, top, view.columns - start, toDevicePixels(row.top + row.height) - top);
    }
  }

  #drawAxis(layout: Layout, view: View, tickNs: number): void {
    const pen = this.#context;
    pen.font = `${toDevicePixels(11)}px ${this.#font}`;
    pen.textBaseline = 'middle';
    pen.textAlign = 'left';
    for (const at of computeTicks(view, tickNs)) {
      const x = Math.round((at - view.fromNs) / view.columnNs);
      pen.fillStyle = this.#colours.line;
      pen.fillRect(x, 0, 1, toDevicePixels(layout.height));
      pen.fillStyle = this.#colours['ink-3'];
      pen.fillText(formatElapsed(at), x + toDevicePixels(4), toDevicePixels(AXIS_HEIGHT / 2));
    }
  }

  #drawRow(picture: LivePicture, row: Row, view: View): void {
    const pen = this.#context;
    for (const [index, layer] of layersOf(row).entries()) {
      const cover = this.#covers.cover(`${row.key} ${index}`, picture, layer, view);
      const top = toDevicePixels(row.top + row.height * layer.top);
      const height = toDevicePixels(row.top + row.height * layer.bottom) - top;
      const runs = computeRuns(cover);
      pen.globalAlpha = 1;
      if (layer.colour !== 'waiting' && runs.length > view.columns / 8) {
        this.#strip.paint(pen, cover, this.#colours[layer.colour], top, height);
        continue;
      }
      pen.fillStyle = layer.colour === 'waiting' ? this.#waiting : this.#colours[layer.colour];
      for (const run of runs) {
        pen.globalAlpha = run.strength;
        pen.fillRect(run.from, top, run.to - run.from, height);
      }
    }
    pen.globalAlpha = 1;
    this.#drawMarks(picture, row, view);
  }

  /** Where there is room: a hairline where one span follows another at once, and the partition's number. */
  #drawMarks(picture: LivePicture, row: Row, view: View): void {
    const pen = this.#context;
    const least = toDevicePixels(row.kind === 'synthesis' ? 20 : 22);
    const top = toDevicePixels(row.top);
    const height = toDevicePixels(row.top + row.height) - top;
    const keys = row.kind === 'device' ? row.lanes.kernel : [...row.lanes.worker, ...row.lanes.synthesis];
    pen.font = `500 ${toDevicePixels(row.kind === 'synthesis' ? 9 : 11)}px ${this.#font}`;
    pen.textAlign = 'center';
    for (const key of keys) {
      let previousEnd = -1;
      const spans = picture.spansReaching(key, view.fromNs);
      // So many that hardly one is wide enough for a mark.
      if (spans.length > view.columns) continue;
      for (const span of spans) {
        const end = span.endNs ?? picture.horizonNs;
        if (end <= view.fromNs || span.startNs >= view.untilNs) {
          previousEnd = end;
          continue;
        }
        const from = (span.startNs - view.fromNs) / view.columnNs;
        const to = (end - view.fromNs) / view.columnNs;
        if (span.startNs === previousEnd && to - from > toDevicePixels(12)) {
          pen.fillStyle = this.#colours.panel;
          pen.globalAlpha = 0.55;
          const inset = row.kind === 'device' ? Math.round(height * 0.3) : 0;
          pen.fillRect(Math.round(from), top + inset, 1, height - 2 * inset);
          pen.globalAlpha = 1;
        }
        previousEnd = end;
        const ink = LABELS[span.kind];
        const left = Math.max(0, from);
        const right = Math.min(view.columns, to);
        if (row.kind !== 'device' && ink && right - left >= least) {
          pen.fillStyle = this.#colours[ink];
          pen.fillText(`p${span.partition}`, (left + right) / 2, top + height / 2 + toDevicePixels(0.5));
        }
      }
    }
  }

  #drawMissing(picture: LivePicture, layout: Layout, view: View): void {
    const pen = this.#context;
    for (const stretch of picture.unknown) {
      const from = Math.floor(this.#columnAt(view, stretch.startNs));
      const to = Math.ceil(this.#columnAt(view, stretch.endNs));
      if (to <= from) continue;
      for (const row of layout.rows) {
        if (stretch.device !== null && row.device !== stretch.device) continue;
        const top = toDevicePixels(row.top);
        const height = toDevicePixels(row.top + row.height) - top;
        pen.fillStyle = this.#colours.panel;
        pen.fillRect(from, top, to - from, height);
        this.#fillFlowing(this.#missing, view, from, top, to - from, height);
        pen.fillStyle = this.#colours.unknown;
        pen.fillRect(from, top, 1, height);
        pen.fillRect(to - 1, top, 1, height);
      }
    }
  }

  /** From the horizon to now nothing is known yet: no span is drawn on, none is ended. A run that ended has nothing after its end. */
  #drawFuture(picture: LivePicture, layout: Layout, view: View): void {
    const pen = this.#context;
    const from = Math.ceil(this.#columnAt(view, picture.endedNs ?? picture.horizonNs));
    if (from >= view.columns) return;
    const top = toDevicePixels(AXIS_HEIGHT);
    const height = toDevicePixels(layout.height) - top;
    pen.fillStyle = this.#colours.panel;
    pen.fillRect(from, top, view.columns - from, height);
    if (picture.endedNs === null) {
      pen.globalAlpha = 0.8;
      this.#fillFlowing(this.#future, view, from, top, view.columns - from, height);
      pen.globalAlpha = 1;
    }
    pen.fillStyle = this.#colours['line-strong'];
    pen.fillRect(from, top, 1, height);
  }

  /** A pattern that moves along with the time under it. */
  #fillFlowing(pattern: CanvasPattern | string, view: View, x: number, y: number, width: number, height: number): void {
    const pen = this.#context;
    const shift = view.firstColumn % toDevicePixels(60);
    pen.save();
    pen.beginPath();
    pen.rect(x, y, width, height);
    pen.clip();
    pen.translate(-shift, 0);
    pen.fillStyle = pattern;
    pen.fillRect(x + shift, y, width, height);
    pen.restore();
  }
}
