/** The whole client, typed off the contract, over a two-function transport. */
import { CALLS, type CallName, type Client, type Transport } from './api.ts';
import { unwrap } from './errors.ts';

export function createClient(transport: Transport): Client {
  const calls: Record<string, (input: unknown) => Promise<unknown>> = {};
  for (const name of Object.keys(CALLS) as CallName[]) {
    calls[name] = async (input) => unwrap(await transport.call(name, input));
  }
  return { ...calls, live: transport.live.bind(transport) } as unknown as Client;
}
