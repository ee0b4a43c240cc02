/** Addresses: `#/live`, `#/runs`, `#/runs/<id>`. What is not understood is Live. Pure. */
export type Route = { screen: 'live' } | { screen: 'runs' } | { screen: 'run'; run: string };

const RUN = /^\/runs\/([A-Za-z0-9._-]{1,64})$/;

export function parseRoute(path: string): Route {
  if (path === '/runs' || path === '/runs/') return { screen: 'runs' };
  const run = RUN.exec(path)?.[1];
  if (run) return { screen: 'run', run };
  return { screen: 'live' };
}

export const SCREENS = [
  { screen: 'live', path: '/live', label: 'Live', icon: 'live' },
  { screen: 'runs', path: '/runs', label: 'Runs', icon: 'list' },
] as const;

/** The rail's entry for a route. */
export function railOf(route: Route): 'live' | 'runs' {
  return route.screen === 'live' ? 'live' : 'runs';
}
