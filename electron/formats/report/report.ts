/**
 * One run as one HTML file that can be sent to somebody: no script, no network, nothing beside it. Every figure has its definition next to
 * it, and what the record cannot tell is said in a section of its own.
 */
import { CAUSE_WORDS, type DeviceIdle, type Gap, type GapEnd } from '../../contract/idle.ts';
import type { RunReport } from '../../contract/run-report.ts';
import { schedulerLabel } from '../../contract/scheduler.ts';
import type { Nanoseconds } from '../../contract/units.ts';
import { UtcClock } from '../csv/cells.ts';
import { duration, instant, percent, seconds } from './amounts.ts';
import { amountsOf, legend, PATTERNS, stackedBar, swatch, throughputChart, windowBars, type Amount } from './charts.ts';
import { html, type Html } from './markup.ts';
import type { ReportInput } from './input.ts';
import { configSection, limitsSection, proofsSection } from './sections.ts';
import { STYLE } from './style.ts';

/** Gaps listed; the rest is counted. */
const SHOWN_GAPS = 20;
const POLICY = `default-src 'none'; style-src 'unsafe-inline'`;

export function renderReport(input: ReportInput): string {
  const { run } = input;
  const body = html`<p class="eyebrow">Interlock run report</p>
<header><h1>${schedulerLabel(run.scheduler)}, ${run.run}</h1>${backendBadge(run)}${stateBadge(run)}</header>
<p class="lead">${leadOf(run)}</p>
${headline(input)}
${input.idle.devices.map((device) => deviceSection(input, device))}
${gapsSection(input)}
${throughputSection(input)}
${proofsSection(run)}
${configSection(run)}
${limitsSection(input)}
<footer>Run ${run.uid}. Made by Interlock (report ${run.schema}, idle causes ${input.idle.schema})${input.versions.length > 0 && html`; prover ${input.versions.join(', ')}`}.${input.isRedacted && ' Home paths, host and user names, addresses and secrets were taken out.'}</footer>`; // prettier-ignore
  const page = html`<meta charset="utf-8" />
    <meta http-equiv="Content-Security-Policy" content="${POLICY}" />
    <meta name="viewport" content="width=device-width,initial-scale=1" />
    <meta name="referrer" content="no-referrer" />
    <title>Interlock: ${run.run}</title>`;
  return `<!doctype html>\n<html lang="en">\n<head>\n${page.text}\n<style>${STYLE}</style>\n</head>\n<body>\n${PATTERNS.text}\n${body.text}\n</body>\n</html>\n`;
}

function backendBadge(run: RunReport): Html {
  const words = { emulated: 'EMULATED: nothing was proved', cpu: 'CPU device', cuda: 'GPU' }[run.backend];
  return html`<span class="badge ${run.backend}">${words}</span>`;
}

function stateBadge(run: RunReport): Html | null {
  return run.state === 'finished' ? null : html`<span class="badge ${run.state}">${run.state}</span>`;
}

function leadOf(run: RunReport): string {
  const wall = run.devices.length > 0 || run.wall_ns > 0 ? duration(run.wall_ns) : 'no events';
  const known = run.imported_from === null || BigInt(run.started_wall_ns) > 1_000_000_000_000_000_000n;
  const date = known
    ? new UtcClock(run.started_wall_ns)
        .cell(0)
        .replace('T', ' ')
        .replace(/\.\d+Z$/, ' UTC')
    : '';
  const from = run.imported_from === null ? '' : `, imported from ${run.imported_from}`;
  return `${date === '' ? 'No date in the record' : `Began ${date}`}, ${run.state === 'running' ? 'runs for' : 'lasted'} ${wall}${from}.`;
}

function headline({ run, idle }: ReportInput): Html {
  const { s_per_proof_detail: detail } = run;
  const count = (outcome: string | null) => run.proofs.filter((proof) => proof.outcome === outcome).length;
  const others = (['invalid', 'failed', 'interrupted'] as const).flatMap((outcome) =>
    count(outcome) > 0 ? [`${count(outcome)} ${outcome}`] : [],
  );
  const interval = detail.low !== null && detail.high !== null ? `95 % of the mean: ${seconds(detail.low)} to ${seconds(detail.high)} s, n = ${detail.n}` : `n = ${detail.n}`; // prettier-ignore
  const steady = idle.devices.filter((device) => device.steady !== null);
  return html`<section>
<dl class="figures">
<div class="first"><dt>Seconds per proof, steady</dt><dd>${detail.value === null ? html`<span class="dim">too few</span>` : html`${seconds(detail.value)} <span class="unit">s/proof</span>`}<small>${detail.value === null ? `${detail.n} valid; from ${detail.too_few_below} on there is something to say` : interval}</small></dd></div>
<div><dt>Latency, median</dt><dd>${run.latency_s === null ? '–' : html`${seconds(run.latency_s)} <span class="unit">s</span>`}<small>accepted to durable</small></dd></div>
<div><dt>Proofs</dt><dd>${count('valid')} <span class="unit">valid</span><small>${others.length > 0 ? others.join(', ') : `of ${run.proofs.length}`}</small></dd></div>
<div><dt>Length</dt><dd>${duration(run.wall_ns)}<small>start to ${run.state === 'running' ? 'now' : 'end'}</small></dd></div>
</dl>
${steady.map((device) => perProof(device, steady.length > 1))}
</section>`; // prettier-ignore
}

