/** The report's drawings: SVG without script. Places are in percent of the width, so text keeps its size whatever the page's. */
import { CAUSE_COLOURS } from '../../contract/cause-colours.ts';
import { CAUSE_WORDS, CAUSES, GROUPS, type Cause, type Group, type IdleParts } from '../../contract/idle.ts';
import type { DeviceWindows } from '../../contract/run-report.ts';
import type { Nanoseconds } from '../../contract/units.ts';
import { axisStep, duration, percent, seconds, share, tickTime, timeStep } from './amounts.ts';
import { Html, html } from './markup.ts';

export type Term = Cause | Group | 'kernel' | 'unknown';
export interface Amount {
  term: Term;
  ns: Nanoseconds;
}

/** The account's terms in the order of every chart: kernels, causes, groups, unknown. What is 0 is left out. */
export function amountsOf(parts: IdleParts): Amount[] {
  const all: Amount[] = [
    { term: 'kernel', ns: parts.kernel_ns },
    ...CAUSES.map((term): Amount => ({ term, ns: parts.idle_ns[term] })),
    ...GROUPS.map((term): Amount => ({ term, ns: parts.groups[term] ?? 0 })),
    { term: 'unknown', ns: parts.unknown_ns },
  ];
  return all.filter(({ ns }) => ns > 0);
}

/** Patterns of the terms that are not plain; referred to by every other drawing. */
export const PATTERNS: Html = html`<svg width="0" height="0" style="position:absolute" aria-hidden="true"><defs>${Object.entries(CAUSE_COLOURS).map(
  ([term, { pattern }]) =>
    pattern === 'solid'
      ? null
      : html`<pattern id="p-${term}" width="6" height="6" patternUnits="userSpaceOnUse"${pattern === 'bars' ? null : html` patternTransform="rotate(45)"`}><rect width="6" height="6" style="fill:var(--${pattern === 'hatch' ? 'idle' : `c-${term}`})"/><rect width="${pattern === 'hatch' ? 2 : 1.2}" height="6" style="fill:var(--${pattern === 'hatch' ? `c-${term}` : `on-${term}`})"/></pattern>`,
)}</defs></svg>`; // prettier-ignore

export function swatch(term: Term): Html {
  return html`<svg class="swatch" width="12" height="12" aria-hidden="true"><rect class="c-${term}" width="12" height="12" rx="3" /></svg>`;
}

/** One bar, its parts end to end. */
export function stackedBar(amounts: readonly Amount[], wholeNs: Nanoseconds, label: string, height = 36): Html {
  let at = 0;
  const parts = amounts.map(({ term, ns }) => {
    const x = at;
    at += ns;
    const wide = wholeNs > 0 && ns / wholeNs > 0.075;
    const words = `${CAUSE_WORDS[term].name}: ${duration(ns)}, ${percent(ns, wholeNs)}. ${CAUSE_WORDS[term].says}`;
    return html`<g><title>${words}</title><rect class="c-${term} gap" x="${share(x, wholeNs)}" y="0" width="${share(ns, wholeNs)}" height="${height}"/>${
      wide && CAUSE_COLOURS[term].pattern === 'solid' && html`<svg x="${share(x, wholeNs)}" width="${share(ns, wholeNs)}" height="${height}" style="overflow:hidden"><text class="t-${term}" x="8" y="${height / 2 + 4}">${CAUSE_WORDS[term].name}</text></svg>`
    }</g>`; // prettier-ignore
  });
  return html`<svg class="bar" height="${height}" role="img" aria-label="${label}">
    <rect class="ground" width="100%" height="${height}" />
    ${parts}
  </svg>`;
}

export function legend(amounts: readonly Amount[], words: (amount: Amount) => string): Html {
  return html`<ul class="legend">${amounts.map((amount) => html`<li>${swatch(amount.term)}<span>${CAUSE_WORDS[amount.term].name}</span><b>${words(amount)}</b></li>`)}</ul>`; // prettier-ignore
}

