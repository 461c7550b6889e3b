import type { Logger } from '@reroll/shared/platform/logging/logging';
import type { AdminMetrics } from '@reroll/shared/platform/metrics/admin';
import type { Request, Response } from 'express';
import { contextOf, pathOf } from './request-context.ts';

/** One line a request of the API when it is over, and its metrics; no query, no header, no body. */
export function logAccess(
  request: Request,
  response: Response,
  { log, metrics }: { log: Logger; metrics: AdminMetrics },
): void {
  response.setHeader('X-Request-Id', contextOf(request).id);
  response.once('close', () => {
    const { id, operation, caller, startedAt } = contextOf(request);
    const status = response.statusCode;
    metrics.requests.inc({ operation: operation ?? 'none', code: `${Math.floor(status / 100)}xx` });
    const milliseconds = Math.round(performance.now() - startedAt);
    if (operation === undefined) return;
    if (operation !== 'streamEvents') metrics.duration.observe({ operation }, milliseconds / 1000);
    // A path that is no operation is anybody's text.
    log.info('request', {
      requestId: id,
      operation,
      path: pathOf(request),
      status,
      milliseconds,
      ...(caller === undefined ? {} : { actor: caller.name }),
    });
  });
}
