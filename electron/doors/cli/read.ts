/** The commands that only look: runs, show, events, proof, verify, doctor, config. */
import type { Client } from '../../contract/api.ts';
import { InterlockError } from '../../contract/errors.ts';
import { visibleText } from '../../contract/visible-text.ts';
import { usage, wholeFlag } from './arguments.ts';
import { EXIT } from './exit-codes.ts';
import { withHistory, type Call } from './call.ts';
import { doctorText, runText, runsText, table } from './text.ts';

export async function readCommand(call: Call): Promise<number> {
  const { command, parsed, json, output, seams, config } = call;
  const [word = ''] = parsed.words;
  switch (command) {
    case 'runs': {
      const limit = wholeFlag(parsed, 'limit', 1, 500) ?? 20;
      const answer = await withHistory(call, (client) => client.list_runs({ limit }));
      if (json) await output.data(`${JSON.stringify(answer)}\n`);
      else if (answer.runs.length === 0) output.say(`No runs yet in ${config.dataFolder}.`);
      else await output.data(runsText(answer.runs));
      return EXIT.ok;
    }
    case 'show': {
      const report = await withHistory(call, (client) => client.show_run({ run: idOf(word) }));
      await output.data(json ? `${JSON.stringify(report)}\n` : runText(report));
      return EXIT.ok;
    }
    case 'events':
      await withHistory(call, (client) => printEvents(call, client, idOf(word)));
      return EXIT.ok;
    case 'proof':
      return proofCommand(call, idOf(word));
    case 'verify': {
      const answer = await seams.verify(config, word);
      if (json) await output.data(`${JSON.stringify(answer)}\n`);
      else output.say(answer.valid ? `${visibleText(word)}: valid` : `${visibleText(word)}: ${answer.message}`);
      if (answer.valid) return EXIT.ok;
      return answer.exit === 4 || answer.exit === 2 || answer.exit === 3 ? answer.exit : EXIT.failed;
    }
    case 'doctor': {
      const checks = await seams.doctor(config);
      await output.data(json ? `${JSON.stringify({ checks })}\n` : doctorText(checks));
      return checks.some((check) => check.state === 'error') ? EXIT.failed : EXIT.ok;
    }
    case 'config': {
      if (word !== 'show') throw usage(`interlock config knows only show, not ${visibleText(word)}.`);
      if (json) await output.data(`${JSON.stringify({ values: config.values })}\n`);
      else {
        const rows = config.values.map((value) => [value.key, visibleText(value.value), visibleText(value.from || value.source)]);
        await output.data(table([['KEY', 'VALUE', 'FROM'], ...rows]));
      }
      return EXIT.ok;
    }
    default:
      throw usage(`The command ${command} is not known here.`);
  }
}

async function printEvents(call: Call, client: Client, run: string): Promise<void> {
  let after: string | undefined;
  for (;;) {
    const page = await client.read_events({ run, limit: 5000, ...(after === undefined ? {} : { after }) });
    if (page.lines.length > 0) await call.output.data(`${page.lines.join('\n')}\n`);
    if (page.next === null) return;
    after = page.next;
  }
}

async function proofCommand(call: Call, proof: string): Promise<number> {
  const { parsed, json, output, seams } = call;
  const target = parsed.values.get('output');
  if (target === undefined && json) {
    const answer = await withHistory(call, (client) => client.show_proof({ proof }));
    await output.data(`${JSON.stringify(answer)}\n`);
    return EXIT.ok;
  }
  const { text, sha256 } = await withHistory(call, (client) => client.read_proof({ proof }));
  if (target === undefined || target === '-') {
    await output.data(text);
    return EXIT.ok;
  }
  await seams.writeFile(target, text, parsed.switches.has('force'));
  if (json) await output.data(`${JSON.stringify({ proof, file: target, sha256 })}\n`);
  else output.say(`${proof} saved as ${target} (sha256 ${sha256})`);
  return EXIT.ok;
}

function idOf(word: string): string {
  if (/^[A-Za-z0-9._-]{1,64}$/.test(word)) return word;
  throw new InterlockError('usage', `${visibleText(word)} is no id.`);
}
