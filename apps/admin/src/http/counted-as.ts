import type { Request } from 'express';
import { ipKeyGenerator } from 'express-rate-limit';
import { contextOf } from './request-context.ts';

/** Under what the requests and streams of a caller are counted. Who has no token is known by their address only. */
export function countedAs(request: Request): string {
  const { caller } = contextOf(request);
  return caller === undefined || caller.isAnonymous ? `address ${addressOf(request)}` : `name ${caller.name}`;
}

/** Of the connection; an IPv6 network counts as one. A header that says so is not believed. */
export function addressOf({ socket }: Pick<Request, 'socket'>): string {
  return ipKeyGenerator(socket.remoteAddress ?? '');
}
