/**
 * What the page may ask of Chromium. Electron approves by default, so every handler is set, and this table names every permission that
 * Electron knows: a name that is not in it is denied all the same, and a test fails until it is.
 */
export const PERMISSIONS = {
  ar: false,
  'automatic-fullscreen': false,
  'background-fetch': false,
  'background-sync': false,
  'captured-surface-control': false,
  'clipboard-read': false,
  /** Copying a figure or a hash: text only, from a press of a key or button. */
  'clipboard-sanitized-write': true,
  'deprecated-sync-clipboard-read': false,
  'display-capture': false,
  fileSystem: false,
  fullscreen: false,
  geolocation: false,
  'geolocation-approximate': false,
  'hand-tracking': false,
  hid: false,
  'idle-detection': false,
  keyboardLock: false,
  'local-fonts': false,
  'local-network': false,
  'local-network-access': false,
  'loopback-network': false,
  media: false,
  mediaKeySystem: false,
  midi: false,
  midiSysex: false,
  nfc: false,
  notifications: false,
  openExternal: false,
  'payment-handler': false,
  'periodic-background-sync': false,
  'persistent-storage': false,
  pointerLock: false,
  'screen-wake-lock': false,
  sensors: false,
  serial: false,
  'smart-card': false,
  'speaker-selection': false,
  'storage-access': false,
  'system-wake-lock': false,
  'top-level-storage-access': false,
  usb: false,
  vr: false,
  'web-app-installation': false,
  'web-printing': false,
  'window-management': false,
  unknown: false,
} as const satisfies Record<string, boolean>;

/** Decides for one request. `ours`: it comes from the main frame of our own page. */
export function mayHave(permission: string, ours: boolean): boolean {
  return ours && Object.hasOwn(PERMISSIONS, permission) && PERMISSIONS[permission as keyof typeof PERMISSIONS];
}

/** The part of Electron's session that hands out permissions. */
export interface PermissionSession {
  setPermissionRequestHandler(
    handler: (
      contents: unknown,
      permission: string,
      callback: (granted: boolean) => void,
      details: { isMainFrame?: boolean; requestingUrl?: string },
    ) => void,
  ): void;
  setPermissionCheckHandler(
    handler: (contents: unknown, permission: string, origin: string, details: { isMainFrame?: boolean; requestingUrl?: string }) => boolean,
  ): void;
  setDevicePermissionHandler(handler: () => boolean): void;
  setDisplayMediaRequestHandler(handler: (request: unknown, callback: (streams: object) => void) => void): void;
  setUSBProtectedClassesHandler?(handler: (details: { protectedClasses: string[] }) => string[]): void;
  setBluetoothPairingHandler?(handler: (details: unknown, callback: (response: { confirmed: boolean }) => void) => void): void;
}

/** Sets every handler there is on a session. */
export function denyByDefault(session: PermissionSession, isOwn: (url: string) => boolean): void {
  const ours = (details: { isMainFrame?: boolean; requestingUrl?: string } | undefined, origin?: string) =>
    details?.isMainFrame === true && isOwn(details.requestingUrl ?? `${origin ?? ''}/`);
  session.setPermissionRequestHandler((_contents, permission, callback, details) => callback(mayHave(permission, ours(details))));
  session.setPermissionCheckHandler((_contents, permission, origin, details) => mayHave(permission, ours(details, origin)));
  session.setDevicePermissionHandler(() => false);
  // An empty answer is a refusal.
  session.setDisplayMediaRequestHandler((_request, callback) => callback({}));
  session.setUSBProtectedClassesHandler?.(({ protectedClasses }) => protectedClasses);
  session.setBluetoothPairingHandler?.((_details, callback) => callback({ confirmed: false }));
}
