/** kill -9 of the host and of the prover at random moments (KILLS=50 for the long form; SEED to replay). */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../support/host-process.ts';
import { killRounds } from './kill-rounds.ts';

const PROVER = path.join(ROOT, 'native/target/release/interlock-prover');
const kills = Number(process.env.KILLS ?? 10);

it.skipIf(!existsSync(PROVER))(
  `${kills} kills at random: no committed event lost or doubled, every proof valid exactly once, nothing left alive (needs the built prover)`,
  async () => {
    const seed = Number(process.env.SEED ?? Date.now() % 100_000);
    const result = await killRounds(kills, seed, (line) => console.log(`[seed ${seed}] ${line}`));
    expect(result.kills.host + result.kills.prover + result.kills.both).toBe(kills);
  },
  120_000 + kills * 30_000,
);
