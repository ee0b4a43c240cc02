/** HTTP by hand over a raw socket: sends exactly the given bytes and reads what comes, so that a test can say what no client would. */
import net from 'node:net';

export interface RawAnswer {
  /** 0 when the connection ended without an answer. */
  status: number;
  /** Names in lower case; a name sent twice keeps both, joined by a newline. */
  headers: Record<string, string>;
  body: string;
  /** Every byte, as text. */
  text: string;
  /** True if the other side ended the connection (or reset it); false if the deadline came first. */
  ended: boolean;
}

/** Sends and reads until the other side ends, or `deadlineMs` passed. `chunks` are sent `everyMs` apart. */
export function sendRaw(port: number, chunks: string | readonly string[], { deadlineMs = 3000, everyMs = 0 } = {}): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const socket = net.connect({ host: '127.0.0.1', port });
    const list = typeof chunks === 'string' ? [chunks] : [...chunks];
    let text = '';
    let ended = false;
    let feeder: NodeJS.Timeout | undefined;
    const deadline = setTimeout(() => socket.destroy(), deadlineMs);
    const feed = () => {
      const chunk = list.shift();
      if (chunk === undefined || socket.destroyed) return;
      socket.write(Buffer.from(chunk, 'latin1'));
      if (list.length > 0) feeder = setTimeout(feed, everyMs);
    };
    socket.on('connect', feed);
    socket.on('data', (data) => (text += data.toString('latin1')));
    socket.on('end', () => (ended = true));
    socket.on('error', () => (ended = true));
    socket.on('close', () => {
      clearTimeout(deadline);
      clearTimeout(feeder);
      resolve({ ...parse(text), text, ended });
    });
  });
}

function parse(text: string): Pick<RawAnswer, 'status' | 'headers' | 'body'> {
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0);
  const split = text.indexOf('\r\n\r\n');
  const headers: Record<string, string> = {};
  if (split === -1) return { status, headers, body: '' };
  for (const line of text.slice(0, split).split('\r\n').slice(1)) {
    const at = line.indexOf(':');
    const name = line.slice(0, at).toLowerCase();
    const value = line.slice(at + 1).trim();
    headers[name] = name in headers ? `${headers[name]}\n${value}` : value;
  }
  return { status, headers, body: text.slice(split + 4) };
}

/** A request as bytes; `headers` go out as they are, in order. */
export function request(method: string, target: string, headers: readonly (readonly [string, string])[], body = ''): string {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return `${method} ${target} HTTP/1.1\r\n${lines}\r\n${body}`;
}
