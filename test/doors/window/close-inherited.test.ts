/** A host that a window started keeps none of the window’s descriptors. */
import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const PRELUDE = path.resolve(import.meta.dirname, '../../../electron/doors/window/close-inherited.ts');
const SHOW =
  "const fs = require('fs'); console.log(fs.readdirSync('/proc/self/fd').map((fd) => { try { return fs.readlinkSync('/proc/self/fd/' + fd); } catch { return ''; } }).join(' '))";

/** What a child has open that was handed to it as descriptors 3 and 4. */
function openIn(prelude: string[], descriptors: string): Promise<string> {
  const file = openSync('/etc/hostname', 'r');
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [...prelude, '-e', SHOW], {
      stdio: ['ignore', 'pipe', 'inherit', file, file],
      env: { ...process.env, INTERLOCK_INHERITED_DESCRIPTORS: descriptors },
    });
    let text = '';
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    child.on('close', () => {
      closeSync(file);
      resolve(text);
    });
  });
}

test('inherited descriptors are closed', async () => {
  expect(await openIn(['--import', PRELUDE], '3,4,0,x,999')).not.toContain('/etc/hostname');
});
test('… and are there without it', async () => expect(await openIn([], '3,4')).toContain('/etc/hostname'));
