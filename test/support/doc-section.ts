/** Sections of a document that a test writes, so that each number in it comes from a run: between `<!-- NAME -->` and `<!-- end NAME -->`. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './host-process.ts';

export const UPDATES_DOCS = process.env.UPDATE_DOCS === '1';

/** The section's text as it stands. */
export function readSection(file: string, name: string): string {
  return cut(readFileSync(path.join(ROOT, file), 'utf8'), name)[1];
}

/** Writes the section with UPDATE_DOCS=1; else does nothing. */
export function writeSection(file: string, name: string, text: string): void {
  if (!UPDATES_DOCS) return;
  const target = path.join(ROOT, file);
  const [before, , after] = cut(readFileSync(target, 'utf8'), name);
  writeFileSync(target, `${before}${text.trim()}${after}`);
}

function cut(document: string, name: string): [before: string, section: string, after: string] {
  const [begin, end] = [`<!-- ${name} -->\n`, `\n<!-- end ${name} -->`];
  const from = document.indexOf(begin) + begin.length;
  const to = document.indexOf(end, from - 1);
  if (from < begin.length || to < 0) throw new Error(`the document has no section ${name}`);
  return [document.slice(0, from), document.slice(from, to), document.slice(to)];
}

/** A table in Markdown. */
export function markdownTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  return [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

export function percentText(ratio: number): string {
  return `${ratio < 0 ? '−' : '+'}${(100 * Math.abs(ratio)).toFixed(1)} %`;
}
