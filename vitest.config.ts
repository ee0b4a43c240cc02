/**
 * Two projects: `node` for everything that runs in Node, `renderer` for the pure parts of the screens (`.svelte.ts` controllers are
 * compiled, and packages resolve as in a browser). What needs a page uses a real Chromium (test/support/chromium.ts), not an imitation.
 */
import { defineConfig } from 'vitest/config';
import { svelte } from '@sveltejs/vite-plugin-svelte';

const shared = { environment: 'node' as const, testTimeout: 30_000, hookTimeout: 60_000 };

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...shared,
          name: 'node',
          include: ['test/**/*.test.ts'],
          exclude: ['test/renderer/**', 'test/e2e/**'],
          setupFiles: ['test/support/leave-nothing.ts'],
        },
      },
      {
        plugins: [svelte({ configFile: false })],
        resolve: { conditions: ['browser', 'module', 'import', 'default'] },
        test: { ...shared, name: 'renderer', include: ['test/renderer/**/*.test.ts'] },
      },
      {
        // One file after another: these start whole programs, and two cores are not many.
        test: {
          ...shared,
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          testTimeout: 180_000,
          hookTimeout: 180_000,
          fileParallelism: false,
          setupFiles: ['test/support/leave-nothing.ts'],
        },
      },
    ],
  },
});
