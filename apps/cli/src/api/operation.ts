import { given } from '@reroll/core/holds/hold';
import { issueWords } from '@reroll/shared/api/issue-words';
import { OPERATIONS, type Operation, type OperationId } from '@reroll/shared/api/operations';
import { z } from 'zod';
import { CliError, usageError } from '../errors.ts';
import { jsonOf } from '@reroll/core/json';
import { loosen } from './loosen.ts';

type Table = typeof OPERATIONS;
type Part<Id extends OperationId, Name extends string> = Table[Id] extends {
  readonly [N in Name]: infer Schema extends z.ZodType;
}
  ? Schema
  : undefined;

export type AnswerOf<Id extends OperationId> =
  Part<Id, 'answer'> extends infer Schema extends z.ZodType ? z.output<Schema> : never;

/** The input of an operation, before its defaults. */
export interface InputOf<Id extends OperationId> {
  readonly params?: Part<Id, 'params'> extends infer Schema extends z.ZodType ? z.input<Schema> : undefined;
  readonly query?: Part<Id, 'query'> extends infer Schema extends z.ZodType ? z.input<Schema> : undefined;
  readonly body?: Part<Id, 'body'> extends infer Schema extends z.ZodType ? z.input<Schema> : undefined;
}

export interface HttpCall {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** With the query. */
  readonly path: string;
  readonly body: string | undefined;
}

type Input = { readonly [Name in 'params' | 'query' | 'body']?: unknown };

/** Makes the request of an operation. @throws a usage error if the input is not as the API documents it */
export function httpCall(id: OperationId, input: Input): HttpCall {
  const operation: Operation = OPERATIONS[id];
  const params = checked(operation.params, input.params) as Readonly<Record<string, string>> | undefined;
  const query = checked(operation.query, input.query) as Readonly<Record<string, unknown>> | undefined;
  const body = checked(operation.body, input.body);
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => segment(params?.[name] ?? ''));
  return {
    method: operation.method.toUpperCase() as HttpCall['method'],
    path: `/api/v1${path}${queryText(query)}`,
    body: body === undefined ? undefined : JSON.stringify(body),
  };
}

/** Reads an operation's answer by its schema. @throws a `CliError` if it is invalid */
export function answerOf<Id extends OperationId>(id: Id, text: string): AnswerOf<Id> {
  const { answer }: Operation = OPERATIONS[id];
  return readAs(answer ?? z.unknown(), text, id) as AnswerOf<Id>;
}

const LOOSENED = new WeakMap<z.ZodType, z.ZodType>();

/** Reads JSON by a schema of the API, with what a newer server adds. */
export function readAs(schema: z.ZodType, text: string, what: string): unknown {
  const loosened = LOOSENED.get(schema) ?? loosen(schema);
  LOOSENED.set(schema, loosened);
  const read = loosened.safeParse(jsonOf(text));
  if (read.success) return read.data;
  throw new CliError(
    `the admin's answer (${what}) is not what this version understands: ${issueText(read.error)}`,
    {
      hints: ['`version` shows both versions'],
    },
  );
}

function checked(schema: z.ZodType | undefined, value: unknown): unknown {
  if (schema === undefined) return undefined;
  const read = schema.safeParse(value ?? {}, { error: issueWords, reportInput: true });
  if (read.success) return read.data;
  throw usageError(issueText(read.error) + givenText(read.error));
}

/** The first error, with its place. */
function issueText({ issues }: z.ZodError): string {
  const [first] = issues;
  const place = first?.path.map(String).join('.') ?? '';
  return place === '' ? (first?.message ?? 'unreadable') : `${place}: ${first?.message}`;
}

/** What was given instead, unless the words of the error have it. */
function givenText({ issues: [first] }: z.ZodError): string {
  return first?.code !== 'invalid_type' && typeof first?.input === 'string' ? `, ${given(first.input)}` : '';
}

/** Keeps colons, so that paths are readable in logs. */
function segment(text: string): string {
  return encodeURIComponent(text).replaceAll('%3A', ':');
}

function queryText(query: Readonly<Record<string, unknown>> | undefined): string {
  const given = Object.entries(query ?? {}).filter(([, value]) => value !== undefined);
  const text = new URLSearchParams(
    given.map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();
  return text === '' ? '' : `?${text}`;
}
