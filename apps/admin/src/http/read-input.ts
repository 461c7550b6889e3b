import { issueWords } from '@reroll/shared/api/issue-words';
import { OPERATIONS, type Operation, type OperationId } from '@reroll/shared/api/operations';
import type { Request, Response } from 'express';
import type { z } from 'zod';
import { ProblemError } from './problem-error.ts';
import { readBody } from './read-body.ts';
import { contextOf, goneSignal } from './request-context.ts';

interface Place {
  readonly name: 'path' | 'query' | 'body';
  readonly schema: z.ZodType | undefined;
  readonly value: unknown;
}

/** Reads an operation's input by its schemas. Rejects with a `ProblemError` that names what was expected. */
export async function readInput(id: OperationId, request: Request, response: Response): Promise<unknown> {
  const operation: Operation = OPERATIONS[id];
  const { id: requestId, caller } = contextOf(request);
  const params = read({ name: 'path', schema: operation.params, value: request.params });
  const query = read({ name: 'query', schema: operation.query, value: { ...request.query } });
  const raw = operation.body === undefined ? undefined : await readBody(request);
  const body = read({ name: 'body', schema: operation.body, value: raw });
  return { params, query, body, caller, requestId, gone: goneSignal(response), request, response };
}

function read({ name, schema, value }: Place): unknown {
  if (!schema) {
    if (name === 'query' && Object.keys(value as object).length > 0)
      throw new ProblemError('InvalidRequest', { errors: [{ path: name, expected: 'no parameters' }] });
    return undefined;
  }
  const result = schema.safeParse(value, { error: issueWords });
  if (result.success) return result.data;
  throw new ProblemError('InvalidRequest', {
    errors: result.error.issues.slice(0, 20).map((issue) => ({
      path: [name, ...issue.path].join('.').slice(0, 300),
      expected: issue.message,
    })),
  });
}
