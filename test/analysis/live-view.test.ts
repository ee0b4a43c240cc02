/** The live view against the report over the same events: any timeline, any order that the journal's promises allow, any horizon. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LiveView } from '../../electron/analysis/live-view.ts';
import { RunReportBuilder, summarizeReport, type RunFacts } from '../../electron/analysis/run-report.ts';
import type { LiveMessage, LiveSnapshot } from '../../electron/contract/live.ts';
import type { EventOf, TimelineEvent } from '../../electron/contract/timeline-events.ts';
import { makeEvent, makeRun, makeState, SCHEDULER } from '../support/journal.ts';
import { parseLanes } from '../support/lanes.ts';

const FACTS: RunFacts = {
  run: 'r1', uid: 'u', state: 'running', endedBy: null, engine: 'builtin', backend: 'cpu', emulate: null, scheduler: SCHEDULER, found: {},
  importedFrom: null, lost: 0,
  unparsed: 0, peakRssBytes: null, processes: [],
}; // prettier-ignore

const newView = () => new LiveView({ run: 'r1', scheduler: { ...SCHEDULER, memory_budget_bytes: 1000 } });

interface Story {
  events: TimelineEvent[];
  marks: { after: number; t: number }[];
}

/** What an event is emitted by: lines of one ring keep their order. */
function ringOf(event: TimelineEvent): string {
  if (event.e.startsWith('kernel_')) return 'device';
  if ('worker' in event) return `w${event.worker}`;
  if ('synthesiser' in event) return `s${event.synthesiser}`;
  return 'dispatch';
}

/** Proofs on two workers and one lock, with random durations; `drop` leaves out lines, `cuts` are where marks promise. */
const story: fc.Arbitrary<Story> = fc
  .record({
    jobs: fc.array(
      fc.record({
        prepare: fc.nat(9),
        device: fc.integer({ min: 1, max: 9 }),
        finish: fc.nat(9),
        worker: fc.nat(1),
        kernels: fc.integer({ min: 1, max: 3 }),
      }),
      { minLength: 1, maxLength: 14 },
    ),
    perProof: fc.integer({ min: 1, max: 4 }),
    drop: fc.array(fc.nat(200), { maxLength: 3 }),
    cuts: fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 12 }),
    order: fc.array(fc.nat(100), { minLength: 8, maxLength: 8 }),
    scale: fc.constantFrom(1, 1e9),
  })
  .map(({ jobs, perProof, drop, cuts, order, scale }) => {
    const events: TimelineEvent[] = [];
    const add: (event: TimelineEvent) => void = (event) => void events.push(event);
    const workerFree = [0, 0];
    let lockFree = 0;
    jobs.forEach((job, index) => {
      const proof = `p${Math.floor(index / perProof) + 1}`;
      const key = { proof, partition: index % perProof, worker: job.worker };
      const begin = workerFree[job.worker] ?? 0;
      if (index % perProof === 0) add(makeEvent('proof_accepted', begin, 0, { proof, partitions: perProof }));
      add(makeEvent('queued', begin, 0, { proof, partition: key.partition }));
      add(makeEvent('picked_up', begin, 0, key));
      add(makeEvent('prepare_started', begin, 0, key));
      const prepared = begin + job.prepare;
      add(makeEvent('prepare_ended', prepared, 0, key));
      add(makeEvent('lock_asked', prepared, 0, key));
      const granted = Math.max(prepared, lockFree);
      add(makeEvent('lock_granted', granted, 0, key));
      const released = granted + job.device;
      for (let k = 0; k < job.kernels; k++) {
        const from = granted + Math.floor((job.device * k) / job.kernels);
        add(makeEvent('kernel_started', from, 0, key));
        add(makeEvent('kernel_ended', granted + Math.floor((job.device * (k + 1)) / job.kernels), 0, key));
      }
      add(makeEvent('lock_released', released, 0, key));
      lockFree = released;
      const end = released + job.finish;
      add(makeEvent('finish_started', released, 0, key));
      add(makeEvent('finish_ended', end, 0, key));
      add(makeEvent('put_down', end, 0, key));
      workerFree[job.worker] = end;
      add(makeEvent('partition_ended', end, 0, { proof, partition: key.partition }));
      if (index % perProof === perProof - 1) add(makeEvent('proof_ended', end, 0, { proof }));
    });
    const kept = events.filter((_, index) => !drop.includes(index));
    const times = [...new Set(cuts), 100_000].sort((a, b) => a - b);
    const out: TimelineEvent[] = [makeEvent('hello', 0, 0), makeEvent('run_started', 0, 1)];
    const marks: Story['marks'] = [];
    let from = 0;
    for (const to of times) {
      // Within a stretch whole rings come one after another, whatever their stamps.
      const part = kept.filter((event) => event.t >= from && event.t < to);
      const rings = [...new Set(part.map(ringOf))].sort((a, b) => rankOf(a, order) - rankOf(b, order));
      for (const ring of rings) out.push(...part.filter((event) => ringOf(event) === ring).sort((a, b) => a.t - b.t));
      marks.push({ after: out.length, t: Math.min(to, lockFree + 50) });
      from = to;
    }
    out.forEach((event, index) => {
      event.seq = index;
      event.t *= scale;
    });
    return { events: out, marks: marks.map(({ after, t }) => ({ after, t: t * scale })) };
  });

