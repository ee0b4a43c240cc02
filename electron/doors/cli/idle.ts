/** `interlock idle RUN` and `interlock gaps RUN`: why each device was idle, and the stretches in which it was. */
import { InterlockError } from '../../contract/errors.ts';
import { visibleText } from '../../contract/visible-text.ts';
import { usage, wholeFlag } from './arguments.ts';
import { EXIT } from './exit-codes.ts';
import { gapsText, idleText } from './idle-text.ts';
import { withHistory, type Call } from './call.ts';

const GAPS_AS_TEXT = 20;
const GAPS_AS_JSON = 1_000;
const NS: Record<string, number> = { ns: 1, us: 1e3, ms: 1e6, s: 1e9, min: 60e9 };

export async function idleCommand(call: Call): Promise<number> {
  const { command, parsed, json, output } = call;
  const [run = ''] = parsed.words;
  if (!/^[A-Za-z0-9._-]{1,64}$/.test(run)) throw new InterlockError('usage', `${visibleText(run)} is no id.`);
  if (command === 'gaps') {
    const min = parsed.values.get('min');
    const limit = wholeFlag(parsed, 'limit', 1, 100_000) ?? (json ? GAPS_AS_JSON : GAPS_AS_TEXT);
    const input = { run, limit, ...(min === undefined ? {} : { min_ns: readDuration('min', min) }) };
    const report = await withHistory(call, (client) => client.gaps(input));
    await output.data(json ? `${JSON.stringify(report.gaps)}\n` : gapsText(report));
    return EXIT.ok;
  }
  const report = await withHistory(call, (client) => client.idle({ run }));
  await output.data(json ? `${JSON.stringify(report)}\n` : idleText(report));
  return EXIT.ok;
}

/** `10ms`, `1.5s`, `0`; ns where no unit is said would be a trap, so it is refused. */
export function readDuration(flag: string, text: string): number {
  if (text === '0') return 0;
  const match = /^(\d{1,15}(?:\.\d{1,9})?)(ns|us|ms|s|min)$/.exec(text);
  const ns = match ? Math.round(Number(match[1]) * (NS[match[2] ?? ''] ?? Number.NaN)) : Number.NaN;
  if (Number.isSafeInteger(ns)) return ns;
  throw usage(`--${flag} must be a duration such as 10ms, 1.5s or 2min, not ${visibleText(text)}.`);
}
