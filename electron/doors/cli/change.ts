/** The commands that change something in a running host: withdraw, stop, start, switch, link. */
import { schedulerLabel } from '../../contract/scheduler.ts';
import { usage } from './arguments.ts';
import { EXIT } from './exit-codes.ts';
import { withHost, type Call } from './call.ts';

export function changeCommand(call: Call): Promise<number> {
  const { command, parsed, json, output, config } = call;
  return withHost(call, async (client) => {
    switch (command) {
      case 'withdraw': {
        const answer = await client.withdraw({ proofs: parsed.words });
        if (json) await output.data(`${JSON.stringify(answer)}\n`);
        else for (const { proof, state } of answer.states) output.say(`${proof}: ${WITHDRAW_WORDS[state]}`);
        return EXIT.ok;
      }
      case 'stop': {
        const answer = await client.stop({ how: parsed.switches.has('now') ? 'now' : 'drain' });
        if (json) await output.data(`${JSON.stringify(answer)}\n`);
        else
          output.say(
            `Stopping; ${answer.waitsForProofs} proof${answer.waitsForProofs === 1 ? '' : 's'} in the prover. Go on with: interlock start`,
          );
        return EXIT.ok;
      }
      case 'start':
        await client.start({});
        if (json) await output.data('{}\n');
        return EXIT.ok;
      case 'switch': {
        if (!config.scheduler && !config.backend && config.emulate === null) throw usage('Say what to switch to, e.g. --scheduler batch.');
        const answer = await client.switch_scheduler({
          scheduler: config.scheduler ?? {},
          ...(config.backend ? { backend: config.backend } : {}),
          ...(config.emulate === null ? {} : { emulate: config.emulate }),
        });
        if (json) await output.data(`${JSON.stringify(answer)}\n`);
        else {
          const waits = answer.waitsForProofs > 0 ? `, after ${answer.waitsForProofs} proofs` : '';
          const how = answer.restarts ? 'the prover restarts, params are loaded again' : 'in the same process, params stay';
          output.say(`Switching to ${schedulerLabel(answer.scheduler)}${waits} (${how}).`);
        }
        return EXIT.ok;
      }
      default: {
        const { url } = await client.make_link({});
        await output.data(json ? `${JSON.stringify({ url })}\n` : `${url}\n`);
        return EXIT.ok;
      }
    }
  });
}

const WITHDRAW_WORDS = { withdrawn: 'withdrawn', stopping: 'still on the device; it ends there', ended: 'too late, it has ended' };
