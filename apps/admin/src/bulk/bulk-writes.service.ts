import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { BulkItem } from '@reroll/shared/api/bulk';
import { LOG } from '@reroll/nest/tokens';
import { errorFields } from '@reroll/shared/platform/logging/error-fields';
import type { Logger } from '@reroll/shared/platform/logging/logging';
import type { AdminOptions } from '@reroll/shared/platform/options/parsing/table';
import { FewAtATime } from '../http/limits/few-at-a-time.ts';
import type { AnswerOf } from '../http/operation-types.ts';
import { ActorLimit } from '../http/limits/rate-limits.ts';
import { ProblemError } from '../http/problem-error.ts';
import { problemOf } from '../http/problem.filter.ts';
import { idempotencyKeyOf, Writes, type Write, type WriteInput } from '../steering/writes.ts';
import { ADMIN_OPTIONS } from '../tokens.ts';
import { lineOf, type Matched } from './bulk-targets.ts';

type BulkAnswer = AnswerOf<'bulkReload'>;
type Accepted = NonNullable<BulkItem['accepted']>;

/** Bulk requests of all callers that one admin runs at a time. */
const MOST_BULKS = 4;
/** Objects of one request that are worked on at a time. */
const MOST_AT_ONCE = 4;
/** Share of `--api-request-timeout` after which no further object is started. */
const SHARE_OF_TIMEOUT = 0.7;

export interface BulkInput extends WriteInput {
  readonly body: {
    readonly reason: string;
    readonly dryRun: boolean;
    readonly plan?: string | undefined;
    readonly now?: boolean | undefined;
    readonly overrideFreeze?: boolean | undefined;
    readonly until?: string | undefined;
  };
}

/** What a bulk request does. */
export interface Bulk<Result> {
  readonly action: 'bulkReload' | 'bulkFreeze' | 'bulkUnfreeze' | 'bulkApprove' | 'bulkRetry';
  readonly find: () => Promise<readonly Matched[]>;
  /** The write for one object, as if it had been requested alone. */
  readonly write: (matched: Matched) => Promise<Write<Result, Accepted>> | Write<Result, Accepted>;
}

/**
 * Runs the writes of a bulk request: each as if it had been requested alone, with its own check of rights, its own entry in the audit
 * log, its own idempotency key and its own share of the caller's requests a minute. So a caller can do by one request only what they
 * can do by many.
 */
@Injectable()
export class BulkWrites {
  readonly #few = new FewAtATime(MOST_BULKS);

  constructor(
    private readonly writes: Writes,
    private readonly limit: ActorLimit,
    @Inject(LOG) private readonly log: Logger,
    @Inject(ADMIN_OPTIONS) private readonly options: Pick<AdminOptions, 'apiRequestTimeout'>,
  ) {}

  /** Rejects with a `ProblemError` if nothing was done: `Conflict`, `TooManyRequests`, or `InvalidRequest`. */
  async perform<Result>(input: BulkInput, bulk: Bulk<Result>): Promise<BulkAnswer> {
    return await this.#few.run(input.caller.name, () => this.#all(input, bulk));
  }

  async #all<Result>(input: BulkInput, bulk: Bulk<Result>): Promise<BulkAnswer> {
    const until = performance.now() + SHARE_OF_TIMEOUT * this.options.apiRequestTimeout;
    const key = idempotencyKeyOf(input.request);
    const matched = await this.#matched(input, key, bulk);
    const items: BulkItem[] = [];
    const rest = matched.entries();
    let isStopped = false;
    const work = async (): Promise<void> => {
      for (const [index, one] of rest) {
        // The request itself was counted for its first object.
        isStopped ||=
          performance.now() > until || (index > 0 && !(await this.limit.countOneMore(input.request)));
        const result = isStopped
          ? NOT_STARTED
          : await this.#one({ ...input, idempotencyKey: key && `${key} ${lineOf(one)}` }, one, bulk);
        items[index] = { ...one, ...result };
      }
    };
    await Promise.all(Array.from({ length: MOST_AT_ONCE }, work));
    return { plan: planOf(bulk.action, input.body, matched), dryRun: input.body.dryRun, items };
  }

  /** With a key and a plan, a repetition gets what was planned, although what is done may not match any more. */
  async #matched<Result>(
    input: BulkInput,
    key: string | undefined,
    { action, find }: Bulk<Result>,
  ): Promise<readonly Matched[]> {
    const { plan, dryRun } = input.body;
    const asPlanned = async (): Promise<readonly Matched[]> => {
      const matched = await find();
      if (plan !== undefined && plan !== planOf(action, input.body, matched)) throw notAsPlanned();
      return matched;
    };
    if (key === undefined || plan === undefined || dryRun) return await asPlanned();
    // No object shares this key: none is called `plan`.
    return await this.writes.found(input, `${key} plan`, asPlanned);
  }

  async #one<Result>(input: BulkInput, matched: Matched, { write }: Bulk<Result>): Promise<ItemResult> {
    try {
      const its = await write(matched);
      if (input.body.dryRun) {
        await its.allow();
        return { result: 'planned', accepted: null, problem: null };
      }
      const accepted = await this.writes.perform(input, its);
      return { result: 'done', accepted, problem: null };
    } catch (error) {
      const { code, status, details } = problemOf(error, true);
      if (status >= 500 && !(error instanceof ProblemError))
        this.log.error('a write of a bulk request failed', {
          requestId: input.requestId,
          target: matched.target,
          ...errorFields(error),
        });
      const problem = { code, detail: details.detail ?? null };
      return { result: status < 500 ? 'refused' : 'failed', accepted: null, problem };
    }
  }
}

type ItemResult = Omit<BulkItem, keyof Matched>;

const NOT_STARTED = { result: 'notStarted', accepted: null, problem: null } as const;

/** Of what is done (also which holds are passed, and until when), and to what; not of who asked why. */
function planOf(
  action: string,
  { now, overrideFreeze, until }: BulkInput['body'],
  matched: readonly Matched[],
): string {
  const how = JSON.stringify({ action, now, overrideFreeze, until });
  return createHash('sha256')
    .update([how, ...matched.map(lineOf).sort()].join('\n'))
    .digest('hex')
    .slice(0, 32);
}

/**
 * Does not give the plan of now: an approval is of what somebody has looked at. Speaks of this request only: an earlier one may have
 * done what was planned, and what it found not be kept.
 */
function notAsPlanned(): ProblemError {
  return new ProblemError('Conflict', {
    detail: 'something else matches now than in the plan, so this request did nothing. Do a new dry run',
  });
}
