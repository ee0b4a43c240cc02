/** Every text of a copied database, redacted: columns by name, events by their fields. */
import { LAYOUTS } from './event-rows.ts';
import { EVENTS, type EventName } from '../contract/timeline-events.ts';
import { redactDeep, type RunRedactor } from '../formats/redact/redact.ts';
import type { Db } from './open.ts';

/** Free texts of the schema. What is not here is an id, a digest, a number, or a word from a list of ours. */
const TEXTS: Record<string, string[]> = {
  run: ['emulate', 'imported_from', 'ended_by'],
  process: ['ended', 'signal'],
  proof: ['message', 'path', 'circuit'],
  proof_attempt: ['message', 'path'],
  imported_attempt: ['message', 'file'],
  problem: ['problem'],
  loss: ['ring'],
  run_process: ['reason'],
  hold: ['reason'],
};
/** JSON, redacted inside. */
const DOCUMENTS: Record<string, string[]> = { run: ['found'], step: ['detail'] };
/** Where something lies on the machine it comes from: nobody else's business. */
const EMPTIED: [table: string, column: string, value: string | null][] = [
  ['process', 'folder', '[home]'],
  ['journal', 'path', '[home]'],
  ['proof', 'seed', '[secret]'],
  ['run', 'summary', null],
  ['journal', 'last_state', null],
];

export function redactCopy(db: Db, redactor: RunRedactor): void {
  const { text } = redactor;
  const document = (json: string) => JSON.stringify(redactDeep(JSON.parse(json) as unknown, text));
  db.function('redact_text', { deterministic: true }, (value) => (typeof value === 'string' ? text(value) : value));
  db.function('redact_json', { deterministic: true }, (value) => (typeof value === 'string' ? document(value) : value));
  db.function('redact_boot', (value) => (typeof value === 'string' ? redactor.boot(value) : value));
  db.transaction(() => {
    for (const [tables, rule] of [
      [TEXTS, 'redact_text'],
      [DOCUMENTS, 'redact_json'],
    ] as const) {
      for (const [table, columns] of Object.entries(tables)) {
        const there = columnsOf(db, table);
        for (const column of columns) if (there.has(column)) db.exec(`UPDATE ${table} SET ${column} = ${rule}(${column})`);
      }
    }
    for (const [table, column, value] of EMPTIED) db.prepare(`UPDATE ${table} SET ${column} = ?`).run(value);
    if (columnsOf(db, 'hold').has('boot_id')) db.exec('UPDATE hold SET boot_id = redact_boot(boot_id)');
    db.exec(`DELETE FROM meta WHERE key NOT IN ('uuid')`);
    redactEvents(db, redactor);
  })();
}

/** Only events with texts in their detail are touched. */
function redactEvents(db: Db, redactor: RunRedactor): void {
  const update = db.prepare('UPDATE event SET detail = ? WHERE process = ? AND seq = ?');
  for (const [name, fields] of Object.entries(EVENTS) as [EventName, Record<string, string>][]) {
    const hasText = LAYOUTS[name].detail.some(
      (field) => (fields[field] ?? '').startsWith('text') || field === 'boot_id' || field === 'devices',
    );
    if (!hasText) continue;
    const rows = db
      .prepare('SELECT process, seq, detail FROM event WHERE e = (SELECT id FROM word WHERE word = ?) AND detail IS NOT NULL')
      .all(name) as { process: number; seq: number; detail: string }[];
    for (const { process, seq, detail } of rows) {
      const event = redactor.event({ ...(JSON.parse(detail) as object), e: name } as never) as Record<string, unknown>;
      const { e: _, ...rest } = event;
      update.run(JSON.stringify(rest), process, seq);
    }
  }
}

function columnsOf(db: Db, table: string): Set<string> {
  return new Set((db.pragma(`table_info(${table})`) as { name: string }[]).map(({ name }) => name));
}
