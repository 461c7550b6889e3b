import type { jobSelector, workloadSelector } from '@reroll/shared/api/bulk';
import { QUEUE_NAMES } from '@reroll/shared/api/queues';
import { namespaceOf, partsOf, type Key, type WorkloadKey } from '@reroll/core/model';
import type { z } from 'zod';
import type { Caller } from '../auth/caller.ts';
import { NamespacesAsked } from '../history/namespaces-asked.ts';
import type { ReadModel } from '../history/read-model.ts';
import type { ReloadJobs } from '../history/reload-jobs.ts';
import { holdView } from '../history/views.ts';
import { ProblemError } from '../http/problem-error.ts';
import type { JobBoard } from '../jobs/job-board.ts';
import { jobView } from '../jobs/job-view.ts';
import type { Place } from '../objects/key-index.ts';
import type { ObjectFacts } from '../objects/object-facts.ts';
import { listWorkloads } from '../objects/object-lists.ts';

export type WorkloadSelector = z.output<typeof workloadSelector>;
export type JobSelector = z.output<typeof jobSelector>;

/** One object that a bulk request matches. */
export interface Matched<Target extends string = string> {
  readonly target: Target;
  /** What is approved, or the id of the job. */
  readonly id: string | null;
}

export interface BulkContext {
  readonly facts: ObjectFacts;
  readonly model: ReadModel;
  readonly board: JobBoard;
  readonly jobs: ReloadJobs;
}

/** Pages of a list that one bulk request reads. A page is short only if rows have changed since the scan. */
const MOST_PAGES = 10;

/**
 * Finds what a bulk request matches, among what the caller sees. Every method rejects with a `ProblemError` `Conflict` if that is more
 * than `limit`, or cannot be told with the reads of one request, and with ioredis' error.
 */
export class BulkTargets {
  readonly #by: BulkContext;

  constructor(by: BulkContext) {
    this.#by = by;
  }

  async workloads(
    selector: WorkloadSelector,
    limit: number,
    caller: Caller,
  ): Promise<Matched<WorkloadKey>[]> {
    return await this.#workloads(selector, { limit, caller });
  }

  /** The workloads that await an approval, with its id. */
  async awaitingApproval(
    selector: WorkloadSelector,
    limit: number,
    caller: Caller,
  ): Promise<Matched<WorkloadKey>[]> {
    const { join } = this.#by.model.contents;
    const idOf = (key: WorkloadKey): string | null =>
      holdView(join.workload(key)?.outcomes.at(-1))?.id ?? null;
    const found = await this.#workloads(selector, { limit, caller, mayMatch: (key) => idOf(key) !== null });
    return found.map(({ target }) => ({ target, id: idOf(target) })).filter(({ id }) => id !== null);
  }

  /** Sorted by target, then id. */
  async failedJobs(selector: JobSelector, limit: number, caller: Caller): Promise<Matched[]> {
    const names = selector.queue === undefined ? QUEUE_NAMES : [selector.queue];
    const jobs = (await Promise.all(names.map((name) => this.#by.board.jobs(name, 'failed')))).flat();
    const namespaces = await NamespacesAsked.of(caller);
    const matched: Matched[] = [];
    for (const { id, subject } of jobs.flatMap((job) => jobView(job) ?? [])) {
      if (subject === null || !fits(subject, selector)) continue;
      if (mustKnow(await namespaces.sees(namespaceOf(subject as Key<string>))))
        matched.push({ target: subject, id });
      if (matched.length > limit) throw tooMany(limit);
    }
    return matched.sort((a, b) => (lineOf(a) < lineOf(b) ? -1 : 1));
  }

  async #workloads(
    { source, ...query }: WorkloadSelector,
    { limit, caller, mayMatch }: { limit: number; caller: Caller; mayMatch?: (key: WorkloadKey) => boolean },
  ): Promise<Matched<WorkloadKey>[]> {
    const namespaces = await NamespacesAsked.of(caller);
    const { facts, model, jobs } = this.#by;
    const by = {
      facts,
      join: model.contents.join,
      jobs,
      namespaces,
      ...(source === undefined
        ? {}
        : {
            among: new Set((await namespaces.sees(namespaceOf(source))) ? await facts.usersOf(source) : []),
          }),
      ...(mayMatch ? { mayMatch } : {}),
    };
    const keys: WorkloadKey[] = [];
    let after: Place | undefined;
    for (let pages = 0; pages < MOST_PAGES; pages += 1) {
      const { items, last } = await listWorkloads({ ...query, limit: limit + 1 - keys.length }, after, by);
      keys.push(...items.map(({ key }) => key));
      if (keys.length > limit) throw tooMany(limit);
      if (last === undefined) return keys.map((target) => ({ target, id: null }));
      // No more namespaces are asked about.
      if (last === after) break;
      after = last;
    }
    throw tooWide();
  }
}

function fits(subject: string, { namespace, kind, name = '' }: JobSelector): boolean {
  const its = partsOf(subject as Key<string>);
  if (namespace !== undefined && its.namespace !== namespace) return false;
  return (kind === undefined || its.kind === kind) && its.name.includes(name);
}

/** For the plan: an object and its id. */
export function lineOf({ target, id }: Matched): string {
  return `${target} ${id ?? ''}`;
}

function mustKnow(sees: boolean | undefined): boolean {
  if (sees === undefined) throw tooWide();
  return sees;
}

function tooMany(limit: number): ProblemError {
  return new ProblemError('Conflict', {
    detail: `more than ${limit} match, which is the limit of this request; nothing was done`,
  });
}

function tooWide(): ProblemError {
  return new ProblemError('Conflict', {
    detail:
      'this cannot be looked up in one request: expected a narrower selector, such as one with a namespace; nothing was done',
  });
}
