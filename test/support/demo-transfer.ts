/** Answers of a scripted host about bytes that come and go: every number is counted from the bytes themselves. */
import { Buffer } from 'node:buffer';
import {
  TRANSFER_SCHEMA,
  type ExportFormat,
  type ImportProblem,
  type ImportProgress,
  type ImportReport,
} from '../../electron/contract/transfer.ts';
import type { RunReport } from '../../electron/contract/run-report.ts';
import type { FakeTransport } from './fake-transport.ts';

const EVENT = /\[TIMELINE\]|CUZK_TIMING/;

/** Takes logs: a line with a known marker is an event, any other one is not understood. */
export function scriptImports(transport: FakeTransport): void {
  let begun = 0;
  const open = new Map<string, { name: string; bytes: Buffer[] }>();
  const read = (bytes: Buffer): { progress: ImportProgress; problems: ImportProblem[] } => {
    const problems: ImportProblem[] = [];
    const lines = bytes
      .toString('utf8')
      .split('\n')
      .filter((line, index, all) => line !== '' || index < all.length - 1);
    let offset = 0;
    lines.forEach((text, index) => {
      const length = Buffer.byteLength(text) + 1;
      if (!EVENT.test(text)) {
        const problem = 'Not a line of the daemon that this version knows.';
        problems.push({ line: index + 1, offset, bytes: length, kind: 'unparsed', problem, text: text.slice(0, 200) });
      }
      offset += length;
    });
    const unparsed = problems.length;
    return { progress: { bytes: bytes.length, lines: lines.length, events: lines.length - unparsed, unparsed, runs: [] }, problems };
  };
  transport.answer('import_begin', (input) => {
    const id = `i-${++begun}`;
    open.set(id, { name: (input as { name: string }).name, bytes: [] });
    return { ok: true, value: { import: id } };
  });
  transport.answer('import_piece', (input) => {
    const { import: id, base64 } = input as { import: string; base64: string };
    const one = open.get(id);
    if (!one) return { ok: false, code: 'not_found', message: `There is no import ${id}.` };
    one.bytes.push(Buffer.from(base64, 'base64'));
    return { ok: true, value: read(Buffer.concat(one.bytes)).progress };
  });
  transport.answer('import_end', (input) => {
    const { import: id } = input as { import: string };
    const one = open.get(id);
    if (!one) return { ok: false, code: 'not_found', message: `There is no import ${id}.` };
    open.delete(id);
    const { progress, problems } = read(Buffer.concat(one.bytes));
    const runs: ImportReport['runs'] =
      progress.events > 0
        ? [{ run: 'i-20261130-081500', name: one.name, state: 'finished', events: progress.events, proofs: 1, again: begun > 1 }]
        : [];
    const { lines, bytes, events, unparsed } = progress;
    return {
      ok: true,
      value: {
        schema: TRANSFER_SCHEMA,
        run: runs[0]?.run ?? null,
        runs,
        bytes,
        lines,
        events,
        unparsed,
        problems: problems.slice(0, 100),
        more_problems: Math.max(0, problems.length - 100),
      },
    };
  });
}

/** Gives the run's report away: as one file, or one file a table. */
export function scriptExports(transport: FakeTransport, report: RunReport): void {
  const FILES: Record<ExportFormat, string[]> = {
    csv: ['proofs.csv', 'devices.csv', 'idle.csv'],
    ndjson: [''],
    chrome: [''],
    sqlite: [''],
    html: [''],
  };
  const pieces = new Map<string, { file: number; base64: string; done: boolean }[]>();
  let begun = 0;
  transport.answer('export_begin', (input) => {
    const { format } = input as { format: ExportFormat };
    const id = `e-${++begun}`;
    const texts: string[] =
      format === 'csv'
        ? [
            csv(report.proofs.map((proof) => [proof.id, proof.outcome])),
            csv(report.devices.map((device) => [device.device, device.kernel_ns])),
            '',
          ]
        : [JSON.stringify(report)];
    const all = texts.flatMap((text, file) => {
      const bytes = Buffer.from(text);
      const half = Math.ceil(bytes.length / 2);
      return bytes.length === 0
        ? []
        : [bytes.subarray(0, half), bytes.subarray(half)].map((part) => ({ file, base64: part.toString('base64'), done: false }));
    });
    all.at(-1)!.done = true;
    pieces.set(id, all);
    return { ok: true, value: { export: id, name: format === 'csv' ? report.run : `${report.run}.${format}`, files: FILES[format] } };
  });
  transport.answer('export_piece', (input) => {
    const piece = pieces.get((input as { export: string }).export)?.shift();
    return piece ? { ok: true, value: piece } : { ok: false, code: 'not_found', message: 'This export is over.' };
  });
  transport.value('export_stop', {});
}

const csv = (rows: (string | number | null)[][]): string => rows.map((row) => `${row.join(',')}\r\n`).join('');