function rankOf(ring: string, order: number[]): number {
  let sum = 0;
  for (const char of ring) sum += char.charCodeAt(0);
  return order[sum % order.length] ?? 0;
}

test('figures at every mark equal those of the report over the same prefix', () => {
  fc.assert(
    fc.property(story, ({ events, marks }) => {
      const view = newView();
      view.beginProcess(events[0] as EventOf<'hello'>, 0);
      let fed = 0;
      marks.forEach(({ after, t }, turn) => {
        for (; fed < after; fed++) view.take(events[fed] as TimelineEvent);
        view.takeMark({ e: 'mark', t, upto: after - 1 });
        if (turn % 2 === 0) view.takeBatch(t, false);
        const builder = new RunReportBuilder();
        builder.beginProcess(events[0] as EventOf<'hello'>, 0);
        for (const event of events.slice(0, after)) builder.take(event);
        const report = builder.build(FACTS, t);
        const figures = view.figures();
        expect(figures.run).toEqual(report.devices);
        expect(figures.sPerProof).toEqual(report.s_per_proof_detail);
        expect(figures.latency.medianS ?? null).toEqual(report.latency_s);
      });
    }),
    { numRuns: 400 },
  );
});

/** What a client makes of a snapshot and batches. */
function applyBatch(view: LiveSnapshot, batch: Extract<LiveMessage, { kind: 'batch' }>): LiveSnapshot {
  const spans = new Map(view.spans.map((span) => [span.id, span]));
  for (const span of batch.spans) spans.set(span.id, span);
  const proofs = new Map(view.proofs.map((proof) => [`${proof.proof} ${proof.attempt}`, proof]));
  for (const proof of batch.proofs) proofs.set(`${proof.proof} ${proof.attempt}`, proof);
  expect(batch.batch).toBe(view.batch + 1);
  return {
    ...view,
    batch: batch.batch,
    horizonNs: batch.horizonNs,
    endedNs: batch.endedNs,
    spans: [...spans.values()],
    lanes: [...view.lanes, ...batch.lanes],
    proofs: [...proofs.values()],
  };
}

test('a snapshot and the batches after it make the next snapshot', () => {
  fc.assert(
    fc.property(story, ({ events, marks }) => {
      const view = newView();
      view.beginProcess(events[0] as EventOf<'hello'>, 0);
      let client = view.snapshot(0);
      let fed = 0;
      for (const { after, t } of marks) {
        for (; fed < after; fed++) view.take(events[fed] as TimelineEvent);
        view.takeMark({ e: 'mark', t, upto: after - 1 });
        const batch = view.takeBatch(t, true);
        if (batch) client = applyBatch(client, batch);
      }
      const last = view.snapshot(client.horizonNs);
      const since = last.horizonNs - 90e9;
      const byId = (a: { id: number }, b: { id: number }) => a.id - b.id;
      expect(client.spans.filter((span) => span.endNs === null || span.endNs >= since).sort(byId)).toEqual(last.spans.sort(byId));
      expect(client.lanes.map((lane) => lane.key).sort()).toEqual(last.lanes.map((lane) => lane.key).sort());
      for (const proof of last.proofs) {
        // An estimate runs down with the horizon; a proof that did not change is not sent again for it.
        expect({ ...client.proofs.find((mine) => mine.proof === proof.proof), etaS: null }).toEqual({ ...proof, etaS: null });
      }
    }),
    { numRuns: 200 },
  );
});

test('lanes, states and counts of a small run', () => {
  const view = newView();
  const lines = makeRun({ proofs: 2, partitions: 2, open: true });
  const [hello] = lines.events as [EventOf<'hello'>];
  view.beginProcess(hello, 10e6);
  for (const event of lines.events) view.take(event);
  view.takeState(
    makeState(700e6, 100, {
      workers: [{ worker: 0, device: 'cpu0', is: 'free', proof: null, attempt: null, partition: null, since: null, progress: 1 }],
    }),
  );
  const snapshot = view.snapshot(800e6);
  expect(snapshot.lanes.map((lane) => lane.key)).toEqual(['kernel:cpu0:0', 'lock:cpu0:0', 'worker:cpu0:0', 'worker:cpu0:1', 'synthesis:0']);
  expect(snapshot.horizonNs).toBe(690e6);
  expect(snapshot.proofs.map((proof) => [proof.proof, proof.state, proof.partitions])).toEqual([
    ['p1', 'valid', ['valid', 'valid']],
    ['p2', 'valid', ['valid', 'valid']],
  ]);
  expect(snapshot.figures.counts).toEqual({ valid: 2, invalid: 0, failed: 0, running: 0 });
  expect(snapshot.figures.memory).toMatchObject({ rssBytes: 1000, peakRssBytes: 2000, budgetBytes: 1000 });
});

