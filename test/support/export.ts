/** Whole exports, piece by piece as a door would ask for them. */
import type { ExportFormat } from '../../electron/contract/transfer.ts';
import type { Store } from '../../electron/store/store.ts';

/** Bytes of every file of an export, by name ('' where the format is one file). */
export async function exportAll(
  store: Pick<Store, 'beginExport' | 'exportPiece'>,
  run: string,
  format: ExportFormat,
  redact = false,
): Promise<{ name: string; files: Map<string, Buffer> }> {
  const begun = await store.beginExport({ run, format, redact });
  const parts = begun.files.map((): Buffer[] => []);
  for (let done = false; !done;) {
    const piece = await store.exportPiece(begun.export);
    parts[piece.file]?.push(Buffer.from(piece.base64, 'base64'));
    ({ done } = piece);
  }
  return { name: begun.name, files: new Map(begun.files.map((name, index) => [name, Buffer.concat(parts[index] ?? [])])) };
}
