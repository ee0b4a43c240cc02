/** Journals on the machine's file system, for formats/journal/tail.ts. */
import { closeSync, fstatSync, openSync, readSync, statSync, watch } from 'node:fs';
import type { JournalFiles, OpenJournal } from '../formats/journal/tail.ts';

export const journalFiles: JournalFiles = {
  open(path: string): OpenJournal | null {
    let descriptor: number;
    try {
      descriptor = openSync(path, 'r');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
    const stats = fstatSync(descriptor);
    return {
      identity: `${stats.dev}:${stats.ino}`,
      size: () => fstatSync(descriptor).size,
      read: (buffer, position) => readSync(descriptor, buffer, 0, buffer.length, position),
      close: () => closeSync(descriptor),
    };
  },
  identify(path: string): string | null {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats ? `${stats.dev}:${stats.ino}` : null;
  },
  watch(path: string, changed: () => void) {
    try {
      const watcher = watch(path, { persistent: false }, () => changed());
      // Out of watches, or the file is gone: the poll goes on.
      watcher.on('error', () => watcher.close());
      return watcher;
    } catch {
      return null;
    }
  },
};
