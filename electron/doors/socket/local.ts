/** A {@link Transport} to a host in this very process: the same routing and checks as over a socket, without one. */
import type { Host, Transport } from '../../contract/api.ts';
import { route } from '../router.ts';

export function localTransport(host: Host): Transport {
  return {
    call: (name, input) => route(host, name, input),
    live: (onMessage) =>
      host.subscribe({
        send(message) {
          onMessage(message);
          return true;
        },
      }),
  };
}