/** Kernels inside the held lock inside the job span. A window that is not recorded is not drawn. */
export function windowBars(windows: DeviceWindows): Html {
  const { wall_ns: wall } = windows;
  const bar = (key: string, ns: number | null, y: number, height: number) =>
    ns !== null && html`<rect class="w-${key}" x="0" y="${y}" width="${share(ns, wall)}" height="${height}" />`;
  return html`<svg class="bar" height="44" role="img" aria-label="Windows of ${windows.device}"><rect class="ground" width="100%" height="44"/>${bar('job', windows.job_span_ns, 0, 44)}${bar('lock', windows.lock_held_ns, 7, 30)}${bar('kernel', windows.kernel_ns, 14, 16)}${[25, 50, 75].map((at) => html`<rect x="${at}%" width="1" height="44" style="fill:var(--ink);opacity:.14"/>`)}</svg>`; // prettier-ignore
}

export interface ProofEnd {
  endedNs: Nanoseconds;
}

const CHART = { height: 200, top: 10, bottom: 28, left: 56 };
/** Dots drawn at most; of more, every so-manieth. */
const MOST_DOTS = 2_000;

/** Time between one valid proof and the next as dots, and the steady figure over all proofs so far as a line. */
export function throughputChart(ends: readonly Nanoseconds[], wallNs: Nanoseconds, inFlight: number): Html | null {
  if (ends.length < 2) return null;
  const gaps = ends.slice(1).map((end, index) => ({ at: end, s: (end - (ends[index] ?? 0)) / 1e9 }));
  const steady = ends.flatMap((end, index) => {
    const n = index + 1;
    const first = ends[inFlight - 1];
    return first === undefined || n < 2 * inFlight + 1 ? [] : [{ at: end, s: (end - first) / 1e9 / (n - inFlight) }];
  });
  const sorted = gaps.map(({ s }) => s).sort((a, b) => a - b);
  // One stall of hours must not flatten all the rest: what is higher is drawn at the top edge.
  const usual = (sorted[Math.floor(sorted.length * 0.95)] ?? 0) * 1.5;
  const most = Math.max(Math.min(sorted.at(-1) ?? 0, usual), ...steady.map(({ s }) => s));
  const step = axisStep(most, 4);
  const top = Math.max(step, Math.ceil(most / step) * step);
  const { height, left, bottom } = CHART;
  const plot = height - CHART.top - bottom;
  const y = (s: number) => (CHART.top + plot * (1 - Math.min(s, top) / top)).toFixed(1);
  const every = Math.ceil(gaps.length / MOST_DOTS);
  const lines = Array.from({ length: Math.round(top / step) + 1 }, (_, index) => index * step);
  const xStep = timeStep(wallNs / 1e9, 7);
  const xTicks = Array.from({ length: Math.floor(wallNs / 1e9 / xStep) + 1 }, (_, index) => index * xStep);
  const labels = lines.map((s) => html`<text x="${left - 10}" y="${Number(y(s)) + 4}" text-anchor="end">${seconds0(s)} s</text>`);
  const rules = lines.map((s) => html`<line x1="0" x2="100%" y1="${y(s)}" y2="${y(s)}" />`);
  const ticks = xTicks.map((s) => html`<text x="${share(s * 1e9, wallNs)}" y="${height - 8}">${tickTime(s, xStep)}</text>`);
  const dots = gaps
    .filter((_, index) => index % every === 0)
    .map(
      ({ at, s }) =>
        html`<circle class="dot" r="2.5" cx="${share(at, wallNs)}" cy="${y(s)}"
          ><title>${seconds(s)} s since the proof before</title></circle
        >`,
    );
  // Stretched across: 0…1000 is the run's length.
  const points = steady.map(({ at, s }) => `${((at / wallNs) * 1000).toFixed(2)},${y(s)}`).join(' ');
  const line =
    steady.length > 1 &&
    html`<svg width="100%" height="${height}" viewBox="0 0 1000 ${height}" preserveAspectRatio="none">
      <polyline class="steady" points="${points}" vector-effect="non-scaling-stroke" />
    </svg>`;
  return html`<div class="chart" role="img" aria-label="Seconds between valid proofs over the run"><svg width="${left}" height="${height}">${labels}</svg><svg class="bar" height="${height}"><g class="grid">${rules}</g>${ticks}${dots}${line}</svg></div>`; // prettier-ignore
}

function seconds0(value: number): string {
  return String(Number(value.toPrecision(3)));
}
