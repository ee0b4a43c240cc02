/**
 * The verdict line: what the device waits for most that a setting can remove, what the simulation says of the most sensible next act,
 * and on how much that rests. Pure; the prediction itself comes from the host (prediction.svelte.ts asks).
 */
import type { Cause, Group } from '../../electron/contract/idle.ts';
import type { LiveFigures } from '../../electron/contract/live.ts';
import type { DeviceWindows } from '../../electron/contract/run-report.ts';
import type { Scheduler } from '../../electron/contract/scheduler.ts';
import type { Range, SimulationReport } from '../../electron/contract/what-if.ts';
import { actAgainst, type Act } from './acts.ts';
import type { LivePicture } from './live-model.ts';
import { countOf, formatPercent, formatSeconds } from '../parts/durations.ts';
import { accountOfLive, partSeconds, spanWords, sumAccounts, wallOfLive, type IdleAccount, type IdlePart } from '../parts/idle.ts';
import { NOT_RECORDED, trailingLabel } from '../parts/windows.ts';

/** Below this share of the seconds per proof a predicted gain is called none. */
export const LEAST_GAIN = 0.02;
/** A simulation that misses the run as it is by more than this share is not asked what would change. */
const MOST_MISS = 0.1;
/** A cause below this share of the account is not worth an act. */
const LEAST_SHARE = 0.01;

export interface Verdict {
  text: string;
  /** The count and the definition behind it. */
  explain: string;
  /** What to try on the next run; null where nothing would help or nothing is known. */
  act: Act | null;
}

/** What the host answered for an act; `failed`: it could not say. */
export type Prediction = { act: Act; report: SimulationReport } | { act: Act; failed: string };

/** How a wait for each cause reads after `gpu0 waits 7.0 s a proof`. */
const WAITS: Record<Cause | Group, string> = {
  down: 'for a prover (down)',
  fault: 'for a worker (fault)',
  in_lock: 'in the lock',
  handoff: 'in handoff',
  preamble: 'in preamble',
  warm_up: 'in warm-up',
  epilogue: 'in epilogue',
  dispatch: 'on dispatch',
  held: 'for proofs that are held',
  no_work: 'for a proof (no work)',
  permit: 'for a permit',
  first_synthesis: 'for the first synthesis',
  starved: 'for the next partition (starved)',
  cross_sector: 'for the next proof (cross-sector)',
  lock_or_kernel: 'in the lock',
  inside_job: 'inside a job',
  outside_lock: 'outside the lock',
  between_work: 'between work',
};

/** The biggest part of the account that an act removes; null where there is none of any size. Ties go to the table's order. */
export function chooseAct(account: IdleAccount, scheduler: Scheduler, memoryBound: boolean): Act | null {
  let best: Act | null = null;
  for (const { name, ns } of account.parts) {
    if (name === 'kernel' || name === 'unknown' || ns < account.lengthNs * LEAST_SHARE || (best && ns <= best.ns)) continue;
    const act = actAgainst(name as Cause, scheduler, memoryBound);
    if (act) best = { cause: name as Cause, ns, ...act };
  }
  return best;
}

/** Whether one more permit of the size of those that are out would not fit the budget. */
export function isMemoryBound({ memory, permits }: Pick<LiveFigures, 'memory' | 'permits'>): boolean {
  const { permitBytes, budgetBytes } = memory;
  if (permitBytes === null || budgetBytes === null || permits === null || permits.used === 0) return false;
  return permitBytes + permitBytes / permits.used > budgetBytes;
}

const NOT_IDLE: readonly string[] = ['kernel', 'unknown', 'lock_or_kernel'];

/** The biggest part that is certainly not a kernel. */
export function largestIdle(account: IdleAccount): IdlePart | null {
  return account.parts.reduce<IdlePart | null>(
    (best, part) => (NOT_IDLE.includes(part.name) || (best && best.ns >= part.ns) ? best : part),
    null,
  );
}

const waitFor = (part: IdlePart): string => WAITS[part.name as Cause | Group];

/** The act that the line would ask the host about, now; null while there are too few proofs. */
export function currentAct(figures: LiveFigures | null, scheduler: Scheduler | null): Act | null {
  if (!figures || !scheduler || figures.sPerProof.value === null || figures.idle.some((one) => one.steady === null)) return null;
  const account = sumAccounts(figures.idle.map(accountOfLive));
  return account && chooseAct(account, scheduler, isMemoryBound(figures));
}

/** `42.5 s/proof (41.9–43.2)`; `more` stands in the same brackets. */
const range = ({ value, low, high }: Range, more = ''): string =>
  `${formatSeconds(value)}\u00a0s/proof (${formatSeconds(low)}–${formatSeconds(high)}${more && `; ${more}`})`;

/** What the simulation says of an act, in words; `helps`: whether to offer it. */
export function wordPrediction(prediction: Prediction, nowS: number, rests: string): { text: string; helps: boolean } {
  const { act } = prediction;
  if ('failed' in prediction) return { text: `what ${act.words} would bring could not be computed (${rests})`, helps: true };
  const { s_per_proof: after, base } = prediction.report;
  if (!after) return { text: `what ${act.words} would bring is not known: the simulation has too few proofs (${rests})`, helps: true };
  if (base?.error_ratio != null && Math.abs(base.error_ratio) > MOST_MISS) {
    const said = base.predicted_s_per_proof ? `${formatSeconds(base.predicted_s_per_proof.value)}\u00a0s/proof` : 'something else';
    return {
      text: `what ${act.words} would bring cannot be said: the simulation makes ${said} of the present scheduler (${rests})`,
      helps: true,
    };
  }
  // The simulation is compared with itself, so that what it misses in both is not taken for a gain.
  const before = base?.predicted_s_per_proof?.value ?? nowS;
  if ((before - after.value) / before < LEAST_GAIN)
    return { text: `${act.words} would not help here: predicted ${range(after, rests)}`, helps: false };
  const limit = prediction.report.shares_cores ? ' at best, since the CPU device and the CPU stages share the same cores' : '';
  return { text: `${act.words}: predicted ${range(after, rests)}${limit}`, helps: true };
}

