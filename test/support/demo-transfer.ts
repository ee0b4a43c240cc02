/** Answers of a scripted host about bytes that come and go: every number is counted from the bytes themselves. */
import { Buffer } from 'node:buffer';
import type { ExportFormat } from '../../electron/contract/transfer.ts';
import type { RunReport } from '../../electron/contract/run-report.ts';
import { LogImport } from './demo-log.ts';
import type { FakeTransport } from './fake-transport.ts';

/** Takes logs of the cuzk daemon, with the product's own reader. */
export function scriptImports(transport: FakeTransport): void {
  let begun = 0;
  const open = new Map<string, LogImport>();
  const absent = (id: string) => ({ ok: false, code: 'not_found', message: `There is no import ${id}.` }) as const;
  transport.answer('import_begin', (input) => {
    const id = `i-${++begun}`;
    open.set(id, new LogImport((input as { name: string }).name));
    return { ok: true, value: { import: id } };
  });
  transport.answer('import_piece', (input) => {
    const { import: id, base64 } = input as { import: string; base64: string };
    const one = open.get(id);
    one?.push(Buffer.from(base64, 'base64'));
    return one ? { ok: true, value: one.progress } : absent(id);
  });
  transport.answer('import_end', (input) => {
    const { import: id } = input as { import: string };
    const one = open.get(id);
    open.delete(id);
    return one ? { ok: true, value: one.end().report } : absent(id);
  });
}

/** Gives the run's report away: as one file, or one file a table. */
export function scriptExports(transport: FakeTransport, report: RunReport): void {
  const FILES: Record<ExportFormat, string[]> = {
    csv: ['proofs.csv', 'idle.csv', 'devices.csv', 'gaps.csv'],
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
            '',
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
