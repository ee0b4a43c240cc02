/** Vite’s server for `npm run dev`: the page with hot reload, calls and the live feed passed to the web door behind it. */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createServer } from 'vite';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const [pagePort, hostPort] = process.argv.slice(2).map(Number);
const target = `http://127.0.0.1:${hostPort}`;

const server = await createServer({
  root: path.join(ROOT, 'renderer'),
  configFile: path.join(ROOT, 'renderer/vite.config.ts'),
  clearScreen: false,
  logLevel: 'warn',
  server: {
    host: '127.0.0.1',
    port: pagePort,
    strictPort: true,
    // Whole paths: the page's own modules lie under /live/ and the like. Host and Origin go through as the browser sent them; the door
    // judges them itself.
    proxy: {
      '^/api/[a-z_]+$': { target, changeOrigin: false },
      '^/session$': { target, changeOrigin: false },
      '^/live$': { target, changeOrigin: false, ws: true },
    },
  },
});
await server.listen();
