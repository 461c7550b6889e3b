import type { Logger } from '@reroll/shared/platform/logging/logging';
import type { AdminMetrics } from '@reroll/shared/platform/metrics/admin';
import type { Request, Response } from 'express';
import { contextOf, pathOf } from './request-context.ts';

/** Logs one line for each finished API request and counts it. The line has no query, headers or body. */
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
    // The path of an unknown operation may hold any text.
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
