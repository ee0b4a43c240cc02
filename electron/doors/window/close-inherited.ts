/**
 * Loaded by the host before anything else when a window started it (`node --import`). Chromium opens sockets without close-on-exec and
 * counts on closing them itself in its own children; in ours they would stay open: the display’s connection, a debugger’s port. The window
 * says which of its descriptors are of that kind; here they still have the same numbers, and are closed.
 */
import { closeSync } from 'node:fs';

const VARIABLE = 'INTERLOCK_INHERITED_DESCRIPTORS';

for (const text of (process.env[VARIABLE] ?? '').split(',')) {
  const fd = Number(text);
  if (!Number.isInteger(fd) || fd <= 2) continue;
  try {
    closeSync(fd);
  } catch {
    // It was closed before this process began.
  }
}
delete process.env[VARIABLE];
