/**
 * Three readers of CSV that have nothing in common: RFC 4180 by hand, strictly; Python's csv; and SQLite's table of what Python's csv read
 * (a value must survive being stored). Each answers rows of cells.
 */
import { execFileSync } from 'node:child_process';

/** Refuses whatever RFC 4180 does not allow: a bare quote, a bare CR or LF outside of quotes, rows of different lengths. */
export function readStrictly(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let at = 0;
  const fail = (why: string) => new Error(`${why} at ${at}: ${JSON.stringify(text.slice(Math.max(0, at - 20), at + 20))}`);
  while (at < text.length) {
    let cell = '';
    if (text[at] === '"') {
      for (at++; ;) {
        const quote = text.indexOf('"', at);
        if (quote < 0) throw fail('a quote is not closed');
        cell += text.slice(at, quote);
        at = quote + 1;
        if (text[at] !== '"') break;
        cell += '"';
        at++;
      }
    } else {
      const end = /[",\r\n]/g;
      end.lastIndex = at;
      const found = end.exec(text);
      if (!found) throw fail('the last row has no end');
      cell = text.slice(at, found.index);
      at = found.index;
      if (text[at] === '"') throw fail('a quote within a cell');
    }
    row.push(cell);
    if (text[at] === ',') at++;
    else if (text.startsWith('\r\n', at)) {
      rows.push(row);
      row = [];
      at += 2;
    } else throw fail('neither comma nor CRLF after a cell');
  }
  if (row.length > 0) throw fail('the last row has no end');
  if (rows.some((one) => one.length !== rows[0]?.length)) throw new Error('rows of different lengths');
  return rows;
}

const PYTHON = `
import csv, io, json, sys
text = sys.stdin.buffer.read().decode('utf-8')
print(json.dumps(list(csv.reader(io.StringIO(text, newline=''), strict=True))))
`;
/** As the shell's .import does: every cell a text in a table, read back with SQL. */
const SQLITE = `
import csv, io, json, sqlite3, sys
rows = list(csv.reader(io.TextIOWrapper(sys.stdin.buffer, encoding='utf-8', newline='')))
db = sqlite3.connect(':memory:')
width = len(rows[0])
db.execute('CREATE TABLE t (%s)' % ', '.join('c%d TEXT' % n for n in range(width)))
db.executemany('INSERT INTO t VALUES (%s)' % ', '.join('?' * width), rows)
print(json.dumps([list(row) for row in db.execute('SELECT * FROM t ORDER BY rowid')]))
`;

export function readInPython(text: string): string[][] {
  return ask(PYTHON, text);
}
export function readInSqlite(text: string): string[][] {
  return ask(SQLITE, text);
}

function ask(program: string, text: string): string[][] {
  const options = { input: text, maxBuffer: 2 ** 28 };
  return JSON.parse(execFileSync('python3', ['-c', program], options).toString()) as string[][];
}

/** Rows by the names of the header. */
export function byName(rows: string[][]): Record<string, string>[] {
  const [header = [], ...rest] = rows;
  return rest.map((row) => Object.fromEntries(header.map((name, index) => [name, row[index] ?? ''])));
}
