import type { sourcesQuery, workloadsQuery } from '@reroll/shared/api/workloads';
import type { RolloutEntry } from '@reroll/core/history/entries';
import type { HistoryJoin } from '@reroll/core/history/join';
import type { LiveJob } from '@reroll/core/history/states';
import type { Key, SourceKey, WorkloadKey } from '@reroll/core/model';
import type { PendingCause } from '@reroll/core/state/outbox';
import type { WorkloadRow } from '@reroll/core/state/rows';
import type { z } from 'zod';
import { attemptView } from '../history/failures.ts';
import type { NamespacesAsked } from '../history/namespaces-asked.ts';
import type { ReloadJobs } from '../history/reload-jobs.ts';
import { staleAfter } from '../history/stale.ts';
import { isAmong, placeOf, type Place, type Snapshot } from './key-index.ts';
import { KeyWalk } from './key-walk.ts';
import type { ObjectFacts, SourceFacts, WorkloadFacts } from './object-facts.ts';

type WorkloadsQuery = z.output<typeof workloadsQuery>;
type SourcesQuery = z.output<typeof sourcesQuery>;

interface Keyed {
  keys(): Iterable<Key<string>>;
}

interface WorkloadListBy {
  readonly facts: ObjectFacts;
  readonly join: Pick<HistoryJoin, 'outcomes' | 'workload'>;
  readonly jobs: Pick<ReloadJobs, 'of'>;
  readonly namespaces: NamespacesAsked;
  /** Only these. */
  readonly among?: Keyed;
  /** Only those for which this is true. */
  readonly mayMatch?: (key: WorkloadKey) => boolean;
}

interface ObjectPage<Facts> {
  readonly items: readonly Facts[];
  /** The last place that was examined; undefined if there are no more. */
  readonly last: Place | undefined;
}

/** What a list shows of a workload. A whole row may have a megabyte. */
export type ListedWorkload = Omit<WorkloadFacts, 'row'> & {
  readonly row: { readonly [Field in 'leftAlone' | 'conflict' | 'resumeAt']: WorkloadRow[Field] };
  readonly sources: number;
};

export function listed({ row, ...found }: WorkloadFacts): ListedWorkload {
  const { leftAlone, conflict, resumeAt, dependencies } = row;
  return { ...found, row: { leftAlone, conflict, resumeAt }, sources: dependencies.length };
}

/** Reads of rows for one page: rows that matched in the snapshot may no longer match, and others are then read. */
const MOST_READS = 5;

/** A place in a cursor. */
export const PLACE = /^[^/]+\/[^/]+\/[^/]+$/u;

export async function listWorkloads(
  query: WorkloadsQuery,
  after: Place | undefined,
  { facts, join, jobs, namespaces, among, mayMatch }: WorkloadListBy,
): Promise<ObjectPage<ListedWorkload>> {
  const { due, rollout, ...rest } = query;
  const snapshot = await facts.workloads.snapshot();
  // The first that has `few` is the narrowest.
  const filters = [
    ...(rollout === undefined ? [] : [filterOfRollout(rollout, await facts.underWay())]),
    ...(due === undefined ? [] : [filterOfDue(due, snapshot, join)]),
    ...(mayMatch ? [{ mayMatch }] : []),
  ];
  const few = among ?? filters.find((filter) => filter.few)?.few;
  const walk = new KeyWalk<WorkloadKey>(
    few ? [...few.keys()].map(placeOf).sort() : snapshot.places,
    {
      ...rest,
      ...(filters.length > 0 ? { mayMatch: (key) => filters.every((filter) => filter.mayMatch(key)) } : {}),
    },
    after,
  );
  return await page(walk, namespaces, {
    limit: query.limit,
    read: async (keys) => {
      const matching: ListedWorkload[] = [];
      for await (const portion of facts.eachWorkloadFacts(keys))
        for (const found of portion)
          if (filters.every(({ matches }) => matches?.(found) ?? true)) matching.push(listed(found));
      return due === 'failed' ? await failedOf(matching, { join, jobs }) : matching;
    },
  });
}

export async function listSources(
  query: SourcesQuery,
  after: Place | undefined,
  { facts, namespaces }: { facts: ObjectFacts; namespaces: NamespacesAsked },
): Promise<ObjectPage<SourceFacts>> {
  const { places } = await facts.sources.snapshot();
  const walk = new KeyWalk<SourceKey>(places, query, after);
  return await page(walk, namespaces, {
    limit: query.limit,
    // Omits sources that were deleted meanwhile.
    read: async (keys) => (await facts.sourceFacts(keys)).filter(({ row }) => row?.exists),
  });
}

