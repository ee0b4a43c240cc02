/**
 * Builds the screens to out/renderer: index.html and hashed assets, nothing inline, so that the page runs under a policy that allows
 * scripts, styles and fonts from its own origin alone.
 */
import path from 'node:path';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';
import { shellManifest } from '../build/shell-manifest.mjs';

const here = import.meta.dirname;

export default defineConfig({
  root: here,
  base: './',
  plugins: [svelte({ configFile: false }), shellManifest()],
  build: {
    outDir: path.join(here, '../out/renderer'),
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
