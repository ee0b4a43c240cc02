/**
 * The first start: with an empty history one proof is made (ten partitions of the built-in circuit, dual-worker interlock), so that a new
 * machine shows real figures at once. What it amounted to is said line by line, and what the second GPU worker gained or did not: on a
 * CPU device both workers share the cores, and then overlap need not be gain.
 *
 * Not where other provers are at work: a first look must not slow somebody's proofs down.
 */
import type { Client } from '../../contract/api.ts';
import { sleep, type Clock } from '../../contract/clock.ts';
import { schedulerLabel } from '../../contract/scheduler.ts';
import type { PartitionReport, RunReport, Stage, StageSpan } from '../../contract/run-report.ts';
import { ratio, seconds } from './text.ts';

const PARTITIONS = 10;
const POLL_MS = 500;
/** Below this share of a proof's latency a gain or a loss is not told apart from noise. */
const NOISE = 0.02;

export interface FirstProofOptions {
  client: Client;
  clock: Clock;
  log: (line: string) => void;
  /** What else proves on this machine, in words; null when nothing was seen. */
  others: () => Promise<string | null>;
  signal: AbortSignal;
}

/** Resolves when the proof has ended and was told of, when there was nothing to do, or when the signal was aborted. */
export async function runFirstProof({ client, clock, log, others, signal }: FirstProofOptions): Promise<void> {
  const { proofs } = await client.list_proofs({ state: 'any', limit: 1 });
  if (proofs.length > 0) return;
  const seen = await others();
  if (seen !== null) {
    log(`No first proof: ${seen}. To make one all the same: npx interlock prove`);
    return;
  }
  const answer = await client.prove({ circuit: 'sha256', partitions: PARTITIONS, scheduler: { preset: 'interlock' } });
  const [proof] = answer.proofs;
  if (proof === undefined) return;
  log(`The history is empty: ${proof}, a first proof of ${PARTITIONS} partitions, was begun (not wanted: --no-first-proof).`);
  const ended = await waitForEnd(client, clock, proof, signal);
  if (ended === null) return;
  const { summary, report } = await client.show_proof({ proof });
  if (summary.state !== 'valid' || report === null || summary.run === null) {
    log(`${proof} ended ${summary.state}${summary.message === null ? '' : `: ${summary.message}`}`);
    return;
  }
  const run = await client.show_run({ run: summary.run });
  for (const line of summarise(run, proof)) log(line);
}

async function waitForEnd(client: Client, clock: Clock, proof: string, signal: AbortSignal): Promise<true | null> {
  for (;;) {
    const { summary } = await client.show_proof({ proof });
    if (summary.state !== 'waiting' && summary.state !== 'running') return true;
    await sleep(clock, POLL_MS, signal);
    if (signal.aborted) return null;
  }
}

function median(values: readonly number[]): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? null;
}

/** The first proof's run in a few lines. */
export function summarise(run: RunReport, proof: string): string[] {
  const report = run.proofs.find(({ id }) => id === proof);
  const device = run.devices[0];
  if (!report || report.latency_ns === null || !device) return [`${proof} is done; its run: npx interlock show ${run.run}`];
  const lasted = (spans: (StageSpan | undefined)[]) => spans.flatMap((span) => (span?.end_ns == null ? [] : [span.end_ns - span.start_ns]));
  const stage = (name: Stage) => median(lasted(report.partitions.map(({ stages }) => stages[name])));
  const split: [string, number | null][] = [
    ['synthesis', stage('synthesis')],
    ['prepare', stage('prepare')],
    ['waiting for the lock', stage('lock_wait')],
    ['kernels', median(report.partitions.map(kernelNs).filter((ns) => ns > 0))],
    ['finish', stage('finish')],
  ];
  const told = split.flatMap(([name, ns]) => (ns === null ? [] : [`${name} ${seconds(ns)}`]));
  const [first, last] = edges(report.partitions);
  const span = last - first;
  return [
    `${proof} is valid: ${report.partitions.length} partitions of ${report.circuit} in ${seconds(report.latency_ns)}, ${schedulerLabel(run.scheduler)} on ${label(run.backend)}.`,
    `  of that ${seconds(Math.max(0, report.latency_ns - span))} before the device’s first partition (params made ready, first synthesis) and after its last.`,
    ...(told.length === 0 ? [] : [`  a partition (medians): ${told.join(', ')}.`]),
    `  ${device.device}: kernels ${ratio(device.kernel_ns, span)}, lock held ${ratio(device.lock_held_ns, span)}, job span ${ratio(device.job_span_ns, span)} of ${seconds(span)}.`,
    `  ${secondWorker(report.partitions, report.latency_ns, run.backend)}`,
    `  more of it: npx interlock show ${run.run}`,
  ];
}

