/** Every command with its flags and one line of help. */
import type { Flags } from './arguments.ts';

const COMMON: Flags = {
  'data-dir': { takes: 'value', shape: 'DIR', key: 'data_dir', help: 'where history, queue and proofs are' },
  config: { takes: 'value', shape: 'FILE', help: 'configuration file instead of the usual one' },
  json: { takes: 'switch', help: 'print JSON on standard output' },
  help: { takes: 'switch', short: '-h', help: 'print this help' },
};

/** Settings of a scheduler; as flags of `simulate` they belong to no configuration. */
const TUNING: Flags = {
  dispatch: { takes: 'value', shape: 'batch|partition', help: 'what is released to the device at once' },
  order: { takes: 'value', shape: 'fifo|proof-first|shortest-first|deadline', help: 'which partition goes next' },
  'gpu-workers': { takes: 'value', shape: 'N', help: 'host threads that feed a device' },
  'lock-scope': { takes: 'value', shape: 'job|kernels', help: 'what the device lock covers' },
  'partitions-in-flight': { takes: 'value', shape: 'N', help: 'partitions with a permit at once' },
  'proofs-in-flight': { takes: 'value', shape: 'N', help: 'proofs with a partition in work at once' },
  'synthesis-workers': { takes: 'value', shape: 'N', help: 'partitions synthesised at once' },
};

const SCHEDULER: Flags = {
  backend: { takes: 'value', shape: 'cpu|emulated|cuda', key: 'backend', help: 'what stands behind a device' },
  scheduler: { takes: 'value', shape: 'batch|per-partition|interlock', key: 'scheduler.preset', help: 'preset (default interlock)' },
  dispatch: { takes: 'value', shape: 'batch|partition', key: 'scheduler.dispatch', help: 'what is released to the device at once' },
  order: { takes: 'value', shape: 'fifo|proof-first|shortest-first|deadline', key: 'scheduler.order', help: 'which partition goes next' },
  'gpu-workers': { takes: 'value', shape: 'N', key: 'scheduler.gpu_workers', help: 'host threads that feed a device' },
  'lock-scope': { takes: 'value', shape: 'job|kernels', key: 'scheduler.lock_scope', help: 'what the device lock covers' },
  'partitions-in-flight': { takes: 'value', shape: 'N', key: 'scheduler.partitions_in_flight', help: 'partitions with a permit at once' },
  'proofs-in-flight': { takes: 'value', shape: 'N', key: 'scheduler.proofs_in_flight', help: 'proofs with a partition in work at once' },
  'synthesis-workers': { takes: 'value', shape: 'N', key: 'scheduler.synthesis_workers', help: 'partitions synthesised at once' },
  'synthesis-threads': { takes: 'value', shape: 'N', key: 'scheduler.synthesis_threads', help: 'threads of synthesis in all' },
  'device-threads': { takes: 'value', shape: 'N', key: 'scheduler.device_threads', help: 'threads of the CPU device' },
  'memory-budget': { takes: 'value', shape: '8GiB', key: 'scheduler.memory_budget', help: 'memory that permits may add up to' },
  emulate: { takes: 'value', shape: 'SPEC', key: 'emulate', help: 'durations of the emulated stages, e.g. synthesis=300ms,kernels=180ms' },
};

export interface CommandSpec {
  /** Words after the command, as in the help. */
  words: string;
  mostWords: number;
  leastWords: number;
  help: string;
  flags: Flags;
}

