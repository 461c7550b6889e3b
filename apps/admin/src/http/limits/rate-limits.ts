import type { AdminMetrics } from '@reroll/shared/platform/metrics/admin';
import type { AdminOptions } from '@reroll/shared/platform/options/parsing/table';
import type { Request, RequestHandler, Response } from 'express';
import { rateLimit } from 'express-rate-limit';
import type { Authenticator } from '../../auth/caller.ts';
import { countedAs, countedBefore } from './counted-as.ts';
import { ProblemError } from '../problem-error.ts';

const MINUTE = 60_000;

interface Limits {
  readonly options: AdminOptions;
  readonly metrics: Pick<AdminMetrics, 'refused'>;
}

/** Limits requests by address before they cost anything. */
export function addressLimit(
  by: Limits & { authenticator: Pick<Authenticator, 'recognizes'> },
): RequestHandler {
  const { options, metrics, authenticator } = by;
  return limit({
    most: options.apiRequestsPerMinutePerAddress,
    key: (request) => countedBefore(request, authenticator),
    onRefused: () => metrics.refused.inc({ reason: 'address_rate' }),
  });
}

/** Limits requests of each authenticated caller. Rejects with a `ProblemError` `TooManyRequests`. */
export class ActorLimit {
  readonly #limit: RequestHandler;

  constructor({ options, metrics }: Limits) {
    this.#limit = limit({
      most: options.apiRequestsPerMinute,
      key: countedAs,
      onRefused: () => metrics.refused.inc({ reason: 'actor_rate' }),
    });
  }

  count(request: Request, response: Response): Promise<void> {
    return new Promise((resolve, reject) => {
      const next = (error?: unknown): void => (error instanceof Error ? reject(error) : resolve());
      Promise.resolve(this.#limit(request, response, next)).catch(reject);
    });
  }

  /** Counts a further request of the same caller. Resolves with whether they may still make it. Sets no header. */
  async countOneMore(request: Request): Promise<boolean> {
    try {
      // The library sets no header of a response whose headers were sent.
      await this.count(request, { headersSent: true } as Response);
      return true;
    } catch (error) {
      if (error instanceof ProblemError) return false;
      throw error;
    }
  }
}

/** Sets `Retry-After` on refused requests. */
function limit(by: {
  most: number;
  key: (request: Request) => string;
  onRefused: () => void;
}): RequestHandler {
  return rateLimit({
    windowMs: MINUTE,
    limit: by.most,
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    // The library would warn on the console about proxies' headers; `ClientAddresses` reads them.
    validate: false,
    keyGenerator: by.key,
    handler: (_request, _response, next) => {
      by.onRefused();
      next(new ProblemError('TooManyRequests'));
    },
  }) as RequestHandler;
}
