import type { Operation, OperationId, OPERATIONS } from '@reroll/shared/api/operations';
import type { Request, Response } from 'express';
import type { z } from 'zod';
import type { Caller } from '../auth/caller.ts';

type Part = 'params' | 'query' | 'body' | 'answer';
type Of<Id extends OperationId, P extends Part> =
  (typeof OPERATIONS)[Id] extends Readonly<Record<P, infer Schema extends z.ZodType>>
    ? z.output<Schema>
    : undefined;

/** The input of a controller's method, as the schemas read it. */
export interface Input<Id extends OperationId> {
  readonly params: Of<Id, 'params'>;
  readonly query: Of<Id, 'query'>;
  readonly body: Of<Id, 'body'>;
  readonly caller: Caller;
  readonly requestId: string;
  /** Fires when the client has disconnected. */
  readonly gone: AbortSignal;
  readonly request: Request;
  readonly response: Response;
}

/** The answer. Void for server-sent events: the method writes them itself and resolves when the stream ends. */
export type AnswerOf<Id extends OperationId> = (typeof OPERATIONS)[Id] extends { readonly answer: z.ZodType }
  ? Of<Id, 'answer'>
  : void;

/** Whether the operation changes anything. */
export function writes({ method, tag }: Operation): boolean {
  return method !== 'get' && tag === 'Steering';
}
