import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { ProblemError } from './problem-error.ts';

const CIPHER = 'aes-256-gcm';
const NONCE = 12;
const TAG = 16;
/** At least as long as any position: a namespace, a name, a kind, and slashes. The API accepts 512 characters when it is sealed. */
const LONGEST = 344;

/**
 * Cursors are sealed positions in lists and the history: unreadable, because the entry at a position may be one that the
 * caller may not see, and impossible to make up. Every admin of the install opens the cursors of the others.
 */
export class Cursors {
  readonly #secret: () => string;

  /** `secret`: the secret that all admins share now. */
  constructor(secret: () => string) {
    this.#secret = secret;
  }

  /** `next` of a page. Its length is constant, because the position can have a name that the caller may not see. */
  next(last: string | undefined): string | null {
    return last === undefined ? null : this.seal(last.padEnd(LONGEST));
  }

  /** Its length is that of the position. */
  seal(position: string): string {
    const nonce = randomBytes(NONCE);
    const cipher = createCipheriv(CIPHER, this.#key(), nonce);
    const text = Buffer.concat([cipher.update(position), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64url');
  }

  /** Undefined if no admin sealed it, or under another secret. */
  open(sealed: string): string | undefined {
    const bytes = Buffer.from(sealed, 'base64url');
    if (bytes.length < NONCE + TAG) return undefined;
    const decipher = createDecipheriv(CIPHER, this.#key(), bytes.subarray(0, NONCE), { authTagLength: TAG });
    decipher.setAuthTag(bytes.subarray(NONCE, NONCE + TAG));
    try {
      const text = Buffer.concat([decipher.update(bytes.subarray(NONCE + TAG)), decipher.final()]);
      return text.toString();
    } catch {
      return undefined;
    }
  }

  /** The position after which a page begins. Throws a `ProblemError` if the cursor is not ours, or of another list. */
  read(cursor: string | undefined, form: RegExp): string | undefined {
    if (cursor === undefined) return undefined;
    const position = this.open(cursor)?.trimEnd();
    if (position !== undefined && form.test(position)) return position;
    throw new ProblemError('InvalidRequest', {
      errors: [{ path: 'query.cursor', expected: '`next` of the page before' }],
    });
  }

  #key(): Buffer {
    return createHash('sha256').update(`reroll places\0${this.#secret()}`).digest();
  }
}
