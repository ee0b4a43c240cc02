/** The checks and their cures as data: `npm run check` runs them, `npm run fix` runs the cures that are programs. */
import { NODE } from './bootstrap.mjs';

const CARGO = 'cargo';
const manifest = ['--manifest-path', 'native/Cargo.toml'];

/** `fix`: what a person types. `fixer`: what `npm run fix` runs, where a program can mend it. */
export const CHECKS = [
  { name: 'import rules', run: [NODE, 'build/import-rules.mjs'], fix: 'see the line "fix:" above' },
  { name: 'house rules', run: [NODE, 'build/lints.mjs'], fix: 'see the line "fix:" above' },
  {
    name: 'format',
    run: [NODE, 'node_modules/prettier/bin/prettier.cjs', '--check', '--log-level', 'warn', '.'],
    fix: 'npm run fix',
    fixer: [NODE, 'node_modules/prettier/bin/prettier.cjs', '--write', '--log-level', 'warn', '.'],
  },
  {
    name: 'oxlint',
    run: [NODE, 'node_modules/oxlint/bin/oxlint', '--deny-warnings', 'electron', 'renderer', 'test', 'build'],
    fix: 'npm run fix, and by hand what is left',
    fixer: [NODE, 'node_modules/oxlint/bin/oxlint', '--fix', 'electron', 'renderer', 'test', 'build'],
  },
  { name: 'types', run: [NODE, 'node_modules/typescript/bin/tsc', '--noEmit', '-p', 'tsconfig.json'], fix: 'mend the named lines' },
  {
    name: 'screen types',
    run: [
      NODE,
      'node_modules/svelte-check/bin/svelte-check',
      '--tsconfig',
      'renderer/tsconfig.json',
      '--fail-on-warnings',
      '--output',
      'human',
    ],
    fix: 'mend the named lines',
  },
  {
    name: 'cargo fmt',
    run: [CARGO, 'fmt', '--all', ...manifest, '--', '--check'],
    fix: 'npm run fix',
    fixer: [CARGO, 'fmt', '--all', ...manifest],
  },
  {
    name: 'clippy',
    run: [CARGO, 'clippy', '--workspace', '--all-targets', '--locked', '--quiet', ...manifest, '--', '-D', 'warnings'],
    fix: 'mend the named lines (cargo clippy --fix --manifest-path native/Cargo.toml for the simple ones)',
  },
];
