/** `interlock …`: wiring only. Gives the command line (doors/cli) its seams to the host's room. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { InterlockError } from './contract/errors.ts';
import { resolveScheduler } from './contract/scheduler.ts';
import { visibleText } from './contract/visible-text.ts';
import { processOutput } from './doors/cli/output.ts';
import { type CliConfig, type CliSeams } from './doors/cli/call.ts';
import { runCommandLine } from './doors/cli/program.ts';
import { connectToHost } from './doors/socket/client.ts';
import { localTransport } from './doors/socket/local.ts';
import { binaryCandidates, checkoutFolder } from './engines/builtin/binary.ts';
import { createBuiltinEngine } from './engines/builtin/engine.ts';
import { systemClock } from './host/clock.ts';
import { readConfig, type Config } from './host/config.ts';
import { runDoctor } from './host/doctor.ts';
import { writeDurably } from './host/durable-files.ts';
import { openHistory, openHistoryForImport } from './host/history.ts';
import type { HostOptions } from './host/host.ts';
import { readMachine } from './host/machine.ts';
import { configFile, dataLayout, defaultDataFolder, hostSocketPath, resolveFolder } from './host/paths.ts';

const environment = process.env;

interface WiredConfig extends CliConfig {
  full: Config;
}

function readVersion(): string {
  const text = readFileSync(join(checkoutFolder(), 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

function wired(config: CliConfig): WiredConfig {
  return config as WiredConfig;
}

function hostOptions(config: CliConfig, version: string): HostOptions {
  const { full } = wired(config);
  return {
    dataFolder: config.dataFolder,
    version,
    environment,
    binary: full.prover,
    libraryPath: full.libraryPath,
    paramsFolder: full.paramsDir === null ? null : resolve(full.paramsDir),
    configValues: config.values,
    backend: config.backend,
    scheduler: config.scheduler,
    emulate: config.emulate,
  };
}

function engineFor(config: CliConfig) {
  const { full } = wired(config);
  return createBuiltinEngine({
    clock: systemClock,
    candidates: binaryCandidates({ override: full.prover, resourcesFolder: null, checkout: checkoutFolder() }),
    environment,
    ...(full.libraryPath === null ? {} : { libraryPath: full.libraryPath }),
  });
}

function paramsFolder(config: CliConfig): string {
  const { paramsDir } = wired(config).full;
  return paramsDir === null ? dataLayout(config.dataFolder).params : resolve(paramsDir);
}

function createSeams(): CliSeams {
  const version = readVersion();
  return {
    version,
    clock: systemClock,
    readConfig(flags, file): WiredConfig {
      const full = readConfig({
        flags,
        environment,
        file: file === null ? configFile(environment) : resolve(file),
        fileNamed: file !== null,
        defaultDataFolder: defaultDataFolder(environment),
      });
      const dataFolder = resolveFolder(full.dataDir ?? defaultDataFolder(environment));
      const { backend, scheduler, emulate, values } = full;
      return { dataFolder, backend, scheduler, emulate, values, full };
    },
    connect: (config) => connectToHost(hostSocketPath(config.dataFolder, environment)),
    async openOwnHost(config) {
      const { openHostWithSocket } = await import('./headless.ts');
      const say = (severity: string, message: string) =>
        process.stderr.write(`${severity === 'info' ? '' : `${severity}: `}${visibleText(message)}\n`);
      const { host, door } = await openHostWithSocket({ ...hostOptions(config, version), onNotice: say });
      return {
        transport: localTransport(host),
        async close(how) {
          await host.close(how);
          await door?.close();
        },
      };
    },
    async openHistory(config) {
      const history = await openHistory({ dataFolder: config.dataFolder, clock: systemClock });
      return { transport: localTransport(history), close: () => history.close() };
    },
    async openHistoryForImport(config) {
      const history = await openHistoryForImport({ dataFolder: config.dataFolder, clock: systemClock });
      return { transport: localTransport(history), close: () => history.close() };
    },
    async serve(config, flags, output) {
      const { serve } = await import('./headless.ts');
      const { port, publicOrigin } = wired(config).full;
      const web = flags.web ? { port, publicOrigin } : null;
      return serve({ host: hostOptions(config, version), web, firstProof: flags.firstProof }, output);
    },
    verify: (config, file) => engineFor(config).verify(resolve(file), paramsFolder(config)),
    async doctor(config) {
      const machine = readMachine();
      const socket = hostSocketPath(config.dataFolder, environment);
      const running = await connectToHost(socket);
      running?.close();
      let sqlite: { version: string; problem: string | null } | null = null;
      try {
        const history = await openHistory({ dataFolder: config.dataFolder, clock: systemClock });
        await history.close();
        sqlite = { version: '', problem: null };
      } catch (error) {
        if (error instanceof InterlockError && error.code !== 'not_found') sqlite = { version: '', problem: error.message };
      }
      return runDoctor({
        engine: engineFor(config),
        dataFolder: config.dataFolder,
        paramsFolder: paramsFolder(config),
        machine,
        memoryBudgetBytes: resolveScheduler(config.scheduler ?? {}, machine).memory_budget_bytes,
        environment,
        checkout: checkoutFolder(),
        hostRunning: running ? { pid: null, socket } : null,
        sqlite,
      });
    },
    async writeFile(path, text, force) {
      const target = resolve(path);
      try {
        await writeDurably(target, text, { replace: force });
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code === 'EEXIST') throw new InterlockError('usage', `${visibleText(target)} is there already; --force overwrites it.`);
        throw new InterlockError(
          code === 'ENOSPC' ? 'disk_full' : 'folder_unusable',
          `${visibleText(target)} cannot be written (${code}).`,
        );
      }
    },
    onInterrupt(run) {
      const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
      for (const signal of signals) process.on(signal, run);
      return () => signals.forEach((signal) => process.off(signal, run));
    },
  };
}

/** Runs one command line and ends the process with its exit code. */
export async function runProgram(argv: readonly string[]): Promise<void> {
  const output = processOutput(environment);
  process.exit(await runCommandLine(argv, createSeams(), output));
}

if (import.meta.main) await runProgram(process.argv.slice(2));
