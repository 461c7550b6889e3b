import type { OperationId } from '@reroll/shared/api/operations';
import type { Request, Response } from 'express';
import type { Caller } from '../auth/caller.ts';

export interface RequestContext {
  readonly id: string;
  readonly startedAt: number;
  /** The client's address, as trusted proxies report it. */
  readonly address: string;
  /** Set once it is known. */
  operation?: OperationId;
  caller?: Caller;
}

const contexts = new WeakMap<Request, RequestContext>();

export function begin(request: Request, context: RequestContext): void {
  contexts.set(request, context);
}

/** The context of a request that came in through `serveApi`. */
export function contextOf(request: Request): RequestContext {
  const context = contexts.get(request);
  if (!context) throw new Error('expected a request with a context');
  return context;
}

/** The path without the query. */
export function pathOf({ originalUrl }: Pick<Request, 'originalUrl'>): string {
  return originalUrl.split('?', 1)[0] ?? '';
}

/** Fires when the client has disconnected. */
export function goneSignal(response: Response): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  return gone.signal;
}
