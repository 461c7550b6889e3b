import type { AdminOptions } from '@reroll/shared/platform/options/parsing/table';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import helmet from 'helmet';
import { pathOf } from './request-context.ts';

const SELF = ["'self'"];
const NONE = ["'none'"];

/** No foreign resources, nothing inline, no frames, and no HTML made of text (Trusted Types). */
const STRICT = {
  defaultSrc: NONE,
  scriptSrc: SELF,
  styleSrc: SELF,
  imgSrc: SELF,
  connectSrc: SELF,
  baseUri: NONE,
  formAction: NONE,
  frameAncestors: NONE,
  requireTrustedTypesFor: ["'script'"],
};
/** Swagger UI sets styles on its elements and has its images in its style sheet. */
const OF_DOCS = {
  ...STRICT,
  requireTrustedTypesFor: null,
  styleSrc: [...SELF, "'unsafe-inline'"],
  imgSrc: [...SELF, 'data:'],
};

const DOCS = '/api/docs';

/**
 * What browsers and caches may do with our responses. There are no CORS headers, so other sites can read nothing. No cache keeps what
 * the API answers one caller: if the token is in `Reroll-Authorization`, a cache cannot tell callers apart. Pages replace this.
 */
export function securityHeaders({ apiTlsCertFile }: Pick<AdminOptions, 'apiTlsCertFile'>): RequestHandler {
  const hsts = apiTlsCertFile === undefined ? false : { maxAge: 31_536_000, includeSubDomains: false };
  const headers = (directives: Readonly<Record<string, string[] | null>>): RequestHandler =>
    helmet({
      contentSecurityPolicy: { useDefaults: false, directives },
      referrerPolicy: { policy: 'no-referrer' },
      xFrameOptions: { action: 'deny' },
      crossOriginResourcePolicy: { policy: 'same-origin' },
      strictTransportSecurity: hsts,
    }) as RequestHandler;
  const strict = headers(STRICT);
  const docs = headers(OF_DOCS);
  return (request: Request, response: Response, next: NextFunction) => {
    response.setHeader('Cache-Control', 'no-store');
    (pathOf(request) === DOCS ? docs : strict)(request, response, next);
  };
}
