/**
 * Small rules of this house that no linter ships: each is a pattern over the comment-free text of certain files, with the places where
 * it is allowed and the way to mend it. A rule is about meaning (time through the clock, one IPC gate, no markup from strings), so the
 * exceptions are listed here and nowhere else.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { lineOf, listSources, stripComments } from './sources.mjs';
import { printViolations } from './import-rules.mjs';

const LONGEST_FILE = 400;

/** `inside`: prefixes the rule looks at; `except`: prefixes it does not. */
export const LINTS = [
  {
    name: 'ipc-gate',
    pattern: /\bipcMain\s*\.\s*(?:on|once|handle|handleOnce|addListener)\b/g,
    inside: ['electron/', 'renderer/'],
    except: ['electron/doors/window/ipc-gate.ts'],
    rule: 'ipcMain listeners are registered by the gate alone',
    fix: 'add the channel to electron/doors/window/ipc-gate.ts, which checks sender, origin, arguments and answer',
  },
  {
    name: 'one-clock',
    pattern: /\bDate\s*\.\s*now\b|\bnew\s+Date\s*\(\s*\)|\bperformance\s*\.\s*now\b|\bprocess\s*\.\s*(?:hrtime|uptime)\b/g,
    inside: ['electron/', 'renderer/'],
    except: ['electron/host/clock.ts', 'electron/store/worker-clock.ts', 'renderer/link/page-clock.ts'],
    rule: 'time is read through the one clock',
    fix: 'take a Clock (electron/contract/clock.ts) as a parameter',
  },
  {
    name: 'no-markup-from-strings',
    pattern: /\{@html\b|\binnerHTML\b|\bouterHTML\b|\binsertAdjacentHTML\b|\bdocument\s*\.\s*write\b|\bsrcdoc\b/g,
    inside: ['electron/', 'renderer/'],
    except: [],
    rule: 'no markup is made from strings',
    fix: 'use the template, textContent or createElement',
  },
  {
    name: 'no-eval',
    pattern: /\beval\s*\(|\bnew\s+Function\s*\(|\bsetTimeout\s*\(\s*['"`]/g,
    inside: ['electron/', 'renderer/'],
    except: [],
    rule: 'no code is made from strings',
    fix: 'call a function',
  },
  {
    name: 'sql-in-store',
    pattern: /\.\s*(?:prepare|exec)\s*\(\s*(?:`[^`]*\$\{(?![A-Z][A-Z0-9_]*\})|['"][^'"\n]*['"]\s*\+|[\w.]+\s*\+)/g,
    inside: ['electron/', 'build/'],
    except: [],
    rule: 'SQL is a prepared constant (parts of it may be UPPER_CASE constants), never built from values',
    fix: 'write the statement out and bind its values',
  },
  {
    name: 'sql-only-in-store',
    pattern:
      /\b(?:SELECT\s+[\w*][^'"`]*\s+FROM|INSERT\s+(?:OR\s+\w+\s+)?INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM|CREATE\s+TABLE|PRAGMA\s+\w+)\b/g,
    inside: ['electron/', 'renderer/'],
    except: ['electron/store/'],
    rule: 'SQL lives in electron/store',
    fix: 'give the store a function for it',
  },
  {
    name: 'no-shell',
    pattern: /\bshell\s*:\s*true\b|\bexecSync\s*\(|[^.\w]exec\s*\(\s*[`'"]/g,
    inside: ['electron/'],
    except: [],
    rule: 'no shell between us and a program',
    fix: 'spawn(program, [arguments])',
  },
  {
    name: 'folders-by-level',
    pattern: /\bmkdir(?:Sync)?\s*\([^;]*\brecursive\s*:\s*true/g,
    inside: ['electron/'],
    except: [],
    rule: 'folders are made level by level: below /proc the recursive way never returns',
    fix: 'makeFolder of electron/store/folder.ts, or mkdirSync of the one level that may be missing',
  },
  {
    name: 'ts-ignore',
    pattern: /@ts-ignore|@ts-nocheck/g,
    inside: ['electron/', 'renderer/', 'test/'],
    except: ['test/build/lints.test.ts'],
    raw: true,
    rule: 'no blanket suppression',
    fix: '@ts-expect-error with the reason, or mend the type',
  },
  {
    name: 'sandbox-stays-on',
    pattern:
      /--no-sandbox|\bsandbox\s*:\s*false\b|\bnodeIntegration\s*:\s*true\b|\bcontextIsolation\s*:\s*false\b|\bwebSecurity\s*:\s*false\b/g,
    inside: ['electron/', 'build/'],
    except: ['build/lints.mjs'],
    rule: 'nothing that ships switches a guard of the window off',
    fix: 'leave it on; only tests start without a sandbox',
  },
  {
    name: 'interlock-does-no-io',
    pattern: /\bstd::(?:fs|net|io|process|env)\b/g,
    inside: ['native/interlock/src/'],
    except: [],
    rule: 'native/interlock decides who holds a device and does no I/O',
    fix: 'move it to native/pipeline or native/prover',
  },
];

const matches = (file, prefixes) => prefixes.some((prefix) => file.startsWith(prefix));

/** Violations of one file. */
export function lintFile(file, text) {
  const found = [];
  const code = stripComments(text);
  for (const { pattern, inside, except, raw, rule, fix } of LINTS) {
    if (!matches(file, inside) || matches(file, except)) continue;
    const looked = raw ? text : code;
    for (const match of looked.matchAll(pattern)) {
      found.push({ file, line: lineOf(looked, match.index), found: match[0].trim(), rule, fix });
    }
  }
  const lines = text.split('\n').length - 1;
  if (lines > LONGEST_FILE && !/\blong (?:file|because)\b/i.test(text.slice(0, 2000))) {
    found.push({
      file,
      line: 1,
      found: `${lines} lines`,
      rule: `no file over ${LONGEST_FILE} lines without a reason at its top`,
      fix: 'split it, or say at its top: "Long because …"',
    });
  }
  return found;
}

export function lintTree(root) {
  return listSources(root, ['.ts', '.mts', '.js', '.mjs', '.cjs', '.svelte', '.rs', '.css']).flatMap((file) =>
    lintFile(file, readFileSync(path.join(root, file), 'utf8')),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const violations = lintTree(path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..'));
  printViolations(violations);
  if (violations.length > 0) process.exitCode = 1;
  else console.log('house rules: ok');
}
