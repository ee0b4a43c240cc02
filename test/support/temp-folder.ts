/** A folder of its own for a test, removed afterwards. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';

export function tempFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'interlock-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
