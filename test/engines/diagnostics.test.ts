import { describe, expect, it } from 'vitest';
import { describeEnd, describeSpawnError, type EndFacts } from '../../electron/engines/supervision/diagnostics.ts';
import { StderrRing } from '../../electron/engines/supervision/stderr-ring.ts';
import { decodeStat, stateOf } from '../../electron/engines/supervision/proc.ts';

const facts = (some: Partial<EndFacts>): EndFacts => ({ exit: null, signal: null, asked: false, sentByUs: null, lastLine: null, ...some });

describe('ends in plain words', () => {
  const table: [Partial<EndFacts>, string, RegExp][] = [
    [{ exit: 0, asked: true }, 'finished', /as asked/],
    [{ exit: 0 }, 'failed', /nobody had asked/],
    [{ exit: 1, lastLine: 'disk on fire' }, 'failed', /code 1.*disk on fire/],
    [{ exit: 2 }, 'refused', /arguments/],
    [{ exit: 3, lastLine: 'params' }, 'refused', /refused to start.*params/],
    [{ exit: 5 }, 'deadline', /deadline/],
    [{ exit: 101 }, 'panicked', /fault of its own/],
    [{ signal: 'SIGKILL' }, 'killed', /signal 9, not by us: killed by someone else \(kernel out-of-memory likely\)/],
    [{ signal: 'SIGKILL', sentByUs: 'SIGKILL' }, 'killed_by_us', /sent by Interlock/],
    [{ signal: 'SIGKILL', sentByUs: 'SIGTERM' }, 'killed', /someone else/],
    [{ signal: 'SIGSEGV' }, 'crashed', /signal 11/],
    [{ signal: 'SIGTERM' }, 'killed', /someone else/],
    [{}, 'gone', /not known/],
    [{ byeExit: 0, asked: true }, 'finished', /as asked/],
  ];
  it.each(table)('%j is %s', (some, reason, message) => {
    const end = describeEnd(facts(some));
    expect(end.reason).toBe(reason);
    expect(end.message).toMatch(message);
  });

  it('makes what the prover said safe to show', () => {
    expect(describeEnd(facts({ exit: 1, lastLine: 'a\u001b[31mred\u202e' })).message).toContain('a␛[31mred⟨U+202E⟩');
  });

  it('explains why a program could not be started', () => {
    const error = Object.assign(new Error('x'), { code: 'EACCES' });
    expect(describeSpawnError(error, '/p')).toMatch(/may not be executed.*EACCES/);
  });
});

describe('the ring of stderr', () => {
  it('keeps the last bytes and counts all of them', () => {
    const ring = new StderrRing(100);
    for (let line = 0; line < 1000; line++) ring.push(Buffer.from(`line ${line}\n`));
    const tail = ring.read();
    expect(tail.bytes).toBe(8890);
    expect(tail.droppedBytes).toBe(8790);
    expect(tail.text.startsWith('line 9')).toBe(true);
    expect(ring.lastLine()).toBe('line 999');
  });

  it('holds no more than its capacity of one huge chunk', () => {
    const ring = new StderrRing(1000);
    ring.push(Buffer.alloc(1_000_000, 'x'));
    ring.push(Buffer.from('\nlast\n'));
    expect(ring.read().text).toBe('last\n');
  });
});

describe('/proc', () => {
  const stat = '42 (a b) c) ( Z 1 42 42 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 98765 0 0'.replace('( Z', 'Z');

  it('finds the fields after the last bracket of the name', () => {
    expect(decodeStat(stat)).toEqual({ state: 'Z', parent: 1, group: 42, startTicks: '98765' });
  });

  it('calls zombies and recycled pids dead', () => {
    const read = (state: string) => () => ({ state, parent: 1, group: 1, startTicks: '7' });
    expect(stateOf({ pid: 1, startTicks: '7' }, read('S'))).toBe('S');
    expect(stateOf({ pid: 1, startTicks: '7' }, read('D'))).toBe('D');
    expect(stateOf({ pid: 1, startTicks: '7' }, read('Z'))).toBeNull();
    expect(stateOf({ pid: 1, startTicks: '8' }, read('S'))).toBeNull();
    expect(stateOf({ pid: 1, startTicks: '8' }, () => null)).toBeNull();
  });
});
