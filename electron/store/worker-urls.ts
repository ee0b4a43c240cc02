/** Where the store's threads begin. The only place that knows, so that a bundler has one thing to rewrite. */
export const ingestWorkerUrl = new URL('./ingest-worker.ts', import.meta.url);
export const readWorkerUrl = new URL('./read-worker.ts', import.meta.url);
