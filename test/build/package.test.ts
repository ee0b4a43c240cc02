/** Packaging as data: fuses against a literal table, the file list, the bundles. The package itself is built where Electron’s archive is. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { builtinModules } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { bundleWindow, transpileHost } from '../../build/bundle.mjs';
import { compareFuses, FUSES, readFuseWire } from '../../build/fuses.mjs';
import { listSources } from '../../build/sources.mjs';

const ROOT = path.resolve(import.meta.dirname, '../..');
const readJson = (file: string) => JSON.parse(readFileSync(path.join(ROOT, file), 'utf8')) as Record<string, never>;

const LITERAL: [string, boolean][] = [
  ['runAsNode', false],
  ['enableCookieEncryption', true],
  ['enableNodeOptionsEnvironmentVariable', false],
  ['enableNodeCliInspectArguments', false],
  ['enableEmbeddedAsarIntegrityValidation', true],
  ['onlyLoadAppFromAsar', true],
  ['loadBrowserProcessSpecificV8Snapshot', false],
  ['grantFileProtocolExtraPrivileges', false],
  ['wasmTrapHandlers', true],
];

function binaryWith(wire: string, version = 1): Buffer {
  return Buffer.concat([
    Buffer.from('ELF…'),
    Buffer.from('dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX'),
    Buffer.from([version, wire.length]),
    Buffer.from(wire),
    Buffer.from('…'),
  ]);
}
const GOOD = LITERAL.map(([, on]) => (on ? '1' : '0')).join('');

describe('fuses', () => {
  test('the table is the decided one', () => expect(FUSES).toEqual(LITERAL));
  test('a right wire has no faults', () => expect(compareFuses(readFuseWire(binaryWith(GOOD)))).toEqual([]));
  test.each(LITERAL.map(([name], index) => [name, index] as const))('%s the other way is named', (name, index) => {
    const wire = GOOD.slice(0, index) + (GOOD[index] === '1' ? '0' : '1') + GOOD.slice(index + 1);
    expect(compareFuses(readFuseWire(binaryWith(wire)))).toEqual([expect.stringContaining(name)]);
  });
  test('an unknown length is a fault', () => {
    expect(compareFuses(readFuseWire(binaryWith(`${GOOD}0`)))[0]).toContain('10 fuses');
    expect(compareFuses(readFuseWire(binaryWith(GOOD.slice(0, 8))))[0]).toContain('8 fuses');
  });
  test('another version, a removed fuse, or no wire at all is an error', () => {
    expect(() => readFuseWire(binaryWith(GOOD, 2))).toThrow('version 2');
    expect(() => readFuseWire(binaryWith(GOOD.replace('1', 'r')))).toThrow('neither on nor off');
    expect(() => readFuseWire(Buffer.from('nothing'))).toThrow('no fuse wire');
  });
  test('electron-builder burns the same ones (the last it does not know; it is on by default, and read back)', () => {
    const burned = readJson('build/electron-builder.json')['electronFuses'] as unknown as Record<string, boolean>;
    expect(Object.entries(burned)).toEqual(LITERAL.filter(([name]) => name !== 'wasmTrapHandlers'));
  });
});

describe('what is packaged', () => {
  test('production packages are exactly those of package.json, and nothing is sent anywhere', () => {
    const config = readJson('build/electron-builder.json');
    const packaged = (config['files'] as unknown as string[]).flatMap((entry) => /^node_modules\/([^/]+)\/\*\*$/.exec(entry)?.[1] ?? []);
    expect(packaged.sort()).toEqual(Object.keys(readJson('package.json')['dependencies'] as unknown as object).sort());
    expect(config['publish']).toBeNull();
    expect(config['asar']).toBe(true);
  });

  test('Electron is of the decided major, pinned exactly', () => {
    const versions = {
      ...(readJson('package.json')['devDependencies'] as unknown as object),
      ...(readJson('package.json')['dependencies'] as unknown as object),
    } as Record<string, string>;
    // Supported as of November 2026; raise it with each release (RELEASE-CHECKLIST.md).
    expect(versions['electron']).toMatch(/^45\./);
    expect(Object.entries(versions).filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
  });
});

describe('bundles', () => {
  test('main and preload are CommonJS that needs Electron and Node alone', async () => {
    const out = mkdtempSync(path.join(os.tmpdir(), 'interlock-bundle-'));
    const { outputs } = (await bundleWindow(out)) as { outputs: Record<string, { imports: { path: string; external?: boolean }[] }> };
    const needed = new Set(
      Object.values(outputs).flatMap((output) =>
        output.imports.filter((found) => found.external).map((found) => found.path.replace(/^node:/, '')),
      ),
    );
    expect([...needed].filter((name) => name !== 'electron' && !builtinModules.includes(name))).toEqual([]);
    const preload = readFileSync(path.join(out, 'preload.cjs'), 'utf8');
    expect([...preload.matchAll(/require\("([^"]+)"\)/g)].map((match) => match[1])).toEqual(['electron']);
    expect(readFileSync(path.join(out, 'main.cjs'), 'utf8')).not.toMatch(/^\s*(?:import|export) /m);
    rmSync(out, { recursive: true });
  });

  test('the host’s modules are all there, and name each other as they are called', async () => {
    const out = mkdtempSync(path.join(os.tmpdir(), 'interlock-app-'));
    const count = await transpileHost(out);
    const expected = listSources(ROOT, ['.ts']).filter((file: string) => /^electron\/(?!main\.ts|preload\.ts|doors\/window\/)/.test(file));
    expect(count).toBe(expected.length);
    const named: string[] = [];
    for (const file of expected) {
      const text = readFileSync(path.join(out, file.replace(/\.ts$/, '.mjs')), 'utf8');
      for (const match of text.matchAll(/(?:from|import|URL)\s*\(?\s*["'](\.{1,2}\/[^"']+)["']/g))
        if (!match[1]?.endsWith('.mjs')) named.push(`${file}: ${match[1]}`);
    }
    expect(named).toEqual([]);
    rmSync(out, { recursive: true });
  });
});
