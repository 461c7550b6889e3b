import {
  Inject,
  Injectable,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { OPERATIONS, type Operation } from '@reroll/shared/api/operations';
import type { RedisClient } from '@reroll/redis/connection/redis';
import type { AdminOptions } from '@reroll/shared/platform/options/parsing/table';
import type { Request } from 'express';
import { throwError, timeout, type Observable } from 'rxjs';
import { ProblemError } from './problem-error.ts';
import { contextOf } from './request-context.ts';
import { REDIS } from '@reroll/nest/tokens';
import { ADMIN_OPTIONS } from '../tokens.ts';

/** The operation that works while Redis is unreachable. */
const WITHOUT_REDIS = 'getStatus';

/** Limits the time of every request, and rejects requests at once while Redis is known to be unreachable. */
@Injectable()
export class DeadlineInterceptor implements NestInterceptor {
  constructor(
    @Inject(ADMIN_OPTIONS) private readonly options: AdminOptions,
    @Inject(REDIS) private readonly redis: RedisClient,
  ) {}

  intercept(execution: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { operation: id } = contextOf(execution.switchToHttp().getRequest<Request>());
    if (id !== WITHOUT_REDIS && this.redis.status !== 'ready')
      throw new ProblemError('Unavailable', { detail: 'Redis cannot be reached' });
    const operation: Operation | undefined = id && OPERATIONS[id];
    if (operation?.answer === undefined) return next.handle();
    const late = (): ProblemError => new ProblemError('Unavailable', { detail: 'the answer took too long' });
    return next
      .handle()
      .pipe(timeout({ first: this.options.apiRequestTimeout, with: () => throwError(late) }));
  }
}
