/**
 * The prover's environment is an allow-list: what is not named here does not pass, whatever it is. Loader and interpreter variables
 * (`LD_*`, `NODE_OPTIONS`, `ELECTRON_RUN_AS_NODE`, `PYTHON*`, `GCONV_PATH`) never do.
 */
const PASSED = [
  'HOME', 'LANG', 'LC_ALL', 'LC_CTYPE', 'LC_MESSAGES', 'TZ', 'TMPDIR', 'RUST_LOG', 'RUST_BACKTRACE', 'RAYON_NUM_THREADS',
  'CUDA_VISIBLE_DEVICES', 'CUDA_DEVICE_ORDER', 'NVIDIA_VISIBLE_DEVICES', 'FIL_PROOFS_PARAMETER_CACHE',
] as const; // prettier-ignore

export interface EnvironmentOptions {
  /** From the configuration, never from our own environment; shown with the run. */
  libraryPath?: string;
}

export function proverEnvironment(from: NodeJS.ProcessEnv, options: EnvironmentOptions = {}): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const name of PASSED) {
    const value = from[name];
    if (value !== undefined && !value.includes('\0')) environment[name] = value;
  }
  // CUDA counts by speed unless told otherwise; people and tools count by bus.
  environment.CUDA_DEVICE_ORDER ??= 'PCI_BUS_ID';
  if (options.libraryPath !== undefined) environment.LD_LIBRARY_PATH = options.libraryPath;
  return environment;
}
