import { describe, expect, test } from 'vitest';
import { PIECE_BYTES } from '../../../electron/contract/transfer.ts';
import { HostLink } from '../../../renderer/link/host-link.svelte.ts';
import { fromBase64, toBase64 } from '../../../renderer/link/files.ts';
import { ImportController } from '../../../renderer/runs/import-controller.svelte.ts';
import { scriptImports } from '../../support/demo-transfer.ts';
import { FakeTransport } from '../../support/fake-transport.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const file = (name: string, text: string | Uint8Array) => new File([text as BlobPart], name);
const LOG = 'TIMELINE,12,SYNTH_START,j1,partition=0\nTIMELINE,xx,GPU_START\nTIMELINE,40,SYNTH_END,j1,partition=0,synth_ms=28\n';

function make() {
  const transport = new FakeTransport();
  scriptImports(transport);
  let done = 0;
  const controller = new ImportController(new HostLink(transport, new ManualClock()), () => (done += 1));
  const settled = async () => {
    while (controller.busy) await new Promise((resolve) => setTimeout(resolve, 1));
  };
  return { transport, controller, settled, done: () => done };
}

describe('an import', () => {
  test('bytes survive base64, whatever they are', () => {
    const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => (index * 7) & 255);
    expect(fromBase64(toBase64(bytes))).toEqual(bytes);
    expect(fromBase64(toBase64(new Uint8Array()))).toEqual(new Uint8Array());
  });

  test('sends a file in pieces, in order and whole, and shows what was not understood', async () => {
    const { transport, controller, settled, done } = make();
    const bytes = new Uint8Array(PIECE_BYTES * 2 + 5).map((_, index) => (index * 31) & 255);
    controller.add([file('big.log', bytes), file('small.log', LOG)]);
    await settled();
    const pieces = transport.inputsOf('import_piece') as { import: string; base64: string }[];
    const sent = pieces.filter((piece) => piece.import === 'i-1').map((piece) => fromBase64(piece.base64));
    expect(sent.map((piece) => piece.length)).toEqual([PIECE_BYTES, PIECE_BYTES, 5]);
    expect(Buffer.concat(sent).equals(bytes)).toBe(true);
    const [, small] = controller.entries;
    expect(small).toMatchObject({ state: 'done', sent: LOG.length, report: { lines: 3, unparsed: 1 } });
    expect(small!.report!.problems).toMatchObject([{ line: 2, offset: 39, text: 'TIMELINE,xx,GPU_START' }]);
    expect(done()).toBe(2);
  });

  test('a failure is that file’s own: it is closed, and the next one is tried', async () => {
    const { transport, controller, settled } = make();
    transport.answer('import_piece', (input) =>
      (input as { import: string }).import === 'i-1'
        ? { ok: false, code: 'disk_full', message: 'The data folder is full.' }
        : { ok: true, value: { bytes: 1, lines: 1, events: 1, unparsed: 0, runs: [] } },
    );
    controller.add([file('a.log', LOG), file('b.log', LOG)]);
    await settled();
    expect(controller.entries.map((entry) => entry.state)).toEqual(['failed', 'done']);
    expect(controller.entries[0]!.failure?.code).toBe('disk_full');
    expect(transport.inputsOf('import_end')).toEqual([{ import: 'i-1' }, { import: 'i-2' }]);
  });

  test('a door that takes only small pieces gets small ones, and every byte once', async () => {
    const { transport, controller, settled } = make();
    const sent: Uint8Array[] = [];
    transport.answer('import_piece', (input) => {
      const bytes = fromBase64((input as { base64: string }).base64);
      if (bytes.length > 48_000) return { ok: false, code: 'too_large', message: 'A body may have 65536 bytes.' };
      sent.push(bytes);
      return { ok: true, value: { bytes: bytes.length, lines: 0, events: 0, unparsed: 0, runs: [] } };
    });
    const bytes = new Uint8Array(100_000).map((_, index) => (index * 31) & 255);
    controller.add([file('a.log', bytes)]);
    await settled();
    expect(controller.entries[0]).toMatchObject({ state: 'done', sent: 100_000 });
    expect(Buffer.concat(sent).equals(bytes)).toBe(true);
    transport.fail('import_piece', 'too_large', 'Nothing fits.');
    controller.add([file('b.log', bytes)]);
    await settled();
    expect(controller.entries[1]).toMatchObject({ state: 'failed', failure: { code: 'too_large' } });
  });

  test('stopped, it keeps what came, ends the import, and drops the files that wait', async () => {
    const { transport, controller, settled } = make();
    const bytes = new Uint8Array(PIECE_BYTES * 3);
    let pieces = 0;
    transport.answer('import_piece', () => {
      if (++pieces === 1) controller.stop();
      return { ok: true, value: { bytes: 1, lines: 1, events: 0, unparsed: 1, runs: [] } };
    });
    controller.add([file('a.log', bytes), file('b.log', LOG)]);
    await settled();
    expect(controller.entries.map((entry) => [entry.state, entry.sent])).toEqual([
      ['stopped', PIECE_BYTES],
      ['stopped', 0],
    ]);
    expect(controller.entries[0]!.report).not.toBeNull();
    expect(transport.inputsOf('import_begin')).toHaveLength(1);
  });

  test('an empty file is imported as such', async () => {
    const { transport, controller, settled } = make();
    controller.add([file('empty.log', '')]);
    await settled();
    expect(transport.inputsOf('import_piece')).toEqual([]);
    expect(controller.entries[0]).toMatchObject({ state: 'done', report: { lines: 0, runs: [] } });
  });

  test('dismissing takes an entry away and leaves the others', async () => {
    const { controller, settled } = make();
    controller.add([file('a.log', LOG), file('b.log', LOG)]);
    await settled();
    controller.dismiss(controller.entries[0]!.key);
    expect(controller.entries.map((entry) => entry.name)).toEqual(['b.log']);
  });
});
