/**
 * One call of the command line as the commands see it: its arguments, its configuration, whom to ask. What comes from the host's room
 * comes in as {@link CliSeams}.
 */
import { createClient } from '../../contract/client.ts';
import type { Client, ConfigValue, DoctorCheck, Transport } from '../../contract/api.ts';
import type { Clock } from '../../contract/clock.ts';
import { InterlockError } from '../../contract/errors.ts';
import type { Backend, SchedulerSpec } from '../../contract/scheduler.ts';
import type { Parsed } from './arguments.ts';
import type { CommandName } from './flags.ts';
import type { Output } from './output.ts';

/** The configuration as the commands see it. */
export interface CliConfig {
  dataFolder: string;
  backend: Backend | null;
  scheduler: SchedulerSpec | null;
  emulate: string | null;
  values: ConfigValue[];
}

/** A host in this process, for the length of one command. */
export interface OwnHost {
  transport: Transport;
  close(how: 'drain' | 'now'): Promise<void>;
}

export interface CliSeams {
  version: string;
  clock: Clock;
  readConfig(flags: Record<string, string>, file: string | null): CliConfig;
  /** A running host of this data folder, or null. */
  connect(config: CliConfig): Promise<(Transport & { close(): void }) | null>;
  openOwnHost(config: CliConfig): Promise<OwnHost>;
  /** The history alone, read-only. */
  openHistory(config: CliConfig): Promise<OwnHost>;
  /** The history alone, into which runs may be brought. Fails with `host_running`. */
  openHistoryForImport(config: CliConfig): Promise<OwnHost>;
  serve(config: CliConfig, flags: { firstProof: boolean; web: boolean }, output: Output): Promise<number>;
  verify(config: CliConfig, file: string): Promise<{ valid: boolean; exit: number | null; message: string }>;
  /** The checks without a host. */
  doctor(config: CliConfig): Promise<DoctorCheck[]>;
  /** Writes a file whole or not at all; without `force` an existing one is refused. */
  writeFile(path: string, text: string, force: boolean): Promise<void>;
  /** Calls back at SIGINT, SIGTERM and SIGHUP. */
  onInterrupt(run: () => void): () => void;
}

export interface Call {
  command: CommandName;
  parsed: Parsed;
  json: boolean;
  config: CliConfig;
  seams: CliSeams;
  output: Output;
}

/** Runs with a client of the running host; fails with `no_host` if there is none. */
export async function withHost<T>(call: Call, work: (client: Client) => Promise<T>): Promise<T> {
  const transport = await call.seams.connect(call.config);
  if (!transport) throw new InterlockError('no_host', `No host is running for ${call.config.dataFolder}.`);
  try {
    return await work(createClient(transport));
  } finally {
    transport.close();
  }
}

/** Runs with the running host's client, or with the history alone. */
export async function withHistory<T>(call: Call, work: (client: Client) => Promise<T>): Promise<T> {
  const transport = await call.seams.connect(call.config);
  if (transport) {
    try {
      return await work(createClient(transport));
    } finally {
      transport.close();
    }
  }
  const history = await call.seams.openHistory(call.config);
  try {
    return await work(createClient(history.transport));
  } finally {
    await history.close('now');
  }
}
