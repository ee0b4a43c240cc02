/** Idle causes and gaps of a stored run: computed once from its events, and kept while they are the same. */
import { IdleAnalysis } from '../analysis/idle/idle-analysis.ts';
import type { CheckedInput } from '../contract/api.ts';
import type { GapsReport, IdleReport } from '../contract/idle.ts';
import type { Scheduler } from '../contract/scheduler.ts';
import { keepNewest } from './keep-newest.ts';
import type { RunReads } from './run-reads.ts';
import { walkRun } from './run-walk.ts';

/** Raised whenever the same events would give other causes. */
export const IDLE_ANALYSIS_VERSION = 1;
const REPORTS_KEPT = 16;
/** An account holds every piece of the run's time: a few tens of MB for a million events. */
const ACCOUNTS_KEPT = 2;

interface Account {
  report: IdleReport;
  analysis: IdleAnalysis;
}

/** Of one reading thread. */
class IdleCache {
  readonly reports = new Map<string, IdleReport>();
  readonly accounts = new Map<string, Account>();
}
const caches = new WeakMap<RunReads, IdleCache>();

/** Fails with `not_found`. `run` may be `last`. */
export function readIdle(runs: RunReads, run: string): IdleReport {
  const { key } = keyed(runs, run);
  return cacheOf(runs).reports.get(key) ?? account(runs, run).report;
}

/** Fails with `not_found`. */
export function readGaps(runs: RunReads, input: CheckedInput<'gaps'>): GapsReport {
  return account(runs, input.run).analysis.gaps(input.min_ns, input.limit);
}

function account(runs: RunReads, run: string): Account {
  const { key, row, horizonNs } = keyed(runs, run);
  const cache = cacheOf(runs);
  const known = cache.accounts.get(key);
  if (known) return known;
  const analysis = new IdleAnalysis();
  walkRun(runs.reads, row.run, analysis);
  const scheduler = JSON.parse(row.scheduler) as Scheduler | null;
  const facts = { run: row.run, state: row.state, engine: row.engine, scheduler, proofsInFlight: scheduler?.proofs_in_flight ?? null };
  const made = { report: analysis.build(facts, horizonNs), analysis };
  keepNewest(cache.accounts, key, made, ACCOUNTS_KEPT);
  keepNewest(cache.reports, key, made.report, REPORTS_KEPT);
  return made;
}

function keyed(runs: RunReads, run: string) {
  const facts = runs.factsFor(run);
  const { db } = runs.reads;
  // Of a run that is over no later hold is.
  const holds = db
    .prepare(`SELECT count(*) || ' ' || count(to_ns) FROM hold WHERE run = ? OR (run IS NULL AND ? = 'running')`)
    .pluck()
    .get(facts.row.run, facts.row.state) as string;
  const losses = db
    .prepare(
      `SELECT count(*) || ' ' || coalesce(sum(filled), 0) || ' ' || count(healed_t) FROM loss l
       JOIN run_process rp ON rp.process = l.process WHERE rp.run = ?`,
    )
    .pluck()
    .get(facts.row.run) as string;
  return { ...facts, key: `${facts.key} ${holds} ${losses} i${IDLE_ANALYSIS_VERSION}` };
}

function cacheOf(runs: RunReads): IdleCache {
  let cache = caches.get(runs);
  if (!cache) caches.set(runs, (cache = new IdleCache()));
  return cache;
}
