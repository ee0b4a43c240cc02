/** Transport of the desktop window: the two functions that the preload script exposes. */
import type { CallName, Transport } from '../../electron/contract/api.ts';
import type { LiveMessage } from '../../electron/contract/live.ts';
import { toFailure, type Result } from '../../electron/contract/errors.ts';

export interface InterlockLink {
  call(name: CallName, input: unknown): Promise<Result<unknown>>;
  live(onMessage: (message: LiveMessage) => void, onClose: () => void): () => void;
}

declare global {
  interface Window {
    interlockLink?: InterlockLink;
  }
}

/** Null in a browser tab, where the web door is the way. */
export function getWindowTransport(): Transport | null {
  const link = window.interlockLink;
  if (!link) return null;
  return {
    call: (name, input) => link.call(name, input).catch(toFailure),
    live: (onMessage, onClose) => link.live(onMessage, onClose),
  };
}
