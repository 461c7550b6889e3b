import { idempotencyKey } from '@reroll/shared/api/common';
import type { OperationId } from '@reroll/shared/api/operations';
import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import type { Caller } from '../auth/caller.ts';
import { ProblemError } from '../http/problem-error.ts';
import { pathOf } from '../http/request-context.ts';
import { AuditLog } from './audit-log.ts';
import { Idempotency, type Keyed } from './idempotency.ts';

export interface WriteInput {
  readonly caller: Caller;
  readonly requestId: string;
  readonly request: Request;
  readonly body: { readonly reason: string };
  /** Default: that of the request's header. */
  readonly idempotencyKey?: string | undefined;
}

export interface Write<Result, Answer> {
  readonly action: OperationId;
  /** The target in the audit log: `<kind>/<namespace>/<name>`, a queue, or a job with its subject. */
  readonly target: string;
  /** The reason in the audit log. Default: that of the body. */
  readonly reason?: string;
  /** Rejects with a `ProblemError` if the caller may not. */
  readonly allow: () => Promise<void>;
  readonly run: () => Promise<Result>;
  /** `audit`: the write's entry in the audit log. */
  readonly answer: (result: Result, audit: { id: string; at: string }) => Answer;
}

/** Runs every write: checks rights, does it once for its idempotency key, and audits the result. */
@Injectable()
export class Writes {
  constructor(
    private readonly audit: AuditLog,
    private readonly idempotency: Idempotency,
  ) {}

  async perform<Result, Answer>(input: WriteInput, write: Write<Result, Answer>): Promise<Answer> {
    const { action, target } = write;
    const { idempotencyKey: key = idempotencyKeyOf(input.request) } = input;
    const about = {
      actor: input.caller.name,
      action,
      target,
      reason: write.reason ?? input.body.reason,
      requestId: input.requestId,
    };
    let isDone = false;
    const run = async (): Promise<Result> => {
      const result = await write.run();
      isDone = true;
      return result;
    };
    try {
      await write.allow();
      const answer = async (result: Result): Promise<Answer> => {
        const { id, at } = await this.audit.addDone(about);
        return write.answer(result, { id, at: new Date(at).toISOString() });
      };
      if (key === undefined) return await answer(await run());
      return await this.idempotency.once(keyedOf(input, key), { run, answer });
    } catch (error) {
      if (isDone) throw error;
      const problem = error instanceof ProblemError ? error : new ProblemError('Internal');
      const result = problem.status < 500 ? 'refused' : 'failed';
      await this.audit.addUndone({ ...about, result, code: problem.code });
      throw error;
    }
  }

  /**
   * What `find` gives for the first request with this key, and for its repetitions as long as answers are kept. It must change nothing,
   * since nothing is audited. If it rejects, nothing is kept.
   */
  async found<Found>(input: WriteInput, key: string, find: () => Promise<Found>): Promise<Found> {
    return await this.idempotency.once(keyedOf(input, key), {
      run: find,
      answer: (found) => Promise.resolve(found),
    });
  }
}

function keyedOf({ caller, requestId, request, body }: WriteInput, key: string): Keyed {
  const text = `${request.method} ${pathOf(request)} ${JSON.stringify(body)}`;
  return { actor: caller.name, key, request: text, requestId };
}

/** Throws a `ProblemError` if the header is invalid. */
export function idempotencyKeyOf({ headers }: Pick<Request, 'headers'>): string | undefined {
  const given = headers['idempotency-key'];
  if (given === undefined) return undefined;
  const read = idempotencyKey.safeParse(given);
  if (read.success) return read.data;
  throw new ProblemError('InvalidRequest', {
    errors: read.error.issues.map(({ message }) => ({ path: 'header.Idempotency-Key', expected: message })),
  });
}
