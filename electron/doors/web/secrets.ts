/**
 * The door's secrets: one token a start (256 bits, in a file that only its owner can read) and the links' codes, each good once and for
 * 60 s. Compared by hash in constant time; never logged, never in a URL, a header of ours or an error.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { closeSync, constants, fchmodSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';
import type { Clock } from '../../contract/clock.ts';
import { prepareOwnFolder } from '../own-folder.ts';

const CODE_LIFE_NS = 60e9;
/** Codes alive at once; the oldest goes first. */
const CODES_MOST = 16;

const digest = (text: string) => createHash('sha256').update(text).digest();

export class Secrets {
  readonly token = randomBytes(32).toString('base64url');
  readonly #tokenDigest = digest(this.token);
  #codes: { digest: Buffer; untilNs: number }[] = [];
  readonly #clock: Clock;
  /** Tests alone: a code is never spent and never old. */
  readonly #careless: boolean;

  constructor(clock: Clock, careless = false) {
    this.#clock = clock;
    this.#careless = careless;
  }

  isToken(text: string | null): boolean {
    return text !== null && timingSafeEqual(digest(text), this.#tokenDigest);
  }

  makeCode(): string {
    const code = randomBytes(32).toString('base64url');
    this.#codes.push({ digest: digest(code), untilNs: this.#clock.nowNs() + CODE_LIFE_NS });
    if (this.#codes.length > CODES_MOST) this.#codes.shift();
    return code;
  }

  /** True once for a code that is alive; every code is compared, whatever matches. */
  spendCode(text: string): boolean {
    const asked = digest(text);
    const nowNs = this.#clock.nowNs();
    let found = false;
    const left = this.#codes.filter((code) => {
      const same = timingSafeEqual(code.digest, asked);
      const alive = this.#careless || nowNs < code.untilNs;
      if (same && alive) found = true;
      return this.#careless || (alive && !same);
    });
    this.#codes = left;
    return found;
  }
}

/** Writes a secret to a new file of its own: 0600 before the first byte, never through a link. */
export function writeSecretFile(file: string, secret: string): void {
  prepareOwnFolder(path.dirname(file), 'secret');
  rmSync(file, { force: true });
  const descriptor = openSync(file, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);
  try {
    fchmodSync(descriptor, 0o600);
    writeSync(descriptor, `${secret}\n`);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** So many wrong tries at once, and so many a second after that. Right ones are never rationed: nobody can lock the operator out. */
export class Ration {
  #left: number;
  #atNs: number;
  readonly #clock: Clock;
  readonly #most: number;
  readonly #perSecond: number;

  constructor(clock: Clock, most: number, perSecond: number) {
    this.#clock = clock;
    this.#most = most;
    this.#perSecond = perSecond;
    this.#left = most;
    this.#atNs = clock.nowNs();
  }

  /** Takes one; false if there was none. */
  take(): boolean {
    const nowNs = this.#clock.nowNs();
    this.#left = Math.min(this.#most, this.#left + ((nowNs - this.#atNs) / 1e9) * this.#perSecond);
    this.#atNs = nowNs;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
