import type { AdminMetrics } from '@reroll/shared/platform/metrics/admin';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { ProblemError } from './problem-error.ts';

const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
/** What browsers say of their own pages and of a person's doing; other clients say nothing. */
const OURS: ReadonlySet<unknown> = new Set([undefined, 'same-origin', 'none']);

/**
 * No cookie is ever read, so no other site can act for somebody. Where a proxy in front authenticates by one, this is
 * what keeps other sites out.
 */
export function refuseCrossSite({ refused }: Pick<AdminMetrics, 'refused'>): RequestHandler {
  return (request: Request, _response: Response, next: NextFunction) => {
    if (SAFE.has(request.method) || OURS.has(request.headers['sec-fetch-site'])) return next();
    refused.inc({ reason: 'cross_site' });
    next(new ProblemError('Forbidden', { detail: 'a page of another site may not write here' }));
  };
}
