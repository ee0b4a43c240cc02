import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { serveArguments, socketPath, verifyArguments } from '../../electron/engines/builtin/arguments.ts';
import { proverEnvironment } from '../../electron/engines/builtin/environment.ts';
import type { StartOptions } from '../../electron/engines/engine.ts';

const good: StartOptions = {
  process: '3f1a2b3c-0000-4000-8000-123456789abc',
  folder: '/data/processes/x',
  paramsFolder: '/data/params',
  backend: 'emulated',
  emulate: 'synthesis=300ms,jitter=10%,fail=p57.3,offset=3s',
  graceS: 600,
};

describe('the prover’s command line', () => {
  it('is what the specification says', () => {
    expect(serveArguments(good).join(' ')).toBe(
      'serve --process 3f1a2b3c-0000-4000-8000-123456789abc --folder /data/processes/x --params /data/params --backend emulated ' +
        '--emulate synthesis=300ms,jitter=10%,fail=p57.3,offset=3s --grace 600',
    );
  });

  it('moves the socket when its path would be too long', () => {
    const folder = `/${'d'.repeat(110)}`;
    const given = serveArguments({ ...good, folder });
    expect(given.slice(-2)).toEqual(['--socket', socketPath(folder, good.process)]);
    expect(Buffer.byteLength(given.at(-1) ?? '')).toBeLessThanOrEqual(107);
  });

  it('refuses values that could pass for a flag or end an argument', () => {
    for (const emulate of ['--help', '-x', 'a b', 'a=1\0', 'a=1;b', 'a', '=1', 'a=1,,b=2']) {
      expect(() => serveArguments({ ...good, emulate })).toThrow();
    }
    expect(() => serveArguments({ ...good, folder: 'relative' })).toThrow();
    expect(() => verifyArguments('-x', '/p')).toThrow();
  });

  it('never lets a value change the number or order of entries', () => {
    const text = fc.string({ unit: 'binary', maxLength: 40 });
    fc.assert(
      fc.property(text, text, text, fc.oneof(text, fc.constant('cpu')), fc.integer(), (process, folder, emulate, backend, graceS) => {
        const options = { process, folder, paramsFolder: folder, backend, emulate, graceS } as StartOptions;
        let given: string[];
        try {
          given = serveArguments(options);
        } catch {
          return true;
        }
        const flags = given.filter((entry, index) => index % 2 === 1 && entry.startsWith('--'));
        return given[0] === 'serve' && flags.length === (given.length - 1) / 2 && given.every((entry) => !entry.includes('\0'));
      }),
      { numRuns: 20_000 },
    );
  });
});

describe('the prover’s environment', () => {
  it('is the allow-list and nothing else', () => {
    const hostile = {
      HOME: '/h', LANG: 'C', PATH: '/planted', LD_PRELOAD: 'x.so', LD_LIBRARY_PATH: '/x', LD_AUDIT: 'y', NODE_OPTIONS: '--require x',
      ELECTRON_RUN_AS_NODE: '1', PYTHONPATH: '/p', GCONV_PATH: '/g', FULLNODE_API_INFO: 'secret', RUST_LOG: 'info', CUDA_VISIBLE_DEVICES: '',
    }; // prettier-ignore
    expect(proverEnvironment(hostile)).toEqual({
      HOME: '/h',
      LANG: 'C',
      RUST_LOG: 'info',
      CUDA_VISIBLE_DEVICES: '',
      CUDA_DEVICE_ORDER: 'PCI_BUS_ID',
    });
  });

  it('takes the library path from the configuration alone', () => {
    expect(proverEnvironment({ LD_LIBRARY_PATH: '/env' }, { libraryPath: '/config' }).LD_LIBRARY_PATH).toBe('/config');
  });
});
