import type { AdminMetrics } from '@reroll/shared/platform/metrics/admin';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { ProblemError } from './problem-error.ts';

const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
/**
 * The values of Sec-Fetch-Site that browsers send for our own pages and for a user's own navigation. Other clients send
 * none.
 */
const OURS: ReadonlySet<unknown> = new Set([undefined, 'same-origin', 'none']);

/**
 * Refuses requests from other sites. Cookies are never read, so other sites cannot act for a user, unless a proxy in
 * front authenticates by cookies: this check covers that case.
 */
export function refuseCrossSite({ refused }: Pick<AdminMetrics, 'refused'>): RequestHandler {
  return (request: Request, _response: Response, next: NextFunction) => {
    if (SAFE.has(request.method) || OURS.has(request.headers['sec-fetch-site'])) return next();
    refused.inc({ reason: 'cross_site' });
    next(new ProblemError('Forbidden', { detail: 'a page of another site may not write here' }));
  };
}
