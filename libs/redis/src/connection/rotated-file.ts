import { readFileSync } from 'node:fs';

/** A small file that is replaced from time to time, such as a mounted Secret. */
export class RotatedFile {
  readonly #path: string | undefined;
  #last: string | undefined;

  /** Without a path, `read` returns undefined. */
  constructor(path: string | undefined) {
    this.#path = path;
  }

  /** Returns the current content, or the previous one while the file is empty or cannot be read; undefined if it was never read. */
  read(): string | undefined {
    if (this.#path === undefined) return undefined;
    try {
      const text = readFileSync(this.#path, 'utf8');
      if (text !== '') this.#last = text;
    } catch {
      // The file is being replaced; the next attempt to connect reads it.
    }
    return this.#last;
  }

  /** `read` without newlines at the end. */
  readLine(): string | undefined {
    return this.read()?.replace(/[\r\n]+$/u, '');
  }
}
