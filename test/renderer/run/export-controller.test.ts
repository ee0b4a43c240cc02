import { describe, expect, test } from 'vitest';
import { HostLink } from '../../../renderer/link/host-link.svelte.ts';
import type { Destination } from '../../../renderer/link/files.ts';
import { ExportController } from '../../../renderer/run/export-controller.svelte.ts';
import { createDemoRun } from '../../support/demo-run.ts';
import { scriptExports } from '../../support/demo-transfer.ts';
import { FakeTransport } from '../../support/fake-transport.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const report = createDemoRun({ proofs: 3 }).reportAt(1e15);

/** Keeps files as text; what was abandoned is not kept. */
function memory() {
  const files: Record<string, string> = {};
  const abandoned: string[] = [];
  const destination: Destination = {
    open: (name) => {
      let text = '';
      return Promise.resolve({
        write: (bytes) => Promise.resolve(void (text += new TextDecoder().decode(bytes))),
        close: () => Promise.resolve(void (files[name] = text)),
        abandon: () => Promise.resolve(void abandoned.push(name)),
      });
    },
  };
  return { files, abandoned, destination };
}

function make() {
  const transport = new FakeTransport();
  scriptExports(transport, report);
  return { transport, controller: new ExportController(new HostLink(transport, new ManualClock()), report.run), ...memory() };
}

describe('an export', () => {
  test('writes one file, whole, under the suggested name', async () => {
    const { controller, files, destination, transport } = make();
    controller.redact = true;
    await controller.save('ndjson', destination);
    expect(files).toEqual({ [`${report.run}.ndjson`]: JSON.stringify(report) });
    expect(transport.inputsOf('export_begin')).toEqual([{ run: report.run, format: 'ndjson', redact: true }]);
    expect(transport.inputsOf('export_stop')).toEqual([]);
    expect(controller.bytes).toBe(JSON.stringify(report).length);
    expect(controller.format).toBeNull();
  });

  test('writes each of several files, an empty one too', async () => {
    const { controller, files, destination } = make();
    await controller.save('csv', destination);
    expect(Object.keys(files)).toEqual(['proofs.csv', 'idle.csv', 'devices.csv', 'gaps.csv']);
    expect([files['idle.csv'], files['gaps.csv']]).toEqual(['', '']);
    expect(files['proofs.csv']!.split('\r\n')).toHaveLength(4);
    expect(controller.done).toBe('4 files');
  });

  test('stopped or failed, it abandons the file and tells the host', async () => {
    const { controller, files, abandoned, destination, transport } = make();
    transport.answer('export_piece', () => {
      controller.stop();
      return { ok: true, value: { file: 0, base64: btoa('half'), done: false } };
    });
    await controller.save('html', destination);
    expect([files, abandoned]).toEqual([{}, [`${report.run}.html`]]);
    transport.fail('export_piece', 'internal', 'The reader stopped.');
    await controller.save('html', destination);
    expect(controller.failure?.message).toBe('The reader stopped.');
    expect(transport.inputsOf('export_stop')).toEqual([{ export: 'e-1' }, { export: 'e-2' }]);
    expect(controller.done).toBe('');
  });
});
