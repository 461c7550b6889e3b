import { createHash, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { namespaceOf } from '@reroll/core/model';
import { SettingsError } from '@reroll/nest/settings-error';
import { trustMessagesOf } from '@reroll/shared/platform/logging/error-fields';
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

/** What is wrong with the file, in our words, without any of its contents. */
export class StaticTokensError extends SettingsError {
  override readonly name = 'StaticTokensError';
}
trustMessagesOf(StaticTokensError);

const FORMER = 'the tokens that were read before stay in force';

/**
 * The tokens of a file, by their SHA-256. If the file becomes invalid, missing or unreadable, the tokens read before
 * stay. An empty file or list leaves no tokens. Each of these is reported once.
 */
export class StaticTokens implements Authenticator {
  readonly anonymous: Caller | undefined;
  readonly #path: string | undefined;
  readonly #onUnusable: (problem: string) => void;
  /** Undefined if the file could not be read. */
  #text: string | undefined;
  #entries: readonly Entry[] = [];

  /** Throws a `StaticTokensError` if there is a path and the file is unusable. */
  constructor(
    path: string | undefined,
    by: { anonymous: Caller | undefined; onUnusable: (problem: string) => void },
  ) {
    this.#path = path;
    this.#onUnusable = by.onUnusable;
    this.anonymous = by.anonymous;
    if (path === undefined) return;
    this.#text = textOf(path);
    if (this.#text === undefined) throw new StaticTokensError(unreadable());
    this.#take(this.#text);
  }

  recognizes(token: string): boolean {
    return this.#find(token) !== undefined;
  }

  authenticate(token: string): Promise<Caller> {
    const found = this.#find(token);
    if (!found)
      return Promise.reject(new ProblemError('Unauthenticated', { detail: 'the token is unknown' }));
    const isKnown = (): Promise<boolean> => Promise.resolve(isDeepStrictEqual(this.#find(token), found));
    return Promise.resolve({ ...callerOf(found, isKnown), isAnonymous: false });
  }

  /** Compares with every entry, so that the time reveals nothing. */
  #find(token: string): Entry | undefined {
    this.#refresh();
    const digest = createHash('sha256').update(token).digest();
    return this.#entries.filter(({ sha256 }) => timingSafeEqual(Buffer.from(sha256, 'hex'), digest)).at(0);
  }

  #refresh(): void {
    if (this.#path === undefined) return;
    const text = textOf(this.#path);
    if (text === this.#text) return;
    this.#text = text;
    if (text === undefined) return this.#onUnusable(`${unreadable()}; ${FORMER}`);
    try {
      this.#take(text);
    } catch (error) {
      if (!(error instanceof StaticTokensError)) throw error;
      this.#onUnusable(`${error.message}; ${FORMER}`);
    }
  }

  #take(text: string): void {
    const isEmpty = text.trim() === '';
    this.#entries = isEmpty ? [] : readEntries(text);
    if (this.#entries.length === 0) this.#onUnusable(nobody(isEmpty ? 'an empty file' : 'an empty list'));
  }
}

/** Undefined if the file is missing or cannot be read. */
function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function unreadable(): string {
  return `--static-tokens-file: ${EXPECTED}; given a file that is missing or cannot be read`;
}

function nobody(given: string): string {
  return `--static-tokens-file: ${EXPECTED}; given ${given}: no token is known`;
}

/** JSON is also YAML. */
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

function callerOf(
  { name, access, namespaces }: Omit<Entry, 'sha256'>,
  isKnown: () => Promise<boolean>,
): Omit<Caller, 'isAnonymous'> {
  const everywhere = namespaces.includes('*');
  const sees = (namespace: string): boolean => everywhere || namespaces.includes(namespace);
  const writes = access === 'write';
  return {
    name,
    groups: [],
    mayRequest: (asked) => Promise.resolve(writes || !asked.writes),
    seesAll: () => Promise.resolve(everywhere),
    sees: (namespace) => Promise.resolve(sees(namespace)),
    mayChange: (workload) => Promise.resolve(writes && sees(namespaceOf(workload))),
    mayChangeAll: (namespace) => Promise.resolve(writes && sees(namespace)),
    // The file has no word for it.
    mayOverrideFreeze: () => Promise.resolve(false),
    maySteer: () => Promise.resolve(writes && everywhere),
    isKnown,
  };
}

/** The caller without a token, under `--anonymous=read`. */
export function anonymousReader(): Caller {
  return { ...callerOf(ANONYMOUS, () => Promise.resolve(true)), isAnonymous: true };
}
