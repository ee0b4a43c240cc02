/** After each test file: whatever its folders still hold alive is ended, by its own pid, and the folders go. */
import { rmSync } from 'node:fs';
import { afterAll } from 'vitest';
import { tempFolders } from './fake-prover.ts';
import { processesOf } from './host-process.ts';

afterAll(() => {
  for (const folder of tempFolders.splice(0)) {
    for (const { pid } of processesOf(folder)) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // it ended by itself just now
      }
    }
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
});
