/** What the host notes of the stretches in which it keeps proofs back. */
import path from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, describe, expect, it } from 'vitest';
import { readBootId } from '../../electron/engines/supervision/proc.ts';
import { HoldNotes } from '../../electron/host/hold-notes.ts';
import type { HoldStart, WaitingProof } from '../../electron/store/types.ts';
import { until } from '../support/host-process.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { closeAll, hostWith } from './host-fixture.ts';

afterEach(closeAll);

interface Row {
  run: string | null;
  boot_id: string;
  from_ns: string;
  to_ns: string | null;
  reason: string;
}

function holdsOf(folder: string): Row[] {
  const db = new Database(path.join(folder, 'history.sqlite'), { readonly: true });
  const rows = db.prepare('SELECT run, boot_id, from_ns, to_ns, reason FROM hold ORDER BY id').all() as Row[];
  db.close();
  return rows;
}

function notesWith(hold: { is: string | null }, next: { is: boolean } = { is: false }) {
  const clock = new ManualClock();
  const waiting: string[] = [];
  const told: (HoldStart | { id: number; toNs: string })[] = [];
  const notes = new HoldNotes({
    clock,
    bootId: 'boot-1',
    hold: () => hold.is,
    plan: { get next() { return next.is ? ({} as never) : null; }, mayGo: () => false },
    store: {
      access: { readOnly: null },
      takeWaiting: (limit) => Promise.resolve(waiting.slice(0, limit).map((proof) => ({ proof }) as WaitingProof)),
      beginHold: (start) => Promise.resolve(told.push(start)),
      endHold: (id, toNs) => Promise.resolve(void told.push({ id, toNs })),
    },
    onError: (error) => { throw error; },
  }); // prettier-ignore
  return { clock, waiting, told, notes };
}

describe('notes', () => {
  it('begin with the first proof that waits under a hold, and end with the hold', async () => {
    const hold = { is: null as string | null };
    const { clock, waiting, told, notes } = notesWith(hold);
    notes.look();
    hold.is = 'stopped';
    notes.look();
    await clock.advance(5);
    expect(told).toEqual([]);
    waiting.push('p1');
    notes.look();
    await clock.advance(7);
    notes.look();
    hold.is = null;
    notes.look();
    await notes.idle();
    expect(told).toEqual([
      { bootId: 'boot-1', fromNs: '1005000000', reason: 'held' },
      { id: 1, toNs: '1012000000' },
    ]);
  });

  it('end when the last proof is withdrawn, and when the host closes', async () => {
    const { clock, waiting, told, notes } = notesWith({ is: 'stopped' });
    waiting.push('p1');
    notes.look();
    await clock.advance(1);
    waiting.pop();
    notes.look();
    await clock.advance(1);
    waiting.push('p2');
    notes.look();
    await clock.advance(1);
    await notes.close();
    notes.look();
    expect(told.map((entry) => ('toNs' in entry ? entry.toNs : entry.fromNs))).toEqual([
      '1000000000',
      '1001000000',
      '1002000000',
      '1003000000',
    ]);
  });

  it('tell a switch that keeps proofs back', async () => {
    const next = { is: true };
    const { clock, waiting, told, notes } = notesWith({ is: null }, next);
    waiting.push('p1');
    notes.look();
    await clock.advance(3);
    next.is = false;
    notes.look();
    await notes.idle();
    expect(told).toEqual([
      { bootId: 'boot-1', fromNs: '1000000000', reason: 'switch' },
      { id: 1, toNs: '1003000000' },
    ]);
  });
});

describe('a host', () => {
  it('notes a stop with proofs waiting, and its end', async () => {
    const t = await hostWith({ partitionMs: 20 });
    await t.untilEnded((await t.prove()).proofs);
    await t.client.stop({ how: 'drain' });
    const { proofs } = await t.prove();
    await until('noted', () => Promise.resolve(holdsOf(t.dataFolder).length === 1));
    await t.client.start({});
    await t.untilEnded(proofs);
    await t.close();
    const [row] = holdsOf(t.dataFolder);
    expect(row).toMatchObject({ run: null, boot_id: readBootId(), reason: 'held' });
    expect(BigInt(row?.to_ns ?? '0') > BigInt(row?.from_ns ?? '0')).toBe(true);
  });

  it('closes what an earlier host left open', async () => {
    const t = await hostWith({});
    const { dataFolder } = t;
    await t.close();
    const db = new Database(path.join(dataFolder, 'history.sqlite'));
    const now = process.hrtime.bigint();
    const insert = db.prepare('INSERT INTO hold (boot_id, from_ns, reason) VALUES (?, ?, ?)');
    insert.run(readBootId(), String(now - 1_000_000n), 'held');
    insert.run('another-boot', '9007199254740993', 'held');
    db.close();
    await (await hostWith({}, { dataFolder })).close();
    const [here, there] = holdsOf(dataFolder);
    expect(BigInt(here?.to_ns ?? '0') >= now).toBe(true);
    expect(there?.to_ns).toBe('9007199254740993');
  });
});
