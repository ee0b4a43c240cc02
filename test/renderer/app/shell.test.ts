import { describe, expect, test } from 'vitest';
import type { HostStatus, ProverPhase } from '../../../electron/contract/live.ts';
import { resolveScheduler } from '../../../electron/contract/scheduler.ts';
import { computeConditions } from '../../../renderer/app/conditions.ts';
import { computeStanding } from '../../../renderer/app/next-action.ts';
import { parseRoute, railOf } from '../../../renderer/app/routes.ts';
import { createDemoRun, DEMO_MACHINE } from '../../support/demo-run.ts';

const demo = createDemoRun({ proofs: 6 });
function statusWith(change: (status: HostStatus) => void = () => {}): HostStatus {
  const status = structuredClone(demo.statusAt(20e9));
  change(status);
  return status;
}
const phase = (name: ProverPhase, more: (status: HostStatus) => void = () => {}) =>
  statusWith((status) => {
    status.prover.phase = name;
    more(status);
  });
const idle = (status: HostStatus) => {
  status.run = null;
  status.queue = { waiting: 0, inProver: 0, held: null };
};
const held = (status: HostStatus) => {
  idle(status);
  status.queue = { waiting: 3, inProver: 0, held: 'stopped by the operator' };
};

describe('the one next action', () => {
  test.each([
    ['connecting', null, 'Connecting', null, []],
    ['idle', phase('absent', idle), 'Idle', 'prove', []],
    ['held', phase('absent', held), 'Held', 'start', ['prove']],
    ['starting', phase('starting'), 'Starting', 'stop', ['prove']],
    ['proving', phase('ready'), 'Proving', 'stop', ['prove', 'switch']],
    ['ready, nothing to do', phase('ready', (status) => (status.queue.inProver = 0)), 'Ready', 'prove', ['switch', 'stop']],
    ['ready and held', phase('ready', held), 'Held', 'start', ['stop']],
    ['draining', phase('draining'), 'Draining', 'start', ['stop_now']],
    ['stopping', phase('stopping'), 'Stopping', null, []],
    ['lost', phase('lost'), 'Prover lost', null, []],
    ['hung', phase('hung'), 'Not answering', 'stop_now', []],
    ['stuck', phase('stuck'), 'Stuck', null, []],
    ['crash loop', phase('crash_loop'), 'Held after crashes', 'start', []],
    ['read-only', statusWith((status) => (status.readOnly = { code: 'read_only', message: 'x' })), 'History only', null, []],
  ] as const)('%s', (_, status, word, primary, others) => {
    const standing = computeStanding(status);
    expect([standing.word, standing.primary?.id ?? null, standing.others.map((action) => action.id)]).toEqual([word, primary, [...others]]);
  });

  test('while a switch waits, stop is next and no second switch is offered', () => {
    const standing = computeStanding(
      statusWith((status) => (status.switching = { scheduler: resolveScheduler({}, DEMO_MACHINE), backend: 'cpu', restarts: false })),
    );
    expect([standing.word, standing.primary?.id, standing.others.map((action) => action.id)]).toEqual(['Switching', 'stop', ['prove']]);
  });
});

describe('conditions', () => {
  const of = (status: HostStatus | null, more: Partial<Parameters<typeof computeConditions>[0]> = {}) =>
    computeConditions({ connection: 'open', tries: 0, lastMessageMs: 0, status, dismissed: new Set(), ...more });

  test('a healthy run has none', () => expect(of(statusWith())).toEqual([]));

  test.each(['starting', 'draining', 'stopping', 'lost', 'hung', 'stuck', 'crash_loop'] as const)(
    '%s says what happens to the proofs',
    (name) => {
      const [condition] = of(phase(name));
      expect(condition!.text).toMatch(/proof/i);
    },
  );

  test('a lost connection comes first, and says that the run goes on', () => {
    const found = of(phase('draining'), { connection: 'reconnecting', tries: 3, lastMessageMs: 1_796_025_600_000 });
    expect(found.map((condition) => condition.key)).toEqual(['connection', 'prover draining']);
    expect(found[0]!.text).toContain('The run goes on');
    expect(found[0]!.action).toBe('retry');
  });

  test('a switch says what it waits for and whether params stay loaded', () => {
    const make = (restarts: boolean) =>
      of(
        statusWith(
          (status) => (status.switching = { scheduler: resolveScheduler({ preset: 'batch' }, DEMO_MACHINE), backend: 'cpu', restarts }),
        ),
      )[0]!;
    expect(make(false).title).toBe('Switching to Batch on CPU device');
    expect(make(false).text.replaceAll('\u00a0', ' ')).toMatch(/^when 2 proofs in flight are finished; params stay loaded\.$/);
    expect(make(true).text).toContain('restarts and loads its params again');
  });

  test('errors before warnings before the rest; a dismissed notice is gone', () => {
    const status = statusWith((one) => {
      one.ingest = { lagNs: 5e9, lost: 37, unparsed: 1, failing: null };
      one.notices = [
        { id: 1, severity: 'info', code: 'info', message: 'a', wallMs: 0 },
        { id: 2, severity: 'error', code: 'disk_full', message: 'b', wallMs: 0 },
      ];
    });
    expect(of(status).map((condition) => condition.key)).toEqual(['notice 2', 'lag', 'lost', 'notice 1']);
    expect(of(status, { dismissed: new Set([2]) }).map((condition) => condition.key)).toEqual(['lag', 'lost', 'notice 1']);
  });
});

test('addresses', () => {
  expect(['', '/live', '/runs', '/runs/', '/runs/r-1', '/runs/../x', '/nowhere'].map((path) => parseRoute(path).screen)).toEqual([
    'live', 'live', 'runs', 'runs', 'run', 'live', 'live',
  ]); // prettier-ignore
  expect(railOf({ screen: 'run', run: 'r' })).toBe('runs');
});
