/** Runs what is given to it one after another, in order. One that fails is told and does not stop the next. */
export class Serial {
  readonly #onError: (error: unknown) => void;
  #tail: Promise<void> = Promise.resolve();

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  add(work: () => Promise<void> | void): Promise<void> {
    this.#tail = this.#tail.then(work).catch(this.#onError);
    return this.#tail;
  }

  /** Settles when everything given so far has run. */
  idle(): Promise<void> {
    return this.#tail;
  }
}
