/**
 * What a disk may hold after a power cut. Before each operation of a recording the power may go; then of every file
 *
 *   ── all up to its last fsync ──┤── none, a prefix, or any subset of the later writes, torn at 512 bytes ──
 *
 * is there, and of every folder all names up to its last fsync and a prefix of the later changes (so a new file or a rename may be
 * gone). Files are told apart by inode, not by name: a rename keeps what was written. Deterministic by seed.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Op } from './recording.ts';

type Change = { offset: number; data: Buffer } | { length: number };

interface Inode {
  durable: Buffer;
  pending: Change[];
}

type NameChange = { name: string; inode: Inode | null };

interface Folder {
  durable: Map<string, Inode>;
  now: Map<string, Inode>;
  pending: NameChange[][];
}

const SECTOR = 512;

/** Small, fast, seedable (mulberry32). */
export function makeRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export class Disk {
  readonly #folders = new Map<string, Folder>();

  apply(op: Op): void {
    const folder = this.#folder(path.dirname(op.path));
    const name = path.basename(op.path);
    switch (op.kind) {
      case 'create': {
        const inode: Inode = { durable: Buffer.alloc(0), pending: [] };
        this.#rename(folder, [{ name, inode }]);
        break;
      }
      case 'write':
        folder.now.get(name)?.pending.push({ offset: op.offset, data: op.data });
        break;
      case 'truncate':
        folder.now.get(name)?.pending.push({ length: op.length });
        break;
      case 'sync': {
        const inode = folder.now.get(name);
        if (!inode) break;
        inode.durable = inode.pending.reduce(applyChange, inode.durable);
        inode.pending = [];
        break;
      }
      case 'syncFolder': {
        const self = this.#folder(op.path === '' ? '.' : op.path);
        self.durable = new Map(self.now);
        self.pending = [];
        break;
      }
      case 'unlink':
        this.#rename(folder, [{ name, inode: null }]);
        break;
      case 'rename':
      case 'link': {
        const inode = folder.now.get(name);
        if (!inode || path.dirname(op.to) !== path.dirname(op.path)) break;
        const both: NameChange[] = [{ name: path.basename(op.to), inode }];
        if (op.kind === 'rename') both.push({ name, inode: null });
        this.#rename(folder, both);
        break;
      }
    }
  }

  /** Writes one state that a power cut now may leave into an empty folder. */
  crash(target: string, random: () => number): void {
    for (const [folderName, folder] of this.#folders) {
      const names = new Map(folder.durable);
      const kept = folder.pending.slice(0, Math.floor(random() * (folder.pending.length + 1)));
      for (const changes of kept) setNames(names, changes);
      const to = path.join(target, folderName);
      mkdirSync(to, { recursive: true, mode: 0o700 });
      for (const [name, inode] of names) writeFileSync(path.join(to, name), tear(inode, random), { mode: 0o600 });
    }
  }

  #folder(name: string): Folder {
    let folder = this.#folders.get(name);
    if (!folder) this.#folders.set(name, (folder = { durable: new Map(), now: new Map(), pending: [] }));
    return folder;
  }

  #rename(folder: Folder, changes: NameChange[]): void {
    setNames(folder.now, changes);
    folder.pending.push(changes);
  }
}

function setNames(names: Map<string, Inode>, changes: NameChange[]): void {
  for (const { name, inode } of changes) {
    if (inode) names.set(name, inode);
    else names.delete(name);
  }
}

function tear(inode: Inode, random: () => number): Buffer {
  const { pending, durable } = inode;
  if (pending.length === 0) return durable;
  const way = Math.floor(random() * 4);
  if (way === 0) return durable;
  if (way === 1) return pending.slice(0, Math.floor(random() * (pending.length + 1))).reduce(applyChange, durable);
  // Any subset; in the last way single sectors of a write may be missing as well.
  return pending.filter(() => random() < 0.5).flatMap((change) => (way === 3 ? tearChange(change, random) : [change])).reduce(applyChange, durable); // prettier-ignore
}

function tearChange(change: Change, random: () => number): Change[] {
  if ('length' in change) return [change];
  const parts: Change[] = [];
  for (let from = 0; from < change.data.length;) {
    const to = Math.min(change.data.length, from + SECTOR - ((change.offset + from) % SECTOR));
    if (random() < 0.7) parts.push({ offset: change.offset + from, data: change.data.subarray(from, to) });
    from = to;
  }
  return parts;
}

function applyChange(content: Buffer, change: Change): Buffer {
  if ('length' in change) {
    const cut = Buffer.alloc(change.length);
    content.copy(cut, 0, 0, Math.min(change.length, content.length));
    return cut;
  }
  const end = change.offset + change.data.length;
  const next = end > content.length ? Buffer.concat([content, Buffer.alloc(end - content.length)]) : Buffer.from(content);
  change.data.copy(next, change.offset);
  return next;
}
