/** What a log tells of the daemon's configuration and devices before the first work: `found`, and which worker feeds which device. */
import { fieldOf, numberOf, type TracingItem } from './decode.ts';

/** Lines that tell settings, by how they begin; the fields that are kept of each. */
const LINES: readonly (readonly [begins: string, fields: readonly string[]])[] = [
  ['configuration loaded', ['listen']],
  ['set CUZK_GPU_THREADS', ['gpu_threads']],
  ['rayon global thread pool configured', ['rayon_threads']],
  ['memory budget initialized', ['total_budget_gib']],
  ['starting cuzk engine', ['pipeline_enabled']],
  ['initializing GPU workers', ['num_gpus', 'gpu_workers_per_device', 'total_workers', 'gpus']],
  ['starting pipeline', ['configured_lookahead', 'max_partitions_in_budget', 'effective_lookahead', 'synth_worker_count']],
  ['synthesis dispatcher started', ['max_batch_size', 'max_batch_wait_ms', 'slot_size', 'synthesis_concurrency']],
];

const MAX_DEVICES = 64;
const MAX_VALUE_CHARS = 256;

export class Settings {
  readonly found: Record<string, string> = {};
  readonly #gpuOf = new Map<number, string>();
  #started = 0;
  #isServing = false;

  /** True if the line was one of configuration. */
  take(item: TracingItem): boolean {
    const { message } = item;
    if (message.startsWith('cuzk-daemon ready')) this.#isServing = true;
    if (message.startsWith('pipeline GPU worker started')) {
      this.#started += 1;
      return this.#learn(numberOf(message, 'worker_id'), numberOf(message, 'gpu'));
    }
    if (item.span.startsWith('gpu_worker{')) this.#learn(numberOf(item.span, 'worker_id'), numberOf(item.span, 'gpu'));
    const line = LINES.find(([begins]) => message.startsWith(begins));
    if (!line) return false;
    for (const field of line[1]) {
      const value = fieldOf(message, field);
      if (value !== null) this.found[field] = value.slice(0, MAX_VALUE_CHARS);
    }
    return true;
  }

  /** The daemon serves and all its parts have said how they are set up. */
  get isComplete(): boolean {
    const total = Number(this.found.total_workers);
    return this.#isServing && 'max_batch_size' in this.found && Number.isInteger(total) && this.#started >= total;
  }

  get knowsDevices(): boolean {
    return this.#gpuOf.size > 0 || 'gpus' in this.found;
  }

  /** Ids of the devices, `gpu0` …; `gpu` alone where the log names none. */
  get devices(): string[] {
    const listed = this.found.gpus?.match(/\d{1,4}/g)?.map((ordinal) => `gpu${ordinal}`) ?? [];
    const all = new Set([...listed, ...this.#gpuOf.values()]);
    return all.size === 0 ? ['gpu'] : [...all].slice(0, MAX_DEVICES);
  }

  /** 0 where the log does not say. */
  get workersPerDevice(): number {
    const value = Number(this.found.gpu_workers_per_device);
    return Number.isInteger(value) && value > 0 && value < 1024 ? value : 0;
  }

  deviceOf(worker: number, devices: readonly string[]): string {
    const known = this.#gpuOf.get(worker);
    return known !== undefined && devices.includes(known) ? known : (devices[0] as string);
  }

  #learn(worker: number | null, gpu: number | null): boolean {
    if (worker !== null && gpu !== null && (this.#gpuOf.has(worker) || this.#gpuOf.size < 1024)) this.#gpuOf.set(worker, `gpu${gpu}`);
    return true;
  }
}
