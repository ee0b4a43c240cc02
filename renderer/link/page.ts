/** The rest of what the screens need from the page: its address, its stored choices, its frames. Everything else is plain code. */
import type { Clock } from '../../electron/contract/clock.ts';
import { pageClock } from './page-clock.ts';

export interface Page {
  clock: Clock;
  /** `#/runs/r-1` → `/runs/r-1`; empty when there is none. */
  readPath(): string;
  goTo(path: string): void;
  onPath(run: () => void): () => void;
  /** Calls back before each frame until cancelled; never while the page is hidden. */
  onFrame(run: () => void): () => void;
  readChoice(name: string): string | null;
  writeChoice(name: string, value: string | null): void;
  setTheme(theme: 'light' | 'dark' | null): void;
  copy(text: string): Promise<void>;
}

export const page: Page = {
  clock: pageClock,
  readPath: () => (window.location.hash.startsWith('#/') ? window.location.hash.slice(1) : ''),
  goTo: (path) => {
    window.location.hash = path;
  },
  onPath(run) {
    window.addEventListener('hashchange', run);
    return () => window.removeEventListener('hashchange', run);
  },
  onFrame(run) {
    let handle = requestAnimationFrame(function step() {
      run();
      handle = requestAnimationFrame(step);
    });
    return () => cancelAnimationFrame(handle);
  },
  // Storage may be forbidden; a choice that cannot be kept lasts for this page.
  readChoice(name) {
    try {
      return window.localStorage.getItem(`interlock.${name}`);
    } catch {
      return null;
    }
  },
  writeChoice(name, value) {
    try {
      if (value === null) window.localStorage.removeItem(`interlock.${name}`);
      else window.localStorage.setItem(`interlock.${name}`, value);
    } catch {
      // See readChoice.
    }
  },
  setTheme(theme) {
    if (theme) document.documentElement.dataset['theme'] = theme;
    else delete document.documentElement.dataset['theme'];
  },
  copy: (text) => navigator.clipboard.writeText(text),
};
