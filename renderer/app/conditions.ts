/** What is not as it should be, in order of weight: each with what happened, what it did to the proofs, and what comes next. Pure. */
import { ERROR_CODES } from '../../electron/contract/errors.ts';
import type { HostStatus } from '../../electron/contract/live.ts';
import { schedulerLabel } from '../../electron/contract/scheduler.ts';
import type { Connection } from '../link/host-link.svelte.ts';
import { countOf, formatCount, formatDuration, formatWallTime } from '../parts/durations.ts';
import { PHASES } from '../parts/prover-phase.ts';
import { BACKEND_WORDS } from '../parts/words.ts';

export interface Condition {
  key: string;
  tone: 'info' | 'busy' | 'warning' | 'error';
  title: string;
  text: string;
  /** Raw facts, copyable; null when there are none. */
  detail: string | null;
  action: 'retry' | null;
  /** A notice that the reader may put away. */
  notice: number | null;
}

const LAG_WORTH_SAYING_NS = 2e9;

interface Facts {
  connection: Connection;
  tries: number;
  lastMessageMs: number | null;
  status: HostStatus | null;
  dismissed: ReadonlySet<number>;
}

export function computeConditions({ connection, tries, lastMessageMs, status, dismissed }: Facts): Condition[] {
  const found: Condition[] = [];
  const add = (condition: Partial<Condition> & Pick<Condition, 'key' | 'tone' | 'title' | 'text'>) =>
    found.push({ detail: null, action: null, notice: null, ...condition });

  if (connection === 'reconnecting') {
    add({
      key: 'connection',
      tone: 'error',
      title: 'Connection to the host lost',
      text: `The view stands still as of ${formatWallTime(lastMessageMs)}. The run goes on without it. Trying again${tries > 1 ? `, ${formatCount(tries)} tries so far` : ''} …`,
      action: 'retry',
    });
  }
  if (!status) return found;
  if (status.readOnly) {
    add({
      key: 'read_only',
      tone: 'warning',
      title: 'History is read-only',
      text: `${status.readOnly.message} ${ERROR_CODES[status.readOnly.code].next}`,
      detail: `${status.readOnly.code} · ${status.dataFolder}`,
    });
  }
  const { phase, detail } = status.prover;
  const words = PHASES[phase];
  if (words.says) {
    add({
      key: `prover ${phase}`,
      tone: words.tone === 'error' ? 'error' : words.tone === 'warning' ? 'warning' : 'busy',
      title: words.word,
      text: detail && words.tone === 'error' ? `${capitalise(detail)}. ${words.says}` : words.says,
      detail,
    });
  }
  if (status.switching) {
    const { scheduler, backend, restarts } = status.switching;
    add({
      key: 'switching',
      tone: 'busy',
      title: `Switching to ${schedulerLabel(scheduler)} on ${BACKEND_WORDS[backend].label}`,
      text: `${status.queue.inProver > 0 ? `when ${countOf(status.queue.inProver, 'proof')} in flight ${status.queue.inProver === 1 ? 'is' : 'are'} finished` : 'now'}; ${restarts ? 'the prover restarts and loads its params again' : 'params stay loaded'}.`,
    });
  }
  if (status.queue.held !== null && phase !== 'crash_loop' && phase !== 'draining') {
    add({
      key: 'held',
      tone: 'warning',
      title: 'The queue is held',
      text: `${capitalise(status.queue.held)}. ${countOf(status.queue.waiting, 'proof')} wait${status.queue.waiting === 1 ? 's' : ''}; press Go on to let them through.`,
    });
  }
  if (status.ingest.failing !== null) {
    add({
      key: 'ingest',
      tone: 'error',
      title: 'Events are not being stored',
      text: `${capitalise(status.ingest.failing)}. The prover goes on and keeps its journal; nothing is lost while the disk has room.`,
      detail: status.ingest.failing,
    });
  } else if (status.ingest.lagNs > LAG_WORTH_SAYING_NS) {
    add({
      key: 'lag',
      tone: 'warning',
      title: 'The view lags',
      text: `Events are stored ${formatDuration(status.ingest.lagNs)} after they happen. What is after the horizon is shown as not known yet.`,
    });
  }
  if (status.ingest.lost + status.ingest.unparsed > 0) {
    const parts = [];
    if (status.ingest.lost > 0) parts.push(`${countOf(status.ingest.lost, 'event')} lost`);
    if (status.ingest.unparsed > 0) parts.push(`${countOf(status.ingest.unparsed, 'line')} not understood`);
    add({
      key: 'lost',
      tone: 'warning',
      title: parts.join(', '),
      text: 'Proofs are not affected. The stretch is hatched, and counts as unknown instead of as idle.',
    });
  }
  for (const notice of [...status.notices].reverse()) {
    if (dismissed.has(notice.id)) continue;
    add({
      key: `notice ${notice.id}`,
      tone: notice.severity,
      title: notice.message,
      text: notice.code === 'info' ? '' : ERROR_CODES[notice.code].next,
      detail: `${notice.code} · ${formatWallTime(notice.wallMs)}`,
      notice: notice.id,
    });
  }
  const weight = { error: 0, warning: 1, busy: 2, info: 3 };
  return found.sort((a, b) => weight[a.tone] - weight[b.tone]);
}

function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1).replace(/\.$/, '');
}
