/** `npm run dev:replay`: a recorded run in the real page, without Rust, a compiler or a GPU. Arguments: [RECORDING] [--port N] [--speed X]. */
import { ensure, handOver, launch, NODE } from './bootstrap.mjs';

await launch(async (argv) => {
  await ensure(['renderer']);
  return handOver(NODE, ['test/support/replay-host.ts', ...argv]);
});