function label(backend: string): string {
  return backend === 'cpu' ? 'the CPU device' : backend === 'emulated' ? 'an EMULATED device' : 'CUDA';
}

function kernelNs({ kernels }: PartitionReport): number {
  return kernels.reduce((sum, { start_ns, end_ns }) => sum + (end_ns === null ? 0 : end_ns - start_ns), 0);
}

/** From the first pick-up to the last put-down. */
function edges(partitions: readonly PartitionReport[]): [number, number] {
  const jobs = partitions.flatMap(({ stages }) => (stages.job?.end_ns == null ? [] : [[stages.job.start_ns, stages.job.end_ns] as const]));
  if (jobs.length === 0) return [0, 0];
  return [Math.min(...jobs.map(([start]) => start)), Math.max(...jobs.map(([, end]) => end))];
}

export interface Overlap {
  /** Prepare and finish of one worker while the other's kernels ran. */
  hiddenNs: number;
  /** All of prepare and finish. */
  sidesNs: number;
  /** How much longer kernels took while the other worker prepared or finished; null where there is nothing to compare with. */
  stretchNs: number | null;
}

/** What two workers did at the same time. */
export function computeOverlap(partitions: readonly PartitionReport[]): Overlap {
  const sides = partitions.flatMap(({ worker, stages }) =>
    [stages.prepare, stages.finish].flatMap((span) => (span?.end_ns == null ? [] : [{ worker, start: span.start_ns, end: span.end_ns }])),
  );
  let hiddenNs = 0;
  const alone: number[] = [];
  const beside: number[] = [];
  for (const partition of partitions) {
    let overlapped = 0;
    for (const { start_ns, end_ns } of partition.kernels) {
      if (end_ns === null) continue;
      for (const side of sides) {
        if (side.worker === partition.worker) continue;
        overlapped += Math.max(0, Math.min(end_ns, side.end) - Math.max(start_ns, side.start));
      }
    }
    hiddenNs += overlapped;
    const kernels = kernelNs(partition);
    if (kernels === 0) continue;
    if (overlapped < 0.1 * kernels) alone.push(kernels);
    else beside.push(kernels);
  }
  const [usual, slowed] = [median(alone), median(beside)];
  return {
    hiddenNs,
    sidesNs: sides.reduce((sum, { start, end }) => sum + end - start, 0),
    stretchNs: usual === null || slowed === null ? null : Math.max(0, slowed - usual) * beside.length,
  };
}

/** One sentence on the second GPU worker: what it hid, what that cost, and whether anything was gained. */
export function secondWorker(partitions: readonly PartitionReport[], latencyNs: number, backend: string): string {
  const { hiddenNs, sidesNs, stretchNs } = computeOverlap(partitions);
  const hid = `second GPU worker: ${seconds(hiddenNs)} of ${seconds(sidesNs)} of prepare and finish lay behind the other’s kernels`;
  const measure = 'to measure it: npx interlock prove --scheduler per-partition --switch, then compare s/proof';
  if (hiddenNs < NOISE * latencyNs) return `${hid}; it gained nothing that can be told from noise in this proof.`;
  if (backend !== 'cpu') return `${hid}: about that much was gained; ${measure}.`;
  if (stretchNs === null)
    return `${hid}, on the same cores; whether that gained anything cannot be told from this proof alone; ${measure}.`;
  const gained = hiddenNs - stretchNs;
  if (gained < NOISE * latencyNs)
    return `${hid}, but kernels took ${seconds(stretchNs)} longer meanwhile: on these cores it gained nothing.`;
  return `${hid}, kernels took ${seconds(stretchNs)} longer meanwhile: it gained about ${seconds(gained)}.`;
}
