/** Every text of a copied database, redacted: columns by name, events by their fields. */
import { LAYOUTS } from './event-rows.ts';
import { EVENTS, type EventName } from '../contract/timeline-events.ts';
import { redactDeep, type RunRedactor } from '../formats/redact/redact.ts';
import type { Db } from './open.ts';

/** Free texts of the schema, and where something lies on the machine it comes from. What is not here is an id, a digest, a number, or a word from a list of ours. */
const UPDATES = `
UPDATE run SET emulate = redact_text(emulate), imported_from = redact_text(imported_from), ended_by = redact_text(ended_by),
  found = redact_json(found), summary = NULL;
UPDATE process SET ended = redact_text(ended), signal = redact_text(signal), folder = '[home]';
UPDATE journal SET path = '[home]', last_state = NULL;
UPDATE proof SET message = redact_text(message), path = redact_text(path), seed = '[secret]';
UPDATE proof_attempt SET message = redact_text(message), path = redact_text(path);
UPDATE imported_attempt SET message = redact_text(message), file = redact_text(file);
UPDATE problem SET problem = redact_text(problem);
UPDATE loss SET ring = redact_text(ring);
UPDATE run_process SET reason = redact_text(reason);
UPDATE hold SET reason = redact_text(reason), boot_id = redact_boot(boot_id);
UPDATE step SET detail = redact_json(detail);
DELETE FROM meta WHERE key <> 'uuid';
`;

export function redactCopy(db: Db, redactor: RunRedactor): void {
  const { text } = redactor;
  const document = (json: string) => JSON.stringify(redactDeep(JSON.parse(json) as unknown, text));
  db.function('redact_text', { deterministic: true }, (value) => (typeof value === 'string' ? text(value) : value));
  db.function('redact_json', { deterministic: true }, (value) => (typeof value === 'string' ? document(value) : value));
  db.function('redact_boot', (value) => (typeof value === 'string' ? redactor.boot(value) : value));
  db.transaction(() => {
    db.exec(UPDATES);
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
