/**
 * `npm run check`: types, lint, imports, house rules, format, in TypeScript, Svelte and Rust. All of them run; each failure prints what
 * mends it. `npm run check -- WORD` runs those whose name contains WORD.
 */
import { CHECKS } from './checks.mjs';
import { ensureModules, launch, Missing, needProgram, run, say, seconds } from './bootstrap.mjs';

await launch(async (argv) => {
  await ensureModules();
  const chosen = CHECKS.filter(({ name }) => argv.length === 0 || argv.some((word) => name.includes(word)));
  if (chosen.length === 0) throw new Missing(`no check is named like that; there are: ${CHECKS.map(({ name }) => name).join(', ')}`);
  const failed = [];
  const begun = performance.now();
  for (const { name, run: command, fix } of chosen) {
    const started = performance.now();
    const program = command[0] === 'cargo' ? needProgram('cargo') : command[0];
    const { code, output } = await run(program, command.slice(1), { quiet: true });
    say(`  ${code === 0 ? 'ok    ' : 'FAILED'} ${name.padEnd(14)} ${seconds(started)}`);
    if (code === 0) continue;
    failed.push(name);
    say(`${output.trimEnd()}\n  → ${name}: ${fix}\n`);
  }
  say(
    `${chosen.length - failed.length} checks passed, ${failed.length} failed${failed.length > 0 ? ` (${failed.join(', ')})` : ''}, ${seconds(begun)}`,
  );
  return failed.length === 0 ? 0 : 1;
});
