/** What only a terminal shows: a pseudo-terminal by util-linux's `script`. */
import { spawn, spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { makeTempFolder } from '../support/fake-prover.ts';
import { CLI, testEnvironment, until } from '../support/host-process.ts';

const hasScript = spawnSync('script', ['--version']).status === 0;

test.skipIf(!hasScript)('Enter prints a fresh link, and Ctrl-C ends the host (needs script of util-linux)', async () => {
  const data = makeTempFolder('terminal');
  const command = [process.execPath, CLI, 'serve', '--port', '0', '--data-dir', data].map((word) => `'${word}'`).join(' ');
  const child = spawn('script', ['-qfec', command, '/dev/null'], { env: testEnvironment(), stdio: ['pipe', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const links = () => [...new Set(said.match(/http:\/\/127\.0\.0\.1:\d+\/#code=[\w-]+/g) ?? [])];
  await until('the first link', () => links().length === 1);
  await until('the first words', () => said.includes('History and proofs are in'));
  child.stdin.write('\n');
  await until('a second link', () => links().length === 2);
  child.stdin.write('\u0003');
  await until('its end', () => said.includes('Ended.'));
  child.stdin.end();
  await ended;
  expect(links().map((link) => link.split('#')[0])).toEqual([links()[0]?.split('#')[0], links()[0]?.split('#')[0]]);
});
