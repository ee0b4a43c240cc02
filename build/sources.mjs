/**
 * Walks the project's own source files and looks into them just far enough for our lints: no parser, but comments are blanked, so
 * that a rule never fires on prose. Uses only what Node 20 has.
 */
import { readdirSync } from 'node:fs';
import path from 'node:path';

const ROOTS = ['electron', 'renderer', 'native', 'test', 'build', 'vitest.config.ts'];
const SKIPPED = new Set(['node_modules', 'target', 'out', 'fixtures', 'coverage', '.git']);

/** Paths below `root` (posix, relative, sorted) whose names end in one of `endings`. */
export function listSources(root, endings) {
  const found = [];
  const visit = (relative) => {
    let entries;
    try {
      entries = readdirSync(path.join(root, relative), { withFileTypes: true });
    } catch (error) {
      if (error.code === 'ENOTDIR' && endings.some((ending) => relative.endsWith(ending))) found.push(relative);
      return;
    }
    for (const entry of entries) {
      const child = `${relative}/${entry.name}`;
      if (entry.isDirectory()) {
        if (!SKIPPED.has(entry.name)) visit(child);
      } else if (entry.isFile() && endings.some((ending) => entry.name.endsWith(ending))) {
        found.push(child);
      }
    }
  };
  ROOTS.forEach(visit);
  return found.sort();
}

/** 1-based line of an offset. */
export function lineOf(text, offset) {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}

/**
 * The text with comments turned into blanks of the same length (line numbers and offsets stay). Strings and templates are left alone;
 * a regular expression that holds a quote or `//` can confuse it, which costs at most a rule not seen in that line.
 */
export function stripComments(text) {
  const pattern = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|<!--[\s\S]*?-->|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g;
  return text.replace(pattern, (match) => (/^(\/\/|\/\*|<!--)/.test(match) ? match.replace(/[^\n]/g, ' ') : match));
}
