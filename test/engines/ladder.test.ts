import { describe, expect, it } from 'vitest';
import { Ladder, type LadderHands, type LadderStep } from '../../electron/engines/supervision/ladder.ts';
import { ManualClock } from '../support/manual-clock.ts';

const deadlines = { stopMs: 10_000, termMs: 5_000, killMs: 5_000 };

/** A process that ends at the given rung, or never. */
function stand(endsAt: 'drain' | 'stop' | 'term' | 'kill' | 'never', options: { state?: string; noSocket?: boolean } = {}) {
  const clock = new ManualClock();
  const done: string[] = [];
  let alive = true;
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const at = (rung: string) => {
    done.push(rung);
    if (rung === endsAt) {
      alive = false;
      end();
    }
  };
  const hands: LadderHands = {
    command: (command) => {
      if (options.noSocket) return Promise.reject(new Error('no socket'));
      at(command);
      return Promise.resolve();
    },
    signal: (signal) => {
      at(signal === 'SIGTERM' ? 'term' : 'kill');
      return true;
    },
    state: () => (alive ? (options.state ?? 'S') : null),
    ended,
  };
  const heard: LadderStep[] = [];
  const ladder = new Ladder(hands, clock, deadlines, (step) => heard.push(step));
  return { clock, ladder, done, heard };
}

const summary = (steps: LadderStep[]) => steps.map((step) => `${step.rung} ${step.result} ${Math.round(step.waitedNs / 1e9)} s`);

describe('the way down', () => {
  it('stops at the first rung that works', async () => {
    const { ladder, heard } = stand('drain');
    expect(summary(await ladder.descend('drain', 600_000))).toEqual(['drain ended 0 s']);
    expect(heard).toHaveLength(1);
  });

  it('goes rung by rung, each with its own deadline, each recorded', async () => {
    const { ladder, clock, done } = stand('kill');
    const steps = ladder.descend('drain', 60_000);
    await clock.advance(120_000);
    expect(summary(await steps)).toEqual(['drain timed_out 60 s', 'stop timed_out 10 s', 'term timed_out 5 s', 'kill ended 0 s']);
    expect(done).toEqual(['drain', 'stop', 'term', 'kill']);
  });

  it('calls one that outlives KILL stuck, and says in state D that a reboot is needed', async () => {
    const { ladder, clock } = stand('never', { state: 'D' });
    const steps = ladder.descend('now', 0);
    await clock.advance(60_000);
    const last = (await steps).at(-1);
    expect(last).toMatchObject({ rung: 'kill', result: 'stuck' });
    expect(last?.message).toMatch(/stuck in the kernel.*reboot/);
  });

  it('passes over commands that cannot be given', async () => {
    const { ladder, clock } = stand('term', { noSocket: true });
    const steps = ladder.descend('hung', 0);
    await clock.advance(10_000);
    expect(summary(await steps)).toEqual(['stop skipped 0 s', 'term ended 0 s']);
  });

  it('is hurried by a second call, from the drain on to the stop', async () => {
    const { ladder, clock } = stand('stop');
    const steps = ladder.descend('drain', 600_000);
    await clock.advance(1_000);
    void ladder.descend('now', 0);
    await clock.advance(1_000);
    expect(summary(await steps)).toEqual(['drain hurried 1 s', 'stop ended 0 s']);
  });

  it('is never slowed by a second call', async () => {
    const { ladder, clock, done } = stand('kill');
    const steps = ladder.descend('now', 0);
    await clock.advance(1_000);
    void ladder.descend('drain', 600_000);
    await clock.advance(30_000);
    await steps;
    expect(done).toEqual(['stop', 'term', 'kill']);
  });
});
