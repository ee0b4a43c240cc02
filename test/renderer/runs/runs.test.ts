import { describe, expect, test } from 'vitest';
import type { RunSummary } from '../../../electron/contract/run-report.ts';
import { HostLink } from '../../../renderer/link/host-link.svelte.ts';
import { completenessOf, sortRuns, windowShare } from '../../../renderer/runs/layout.ts';
import { RunsController } from '../../../renderer/runs/runs-controller.svelte.ts';
import { createDemoRun } from '../../support/demo-run.ts';
import { FakeTransport } from '../../support/fake-transport.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const base = createDemoRun({ proofs: 6 }).summaryAt(1e15);
const make = (run: string, more: Partial<RunSummary> = {}): RunSummary => ({ ...base, run, ...more });

describe('the run list', () => {
  test('sorts by any column; what is not known comes last either way', () => {
    const runs = [make('a', { s_per_proof: 9 }), make('b', { s_per_proof: null }), make('c', { s_per_proof: 3 })];
    expect(sortRuns(runs, 's_per_proof', true).map((run) => run.run)).toEqual(['c', 'a', 'b']);
    expect(sortRuns(runs, 's_per_proof', false).map((run) => run.run)).toEqual(['a', 'c', 'b']);
  });

  test('instants beyond 2^53 sort exactly', () => {
    const runs = [make('early', { started_wall_ns: '1796025600000000001' }), make('late', { started_wall_ns: '1796025600000000002' })];
    expect(sortRuns(runs, 'started', false).map((run) => run.run)).toEqual(['late', 'early']);
  });

  test('a window that an imported log has no events for is said to be not recorded, never 0', () => {
    expect(windowShare({ imported_from: 'cuzk.log' }, null)).toBe('not recorded');
    expect(windowShare({ imported_from: null }, null)).toBe('–');
    expect(windowShare({ imported_from: 'cuzk.log' }, 0)).toBe('0.0\u00a0%');
    const runs = [make('a', { scheduler: null }), make('b')];
    expect(sortRuns(runs, 'scheduler', true).map((run) => run.run)).toEqual(['b', 'a']);
    expect(sortRuns(runs, 'scheduler', false).map((run) => run.run)).toEqual(['b', 'a']);
  });

  test('completeness in words', () => {
    expect(completenessOf({ lost: 0, unparsed: 0 })).toBe('complete');
    expect(completenessOf({ lost: 37, unparsed: 1 }).replaceAll('\u00a0', ' ')).toBe('37 events missing, 1 line not understood');
  });

  test('reads the newest page, then older ones from the last run on', async () => {
    const transport = new FakeTransport();
    const controller = new RunsController(new HostLink(transport, new ManualClock()));
    transport.value('list_runs', { runs: [make('r-3'), make('r-2')], more: true });
    await controller.refresh();
    transport.value('list_runs', { runs: [make('r-1')], more: false });
    await controller.loadMore();
    expect(controller.runs.map((run) => run.run)).toEqual(['r-3', 'r-2', 'r-1']);
    expect(controller.more).toBe(false);
    expect(transport.inputsOf('list_runs')).toEqual([{ limit: 100 }, { limit: 100, before: 'r-2' }]);
    controller.sortBy('started');
    expect(controller.ascending).toBe(true);
    controller.sortBy('kernel');
    expect([controller.sortKey, controller.ascending]).toEqual(['kernel', true]);
  });

  test('a failure keeps what was there', async () => {
    const transport = new FakeTransport();
    const controller = new RunsController(new HostLink(transport, new ManualClock()));
    transport.value('list_runs', { runs: [make('r-1')], more: false });
    await controller.refresh();
    transport.fail('list_runs', 'no_host', 'The host does not answer.');
    await controller.refresh();
    expect(controller.failure?.code).toBe('no_host');
    expect(controller.runs).toHaveLength(1);
  });
});
