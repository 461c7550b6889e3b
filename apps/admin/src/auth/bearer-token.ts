import type { Request } from 'express';

const BEARER = /^Bearer +([\w.~+/=:-]{1,16384})$/iu;

/**
 * The token of a request. `Reroll-Authorization` is for callers that come through the API server's proxy, which
 * keeps `Authorization` for itself, and for those behind a proxy that has its own use for it; it wins.
 */
export function bearerToken({ headers }: Pick<Request, 'headers'>): { given: boolean; token?: string } {
  const own = headers['reroll-authorization'];
  const header = own ?? headers.authorization;
  if (header === undefined) return { given: false };
  const token = typeof header === 'string' ? BEARER.exec(header)?.[1] : undefined;
  return token === undefined ? { given: true } : { given: true, token };
}
