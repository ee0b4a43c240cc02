/** Files of the reader's machine: bytes read from one that was chosen, bytes written to one that is offered. Paths never cross. */

export const toBase64 = (bytes: Uint8Array): string => {
  let text = '';
  // In lots: a call takes only so many arguments.
  for (let at = 0; at < bytes.length; at += 0x2000) text += String.fromCharCode(...bytes.subarray(at, at + 0x2000));
  return btoa(text);
};

export function fromBase64(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

/** Bytes on their way out: written piece by piece, kept by `close`, dropped by `abandon`. */
export interface Target {
  write(bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  close(): Promise<void>;
  abandon(): Promise<void>;
}

/** Where an export goes: one target for each of its files. */
export interface Destination {
  open(name: string): Promise<Target>;
}

/** Offers each file to the browser as a download once it is whole. */
export function createDownloads(): Destination {
  return {
    open: (name) => {
      const pieces: Uint8Array<ArrayBuffer>[] = [];
      return Promise.resolve({
        write: (bytes) => Promise.resolve(void pieces.push(bytes)),
        close: () => {
          const url = URL.createObjectURL(new Blob(pieces));
          const link = document.createElement('a');
          link.href = url;
          link.download = name;
          link.click();
          // The browser has taken its own hold of the bytes by the time that the click returns; some take it a moment later.
          setTimeout(() => URL.revokeObjectURL(url), 60_000);
          return Promise.resolve();
        },
        abandon: () => Promise.resolve(void (pieces.length = 0)),
      });
    },
  };
}

interface FolderHandle {
  getFileHandle(
    name: string,
    options: { create: boolean },
  ): Promise<{
    createWritable(): Promise<{ write(bytes: Uint8Array): Promise<void>; close(): Promise<void>; abort(): Promise<void> }>;
  }>;
}

/** Asks for a folder where the browser can; null where it cannot. Rejects with an AbortError if the reader thinks better of it. */
export async function chooseFolder(): Promise<Destination | null> {
  const { showDirectoryPicker } = window as unknown as { showDirectoryPicker?: (options: object) => Promise<FolderHandle> };
  if (!showDirectoryPicker) return null;
  const folder = await showDirectoryPicker.call(window, { mode: 'readwrite', id: 'interlock-export' });
  return {
    async open(name) {
      const file = await (await folder.getFileHandle(name, { create: true })).createWritable();
      return { write: (bytes) => file.write(bytes), close: () => file.close(), abandon: () => file.abort() };
    },
  };
}
