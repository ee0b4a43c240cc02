/** `export RUN --format F`: a run as a file or folder, or on standard output. Standard output carries nothing but the data. */
import type { CallOutput, Client } from '../../contract/api.ts';
import { InterlockError } from '../../contract/errors.ts';
import { EXPORT_FORMATS, TRANSFER_SCHEMA, type ExportFormat } from '../../contract/transfer.ts';
import { formatBytes } from '../../contract/units.ts';
import { visibleText } from '../../contract/visible-text.ts';
import { choiceFlag, usage } from './arguments.ts';
import { EXIT } from './exit-codes.ts';
import { openTarget } from './export-target.ts';
import { withHistory, type Call } from './call.ts';

interface Begun {
  export: string;
  name: string;
  files: string[];
}

export async function exportCommand(call: Call): Promise<number> {
  const { parsed, json } = call;
  const [run = ''] = parsed.words;
  if (!/^[A-Za-z0-9._-]{1,64}$/.test(run)) throw usage(`${visibleText(run)} is no id of a run.`);
  const format = choiceFlag(parsed, 'format', EXPORT_FORMATS);
  if (format === undefined) throw usage(`Say what to write: --format ${EXPORT_FORMATS.join('|')}`);
  const output = parsed.values.get('output');
  if (output === '') throw usage('--output needs a name.');
  if (output === '-' && json) throw usage('--json and -o - both want standard output.');
  return withHistory(call, async (client) => {
    const begun = await client.export_begin({ run, format, redact: parsed.switches.has('redact') });
    let isDone = false;
    try {
      const code =
        output === '-' ? await toStandardOutput(call, client, begun, format) : await toFiles(call, client, begun, output, format);
      isDone = code === EXIT.ok;
      return code;
    } finally {
      // What the host holds for it goes; a host that is gone holds nothing.
      if (!isDone) await client.export_stop({ export: begun.export }).catch(() => undefined);
    }
  });
}

/** One table of a CSV alone makes sense as a stream: the spans, which come first. */
async function toStandardOutput(call: Call, client: Client, begun: Begun, format: ExportFormat): Promise<number> {
  const { output } = call;
  if (begun.files.length > 1 && format !== 'csv') {
    throw usage(`This run is written in ${begun.files.length} parts; name a folder: -o ${begun.name}`);
  }
  if (begun.files.length > 1) output.say(`${begun.files[0]} alone on standard output; -o FOLDER writes all of ${begun.files.length}.`);
  for await (const { file, bytes } of readPieces(client, begun)) {
    if (file > 0) {
      await client.export_stop({ export: begun.export });
      break;
    }
    await output.data(bytes);
  }
  return EXIT.ok;
}

async function toFiles(call: Call, client: Client, begun: Begun, asked: string | undefined, format: ExportFormat): Promise<number> {
  const { output, parsed, json, seams } = call;
  const plan = { path: asked ?? begun.name, name: begun.name, files: begun.files, force: parsed.switches.has('force') };
  const target = await openTarget(plan);
  let isInterrupted = false;
  const unsubscribe = seams.onInterrupt(() => (isInterrupted = true));
  let total = 0;
  try {
    for await (const { file, bytes } of readPieces(client, begun)) {
      if (isInterrupted) break;
      await target.write(file, bytes);
      total += bytes.length;
      output.live(`${formatBytes(total)} written`);
    }
    if (isInterrupted) throw new InterlockError('interrupted', 'Interrupted: nothing was written.');
    await target.finish();
  } catch (error) {
    await target.abandon();
    throw error;
  } finally {
    unsubscribe();
  }
  const files = begun.files.length === 1 && begun.files[0] === '' ? [] : begun.files;
  if (json) await output.data(`${JSON.stringify({ schema: TRANSFER_SCHEMA, format, file: target.path, files, bytes: total })}\n`);
  else output.say(`${visibleText(target.path)} written (${formatBytes(total)}${files.length > 0 ? `, ${files.length} files` : ''})`);
  return EXIT.ok;
}

/** Asks for the next piece while the one before is being written. */
async function* readPieces(client: Client, begun: Begun): AsyncGenerator<{ file: number; bytes: Uint8Array }> {
  let next: ReturnType<Client['export_piece']> | null = client.export_piece({ export: begun.export });
  while (next) {
    const piece: CallOutput<'export_piece'> = await next;
    next = piece.done ? null : client.export_piece({ export: begun.export });
    // Looked at in the next turn; a failure meanwhile must not count as unhandled.
    next?.catch(() => undefined);
    if (piece.base64 !== '') yield { file: piece.file, bytes: Buffer.from(piece.base64, 'base64') };
  }
}
