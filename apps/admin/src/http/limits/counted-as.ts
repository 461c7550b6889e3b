import { createHash } from 'node:crypto';
import type { Request } from 'express';
import { ipKeyGenerator } from 'express-rate-limit';
import { bearerToken } from '../../auth/bearer-token.ts';
import type { Authenticator } from '../../auth/caller.ts';
import { contextOf } from '../request-context.ts';

/** The key by which a caller's requests and streams are counted. Callers without a token are counted by address. */
export function countedAs(request: Request): string {
  const { caller } = contextOf(request);
  return caller === undefined || caller.isAnonymous ? `address ${addressOf(request)}` : `name ${caller.name}`;
}

/** An IPv6 network counts as one address. */
export function addressOf(request: Request): string {
  return ipKeyGenerator(contextOf(request).address);
}

/**
 * The key by which a request is counted before its token is checked. A token that was valid is counted separately, so
 * that it is not refused because of other requests from the same address.
 */
export function countedBefore(request: Request, authenticator: Pick<Authenticator, 'recognizes'>): string {
  const { given, token } = bearerToken(request);
  if (token !== undefined && authenticator.recognizes(token))
    return `token ${createHash('sha256').update(token).digest('base64')}`;
  return `${given ? 'unknown token' : 'no token'} ${addressOf(request)}`;
}
