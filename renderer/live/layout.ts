/**
 * Where the lanes lie, in CSS pixels, and what time a pixel is. Pure.
 *
 *           ┌ labels ┬──────────────────────── plot ────────────────────────┐
 *           │        │ 2:00        2:10        2:20       axis               │ 18
 *   device  │ cpu0   │ ▒▒▓▓██▓▓▒▒  kernels in lock in job span              │ 34
 *   worker  │ w0     │ ▒prep▒▐device▌▒finish▒                               │ 18 each
 *   pool    │ synth 0│ ▒▒▒▒▒▒▒▒▒▒                                           │ 12 each
 *           └────────┴──────────────────────────────────────────────────────┘
 */
import type { Lane, LiveSpan } from '../../electron/contract/live.ts';
import type { LivePicture } from './live-model.ts';

export const AXIS_HEIGHT = 18;
export const LABEL_WIDTH = 88;
const DEVICE_HEIGHT = 34;
const WORKER_HEIGHT = 18;
const SYNTHESIS_HEIGHT = 12;
const GAP = 2;
const GROUP_GAP = 8;

export interface Row {
  key: string;
  kind: 'device' | 'worker' | 'synthesis';
  label: string;
  device: string | null;
  top: number;
  height: number;
  /** Lanes whose spans are drawn in this row. */
  lanes: { kernel: string[]; lock: string[]; worker: string[]; copy: string[]; synthesis: string[] };
}

export interface Layout {
  rows: Row[];
  height: number;
}

/** Up to this many devices show their workers from the start; of more, each is one row until it is opened. */
const OPEN_DEVICES = 2;

/** Devices that show only their own row: all of many, none of a few, and the other way round for those that the reader flipped. */
export function computeFolded(lanes: readonly Lane[], flipped: ReadonlySet<string>): Set<string> {
  const devices = new Set(lanes.map((lane) => lane.device).filter((device) => device !== null));
  return new Set([...devices].filter((device) => devices.size > OPEN_DEVICES !== flipped.has(device)));
}

/** Rows of a set of lanes; devices in `folded` show only their own row. */
export function computeLayout(lanes: readonly Lane[], folded: ReadonlySet<string> = new Set()): Layout {
  const rows: Row[] = [];
  let top = AXIS_HEIGHT;
  const add = (row: Omit<Row, 'top'>) => {
    rows.push({ ...row, top });
    top += row.height + GAP;
  };
  const none = () => ({ kernel: [], lock: [], worker: [], copy: [], synthesis: [] }) as Row['lanes'];
  const devices = [...new Set(lanes.map((lane) => lane.device).filter((device) => device !== null))].sort(byNumber);
  for (const device of devices) {
    const mine = lanes.filter((lane) => lane.device === device);
    const keys = (kind: Lane['kind']) => mine.filter((lane) => lane.kind === kind).map((lane) => lane.key);
    if (rows.length > 0) top += GROUP_GAP - GAP;
    add({
      key: `device:${device}`,
      kind: 'device',
      label: device,
      device,
      height: DEVICE_HEIGHT,
      lanes: { ...none(), kernel: keys('kernel'), lock: keys('lock'), worker: keys('worker'), copy: keys('copy') },
    });
    if (folded.has(device)) continue;
    for (const lane of mine.filter((one) => one.kind === 'worker').sort((a, b) => a.index - b.index)) {
      add({
        key: lane.key,
        kind: 'worker',
        label: `worker ${lane.index}`,
        device,
        height: WORKER_HEIGHT,
        lanes: { ...none(), worker: [lane.key] },
      });
    }
  }
  const pool = lanes.filter((lane) => lane.kind === 'synthesis').sort((a, b) => a.index - b.index);
  if (pool.length > 0 && rows.length > 0) top += GROUP_GAP - GAP;
  for (const lane of pool) {
    add({
      key: lane.key,
      kind: 'synthesis',
      label: `synthesis ${lane.index}`,
      device: null,
      height: SYNTHESIS_HEIGHT,
      lanes: { ...none(), synthesis: [lane.key] },
    });
  }
  return { rows, height: top + 2 };
}

/** `gpu2` before `gpu10`. */
function byNumber(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}

/**
 * The stretch of time on show. Columns are whole device pixels laid on a fixed grid of the run's time, so that a column keeps its cover
 * while it flows: edges do not shimmer.
 */
export interface View {
  columns: number;
  columnNs: number;
  /** Number of the first column on the grid. */
  firstColumn: number;
  fromNs: number;
  untilNs: number;
}

export function computeView(nowNs: number, windowNs: number, columns: number): View {
  const columnNs = windowNs / columns;
  const firstColumn = Math.floor(nowNs / columnNs) - columns + 1;
  return { columns, columnNs, firstColumn, fromNs: firstColumn * columnNs, untilNs: (firstColumn + columns) * columnNs };
}

/** Instants of the axis: whole steps of the run's time inside the view. */
export function computeTicks(view: View, stepNs: number): number[] {
  const ticks: number[] = [];
  for (let at = Math.max(0, Math.ceil(view.fromNs / stepNs)) * stepNs; at < view.untilNs; at += stepNs) ticks.push(at);
  return ticks;
}

/** The innermost span under a point of the plot, `x` in columns and `y` in CSS pixels; null where nothing is known to be. */
export function findSpan(layout: Layout, picture: LivePicture, view: View, column: number, y: number): LiveSpan | null {
  const row = layout.rows.find((one) => y >= one.top && y < one.top + one.height);
  if (!row) return null;
  const fromNs = view.fromNs + Math.floor(column) * view.columnNs;
  const untilNs = fromNs + view.columnNs;
  const inside =
    row.kind === 'device' ? [row.lanes.kernel, row.lanes.copy, row.lanes.lock, row.lanes.worker] : [row.lanes.worker, row.lanes.synthesis];
  for (const keys of inside) {
    let best: LiveSpan | null = null;
    for (const key of keys) {
      for (const span of picture.spansReaching(key, fromNs)) {
        if (span.startNs >= untilNs) break;
        if ((span.endNs ?? picture.horizonNs) > fromNs) best = span;
      }
    }
    if (best) return best;
  }
  return null;
}
