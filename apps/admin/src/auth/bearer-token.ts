import type { Request } from 'express';

const BEARER = /^Bearer +([\w.~+/=:-]{1,16384})$/iu;

/**
 * The token of a request. `Reroll-Authorization` wins over `Authorization`. It is for callers behind the API server's
 * proxy, which does not pass on `Authorization`, or behind a proxy that uses `Authorization` itself.
 */
export function bearerToken({ headers }: Pick<Request, 'headers'>): { given: boolean; token?: string } {
  const own = headers['reroll-authorization'];
  const header = own ?? headers.authorization;
  if (header === undefined) return { given: false };
  const token = typeof header === 'string' ? BEARER.exec(header)?.[1] : undefined;
  return token === undefined ? { given: true } : { given: true, token };
}