function windowsText(picture: LivePicture, figures: LiveFigures): string {
  const ended = picture.endedNs !== null;
  const windows = ended ? figures.run : figures.last60s;
  const wall = windows.reduce((sum, one) => sum + one.wall_ns, 0);
  const share = (pick: (one: DeviceWindows) => number | null) => {
    let sum: number | null = 0;
    for (const one of windows) {
      const ns = pick(one);
      sum = sum === null || ns === null ? null : sum + ns;
    }
    return sum === null || wall === 0 ? NOT_RECORDED : `${formatPercent(sum / wall)} %`;
  };
  const span = ended ? 'this run, which has ended' : `the ${trailingLabel(windows[0])}`;
  return `Kernels ran ${share((one) => one.kernel_ns)} of ${span}${windows.length > 1 ? `, over ${windows.length} devices` : ''}; the lock was held ${share((one) => one.lock_held_ns)}.`;
}

/** `prediction` counts only where it is about the act that stands now. */
export function computeVerdict(picture: LivePicture, scheduler: Scheduler | null, prediction: Prediction | null): Verdict | null {
  const { figures } = picture;
  if (!figures || picture.run === null || figures.run.length === 0 || figures.run.every((one) => one.wall_ns === 0)) return null;
  const ended = picture.endedNs !== null;
  const windows = windowsText(picture, figures);
  const lost = picture.unknown.length > 0 ? ' Events are missing in part of this run; that time is unknown, and in no cause.' : '';
  const who = figures.idle.length === 1 ? figures.idle[0]!.device : `${figures.idle.length} devices`;
  const waits = figures.idle.length === 1 ? 'waits' : 'wait';
  const { sPerProof } = figures;
  const steady = figures.idle.length > 0 && figures.idle.every((one) => one.steady !== null) && sPerProof.value !== null;
  if (!steady) {
    const wall = sumAccounts(figures.idle.map(wallOfLive));
    const top = wall && largestIdle(wall);
    const few =
      sPerProof.value === null
        ? `Not enough proofs ${ended ? 'to say more' : 'yet'}, ${sPerProof.n} of ${sPerProof.too_few_below}`
        : 'No steady stretch yet';
    const fact =
      wall && top
        ? `; ${ended ? 'in all' : 'so far'} ${who} ${waits} most ${waitFor(top)}, ${partSeconds(top.ns)}\u00a0s ${spanWords(wall, ended)}`
        : '';
    return {
      text: `${few}${fact}.`,
      explain: `${windows} Seconds per proof and what a change would bring are said from ${countOf(sPerProof.too_few_below, 'valid proof')} on.${lost}`,
      act: null,
    };
  }
  const account = sumAccounts(figures.idle.map(accountOfLive))!;
  const now = sPerProof.value!;
  const rests = `now ${formatSeconds(now)}, ${countOf(sPerProof.n, 'proof')}`;
  const act = scheduler && chooseAct(account, scheduler, isMemoryBound(figures));
  const top = largestIdle(account);
  const explain = `${windows} Seconds ${spanWords(account, ended)} over ${countOf(account.proofs ?? 0, 'proof')} of the steady stretch. A prediction comes from simulating this run’s own stage durations, not from adding up a cause; its range is the 5th to the 95th percentile of the simulated runs.${lost}`;
  if (!act) {
    if (!top || top.ns < account.lengthNs * LEAST_SHARE)
      return {
        text: `${who} hardly ${waits} for anything: kernels take ${formatPercent(shareOfKernels(account))} % ${spanWords(account, ended)} (${rests}).`,
        explain,
        act: null,
      };
    const why = scheduler === null ? '' : '; no setting removes that';
    return { text: `${who} ${waits} ${partSeconds(top.ns)}\u00a0s a proof ${waitFor(top)}${why} (${rests}).`, explain, act: null };
  }
  const lead = `${who} ${waits} ${partSeconds(act.ns)}\u00a0s a proof ${WAITS[act.cause]}`;
  if (!prediction || !sameAct(prediction.act, act)) {
    return { text: `${lead}; what ${act.words} would bring is being computed (${rests}).`, explain, act };
  }
  const words = wordPrediction(prediction, now, rests);
  const missed = 'report' in prediction ? missWords(prediction.report) : ` The host could not simulate it: ${prediction.failed}`;
  return { text: `${lead}; ${words.text}.`, explain: `${explain}${missed}`, act: words.helps ? act : null };
}

/** Two acts are one if they change the same things; the seconds behind them may have moved. */
export function sameAct(a: Act, b: Act): boolean {
  return a.cause === b.cause && JSON.stringify(a.change) === JSON.stringify(b.change);
}

const shareOfKernels = (account: IdleAccount): number => (account.parts.find((part) => part.name === 'kernel')?.ns ?? 0) / account.lengthNs;

function missWords({ base }: SimulationReport): string {
  if (base?.error_ratio == null || base.predicted_s_per_proof === null) return '';
  return ` Of the present scheduler the same simulation says ${range(base.predicted_s_per_proof)}, ${formatPercent(Math.abs(base.error_ratio))} % ${base.error_ratio < 0 ? 'less' : 'more'} than was measured.`;
}
