/** How long the sample takes, roughly: said before it is started, and said to be rough. */

/** CPU seconds of one partition of the built-in SHA-256 circuit at its default size (62,500 constraints), as measured on one machine. */
const CPU_SECONDS_A_PARTITION = 1.1;
/** Threads beyond this many gain little on partitions this small. */
const THREADS_THAT_HELP = 16;

export function estimateSeconds(partitions: number, cpus: number): number {
  const seconds = (partitions * CPU_SECONDS_A_PARTITION) / Math.max(1, Math.min(cpus, THREADS_THAT_HELP));
  return Math.max(1, Math.ceil(seconds));
}

export const SAMPLE_COST_WORDS =
  'Ten partitions of 62,500 constraints at about 1.1 CPU seconds each, shared among this machine’s threads. The very first time the params of the circuit are generated before, which takes longer.';
