/** A log of the cuzk daemon as long as asked for: one recorded life again and again, with other job ids and later stamps. */
import { readFileSync } from 'node:fs';

const LIFE_MS = 300_000;

export function makeLongLog(bytes: number): Buffer {
  const text = readFileSync(new URL('../fixtures/cuzk/gw2a.log', import.meta.url), 'utf8');
  const cutAt = text.indexOf('\n', text.indexOf('status HTTP server listening')) + 1;
  const body = text.slice(cutAt);
  const pieces = [Buffer.from(text.slice(0, cutAt))];
  for (let round = 0, made = cutAt; made < bytes; round++) {
    const piece = Buffer.from(shift(body, round));
    pieces.push(piece);
    made += piece.length;
  }
  return Buffer.concat(pieces);
}

/** `round` lives later, of another miner. */
function shift(body: string, round: number): string {
  const later = (stamp: string) => new Date(Date.parse(`${stamp.slice(0, 23)}Z`) + round * LIFE_MS).toISOString().slice(0, 23);
  return body
    .replace(/TIMELINE,(\d+),/g, (_, ms: string) => `TIMELINE,${Number(ms) + round * LIFE_MS},`)
    .replace(/^(\S{26})Z/gm, (_, stamp: string) => `${later(stamp)}${stamp.slice(23)}Z`)
    .replaceAll('porep-1000-', `porep-${1000 + round}-`);
}
