#!/usr/bin/env node
/**
 * `npx interlock …`: the command line, under the Node that npm brought, in the caller's folder. `prove` and `serve` build what they
 * need first (progress on standard error); everything else runs as it is. Standard output belongs to the command alone.
 */
import path from 'node:path';
import { ensure, handOver, launch, NODE, ROOT, sayOnStandardError } from './bootstrap.mjs';

const NEEDS = { prove: ['prover'], serve: ['prover', 'renderer'] };

await launch(async (argv) => {
  sayOnStandardError();
  const asksOnly = argv.some((argument) => argument === '--help' || argument === '-h');
  await ensure(asksOnly ? [] : (NEEDS[argv[0]] ?? []));
  return handOver(NODE, [path.join(ROOT, 'electron/cli.ts'), ...argv], { cwd: process.cwd() });
});
