/**
 * The object behind every door. One host owns one data folder: the queue of proofs, the runs, the prover and what is told to the doors.
 */
import type { Host } from '../contract/api.ts';
import type { Clock } from '../contract/clock.ts';
import type { MachineFacts, Backend } from '../contract/scheduler.ts';
import type { ConfigValue } from '../contract/api.ts';

export interface HostOptions {
  dataFolder: string;
  version: string;
  clock?: Clock;
  machine?: MachineFacts;
  /** The prover's binary; null lets it be found. */
  binary?: string | null;
  /** Where Groth16 parameters are; `<data>/params` unless given. */
  paramsFolder?: string;
  /** What `show_config` answers. */
  configValues?: ConfigValue[];
  backend?: Backend;
}

/** A host in this process. */
export interface RunningHost extends Host {
  /** The web door says how to make a link; until then `make_link` fails with `no_host`. */
  setLinkMaker(make: (() => Promise<string>) | null): void;
  /** Drains (or stops now) the prover, commits everything, releases the data folder. A second call with `now` hurries the first. */
  close(how?: 'drain' | 'now'): Promise<void>;
}

/** Opens the data folder, heals what an earlier host left, and is ready for calls. */
export function createHost(_options: HostOptions): Promise<RunningHost> {
  return Promise.reject(new Error('not built yet'));
}