interface WorkloadFilter {
  /** All that can match, if they are few. */
  readonly few?: Keyed;
  /** By what is known before rows are read. */
  readonly mayMatch: (key: WorkloadKey) => boolean;
  /** By the row. Undefined: it tells no more. */
  readonly matches?: (found: WorkloadFacts) => boolean;
}

function filterOfDue(
  due: NonNullable<WorkloadsQuery['due']>,
  snapshot: Snapshot<PendingCause>,
  join: WorkloadListBy['join'],
): WorkloadFilter {
  if (due === 'stale') return filterOfStale(join);
  if (due === 'failed') return filterOfFailed(snapshot, join);
  const { marks } = snapshot;
  return {
    few: marks,
    mayMatch: (key) => marks.get(key) === due,
    matches: (found) => found.due === due,
  };
}

/** Recorded although their pods may have older data, and not reloaded since, as far as the history goes. */
function filterOfStale({ outcomes }: Pick<HistoryJoin, 'outcomes'>): WorkloadFilter {
  const stale = new Set<WorkloadKey>();
  for (const { entry } of outcomes) {
    const isStale = staleAfter(entry);
    if (isStale === true) stale.add(entry.workload);
    if (isStale === false) stale.delete(entry.workload);
  }
  return { few: stale, mayMatch: (key) => stale.has(key) };
}

/**
 * By the history, in which no namespace displaces the failures of others; of the failed jobs, a queue keeps a thousand in all. Whatever
 * failed and is settled or deleted by now is left out here, or many such workloads would fill the reads of a page. `failedOf` decides.
 */
function filterOfFailed(
  { places, marks }: Snapshot<PendingCause>,
  join: WorkloadListBy['join'],
): WorkloadFilter {
  const everFailed = new Set<WorkloadKey>();
  for (const { entry } of join.outcomes) if (entry.state === 'failed') everFailed.add(entry.workload);
  const failed = new Set(
    [...everFailed].filter(
      (key) => isAmong(places, placeOf(key)) && hasFailed(join, { key, due: marks.get(key) ?? null }),
    ),
  );
  return { few: failed, mayMatch: (key) => failed.has(key) };
}

/** Those whose `lastAttempt` has failed. */
async function failedOf(
  found: readonly ListedWorkload[],
  { join, jobs }: Pick<WorkloadListBy, 'join' | 'jobs'>,
): Promise<ListedWorkload[]> {
  const live = await jobs.of(found.map(({ key }) => key));
  return found.filter((each) => hasFailed(join, { ...each, job: live.get(each.key) }));
}

/** By its `lastAttempt`. Without `job`: as if no job were about to make another one. */
export function hasFailed(
  join: Pick<HistoryJoin, 'workload'>,
  { key, due, job }: Pick<WorkloadFacts, 'key' | 'due'> & { readonly job?: LiveJob | undefined },
): boolean {
  return attemptView(join.workload(key)?.outcomes ?? [], { due, job })?.state === 'failed';
}

function filterOfRollout(
  rollout: NonNullable<WorkloadsQuery['rollout']>,
  underWay: ReadonlyMap<WorkloadKey, RolloutEntry>,
): WorkloadFilter {
  const isIt = (entry: RolloutEntry | undefined): boolean => (entry?.state ?? 'complete') === rollout;
  return {
    ...(rollout === 'complete' ? {} : { few: underWay }),
    mayMatch: (key) => isIt(underWay.get(key)),
    matches: (found) => isIt(found.rollout),
  };
}

async function page<ObjectKey extends Key<string>, Facts>(
  walk: KeyWalk<ObjectKey>,
  namespaces: NamespacesAsked,
  { limit, read }: { limit: number; read: (keys: ObjectKey[]) => Promise<Facts[]> },
): Promise<ObjectPage<Facts>> {
  const items: Facts[] = [];
  for (let reads = 0; reads < MOST_READS && items.length < limit && !walk.isOver; reads += 1) {
    // A second read only where the first left places.
    const keys = await walk.take(limit - items.length, namespaces);
    items.push(...(await read(keys)));
  }
  return { items, last: walk.isAtEnd ? undefined : walk.last };
}
