/**
 * Electron’s fuses as they are burned into the packaged binary, and how they are read back. All nine that Electron 45 knows are set, none
 * is left to a default; a binary with a wire of another length has a fuse that nobody here decided on, and is refused.
 *
 *   node build/fuses.mjs BINARY     reads the wire of a packaged binary and compares it with the table
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** In the order of the wire, version 1. */
export const FUSES = [
  ['runAsNode', false],
  // No cookie is ever set; on Linux encryption would lean on the keyring.
  ['enableCookieEncryption', true],
  ['enableNodeOptionsEnvironmentVariable', false],
  ['enableNodeCliInspectArguments', false],
  // Works on macOS and Windows alone; on Linux the package’s signature and root-owned files take its place.
  ['enableEmbeddedAsarIntegrityValidation', true],
  ['onlyLoadAppFromAsar', true],
  // No snapshot is shipped.
  ['loadBrowserProcessSpecificV8Snapshot', false],
  ['grantFileProtocolExtraPrivileges', false],
  ['wasmTrapHandlers', true],
];

const SENTINEL = 'dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX';
const OFF = 0x30;
const ON = 0x31;

/** The wire of a binary: `[true, false, …]`. Fails where there is none, more than one that differs, or a value that is no switch. */
export function readFuseWire(bytes) {
  const at = bytes.indexOf(SENTINEL, 0, 'latin1');
  if (at === -1) throw new Error('this binary has no fuse wire');
  const version = bytes[at + SENTINEL.length];
  const length = bytes[at + SENTINEL.length + 1];
  if (version !== 1) throw new Error(`the fuse wire has version ${version}, only 1 is understood`);
  return Array.from(bytes.subarray(at + SENTINEL.length + 2, at + SENTINEL.length + 2 + length), (value, index) => {
    if (value !== ON && value !== OFF) throw new Error(`fuse ${index} is neither on nor off (${value})`);
    return value === ON;
  });
}

/** What differs from the table, in words; an unknown length is a difference. */
export function compareFuses(wire) {
  const faults = [];
  if (wire.length !== FUSES.length) faults.push(`the wire has ${wire.length} fuses, the table ${FUSES.length}: decide on the new ones`);
  FUSES.forEach(([name, wanted], index) => {
    if (wire[index] !== undefined && wire[index] !== wanted)
      faults.push(`${name} is ${wire[index] ? 'on' : 'off'}, it must be ${wanted ? 'on' : 'off'}`);
  });
  return faults;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const faults = compareFuses(readFuseWire(readFileSync(process.argv[2])));
  faults.forEach((fault) => console.error(fault));
  if (faults.length > 0) process.exitCode = 1;
  else console.log(`all ${FUSES.length} fuses are as decided`);
}
