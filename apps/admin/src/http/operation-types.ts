import type { Operation, OperationId, OPERATIONS } from '@reroll/shared/api/operations';
import type { Request, Response } from 'express';
import type { z } from 'zod';
import type { Caller } from '../auth/caller.ts';

type Part = 'params' | 'query' | 'body' | 'answer';
type Of<Id extends OperationId, P extends Part> =
  (typeof OPERATIONS)[Id] extends Readonly<Record<P, infer Schema extends z.ZodType>>
    ? z.output<Schema>
    : undefined;

/** What the method of a controller is given: everything as its schema reads it. */
export interface Input<Id extends OperationId> {
  readonly params: Of<Id, 'params'>;
  readonly query: Of<Id, 'query'>;
  readonly body: Of<Id, 'body'>;
  readonly caller: Caller;
  readonly requestId: string;
  /** Fires when the caller has gone. */
  readonly gone: AbortSignal;
  readonly request: Request;
  readonly response: Response;
}

/** What it answers. Of server-sent events nothing: it writes them itself, and resolves when they are over. */
export type AnswerOf<Id extends OperationId> = (typeof OPERATIONS)[Id] extends { readonly answer: z.ZodType }
  ? Of<Id, 'answer'>
  : void;

/** Whether it changes anything. */
export function writes({ method, tag }: Operation): boolean {
  return method !== 'get' && tag === 'Steering';
}
