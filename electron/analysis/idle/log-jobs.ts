/**
 * Job spans of a log that cannot tell, and their lock windows. Spans of one worker may overlap: the daemon's worker goes on while a
 * finalizer works. They are kept by partition.
 *
 *   picked_up ───────── lock_granted ══════ lock_released ─────── put_down
 *        before (g3)            lock (g1)            after (g3)
 *   picked_up ─────────────── unplaced (g2) ───────────────────── put_down
 */
import type { Nanoseconds } from '../../contract/units.ts';
import type { OpenSpan } from './account.ts';
import { CODE, type Extra } from './codes.ts';
import type { Part } from './parts.ts';
import type { DeviceWorkers } from './workers.ts';

interface Job {
  part: Part;
  device: DeviceWorkers;
  worker: number;
  startNs: Nanoseconds;
  lockNs: Nanoseconds;
  releasedNs: Nanoseconds;
  /** The worker's next event of another partition; NaN: none yet. */
  nextNs: Nanoseconds;
  /** Its end cannot come any more. */
  lost: boolean;
}

export class LogJobs {
  readonly #open = new Map<Part, Job>();

  take(kind: number, device: DeviceWorkers, part: Part | null, worker: number, extra: Extra, t: Nanoseconds): void {
    if (part === null) return;
    device.worker(worker);
    for (const job of [...this.#open.values()]) {
      if (job.worker === worker && job.device === device && job.part !== part && Number.isNaN(job.nextNs)) {
        job.nextNs = t;
        if (job.lost) this.#giveUp(job, t);
      }
    }
    if (kind === CODE.picked_up) return this.#pickUp(device, part, worker, t);
    if (kind === CODE.measured) {
      device.sums.lockErrorNs += 2 * (extra as number);
      return;
    }
    const job = this.#open.get(part);
    if (kind === CODE.call_started) part.calledNs = t;
    if (!job || job.lost || job.device !== device || job.worker !== worker) {
      if (kind === CODE.put_down || kind === CODE.lock_released) device.unmatched += 1;
      // Its pick-up is missing, or its partition has ended before: the call and its end are there.
      if (kind === CODE.put_down && (!job || (job.device === device && job.worker === worker))) this.#endLegacy(device, part, t);
      return;
    }
    if (kind === CODE.lock_granted && Number.isNaN(job.releasedNs)) job.lockNs = t;
    else if (kind === CODE.lock_released) this.#release(job, t);
    else if (kind === CODE.put_down) this.#putDown(job, t);
  }

  /** Its end cannot come any more. */
  lose(device: DeviceWorkers, part: Part, t: Nanoseconds): void {
    const job = this.#open.get(part);
    if (!job || job.device !== device) return;
    job.lost = true;
    if (!Number.isNaN(job.nextNs)) this.#giveUp(job, t);
  }

  end(device: DeviceWorkers, t: Nanoseconds): void {
    for (const job of [...this.#open.values()]) if (job.device === device) this.#giveUp(job, t);
  }

  certainUntil(device: DeviceWorkers, t: Nanoseconds): Nanoseconds {
    let until = t;
    for (const job of this.#open.values()) if (job.device === device && job.startNs < until) until = job.startNs;
    return until;
  }

  open(device: DeviceWorkers): OpenSpan[] {
    const open: OpenSpan[] = [];
    for (const job of this.#open.values()) {
      if (job.device !== device) continue;
      if (job.lost) open.push({ startNs: job.startNs, paint: 'unknown', part: null });
      else if (Number.isNaN(job.releasedNs)) open.push({ startNs: job.startNs, paint: 'unplaced', part: job.part });
      else {
        open.push(
          { startNs: job.startNs, endNs: job.lockNs, paint: 'before', part: null },
          { startNs: job.releasedNs, paint: 'after', part: null },
        );
      }
    }
    return open;
  }

  /** Starts of job spans and of lock windows that count up to the horizon. */
  starts(device: DeviceWorkers): { job: Nanoseconds[]; lock: Nanoseconds[] } {
    const jobs = [...this.#open.values()].filter((job) => job.device === device && !job.lost);
    const locked = jobs.filter((job) => !Number.isNaN(job.lockNs) && Number.isNaN(job.releasedNs));
    return { job: jobs.map(({ startNs }) => startNs), lock: locked.map(({ lockNs }) => lockNs) };
  }

  #pickUp(device: DeviceWorkers, part: Part, worker: number, t: Nanoseconds): void {
    const before = this.#open.get(part);
    if (before) this.#giveUp(before, t);
    device.sums.spans.begun += 1;
    this.#open.set(part, {
      part, device, worker, startNs: t, lockNs: Number.NaN, releasedNs: Number.NaN, nextNs: Number.NaN,
      lost: false,
    }); // prettier-ignore
  }

  #release(job: Job, t: Nanoseconds): void {
    if (Number.isNaN(job.lockNs) || !Number.isNaN(job.releasedNs)) {
      job.device.unmatched += 1;
      return;
    }
    job.releasedNs = t;
    job.device.sums.lock.add(job.lockNs, t);
    job.device.sums.spans.lock += 1;
    job.device.account.paint('lock', job.lockNs, t, job.part);
  }

  #putDown(job: Job, t: Nanoseconds): void {
    const { account, sums } = job.device;
    const called = !Number.isNaN(job.part.calledNs);
    sums.job.add(job.startNs, t);
    sums.spans.job += 1;
    if (called) sums.spans.called += 1;
    this.#endLegacy(job.device, job.part, t);
    if (Number.isNaN(job.releasedNs)) {
      sums.unplaced += 1;
      if (called) sums.unplacedCalled += 1;
      account.paint('unplaced', job.startNs, t, job.part);
    } else {
      account.paint('before', job.startNs, job.lockNs, null);
      account.paint('after', job.releasedNs, t, null);
    }
    this.#open.delete(job.part);
  }

  /** The log's own figure counts from the native call; without that line there is none. */
  #endLegacy(device: DeviceWorkers, part: Part, t: Nanoseconds): void {
    device.sums.endLegacy(part.calledNs, t);
    part.calledNs = Number.NaN;
  }

  #giveUp(job: Job, t: Nanoseconds): void {
    job.device.account.paint('unknown', job.startNs, Number.isNaN(job.nextNs) ? t : job.nextNs, null);
    this.#open.delete(job.part);
  }
}