export const COMMANDS = {
  prove: {
    words: '',
    leastWords: 0,
    mostWords: 0,
    help: 'queue proofs and wait for them',
    flags: {
      ...SCHEDULER,
      circuit: { takes: 'value', shape: 'sha256|squarings', help: 'built-in circuit (default sha256)' },
      constraints: { takes: 'value', shape: 'N', help: 'size of a partition (default 62500, squarings 65000)' },
      partitions: { takes: 'value', shape: 'N', help: 'partitions of a proof (default 10)' },
      count: { takes: 'value', shape: 'N', help: 'proofs (default 1)' },
      priority: { takes: 'value', shape: '1-4', help: '4 goes first (default 2)' },
      switch: { takes: 'switch', help: 'change scheduler or backend if another one is active' },
      'params-dir': { takes: 'value', shape: 'DIR', key: 'params_dir', help: 'where Groth16 parameters are' },
      ...COMMON,
    },
  },
  runs: {
    words: '',
    leastWords: 0,
    mostWords: 0,
    help: 'list runs, newest first',
    flags: { limit: { takes: 'value', shape: 'N', help: 'at most this many (default 20)' }, ...COMMON },
  },
  show: { words: 'RUN', leastWords: 1, mostWords: 1, help: 'show a run (an id, or last)', flags: COMMON },
  events: { words: 'RUN', leastWords: 1, mostWords: 1, help: 'print every event of a run as NDJSON', flags: COMMON },
  idle: { words: 'RUN', leastWords: 1, mostWords: 1, help: 'say why each device was idle', flags: COMMON },
  gaps: {
    words: 'RUN',
    leastWords: 1,
    mostWords: 1,
    help: 'list the gaps between kernels, longest first',
    flags: {
      min: { takes: 'value', shape: '10ms', help: 'shortest gap that is listed (default 10ms)' },
      limit: { takes: 'value', shape: 'N', help: 'at most this many (default 20; 1000 with --json)' },
      ...COMMON,
    },
  },
  simulate: {
    words: '[RUN]',
    leastWords: 0,
    mostWords: 1,
    help: 'predict what another scheduler would do with a run',
    flags: {
      scheduler: { takes: 'value', shape: 'batch|per-partition|interlock', help: 'preset instead of the run’s own' },
      ...TUNING,
      fit: { takes: 'value', shape: 'FILE', help: 'stage times from a table (CSV or JSON) instead of a run' },
      proofs: { takes: 'value', shape: 'N', help: 'proofs to simulate' },
      rounds: { takes: 'value', shape: 'N', help: 'simulated runs (default 20)' },
      seed: { takes: 'value', shape: 'N', help: 'seed of the resampling (default 1)' },
      ...COMMON,
    },
  },
  compare: {
    words: 'RUN RUN …',
    leastWords: 2,
    mostWords: 8,
    help: 'set runs beside each other: what differs, what it brought',
    flags: COMMON,
  },
  experiment: {
    words: '[ID]',
    leastWords: 0,
    mostWords: 1,
    help: 'run two schedulers in turns and say which is faster; or show an experiment',
    flags: {
      a: { takes: 'value', shape: 'SPEC', help: 'a scheduler: preset[,setting=value …], e.g. per-partition' },
      b: { takes: 'value', shape: 'SPEC', help: 'the other, e.g. interlock,gpu_workers=2' },
      rounds: { takes: 'value', shape: 'N', help: 'pairs of blocks (default 5)' },
      proofs: { takes: 'value', shape: 'N', help: 'proofs of a block that count (default 5)' },
      backend: { takes: 'value', shape: 'cpu|emulated|cuda', key: 'backend', help: 'what stands behind a device' },
      emulate: { takes: 'value', shape: 'SPEC', key: 'emulate', help: 'durations of the emulated stages' },
      circuit: { takes: 'value', shape: 'sha256|squarings', help: 'built-in circuit (default sha256)' },
      constraints: { takes: 'value', shape: 'N', help: 'size of a partition' },
      partitions: { takes: 'value', shape: 'N', help: 'partitions of a proof (default 10)' },
      stop: { takes: 'switch', help: 'with ID: stop that experiment' },
      ...COMMON,
    },
  },
  import: {
    words: 'FILE|-',
    leastWords: 1,
    mostWords: 1,
    help: 'take in a log of the cuzk daemon, or a run from another machine',
    flags: {
      follow: { takes: 'switch', help: 'the file grows (or - : a pipe): go on, live on screen, until interrupted' },
      ...COMMON,
    },
  },
  export: {
    words: 'RUN',
    leastWords: 1,
    mostWords: 1,
    help: 'write a run as csv, ndjson, chrome, sqlite or html',
    flags: {
      format: { takes: 'value', shape: 'csv|ndjson|chrome|sqlite|html', help: 'what to write' },
      output: { takes: 'value', short: '-o', shape: 'FILE', help: 'where (a folder for csv; - is standard output)' },
      force: { takes: 'switch', help: 'overwrite' },
      redact: { takes: 'switch', help: 'without home paths, host names and secrets' },
      ...COMMON,
    },
  },
  proof: {
    words: 'ID',
    leastWords: 1,
    mostWords: 1,
    help: 'print a proof, or save it',
    flags: {
      output: { takes: 'value', short: '-o', shape: 'FILE', help: 'save here (- is standard output)' },
      force: { takes: 'switch', help: 'overwrite an existing file' },
      ...COMMON,
    },
  },
  verify: {
    words: 'FILE',
    leastWords: 1,
    mostWords: 1,
    help: 'check a proof file (exit 0 valid, 4 not)',
    flags: { 'params-dir': { takes: 'value', shape: 'DIR', key: 'params_dir', help: 'where Groth16 parameters are' }, ...COMMON },
  },
  serve: {
    words: '',
    leastWords: 0,
    mostWords: 0,
    help: 'be the host: queue, prover, history and the page on loopback',
    flags: {
      port: { takes: 'value', shape: 'N', key: 'port', help: 'port of the page' },
      'public-origin': { takes: 'value', shape: 'URL', key: 'public_origin', help: 'one more origin that reaches the page (ssh forward)' },
      'params-dir': { takes: 'value', shape: 'DIR', key: 'params_dir', help: 'where Groth16 parameters are' },
      'first-proof': { takes: 'switch', help: 'begin with one proof if the history is empty' },
      'no-first-proof': { takes: 'switch', help: 'begin without one' },
      'no-web': { takes: 'switch', help: 'no page, only the socket' },
      ...SCHEDULER,
      ...COMMON,
    },
  },
  link: { words: '', leastWords: 0, mostWords: 0, help: 'print a fresh single-use link to the running host’s page', flags: COMMON },
  doctor: {
    words: '',
    leastWords: 0,
    mostWords: 0,
    help: 'look at everything that proving needs',
    flags: {
      'params-dir': { takes: 'value', shape: 'DIR', key: 'params_dir', help: 'where Groth16 parameters are' },
      ...SCHEDULER,
      ...COMMON,
    },
  },
  config: {
    words: 'show',
    leastWords: 1,
    mostWords: 1,
    help: 'show each setting and where it came from',
    flags: { ...SCHEDULER, ...COMMON },
  },
  withdraw: { words: 'ID …', leastWords: 1, mostWords: 10_000, help: 'take proofs out of the queue', flags: COMMON },
  stop: {
    words: '',
    leastWords: 0,
    mostWords: 0,
    help: 'finish what was begun, hold the queue, end the prover',
    flags: { now: { takes: 'switch', help: 'at once: what was begun is lost work' }, ...COMMON },
  },
  start: { words: '', leastWords: 0, mostWords: 0, help: 'go on after a stop or a hold', flags: COMMON },
  switch: {
    words: '',
    leastWords: 0,
    mostWords: 0,
    help: 'change scheduler or backend once the current run allows it',
    flags: { ...SCHEDULER, ...COMMON },
  },
  help: { words: '[COMMAND]', leastWords: 0, mostWords: 1, help: 'print help', flags: COMMON },
  version: { words: '', leastWords: 0, mostWords: 0, help: 'print the version', flags: COMMON },
} as const satisfies Record<string, CommandSpec>;

export type CommandName = keyof typeof COMMANDS;

export function helpText(command?: CommandName): string {
  if (!command) {
    const rows = Object.entries(COMMANDS).map(([name, spec]) => `  ${`${name} ${spec.words}`.padEnd(18)} ${spec.help}`);
    return [
      'interlock <command> [flags]',
      '',
      ...rows,
      '',
      'interlock <command> --help tells its flags.',
      'Exit codes: 0 ok, 1 failed, 2 usage, 3 refused before starting, 4 proof invalid, 130 interrupted.',
      '',
    ].join('\n');
  }
  const spec: CommandSpec = COMMANDS[command];
  const rows = Object.entries(spec.flags).map(([name, flag]) => {
    const written = `${flag.short ? `${flag.short}, ` : ''}--${name}${flag.takes === 'value' ? ` ${flag.shape ?? 'VALUE'}` : ''}`;
    return `  ${written.padEnd(44)} ${flag.help}`;
  });
  return [`interlock ${command} ${spec.words}`.trimEnd(), `  ${spec.help}`, '', ...rows, ''].join('\n');
}
