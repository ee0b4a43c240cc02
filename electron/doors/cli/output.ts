/**
 * The command line's two streams: standard output carries data alone, standard error everything for people. A reader that goes away
 * (`| head -1`) ends the program quietly.
 */
import { visibleText } from '../../contract/visible-text.ts';

export interface Output {
  /** Data, with its line end; bytes as they are. */
  data(text: string | Uint8Array): Promise<void>;
  /** A message for people; control characters in it become visible marks. */
  say(message: string): void;
  /** One line that is overwritten by the next; nothing without a terminal. */
  live(line: string): void;
  readonly isTerminal: boolean;
  readonly colour: boolean;
  /** Waits until everything is written. */
  flush(): Promise<void>;
}

export function processOutput(environment: NodeJS.ProcessEnv): Output {
  const { stdout, stderr } = process;
  let gone = false;
  let liveLine = '';
  for (const stream of [stdout, stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      gone = true;
      // Nobody reads: nothing more to do here.
      if (stream === stdout) process.exit(process.exitCode ?? 0);
    });
  }
  const clear = () => {
    if (liveLine !== '') stderr.write(`\r${' '.repeat(liveLine.length)}\r`);
    liveLine = '';
  };
  return {
    isTerminal: stderr.isTTY === true,
    colour: stderr.isTTY === true && !environment.NO_COLOR && environment.TERM !== 'dumb',
    data(text) {
      clear();
      return new Promise((resolve) => {
        if (gone) return resolve();
        if (stdout.write(text)) resolve();
        else stdout.once('drain', () => resolve());
      });
    },
    say(message) {
      clear();
      if (!gone) stderr.write(`${message.split('\n').map(visibleText).join('\n')}\n`);
    },
    live(line) {
      if (stderr.isTTY !== true || gone) return;
      const shown = visibleText(line).slice(0, (stderr.columns ?? 80) - 1);
      stderr.write(`\r${shown.padEnd(liveLine.length)}`);
      liveLine = shown;
    },
    flush() {
      clear();
      const drained = (stream: NodeJS.WriteStream) => new Promise<void>((resolve) => stream.write('', () => resolve()));
      return gone ? Promise.resolve() : Promise.all([drained(stdout), drained(stderr)]).then(() => undefined);
    },
  };
}
