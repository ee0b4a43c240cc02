/** Words and attempts as small integers, read once and kept; new ones are written within the caller's transaction. */
import type { Statement } from 'better-sqlite3';
import type { Dictionary, ReverseDictionary } from './event-rows.ts';
import type { Db } from './open.ts';

/** The writer's. After a rollback call {@link forget}: ids given out in that transaction are void. */
export class WritingDictionary implements Dictionary {
  readonly #insertWord: Statement<[string]>;
  readonly #findAttempt: Statement<[string, number], { id: number }>;
  readonly #insertAttempt: Statement<[string, number]>;
  readonly #words = new Map<string, number>();
  /** The last attempts seen; a run has few at a time. Key: proof, then attempt. */
  #attempts = new Map<string, Map<number, number>>();
  #newWords: string[] = [];
  #hasNewAttempts = false;

  constructor(db: Db) {
    this.#insertWord = db.prepare('INSERT INTO word (word) VALUES (?)');
    this.#findAttempt = db.prepare('SELECT id FROM proof_attempt WHERE proof = ? AND attempt = ?');
    this.#insertAttempt = db.prepare('INSERT INTO proof_attempt (proof, attempt) VALUES (?, ?)');
    for (const row of db.prepare('SELECT id, word FROM word').all() as { id: number; word: string }[]) this.#words.set(row.word, row.id);
  }

  wordId(word: string): number {
    const known = this.#words.get(word);
    if (known !== undefined) return known;
    const id = Number(this.#insertWord.run(word).lastInsertRowid);
    this.#words.set(word, id);
    this.#newWords.push(word);
    return id;
  }

  attemptId(proof: string, attempt: number): number {
    const known = this.#attempts.get(proof)?.get(attempt);
    if (known !== undefined) return known;
    let id = this.#findAttempt.get(proof, attempt)?.id;
    if (id === undefined) {
      id = Number(this.#insertAttempt.run(proof, attempt).lastInsertRowid);
      this.#hasNewAttempts = true;
    }
    if (this.#attempts.size > 10_000) this.#attempts = new Map();
    const byAttempt = this.#attempts.get(proof);
    if (byAttempt) byAttempt.set(attempt, id);
    else this.#attempts.set(proof, new Map([[attempt, id]]));
    return id;
  }

  committed(): void {
    this.#newWords = [];
    this.#hasNewAttempts = false;
  }

  forget(): void {
    for (const word of this.#newWords) this.#words.delete(word);
    if (this.#hasNewAttempts) this.#attempts = new Map();
    this.committed();
  }
}

/** A reader's: asks when it meets an id that it does not know yet. */
export class ReadingDictionary implements ReverseDictionary {
  readonly #findWord: Statement<[number], { word: string }>;
  readonly #findAttempt: Statement<[number], { proof: string; attempt: number }>;
  readonly #words = new Map<number, string>();
  #attempts = new Map<number, { proof: string; attempt: number }>();

  constructor(db: Db) {
    this.#findWord = db.prepare('SELECT word FROM word WHERE id = ?');
    this.#findAttempt = db.prepare('SELECT proof, attempt FROM proof_attempt WHERE id = ?');
  }

  word(id: number): string {
    let word = this.#words.get(id);
    if (word === undefined) {
      word = this.#findWord.get(id)?.word;
      if (word === undefined) throw new Error(`word ${id} is not in the history`);
      this.#words.set(id, word);
    }
    return word;
  }

  attempt(id: number): { proof: string; attempt: number } {
    let attempt = this.#attempts.get(id);
    if (attempt === undefined) {
      attempt = this.#findAttempt.get(id);
      if (attempt === undefined) throw new Error(`attempt ${id} is not in the history`);
      if (this.#attempts.size > 100_000) this.#attempts = new Map();
      this.#attempts.set(id, attempt);
    }
    return attempt;
  }
}
