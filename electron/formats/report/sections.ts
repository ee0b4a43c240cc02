/** The report's tables: proofs, settings, and what the record cannot tell. */
import { CAUSE_WORDS } from '../../contract/idle.ts';
import type { ProofReport, RunReport } from '../../contract/run-report.ts';
import { formatBytes } from '../../contract/units.ts';
import { duration, percent } from './amounts.ts';
import { html, type Html } from './markup.ts';
import type { ReportInput } from './input.ts';

/** Proofs listed. A file that somebody opens in a mail program must stay small. */
const SHOWN_PROOFS = 500;

export function proofsSection(run: RunReport): Html {
  // Those that went wrong are always listed.
  const bad = run.proofs.filter((proof) => proof.outcome !== 'valid');
  const room = Math.max(0, SHOWN_PROOFS - bad.length);
  const good = new Set(run.proofs.filter((proof) => proof.outcome === 'valid').slice(0, room));
  const shown = run.proofs.filter((proof) => good.has(proof) || proof.outcome !== 'valid').slice(0, SHOWN_PROOFS);
  const isNamed = shown.some((proof) => proof.name !== null);
  if (run.proofs.length === 0)
    return html`<section>
      <h2>Proofs</h2>
      <p class="note">No proof was accepted in this run.</p>
    </section>`;
  return html`<section><h2>Proofs</h2>${shown.length < run.proofs.length && html`<p class="note">${shown.length} of ${run.proofs.length}; all of them are in the CSV.</p>`}
<div class="scroll"><table class="below"><thead><tr><th>Proof</th>${isNamed && html`<th>Name</th>`}<th>Circuit</th><th class="n">Partitions</th><th>Outcome</th><th class="n">Latency</th><th>Proof’s SHA-256, or what went wrong</th></tr></thead><tbody>
${shown.map((proof) => proofRow(proof, isNamed))}
</tbody></table></div></section>`; // prettier-ignore
}

function proofRow(proof: ProofReport, isNamed: boolean): Html {
  const { outcome, error } = proof;
  const tone = outcome === 'valid' ? 'valid' : outcome === null ? 'dim' : 'bad';
  const end = error !== null ? `${error.code}: ${error.message.slice(0, 300)}` : (proof.sha256 ?? '–');
  return html`<tr><td class="k">${proof.id}${proof.attempt > 1 && ` (attempt ${proof.attempt})`}</td>${isNamed && html`<td>${proof.name ?? ''}</td>`}<td class="k">${proof.circuit === '' ? '–' : proof.circuit}</td><td class="n">${proof.partitions.length}</td><td class="k ${tone}">${outcome ?? 'running'}</td><td class="n">${proof.latency_ns === null ? '–' : duration(proof.latency_ns)}</td><td class="w${error === null && ' hash'}">${end}</td></tr>`; // prettier-ignore
}

export function configSection(run: RunReport): Html {
  const rows: [string, string][] = [
    ['engine', run.engine],
    ['backend', run.backend],
    ...(run.emulate === null ? [] : ([['emulate', run.emulate]] as [string, string][])),
    ...(run.scheduler === null
      ? []
      : Object.entries(run.scheduler).map(([key, value]): [string, string] => [
          key,
          key.endsWith('_bytes') ? formatBytes(value as number) : Array.isArray(value) ? value.join(', ') || 'none' : String(value),
        ])),
    ...Object.entries(run.found),
  ];
  return html`<section><h2>Settings</h2>${run.scheduler === null && html`<p class="note">The scheduler is not recorded in full; below is what the log says.</p>`}
<dl class="settings">${rows.map(([key, value]) => html`<div><dt>${key}</dt><dd>${value}</dd></div>`)}</dl></section>`; // prettier-ignore
}

/** Said always, in plain words: what a figure above leaves open. */
export function limitsSection({ run, idle }: ReportInput): Html {
  const points: (string | Html)[] = [];
  for (const device of idle.devices) {
    const { wall_ns: wall } = device;
    for (const [key, measure] of Object.entries(device.windows)) {
      if (!measure.recorded) points.push(`${device.device}: the record has no ${key} events. That window is not 0; it is not known.`);
      else if (measure.error_ns > 0) points.push(`${device.device}: the ${key} window is placed to ± ${duration(measure.error_ns)}.`);
    }
    for (const [name, group] of Object.entries(device.groups)) {
      const mayBe = group.may_be.map((cause) => CAUSE_WORDS[cause].name).join(', ');
      points.push(`${device.device}: ${duration(group.ns)} (${percent(group.ns, wall)}) is “${CAUSE_WORDS[name as keyof typeof CAUSE_WORDS].name}”. It may be ${mayBe}; the log cannot tell.`); // prettier-ignore
    }
    if (device.unknown_ns > 0) points.push(`${device.device}: events are missing for ${duration(device.unknown_ns)} (${percent(device.unknown_ns, wall)}). Nothing is claimed of that time, not even that it was idle.`); // prettier-ignore
    if (device.provisional_ns > 0) points.push(`${device.device}: ${duration(device.provisional_ns)} are provisional. Their cause may change with the next partition that is picked up.`); // prettier-ignore
  }
  if (run.events.lost > 0) points.push(`${run.events.lost} events were lost between the prover and the record.`);
  if (run.events.unparsed > 0) points.push(`${run.events.unparsed} lines of the record could not be read.`);
  if (run.imported_from !== null) points.push('This run was imported: what its source does not say is not here.');
  if (run.backend === 'emulated') points.push('The device was emulated. Nothing was computed, and no figure says anything of a real one.');
  if (run.backend === 'cpu')
    points.push('The device is the CPU standing in for one. It shares the processor with synthesis; no figure says anything of a GPU.');
  points.push(...idle.notes);
  points.push(
    'Time of a cause is not what a change would save: removing one cause lets the next one show. That question is for the simulator.',
  );
  points.push(
    'Dates are the machine’s wall clock at the start plus monotonic time; a clock that was set wrongly makes them wrong, never the durations.',
  );
  return html`<section>
    <h2>What this report cannot know</h2>
    <ul class="plain">
      ${points.map((point) => html`<li>${point}</li>`)}
    </ul>
  </section>`;
}