test('a partition is where its latest stamp says, whatever the order of the lines', () => {
  const view = newView();
  view.beginProcess(makeEvent('hello', 0, 0), 0);
  view.take(makeEvent('proof_accepted', 0, 1, { partitions: 1 }));
  view.take(makeEvent('picked_up', 8, 2));
  view.take(makeEvent('queued', 5, 3));
  view.take(makeEvent('synthesis_ended', 5, 4));
  expect(view.snapshot(9).proofs[0]?.partitions).toEqual(['prepare']);
  view.take(makeEvent('partition_ended', 20, 5));
  view.take(makeEvent('finish_started', 15, 6));
  expect(view.snapshot(9).proofs[0]?.partitions).toEqual(['valid']);
});

test('a loss is unknown from its first stamp to the next snapshot', () => {
  const view = newView();
  const { events } = parseLanes('p1.0 w0 ppKK!');
  view.beginProcess(events[0] as EventOf<'hello'>, 0);
  for (const event of events) view.take(event);
  view.takeMark({ e: 'mark', t: 5e6, upto: 9 });
  view.takeLoss({ tFrom: 4e6, tTo: 6e6, count: 1, healedT: null, state: null });
  view.takeState(makeState(9e6, 10, { workers: [] }));
  const snapshot = view.snapshot(9e6);
  expect(snapshot.unknown).toContainEqual({ device: null, startNs: 4e6, endNs: 9e6 });
});

test('memory does not grow with the run', () => {
  const view = newView();
  view.beginProcess(makeEvent('hello', 0, 0), 0);
  let seq = 1;
  let sizeAt1000 = 0;
  for (let n = 0; n < 20_000; n++) {
    const t = n * 100e6;
    const key = { proof: `p${n}` };
    for (const [e, dt] of [
      ['proof_accepted', 0],
      ['picked_up', 0],
      ['lock_granted', 10e6],
      ['kernel_started', 10e6],
      ['kernel_ended', 90e6],
      ['lock_released', 90e6],
      ['put_down', 95e6],
      ['proof_ended', 99e6],
    ] as const)
      // prettier-ignore
      view.take(makeEvent(e, t + dt, seq++, key as never));
    if (n % 10 === 0) {
      view.takeMark({ e: 'mark', t, upto: seq });
      view.takeBatch(t, n % 50 === 0);
    }
    if (n === 2_000) sizeAt1000 = JSON.stringify(view.snapshot(t)).length;
  }
  const snapshot = view.snapshot(0);
  expect(snapshot.spans.length).toBeLessThan(3_000);
  expect(snapshot.proofs.length).toBeLessThan(40);
  expect(JSON.stringify(snapshot).length).toBeLessThan(sizeAt1000 * 1.1);
  expect(snapshot.figures.run[0]?.kernel_ns).toBe(19_990 * 80e6);
});

test('a killed process leaves its proofs interrupted, its open spans in no sum, and the next one goes on', () => {
  const events = parseLanes('p1.0 w0 ppLKKff.\np1.1 w1 ..ppwwwLK!').events;
  const second = [makeEvent('hello', 0, 0, { monotonic_ns: '5020000000', process: 'b' }), ...parseLanes('p2.0 w0 LKKKK.').events.slice(2)];
  const builder = new RunReportBuilder();
  builder.beginProcess(events[0] as EventOf<'hello'>, 0);
  for (const event of [...events, makeEvent('proof_accepted', 0, 99, { proof: 'p1' })]) builder.take(event);
  builder.beginProcess(second[0] as EventOf<'hello'>, 0);
  for (const event of second) builder.take(event);
  const report = builder.build({ ...FACTS, state: 'interrupted' }, null);
  // 2 ms of the first process, 4 of the second, whose origin is 20 ms later.
  expect(report.devices[0]).toMatchObject({ kernel_ns: 6e6, wall_ns: 25e6 });
  expect(report.proofs.map((proof) => [proof.id, proof.outcome])).toEqual([['p1', 'interrupted'], ['p2', 'interrupted']]); // prettier-ignore
  expect(report.proofs[0]?.partitions[1]?.stages.lock).toEqual({ start_ns: 7e6, end_ns: null });
  expect(summarizeReport(report)).toMatchObject({ proofs: { valid: 0, interrupted: 2, running: 0 }, kernel_ratio: 6 / 25 });
});
