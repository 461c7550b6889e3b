import type { AdminOptions } from '@reroll/shared/platform/options/parsing/table';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import helmet from 'helmet';
import { pathOf } from './request-context.ts';

const SELF = ["'self'"];
const NONE = ["'none'"];

/** Nothing from elsewhere, nothing inline, in no frame, and no HTML made of text (Trusted Types). */
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
/** Swagger UI writes styles into its elements and has its pictures in its style sheet. */
const OF_DOCS = {
  ...STRICT,
  requireTrustedTypesFor: null,
  styleSrc: [...SELF, "'unsafe-inline'"],
  imgSrc: [...SELF, 'data:'],
};

const DOCS = '/api/docs';

/** What a browser may do with what we answer. There is no CORS header at all: other sites read nothing. */
export function securityHeaders({ apiTlsCertFile }: AdminOptions): RequestHandler {
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
    (pathOf(request) === DOCS ? docs : strict)(request, response, next);
  };
}
