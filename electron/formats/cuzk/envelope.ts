/**
 * What loggers put around a line: journald (short, short-iso, short-precise, json), syslog (RFC 3164 and 5424), docker (json-file, and
 * `docker logs -t`), Kubernetes CRI, docker compose; and terminal colours. Owns how a line is unwrapped; what is in it is decode.ts's.
 */

export interface Unwrapped {
  text: string;
  /** The logger's own stamp, µs since 1970; null where it has none with a date, a year and a zone. */
  wallUs: number | null;
}

const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)';
const ISO = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)`;
/** A tracing line's own stamp is no logger's, and its level no host. */
const NOT_TRACING = String.raw`(?!\s*(?:INFO|WARN|ERROR|DEBUG|TRACE) )`;
/** A host and a tag; a line without either is somebody's text. */
const TAG = String.raw`\S+ [^\s:[]+(?:\[\d+\])?: `;

const PREFIXES = [
  // journalctl -o short, short-precise, rsyslog's traditional files, and RFC 3164 with its priority.
  new RegExp(`^(?:<\\d{1,3}>)?${MONTH} [ \\d]\\d \\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)? ${TAG}`),
  // RFC 5424: version, stamp, host, app, pid, message id, structured data.
  new RegExp(`^(?:<\\d{1,3}>)?1 (${ISO}) \\S+ \\S+ \\S+ \\S+ (?:-|(?:\\[[^\\]]*\\])+) ?(?:\u{feff})?`),
  // CRI: stream and whether the line is whole.
  new RegExp(`^(${ISO}) (?:stdout|stderr) [FP] `),
  // journalctl -o short-iso, short-iso-precise, and rsyslog's file format.
  new RegExp(`^(?:<\\d{1,3}>)?(${ISO}) ${NOT_TRACING}${TAG}`),
  // docker compose: "cuzk-1  | ".
  new RegExp(`^[\\w.-]+ +\\| (?:(${ISO}) ${NOT_TRACING})?`),
  // docker logs -t: a stamp alone, before the program's own line.
  new RegExp(`^(${ISO}) ${NOT_TRACING}`),
] as const;

const ANSI = /(?:\x1b|#033)\[[0-9;]*[A-Za-z]/g;
const STAMP = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(?:Z|([+-])(\d\d):?(\d\d))$/;

/** The minute that was read last: a log has thousands of lines in one. */
const minute = { text: '', us: 0 };
const ZERO = 0x30;

/** µs since 1970 of an RFC 3339 stamp; null if it is none. */
export function readStamp(text: string): number | null {
  if (text.length === 27 && minute.text !== '' && text.startsWith(minute.text) && text[19] === '.' && text[26] === 'Z') {
    const seconds = digitsOf(text, 17, 19);
    const micros = digitsOf(text, 20, 26);
    if (seconds >= 0 && micros >= 0) return minute.us + seconds * 1_000_000 + micros;
  }
  const us = readAnyStamp(text);
  if (us !== null && text.length === 27 && text.endsWith('Z')) {
    minute.text = text.slice(0, 17);
    minute.us = us - Number(text.slice(17, 19)) * 1_000_000 - Number(text.slice(20, 26));
  }
  return us;
}

/** −1 where another character is among them. */
function digitsOf(text: string, from: number, to: number): number {
  let value = 0;
  for (let at = from; at < to; at++) {
    const digit = text.charCodeAt(at) - ZERO;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}

function readAnyStamp(text: string): number | null {
  const found = STAMP.exec(text);
  if (!found) return null;
  const [, year, month, day, hour, minute, second, fraction = '', sign, zoneHours, zoneMinutes] = found;
  const ms = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second));
  const zone = sign ? (sign === '-' ? -1 : 1) * (Number(zoneHours) * 60 + Number(zoneMinutes)) * 60_000 : 0;
  return (ms - zone) * 1_000 + Number(fraction.slice(0, 6).padEnd(6, '0'));
}

/** Without the line's end. NUL bytes, which a truncated and refilled file is full of, are dropped. */
export function unwrap(line: string): Unwrapped {
  let text = line.includes('\0') ? line.replaceAll('\0', '') : line;
  let wallUs: number | null = null;
  if (text.startsWith('{')) {
    const inner = unwrapJson(text);
    if (inner) ({ text, wallUs } = inner);
  }
  if (text.includes('\x1b') || text.includes('#033')) text = text.replace(ANSI, '');
  for (const prefix of PREFIXES) {
    const found = prefix.exec(text);
    if (!found) continue;
    if (found[1]) wallUs ??= readStamp(found[1]);
    return { text: text.slice(found[0].length), wallUs };
  }
  return { text, wallUs };
}

/** docker's json-file, `journalctl -o json`, and whatever else keeps its text in `log`, `MESSAGE`, `message` or `msg`. */
function unwrapJson(line: string): Unwrapped | null {
  let value: Record<string, unknown>;
  try {
    value = JSON.parse(line) as Record<string, unknown>;
  } catch {
    return null;
  }
  const text = value.log ?? value.MESSAGE ?? value.message ?? value.msg;
  if (typeof text !== 'string') return null;
  const { time, __REALTIME_TIMESTAMP: realtime } = value;
  const wallUs =
    typeof time === 'string' ? readStamp(time) : typeof realtime === 'string' && /^\d{1,16}$/.test(realtime) ? Number(realtime) : null;
  return { text: text.replace(/\r?\n$/, ''), wallUs };
}
