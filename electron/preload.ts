/**
 * The bridge into the page: two named functions, frozen, and nothing of Electron with them. Callbacks get one plain value, never an
 * event. A feed's messages are counted back to main, so that a page that stops reading is skipped instead of buried.
 */
import { contextBridge, ipcRenderer } from 'electron';
import type { CallName } from './contract/api.ts';
import type { Result } from './contract/errors.ts';
import type { LiveMessage } from './contract/live.ts';

// The names of electron/doors/window/ipc-channels.ts; a test holds the two lists together.
const CALL = 'interlock:call';
const OPEN = 'interlock:live-open';
const CLOSE = 'interlock:live-close';
const TOOK = 'interlock:live-took';
const MESSAGE = 'interlock:live-message';

/** Messages after which the page says how far it is. */
const TAKEN_AT_ONCE = 16;

interface Feed {
  onMessage: (message: LiveMessage) => void;
  onClose: () => void;
  taken: number;
}
const feeds = new Map<number, Feed>();
let lastId = 0;
/** Tells this load of the page from the one before. */
const PAGE = 1 + Math.floor(Math.random() * 2 ** 47);

ipcRenderer.on(MESSAGE, (_event, id: number, message: LiveMessage | null) => {
  const feed = feeds.get(id);
  if (!feed) return;
  if (message === null) {
    feeds.delete(id);
    feed.onClose();
    return;
  }
  feed.taken += 1;
  if (feed.taken >= TAKEN_AT_ONCE) {
    void ipcRenderer.invoke(TOOK, id, feed.taken);
    feed.taken = 0;
  }
  feed.onMessage(message);
});

const link = {
  call: (name: CallName, input: unknown): Promise<Result<unknown>> => ipcRenderer.invoke(CALL, name, input) as Promise<Result<unknown>>,
  live(onMessage: (message: LiveMessage) => void, onClose: () => void): () => void {
    const id = ++lastId;
    feeds.set(id, { onMessage, onClose, taken: 0 });
    const lost = () => {
      if (feeds.delete(id)) onClose();
    };
    void (ipcRenderer.invoke(OPEN, id, PAGE) as Promise<Result<unknown>>).then((result) => {
      if (!result.ok) lost();
    }, lost);
    return () => {
      if (feeds.delete(id)) void ipcRenderer.invoke(CLOSE, id);
    };
  },
};

contextBridge.exposeInMainWorld('interlockLink', Object.freeze(link));
