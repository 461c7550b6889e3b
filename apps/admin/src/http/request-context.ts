import type { OperationId } from '@reroll/shared/api/operations';
import type { Request, Response } from 'express';
import type { Caller } from '../auth/caller.ts';

/** What is known of a request while it is served. */
export interface RequestContext {
  readonly id: string;
  readonly startedAt: number;
  /** Where it comes from, as trusted proxies say. */
  readonly address: string;
  /** Once it is known. */
  operation?: OperationId;
  caller?: Caller;
}

const contexts = new WeakMap<Request, RequestContext>();

export function begin(request: Request, context: RequestContext): void {
  contexts.set(request, context);
}

/** Of a request that came in through `serveApi`. */
export function contextOf(request: Request): RequestContext {
  const context = contexts.get(request);
  if (!context) throw new Error('expected a request that has begun');
  return context;
}

/** Without the query. */
export function pathOf({ originalUrl }: Pick<Request, 'originalUrl'>): string {
  return originalUrl.split('?', 1)[0] ?? '';
}

/** Fires when the caller has gone. */
export function goneSignal(response: Response): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  return gone.signal;
}
