/**
 * How the window is made, as data: every guard is written out, though most are Electron's defaults, so that nothing depends on a default
 * staying what it is. The command-line switches are set before `ready`.
 */

/** webPreferences of the one window. What is not here stays at Electron's default, and a test holds this list against a literal one. */
export function webPreferences(preload: string) {
  return {
    preload,
    sandbox: true,
    contextIsolation: true,
    nodeIntegration: false,
    nodeIntegrationInWorker: false,
    nodeIntegrationInSubFrames: false,
    webviewTag: false,
    webSecurity: true,
    allowRunningInsecureContent: false,
    experimentalFeatures: false,
    navigateOnDragDrop: false,
    disableDialogs: true,
    spellcheck: false,
  } as const;
}

export function windowOptions(preload: string, options: { devTools: boolean }) {
  return {
    title: 'Interlock',
    width: 1280,
    height: 800,
    minWidth: 1024,
    minHeight: 640,
    /** Shown once it has something to show. */
    show: false,
    autoHideMenuBar: true,
    backgroundColor: '#16181d',
    webPreferences: { ...webPreferences(preload), devTools: options.devTools },
  } as const;
}

/**
 * Software rendering unless asked otherwise: the cards on this machine are there to prove, and an idle window should hold none of their
 * memory. `INTERLOCK_GPU_WINDOW=1` turns hardware rendering on.
 */
export const SOFTWARE_RENDERING_SWITCHES: readonly (readonly [string, string?])[] = [['disable-gpu'], ['disable-gpu-compositing']];

/** Chromium talks to nobody on its own. */
export const QUIET_SWITCHES: readonly (readonly [string, string?])[] = [
  ['disable-background-networking'],
  ['disable-component-update'],
  ['disable-domain-reliability'],
  ['disable-sync'],
  ['no-pings'],
  ['disable-features', 'AutofillServerCommunication,MediaRouter,OptimizationHints,SpareRendererForSitePerProcess'],
  ['webrtc-ip-handling-policy', 'disable_non_proxied_udp'],
];

/** Switches that open a door to debuggers; a packaged window that was started with one of them ends at once. */
export const REFUSED_SWITCHES = [
  'remote-debugging-port',
  'remote-debugging-pipe',
  'remote-allow-origins',
  'inspect',
  'inspect-brk',
  'inspect-port',
  'js-flags',
  'load-extension',
  'host-rules',
  'host-resolver-rules',
  'proxy-server',
  'ignore-certificate-errors',
  'disable-web-security',
] as const;
