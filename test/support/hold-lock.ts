/** Takes a data folder's lock and keeps it until it is killed: `node hold-lock.ts FOLDER`. Says `held` or the error's code. */
import { writeSync } from 'node:fs';
import { lockFolder } from '../../electron/store/lock.ts';

try {
  lockFolder(process.argv[2] ?? '', Date.now());
  writeSync(1, 'held\n');
} catch (error) {
  writeSync(1, `${(error as { code?: string }).code}\n`);
}
setInterval(() => undefined, 60_000);
