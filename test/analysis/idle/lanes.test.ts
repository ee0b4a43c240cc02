/** Each row of the table as a picture: the worked lanes of the design, then what goes wrong. Ticks are milliseconds. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { idle, MS, reportOf, shares, stateWith } from '../../support/idle-report.ts';

test('a: one worker, scope job: what a second worker removes is preamble and epilogue', () => {
  const picture = `
    A       a
    A.0 w0  ppppppppppKKKKKKKKKKffffffffff
    A.1 s0  SSSSSSSSSSSSSSSqqqqqqqqqqqqqqqq
    A.1 w0  ..............................K`;
  expect(idle(picture, { scope: 'job', tickNs: 10 * MS })).toEqual({ preamble: 10, kernel: 11, epilogue: 10 });
});

test('b: two workers, scope kernels: the second one prepares beside the first', () => {
  const report = reportOf(
    `
    A       a
    A.0 w0  ppppppKKKKKKKKKKKKffffff............
    A.1 w1  ppppppwwwwwwwwwwwwKKKKKKKKKKKKffffff`,
    { workers: 2, tickNs: 10 * MS },
  );
  const [device] = report.devices;
  expect(device?.windows).toMatchObject({ job: { ns: 360 * MS }, lock: { ns: 240 * MS }, kernel: { ns: 240 * MS } });
  expect(shares(device, 10 * MS)).toEqual({ preamble: 6, kernel: 24, no_work: 6 });
  expect(device?.worker_ns.waiting).toBe(120 * MS);
});

test('c: batch keeps a partition back', () => {
  const picture = `
    A       a
    A.0 s0  SSSSSSSSSShhhhhhhhqq
    A.1 s1  SSSSSSSSSSSSSSSSSSqq
    A.0 w0  ..................KK`;
  expect(idle(picture, { tickNs: 10 * MS })).toEqual({ first_synthesis: 10, dispatch: 8, kernel: 2 });
});

test('d: two devices, one pool: each looks at its own next one', () => {
  const report = reportOf(
    `
    A             a
    B             a
    A.4 w0@gpu0   K
    A.5 s0        .SSSSSSSSSSq
    B.0 s1        .SSSSSSSSSSSSSSq
    A.5 w1@gpu1   ...........KKKKKK
    B.0 w0@gpu0   ...............KK`,
    { devices: ['gpu0', 'gpu1'] },
  );
  expect(shares(report.devices[0])).toEqual({ kernel: 3, cross_sector: 14 });
  expect(shares(report.devices[1])).toEqual({ first_synthesis: 11, kernel: 6 });
});

test("e: the next one's params load in mid-run", () => {
  const picture = `
    A       a
    B       a
    A.0 w0  K
    B.0 s0  .SSSSSSSqqqqq
    load b  .lllllllll
    B.0 w0  ..........K`;
  expect(idle(picture)).toEqual({ kernel: 2, warm_up: 9 });
});

test('f: the next one waited 34 s for its permit: without that it would have been there in time', () => {
  const picture = `
    A       a
    A.0 w0  KKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKK
    A.1 s0  bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSq
    A.1 w0  ................................................................K`;
  const report = reportOf(picture, { from: -34, tickNs: 1e9 });
  expect(shares(report.devices[0], 1e9)).toEqual({ permit: 30, kernel: 1 });
  expect(report.devices[0]?.details.permit).toEqual({ bytes: 30e9, count: 0 });
});

test('g: its synthesis fails, and nothing is left to do', () => {
  const picture = `
    A       a
    A.0 w0  KKKK
    A.3 s0  .SSSSx
    A       .....x
    process r=====e`;
  expect(idle(picture)).toEqual({ kernel: 4, starved: 1, no_work: 1 });
});

test('h: killed, started again, ready later', () => {
  const picture = `
    A       a
    A.0 w0  KKKKKKKKKK
    process r=========!  ===r===e`;
  expect(idle(picture, { tickNs: 10 * MS })).toEqual({ unknown: 10, down: 3, warm_up: 3, no_work: 4 });
});

test('i: what is live is provisional until the next pick-up', () => {
  const picture = `
    A       a
    B       a
    A.8 w0  KKK
    B.0 s0  SSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSS
    A.9 s1  ........SSSSSSSSSSSSSSSSSSSSq
    A.9 w0  ............................K`;
  const live = reportOf(picture, { from: -3, horizon: 20 }).devices[0];
  expect(shares(live)).toEqual({ cross_sector: 20 });
  expect(live).toMatchObject({ provisional_ns: 20 * MS, provisional: { cross_sector: 20 * MS } });
  const final = reportOf(picture, { from: -3 }).devices[0];
  expect(final).toMatchObject({ provisional_ns: 0, provisional: {}, idle_ns: { starved: 25 * MS } });
});

test('j: nobody asked for anything for ten hours', () => {
  const picture = `
    A       a
    A.0 w0  K
    B       .............a
    B.0 s0  .............SSq
    B.0 w0  ...............K`;
  expect(idle(picture, { tickNs: 3000e9 })).toEqual({ kernel: 2, no_work: 12, cross_sector: 2 });
});

test('k: the first one comes from later', () => {
  const picture = `
    A       a
    A.0 s0  SSSSSSSSSSq
    A.1 s1  SSSSSSq
    A.1 w0  ......KK..
    A.0 w0  ..........K`;
  expect(idle(picture, { tickNs: 10 * MS })).toEqual({ first_synthesis: 6, kernel: 3, starved: 2 });
});

test('l: a permit is waited for, but a partition is there and the sole worker finishes', () => {
  const picture = `
    A       a
    A.0 w0  KKfff
    A.1 s0  SSqqq
    A.2 s1  .aaaaaS
    A.1 w0  .....K`;
  expect(idle(picture)).toEqual({ kernel: 3, epilogue: 3, permit: 1 });
});

test('T-a: 0-100 preamble, 2,000 busy, the epilogue while the next one waits, its preamble', () => {
  const picture = `
    A       a
    A.0 w0  pKKKKKKKKKKKKKKKKKKKKfffffffffffffffff
    A.1 s0  SSSSSSSSSSqqqqqqqqqqqqqqqqqqqqqqqqqqqqq
    A.1 w0  ......................................pK`;
  expect(idle(picture, { tickNs: 100 * MS })).toEqual({ preamble: 2, kernel: 21, epilogue: 17 });
});

test('T-b: a free worker would not have helped', () => {
  const picture = `
    A       a
    A.0 w0  pKKKKKKKKKKKKKKKKKKKKfffffffffffffffff
    A.1 s0  SSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSq
    A.1 w0  ..................................................pK`;
  expect(idle(picture, { tickNs: 100 * MS })).toEqual({ preamble: 2, kernel: 21, starved: 29 });
});

test('T-c: waiting for the lock is time of a worker, not of the device', () => {
  const report = reportOf(
    `
    A       a
    A.0 w0  ppKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKK
    A.1 w1  pppwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKKK`,
    { workers: 2, tickNs: 50 * MS },
  );
  expect(shares(report.devices[0])).toEqual({ preamble: 100, kernel: 4000 });
  expect(report.devices[0]?.worker_ns.waiting).toBe(1950 * MS);
});

test('T-d: the first partition of the next sector', () => {
  const picture = `
    A       a
    B       a
    A.9 w0  KKKKKKKKKK
    B.0 s0  ....SSSSSSSSSq
    B.0 w0  .............K`;
  expect(idle(picture, { tickNs: 1000 * MS })).toEqual({ kernel: 11, cross_sector: 3 });
});

test('T-e: three numbers, three names', () => {
  const [device] = reportOf('A a\nA.0 w0 LLLLLLLLLLLKKKKKKKKK', { tickNs: 100 * MS }).devices;
  expect(device?.windows).toMatchObject({ job: { ns: 2000 * MS }, lock: { ns: 2000 * MS }, kernel: { ns: 900 * MS } });
  expect(device).toMatchObject({ legacy_efficiency: 1, legacy_sum: 1 });
});

test('the time in the lock without a kernel is split by what is waited for', () => {
  const [device] = reportOf('A a\nA.0 w0 LCCCCKKBBBMMLK').devices;
  expect(shares(device)).toEqual({ kernel: 3, in_lock: 11 });
  expect(device?.details.in_lock).toEqual({ copy: 4 * MS, barrier: 3 * MS, alloc: 2 * MS, host: 2 * MS });
});

test('P18: params load before the first partition: warm-up, and no part of the steady stretch', () => {
  const report = reportOf(
    `
    A       a
    load a  lllllllll
    A.0 s0  SSq
    A.0 w0  .........KK
    A       ...........v
    B       a
    B.0 w0  ...........KK
    B       .............v
    C       a
    C.0 w0  .............KK
    C       ...............v`,
  );
  expect(shares(report.devices[0])).toEqual({ warm_up: 9, kernel: 6 });
  expect(report.devices[0]?.steady).toMatchObject({ from_ns: 11 * MS, to_ns: 15 * MS, proofs: 2, per_proof: { kernel_ns: 2 * MS } });
  expect(report.devices[0]?.steady?.per_proof.idle_ns.warm_up).toBe(0);
});

test('held: a proof waits in the host that a pause keeps back', () => {
  expect(idle('A a.v\nA.0 w0 KK........\nhold    ....===\nprocess r=========e')).toEqual({ kernel: 2, no_work: 5, held: 3 });
});

test('handoff: the lock is free and the one who waits has not got it yet', () => {
  expect(idle('A a\nA.0 w0 KKff..\nA.1 w1 wwwwKK', { workers: 2 })).toEqual({ kernel: 4, handoff: 2 });
});

test('two workers, scope job: who waits for a lock that is held waits for prepare and finish of the other', () => {
  const picture = `
    A       a
    A.0 w0  ppKKff
    A.1 w1  wwwwwwppKK`;
  expect(idle(picture, { scope: 'job', workers: 2 })).toEqual({ preamble: 4, kernel: 4, epilogue: 2 });
});

test('dispatch: a partition is ready and a worker is free, while another finishes', () => {
  const picture = `
    A       a
    A.0 w0  KKfffff
    A.1 s0  Sqqqq
    A.1 w1  .....K`;
  expect(idle(picture, { workers: 2 })).toEqual({ kernel: 3, dispatch: 3, no_work: 1 });
});

test('fault: every worker is dead; a new one takes the slot', () => {
  expect(idle('A a\nA.0 w0 KKX\nA.1 w1 ......K\nprocess r======e')).toEqual({ kernel: 1, unknown: 2, fault: 4 });
});

test('a short T-b: the picture of the docs', () => {
  const picture = `
    A       a
    A.0 w0  pKKKKKKKKKfffff
    A.1 s0  SSSSSSSSSSSSSSSSSSSSq
    A.1 w0  ....................pK`;
  expect(idle(picture)).toEqual({ preamble: 2, kernel: 10, starved: 10 });
});

test('the docs show the pictures of the tests, and their results', () => {
  const docs = readFileSync(new URL('../../../docs/idle-causes.md', import.meta.url), 'utf8');
  const shown = docs.slice(docs.indexOf('## In pictures')).matchAll(/((?:^ {4}\S.*\n)+)/gm);
  let checked = 0;
  for (const [block] of shown) {
    const results = /  +((?:[a-z_]+ \d+(?:, )?)+)(?: \(.*\))?$/m.exec(block)?.[1];
    // Whole pictures only: those that name their proof and have one device.
    if (!results || !/^ {4}A +a/m.test(block) || block.includes('@')) continue;
    const picture = block.replace(/ {2,}[a-z_]+ \d.*$/gm, '');
    const expected = Object.fromEntries(results.split(', ').map((part) => [part.split(' ')[0], Number(part.split(' ')[1])]));
    const options = { workers: /w1/.test(picture) ? 2 : 1, scope: results.includes('epilogue') ? ('job' as const) : ('kernels' as const) };
    const state = stateWith({ worker: 0, is: 'device', proof: 'A', partition: 0 }, { lock: [{ device: 'cpu0', holder: 0 }] });
    expect(idle(picture, { ...options, state }), block).toEqual(expected);
    checked += 1;
  }
  expect(checked).toBe(7);
});
