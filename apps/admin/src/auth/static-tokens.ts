import { createHash, timingSafeEqual } from 'node:crypto';
import { RotatedFile } from '@reroll/shared/catalog/rotated-file';
import { parse } from 'yaml';
import { z } from 'zod';
import { ProblemError } from '../http/problem-error.ts';
import type { Authenticator, Caller } from './caller.ts';

const entry = z.strictObject({
  name: z.string().regex(/^[\w.:@/-]{1,253}$/),
  sha256: z.string().regex(/^[0-9a-fA-F]{64}$/),
  access: z.enum(['read', 'write']),
  namespaces: z.array(z.string().regex(/^(\*|[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)$/)).min(1),
});
const entries = z.array(entry);
type Entry = z.infer<typeof entry>;

const EXPECTED =
  'expected a list of name, sha256 (64 hexadecimal digits), access (read or write) and namespaces (a list of names, or of "*")';

/** What is wrong with the file, in our words; nothing of what it holds. */
export class StaticTokensError extends Error {
  override readonly name = 'StaticTokensError';
}

/** Tokens of a file, by their SHA-256. A file that cannot be used any more leaves those that were read before. */
export class StaticTokens implements Authenticator {
  readonly anonymous: Caller | undefined;
  readonly #file: RotatedFile;
  readonly #onUnusable: (problem: string) => void;
  #text = '';
  #entries: readonly Entry[] = [];

  /** Throws a `StaticTokensError` if there is a path and the file cannot be used. */
  constructor(
    path: string | undefined,
    by: { anonymous: Caller | undefined; onUnusable: (problem: string) => void },
  ) {
    this.#file = new RotatedFile(path);
    this.#onUnusable = by.onUnusable;
    this.anonymous = by.anonymous;
    if (path === undefined) return;
    this.#text = this.#file.read() ?? '';
    this.#entries = readEntries(this.#text);
  }

  authenticate(token: string): Promise<Caller> {
    const found = this.#find(token);
    if (!found)
      return Promise.reject(new ProblemError('Unauthenticated', { detail: 'the token is not known' }));
    return Promise.resolve(callerOf(found, () => Promise.resolve(this.#find(token)?.name === found.name)));
  }

  /** Compares with every entry, so that the time tells nothing. */
  #find(token: string): Entry | undefined {
    this.#refresh();
    const digest = createHash('sha256').update(token).digest();
    return this.#entries.filter(({ sha256 }) => timingSafeEqual(Buffer.from(sha256, 'hex'), digest)).at(0);
  }

  #refresh(): void {
    const text = this.#file.read() ?? '';
    if (text === this.#text) return;
    this.#text = text;
    try {
      this.#entries = readEntries(text);
    } catch (error) {
      if (!(error instanceof StaticTokensError)) throw error;
      this.#onUnusable(error.message);
    }
  }
}

/** JSON is YAML. */
function readEntries(text: string): readonly Entry[] {
  const read = entries.safeParse(parsed(text));
  if (read.success) return read.data;
  const places = read.error.issues.map(({ path }) => path.join('.')).join(', ');
  throw new StaticTokensError(`--static-tokens-file: ${EXPECTED}; given others${places && ` at ${places}`}`);
}

function parsed(text: string): unknown {
  try {
    return parse(text, { logLevel: 'silent' });
  } catch {
    // The parser's message quotes the text.
    throw new StaticTokensError(`--static-tokens-file: ${EXPECTED}; given what is neither YAML nor JSON`);
  }
}

const ANONYMOUS: Omit<Entry, 'sha256'> = { name: 'anonymous', access: 'read', namespaces: ['*'] };

/** Somebody who may do what an entry says. */
function callerOf(
  { name, access, namespaces }: Omit<Entry, 'sha256'>,
  isKnown: () => Promise<boolean>,
): Caller {
  const everywhere = namespaces.includes('*');
  const sees = (namespace: string): boolean => everywhere || namespaces.includes(namespace);
  const writes = access === 'write';
  return {
    name,
    groups: [],
    mayRequest: (asked) => Promise.resolve(writes || !asked.writes),
    seesAll: () => Promise.resolve(everywhere),
    sees: (namespace) => Promise.resolve(sees(namespace)),
    mayChange: (workload) => Promise.resolve(writes && sees(workload.split('/')[1] ?? '')),
    mayChangeAll: (namespace) => Promise.resolve(writes && sees(namespace)),
    maySteer: () => Promise.resolve(writes && everywhere),
    isKnown,
  };
}

/** Who comes without a token where `--anonymous=read`. */
export function anonymousReader(): Caller {
  return callerOf(ANONYMOUS, () => Promise.resolve(true));
}
