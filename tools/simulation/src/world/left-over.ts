/**
 * What the catalog and a watcher may still know of what is gone, some resyncs later: docs/scaling.md and docs/adr/0031. Of deleted sources
 * those rows stay that a workload uses, mentions, names or has recorded.
 */
import type { SimulatedRedis } from '../redis/server.ts';
import type { Shown } from './restarts.ts';
import type { KubeObject } from './shapes.ts';
import type { RowKeys } from './watcher-rows.ts';

interface World {
  readonly sources: ReadonlyMap<string, KubeObject>;
  readonly workloads: ReadonlyMap<string, { readonly shown: Pick<Shown, 'object' | 'template'> }>;
}

/** Keys of rows that nobody needs. */
export function leftOver(rows: RowKeys, { sources, workloads }: World): string[] {
  const isNeeded = (source: string): boolean => {
    const [, namespace, name = ''] = source.split('/');
    // As a value, in a list or in the record; not as the name of a field.
    const mention = new RegExp(`["/,]${name}["\\\\,](?!:)`);
    return [...workloads.values()].some(
      ({ shown: { object, template } }) =>
        object.metadata.namespace === namespace &&
        // Nobody knows any more what the pods use whose template is gone, but they still run.
        (template === undefined || mention.test(JSON.stringify(object))),
    );
  };
  return [
    ...[...rows.sources].filter((key) => !sources.has(key) && !isNeeded(key)),
    ...[...rows.workloads].filter((key) => !workloads.has(key)),
  ];
}

/** The keys that the catalog has. */
export function catalogKeys(redis: SimulatedRedis): RowKeys {
  return { sources: rowsOf(redis, 'sources'), workloads: rowsOf(redis, 'workloads') };
}

function rowsOf(redis: SimulatedRedis, table: string): string[] {
  const found = [...redis.each()].find(([key]) => key.endsWith(`:v1:${table}`));
  return found ? [...found[1].texts()].filter((_, at) => at % 2 === 0) : [];
}
