/** `npm run fix`: runs every fixer there is, then says what `npm run check` still has to look at. */
import { CHECKS } from './checks.mjs';
import { ensureModules, launch, needProgram, run, say } from './bootstrap.mjs';

await launch(async () => {
  await ensureModules();
  let failed = 0;
  for (const { name, fixer } of CHECKS) {
    if (!fixer) continue;
    const program = fixer[0] === 'cargo' ? needProgram('cargo') : fixer[0];
    const { code, output } = await run(program, fixer.slice(1), { quiet: true });
    say(`  ${code === 0 ? 'done  ' : 'FAILED'} ${name}`);
    if (code === 0) continue;
    failed += 1;
    say(output.trimEnd());
  }
  say('  the rest is seen by: npm run check');
  return failed === 0 ? 0 : 1;
});