/** Where the seconds of a proof go: the same account as below, over the steady stretch, divided by its proofs. */
function perProof(device: DeviceIdle, isNamed: boolean): Html | null {
  if (!device.steady) return null;
  const amounts = amountsOf(device.steady.per_proof);
  const whole = amounts.reduce((sum, { ns }) => sum + ns, 0);
  return html`<h3>Where a proof’s ${seconds(whole / 1e9)} s go${isNamed && `, ${device.device}`}</h3>
    <figure>
      ${stackedBar(amounts, whole, `Split of seconds per proof on ${device.device}`, 40)}${legend(amounts, ({ ns }) => duration(ns))}
    </figure>`;
}

function deviceSection({ run }: ReportInput, device: DeviceIdle): Html {
  const windows = run.devices.find((one) => one.device === device.device);
  const amounts = amountsOf({ ...device, kernel_ns: device.kernel_ns ?? 0, groups: Object.fromEntries(Object.entries(device.groups).map(([name, { ns }]) => [name, ns])) }); // prettier-ignore
  const wall = device.wall_ns;
  return html`<section>
<h2>${device.device} <span class="dim">${KIND_WORDS[device.kind] ?? device.kind}</span></h2>
<h3>Three windows</h3>
${windows && html`<figure>${windowBars(windows)}</figure>`}
<div class="windows">${WINDOW_WORDS.map(({ key, name, says }) => {
    const measure = device.windows[key];
    const isLess = measure.ns !== null;
    return html`<span class="name">${key !== 'copy' && html`<svg class="swatch" width="12" height="12" aria-hidden="true"><rect class="w-${key}" width="12" height="12" rx="3"/></svg>`}${name}</span><span class="share">${isLess ? percent(measure.ns ?? 0, wall) : 'not recorded'}</span><span class="share">${isLess && duration(measure.ns ?? 0)}${measure.error_ns > 0 && ` ± ${duration(measure.error_ns)}`}</span><span class="says">${says}</span>`;
  })}</div>
<h3>Why it was idle</h3>
<figure>${stackedBar(amounts, wall, `Account of ${device.device}: kernels, causes, unknown`)}</figure>
<div class="scroll"><table class="below"><thead><tr><th>Cause</th><th class="n">Time</th><th class="n">Of the run</th>${device.provisional_ns > 0 && html`<th class="n">May still change</th>`}<th>Holds when</th></tr></thead><tbody>
${amounts.map((amount) => causeRow(device, amount))}
<tr class="sum"><td>Sum</td><td class="n">${duration(amounts.reduce((sum, { ns }) => sum + ns, 0))}</td><td class="n">${percent(amounts.reduce((sum, { ns }) => sum + ns, 0), wall)}</td>${device.provisional_ns > 0 && html`<td class="n">${duration(device.provisional_ns)}</td>`}<td class="w">Every nanosecond from the run’s start to its end, once.</td></tr>
</tbody></table></div>
${device.legacy_efficiency !== null && html`<p class="note" style="margin-top:12px">The field’s log would have called this ${percent(device.legacy_efficiency, 1)} GPU efficiency: the union of job spans over the time from the first to the last of them.</p>`}
</section>`; // prettier-ignore
}

const KIND_WORDS: Record<string, string> = { cpu: 'the CPU, standing in for a device', cuda: 'GPU', emulated: 'emulated' };

const WINDOW_WORDS = [
  { key: 'kernel', name: 'Kernel running', says: 'A compute kernel ran on the device. High: the device really computed.' },
  { key: 'lock', name: 'Lock held', says: 'A worker held the device lock, so nobody else could use the device.' },
  { key: 'job', name: 'Job span', says: 'A worker had a partition, from picking it up to putting it down, waits included.' },
  { key: 'copy', name: 'Copies', says: 'A copy engine worked. Never counted as busy.' },
] as const;

