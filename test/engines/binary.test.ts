import { chmodSync, chownSync, cpSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { binaryCandidates, binaryFaults, findBinary } from '../../electron/engines/builtin/binary.ts';
import { makeTempFolder } from '../support/fake-prover.ts';

let folder: string;
let good: string;

beforeEach(() => {
  folder = realpathSync(makeTempFolder('binary'));
  good = path.join(folder, 'interlock-prover');
  cpSync('/bin/true', good, { dereference: true });
  chmodSync(good, 0o755);
});

describe('a prover binary is run only if nobody else could change it', () => {
  it('takes a regular file of ours in folders of ours', () => {
    expect(binaryFaults(good)).toEqual([]);
  });

  const set = (mode: number, file: string) => () => chmodSync(file, mode);
  const table: [string, () => string, RegExp][] = [
    ['a relative path', () => 'native/target/release/interlock-prover', /not absolute/],
    ['a bare name, as PATH would find it', () => 'interlock-prover', /not absolute/],
    ['a path with ..', () => `${folder}/x/../interlock-prover`, /plain form/],
    ['a doubled slash', () => good.replace('/interlock-prover', '//interlock-prover'), /plain form/],
    ['a NUL', () => `${good}\0`, /NUL/],
    ['a file that is not there', () => path.join(folder, 'absent'), /does not exist/],
    ['a folder', () => folder, /is a folder/],
    ['a symbolic link', () => (symlinkSync(good, path.join(folder, 'link')), path.join(folder, 'link')), /symbolic link/],
    [
      'a path through a linked folder',
      () => {
        mkdirSync(path.join(folder, 'real'));
        cpSync(good, path.join(folder, 'real', 'p'));
        symlinkSync(path.join(folder, 'real'), path.join(folder, 'linked'));
        return path.join(folder, 'linked', 'p');
      },
      /symbolic link/,
    ],
    ['a file that others may write to', () => (set(0o757, good)(), good), /others may write to it/],
    ['a file that a group may write to', () => (set(0o775, good)(), good), /others may write to it/],
    ['a setuid file', () => (set(0o4755, good)(), good), /setuid/],
    ['a file without the right to execute', () => (set(0o644, good)(), good), /may not be executed/],
    ['a folder above it that others may write to', () => (set(0o777, folder)(), good), /write to its folder/],
  ];
  it.each(table)('refuses %s', (_name, make, reason) => {
    expect(binaryFaults(make()).join('; ')).toMatch(reason);
  });

  it.skipIf(process.getuid?.() !== 0)('refuses a file and a folder of another user (needs root)', () => {
    chownSync(good, 12345, 12345);
    expect(binaryFaults(good).join()).toMatch(/belongs to another user/);
    chownSync(good, 0, 0);
    chownSync(folder, 12345, 12345);
    expect(binaryFaults(good).join()).toMatch(/folder .* belongs to another user/);
  });

  it('names every place and every reason when none can be run', () => {
    chmodSync(good, 0o666);
    expect(() => findBinary([good, '/nowhere/x'])).toThrow(/others may write.*may not be executed.*nowhere\/x: it does not exist/s);
  });

  it('looks at the override alone where there is one, and never at PATH', () => {
    const facts = { override: '/a/b', resourcesFolder: '/r', checkout: '/c' };
    expect(binaryCandidates(facts)).toEqual(['/a/b']);
    expect(binaryCandidates({ ...facts, override: null })).toEqual(['/r/interlock-prover', '/c/native/target/release/interlock-prover']);
    const planted = path.join(folder, 'planted');
    mkdirSync(planted);
    writeFileSync(path.join(planted, 'interlock-prover'), '#!/bin/sh\nexit 0\n', { mode: 0o755 });
    const before = process.env.PATH;
    process.env.PATH = `${planted}:${before}`;
    try {
      expect(() => findBinary(binaryCandidates({ override: 'interlock-prover', resourcesFolder: null, checkout: null }))).toThrow(
        /not absolute/,
      );
    } finally {
      process.env.PATH = before;
    }
  });
});
