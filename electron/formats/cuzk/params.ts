/** Loads of params (the daemon says SRS), by circuit. */
import type { Nanoseconds } from '../../contract/units.ts';
import { fieldOf, numberOf } from './decode.ts';
import type { Emitter } from './emitter.ts';
import type { Circuits } from './jobs.ts';
import { idOf } from './uid.ts';

const GIB = 2 ** 30;

export class ParamsLoads {
  readonly #out: Emitter;
  readonly #circuits: Circuits;

  constructor(out: Emitter, circuits: Circuits) {
    this.#out = out;
    this.#circuits = circuits;
  }

  take(message: string, t: Nanoseconds): void {
    const name = fieldOf(message, 'circuit_id');
    if (name === null || name === '') return;
    const circuit = idOf(name);
    if (message.startsWith('loading SRS')) {
      this.#circuits.loads(circuit);
      // Whole GiB, rounded down: of small params the log says 0.
      this.#out.emit('params_load_started', t, { circuit, bytes: (numberOf(message, 'file_size_gib') ?? 0) * GIB });
    } else if (message.startsWith('SRS loaded')) {
      this.#circuits.loads(circuit);
      this.#out.emit('params_load_ended', t, { circuit, ok: true, digest: null, code: null, message: null });
    } else if (/fail/i.test(message)) {
      this.#out.emit('params_load_ended', t, {
        circuit,
        ok: false,
        digest: null,
        code: 'params_unreadable',
        message: message.slice(0, 8_192),
      });
    }
  }
}
