import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { z } from 'zod';
import { OPERATIONS, type Operation, type OperationId } from '@reroll/shared/api/operations';
import { problem, type Problem } from '@reroll/shared/api/problem';
import { cleanUp } from '../cleanup.ts';
import type { App } from '../processes.ts';

/** Tokens that every admin of a spec knows, unless it is told otherwise; by what they may. */
export const TOKENS = { reader: 'token-of-the-reader', operator: 'token-of-the-operator' } as const;

export interface StaticToken {
  readonly name: string;
  readonly token: string;
  readonly access: 'read' | 'write';
  readonly namespaces: readonly string[];
}

export const READER: StaticToken = {
  name: 'reader',
  token: TOKENS.reader,
  access: 'read',
  namespaces: ['*'],
};
export const OPERATOR: StaticToken = {
  name: 'operator',
  token: TOKENS.operator,
  access: 'write',
  namespaces: ['*'],
};

/** What `--static-tokens-file` holds for these. */
export function tokensText(tokens: readonly StaticToken[]): string {
  return JSON.stringify(
    tokens.map(({ token, ...rest }) => ({
      ...rest,
      sha256: createHash('sha256').update(token).digest('hex'),
    })),
  );
}

/** A file for `--static-tokens-file`; it goes with the test, or with the file. */
export function tokensFile(tokens: readonly StaticToken[] = [READER, OPERATOR]): string {
  const folder = mkdtempSync(join(tmpdir(), 'reroll-e2e-tokens-'));
  cleanUp(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'tokens.json');
  writeFileSync(file, tokensText(tokens));
  return file;
}

type Part = 'params' | 'query' | 'body' | 'answer';
type In<Id extends OperationId, P extends Part> =
  (typeof OPERATIONS)[Id] extends Readonly<Record<P, infer Schema extends z.ZodType>>
    ? z.input<Schema>
    : never;
export type AnswerOf<Id extends OperationId> = (typeof OPERATIONS)[Id] extends {
  readonly answer: infer Schema extends z.ZodType;
}
  ? z.output<Schema>
  : undefined;

export interface Asked<Id extends OperationId> {
  readonly params?: In<Id, 'params'>;
  readonly query?: In<Id, 'query'>;
  readonly body?: In<Id, 'body'>;
  /** Default: the client's. `null`: none. */
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The API of an admin process, as a client of it. Whatever it answers is held against the schema of the operation. */
export class AdminApi {
  readonly #app: App;
  readonly #token: string | undefined;

  constructor(app: App, token: string | undefined = TOKENS.operator) {
    this.#app = app;
    this.#token = token;
  }

  /** The same admin with another token. */
  as(token: string | undefined): AdminApi {
    return new AdminApi(this.#app, token);
  }

  /** The answer. Rejects if it is another than the operation's status says. */
  async call<Id extends OperationId>(id: Id, asked: Asked<Id> = {}): Promise<AnswerOf<Id>> {
    const { status, answer } = this.#operation(id);
    const response = await this.request(id, asked);
    const text = await response.text();
    if (response.status !== status)
      throw new Error(`expected ${id} to answer ${status}, given ${response.status}: ${text}`);
    return answer?.parse(JSON.parse(text)) as AnswerOf<Id>;
  }

  /** The problem that it answers. Rejects if it answers none, or one that is not documented for the operation. */
  async problem<Id extends OperationId>(id: Id, asked: Asked<Id> = {}): Promise<Problem> {
    const response = await this.request(id, asked);
    const text = await response.text();
    const type = response.headers.get('content-type') ?? '';
    if (!type.startsWith('application/problem+json'))
      throw new Error(`expected a problem of ${id}, given ${response.status} ${type}: ${text}`);
    const read = problem.parse(JSON.parse(text));
    if (read.status !== response.status)
      throw new Error(`expected one status, given ${response.status} and ${read.status}`);
    return read;
  }

  /** The answer as it is. */
  async request<Id extends OperationId>(id: Id, asked: Asked<Id> = {}): Promise<Response> {
    const { method, path } = this.#operation(id);
    const filled = Object.entries((asked.params ?? {}) as Record<string, unknown>).reduce(
      (text, [name, value]) => text.replace(`{${name}}`, encodeURIComponent(String(value))),
      path,
    );
    const query = new URLSearchParams(
      Object.entries((asked.query ?? {}) as Record<string, unknown>).map(
        ([name, value]) => [name, String(value)] as [string, string],
      ),
    );
    const search = query.size === 0 ? '' : `?${query.toString()}`;
    const init = {
      method: method.toUpperCase(),
      ...(asked.body === undefined ? {} : { body: JSON.stringify(asked.body) }),
      headers: this.#headers(asked),
    };
    return await fetch(`${await this.#app.apiUrl()}/api/v1${filled}${search}`, init);
  }

  /** Any other path of the admin. */
  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return await fetch((await this.#app.apiUrl()) + path, init);
  }

  #operation(id: OperationId): Operation {
    return OPERATIONS[id];
  }

  #headers({ body, token = this.#token, headers = {} }: Asked<OperationId>): Record<string, string> {
    return {
      ...(token === undefined || token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    };
  }
}