function causeRow(device: DeviceIdle, { term, ns }: Amount): Html {
  const { name, says } = CAUSE_WORDS[term];
  const group = term in device.groups ? device.groups[term as keyof typeof device.groups] : undefined;
  const details = term === 'in_lock' || term === 'permit' ? Object.entries(device.details[term]).filter(([, part]) => part > 0) : [];
  const more = details.map(([detail, part]) => `${detail} ${duration(part)}`).join(', ');
  const mayBe = group && `May be: ${group.may_be.map((cause) => CAUSE_WORDS[cause].name).join(', ')}.`;
  const provisional = term in device.provisional ? device.provisional[term as keyof typeof device.provisional] : undefined;
  return html`<tr><td class="k"><span class="name">${swatch(term)}${name}</span></td><td class="n">${duration(ns)}</td><td class="n">${percent(ns, device.wall_ns)}</td>${device.provisional_ns > 0 && html`<td class="n">${provisional === undefined || provisional === 0 ? '' : duration(provisional)}</td>`}<td class="w">${says}${more !== '' && ` (${more})`}${mayBe && ` ${mayBe}`}</td></tr>`; // prettier-ignore
}

function gapsSection({ gaps, run, idle }: ReportInput): Html {
  const shown = gaps.slice(0, SHOWN_GAPS);
  const most = shown[0]?.length_ns ?? 0;
  const many = idle.devices.length > 1;
  const place = (end: GapEnd | null) => (end === null ? '–' : `${end.proof}/${end.partition}`);
  if (shown.length === 0)
    return html`<section>
      <h2>Longest gaps</h2>
      <p class="note">No device was ever without a kernel.</p>
    </section>`;
  return html`<section><h2>Longest gaps</h2>
<p class="note">Stretches of a device without a kernel, named by their largest part. ${gaps.length > shown.length && `${shown.length} of ${gaps.length}.`}</p>
<div class="scroll"><table class="below"><thead><tr>${many && html`<th>Device</th>`}<th class="n">At</th><th class="n">Length</th><th style="width:34%"></th><th>Largest cause</th><th>Before</th><th>After</th></tr></thead><tbody>
${shown.map((gap) => html`<tr>${many && html`<td class="k">${gap.device}</td>`}<td class="n">${instant(gap.start_ns)}</td><td class="n">${duration(gap.length_ns)}</td><td>${gapBar(gap, most)}</td><td class="k"><span class="name">${swatch(gap.cause)}${CAUSE_WORDS[gap.cause].name}</span></td><td class="k">${place(gap.before)}</td><td class="k">${place(gap.after)}</td></tr>`)}
</tbody></table></div>${run.state === 'running' && html`<p class="note">The run still lasts: the last gap may grow and change its name.</p>`}</section>`; // prettier-ignore
}

function gapBar(gap: Gap, mostNs: Nanoseconds): Html {
  const terms = [...Object.entries(gap.parts)].filter(([, ns]) => ns > 0).map(([term, ns]) => ({ term: term as Amount['term'], ns }));
  const width = mostNs > 0 ? Math.max(0.5, (gap.length_ns / mostNs) * 100) : 0;
  let at = 0;
  const rects = terms.map(({ term, ns }) => {
    const x = at;
    at += ns;
    const scale = (part: number) => `${((part / gap.length_ns) * width).toFixed(3)}%`;
    return html`<rect class="c-${term}" x="${scale(x)}" y="4" width="${scale(ns)}" height="12"
      ><title>${CAUSE_WORDS[term].name}: ${duration(ns)}</title></rect
    >`;
  });
  return html`<svg class="bar" height="20" aria-hidden="true">${rects}</svg>`;
}

function throughputSection({ run, ends }: ReportInput): Html {
  const inFlight = run.scheduler?.proofs_in_flight ?? Math.max(1, Math.floor((run.s_per_proof_detail.too_few_below - 1) / 2));
  const chart = throughputChart(ends, run.wall_ns, inFlight);
  return html`<section><h2>Seconds per proof over the run</h2>${
    chart === null
      ? html`<p class="note">Fewer than two valid proofs: there is nothing to draw.</p>`
      : html`<p class="note">A dot is the time between one valid proof and the next; proofs in flight end in bunches. The line is the steady figure over all proofs so far. Dots at the upper edge lie above it.</p><figure>${chart}</figure>`
  }</section>`; // prettier-ignore
}
