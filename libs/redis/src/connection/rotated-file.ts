import { readFileSync } from 'node:fs';

/** A small file that is replaced from time to time, as a mounted Secret is. */
export class RotatedFile {
  readonly #path: string | undefined;
  #last: string | undefined;

  /** Without a path there is nothing to read. */
  constructor(path: string | undefined) {
    this.#path = path;
  }

  /** What it holds now or, while it cannot be read or is empty, held before. Undefined if it never could be. */
  read(): string | undefined {
    if (this.#path === undefined) return undefined;
    try {
      const text = readFileSync(this.#path, 'utf8');
      if (text !== '') this.#last = text;
    } catch {
      // In the middle of being replaced: whoever connects next reads it.
    }
    return this.#last;
  }

  /** The same without newlines at its end. */
  readLine(): string | undefined {
    return this.read()?.replace(/[\r\n]+$/u, '');
  }
}
