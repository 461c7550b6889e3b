import type { sourcesQuery, workloadsQuery } from '@reroll/shared/api/workloads';
import type { Key, SourceKey, WorkloadKey } from '@reroll/core/model';
import type { z } from 'zod';
import type { NamespacesAsked } from '../history/namespaces-asked.ts';
import { placeOf, type Place, type Snapshot } from './key-index.ts';
import { KeyWalk } from './key-walk.ts';
import type { ObjectFacts, SourceFacts, WorkloadFacts } from './object-facts.ts';

type WorkloadsQuery = z.output<typeof workloadsQuery>;
type SourcesQuery = z.output<typeof sourcesQuery>;

interface Keyed {
  keys(): Iterable<Key<string>>;
}

interface WorkloadListBy {
  readonly facts: ObjectFacts;
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

/** Reads of rows for one page: rows that matched in the snapshot may no longer match, and others are then read. */
const MOST_READS = 5;

/** A place in a cursor. */
export const PLACE = /^[^/]+\/[^/]+\/[^/]+$/u;

export async function listWorkloads(
  query: WorkloadsQuery,
  after: Place | undefined,
  { facts, namespaces, among, ...by }: WorkloadListBy,
): Promise<ObjectPage<WorkloadFacts>> {
  const { due, rollout, ...rest } = query;
  const snapshot = await facts.workloads.snapshot();
  const underWay = rollout === undefined ? undefined : await facts.underWay();
  const mayMatch = (key: WorkloadKey): boolean =>
    (by.mayMatch?.(key) ?? true) &&
    (due === undefined || snapshot.marks.get(key) === due) &&
    (rollout === undefined || (underWay?.get(key)?.state ?? 'complete') === rollout);
  const isFiltered = by.mayMatch !== undefined || due !== undefined || rollout !== undefined;
  const few = among ?? (rollout === 'complete' ? undefined : underWay);
  const places = placesFor(snapshot, { due, few });
  const walk = new KeyWalk<WorkloadKey>(places, { ...rest, ...(isFiltered ? { mayMatch } : {}) }, after);
  return await page(walk, namespaces, {
    limit: query.limit,
    read: async (keys) =>
      (await facts.workloadFacts(keys)).filter(
        (found) =>
          (due === undefined || found.due === due) &&
          (rollout === undefined || (found.rollout?.state ?? 'complete') === rollout),
      ),
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

/** Only the places that the filter can match, if it is such a filter. */
function placesFor(
  { places, marks }: Snapshot<unknown>,
  { due, few = due === undefined ? undefined : marks }: { due: unknown; few: Keyed | undefined },
): readonly Place[] {
  return few ? [...few.keys()].map(placeOf).sort() : places;
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
